// A client under test, run in a process of its own.
import { join } from "node:path";
import type { ClientModule, Figures, Target } from "../case.ts";
import { startNode, stop } from "./process.ts";
import { percentiles, round } from "./statistics.ts";

export interface ClientOptions {
  readonly ms: number;
  readonly transport?: "http" | "stdio";
  readonly url?: string;
  readonly command?: readonly string[];
}

interface Part {
  readonly count: number;
  readonly wallMs: number;
  readonly cpuUs: number;
  readonly times: readonly number[];
}

interface Report {
  readonly connectMs: number;
  readonly sequential: Part;
  readonly parallel: Part;
}

const warmMs = 800;
const maxMs = 60_000;
const runner = join(import.meta.dirname, "client-runner.mjs");

export async function runClient(target: Target, module: ClientModule, options: ClientOptions): Promise<Figures> {
  const given = JSON.stringify({ ...options, era: module.era, warmMs });
  const started = startNode([runner, join(target.home, module.file), given], { stdio: ["ignore", "pipe"] });
  let written = "";
  started.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  const timer = setTimeout(() => void stop(started, 0), maxMs + 3 * options.ms);
  const how = await started.ended;
  clearTimeout(timer);
  if (!written.includes("\n")) throw new Error(`the client ended (${how}): ${started.stderr}`);
  const { connectMs, sequential, parallel } = JSON.parse(written) as Report;
  const rate = ({ count, wallMs }: Part): number | null => round(count / (wallMs / 1000), 0);
  const { p50Us, p99Us } = percentiles(parallel.times);
  return {
    perSecond: rate(parallel),
    cpuUs: round(parallel.cpuUs),
    p50Us,
    p99Us,
    sequentialPerSecond: rate(sequential),
    sequentialCpuUs: round(sequential.cpuUs),
    sequentialP50Us: percentiles(sequential.times).p50Us,
    connectMs: round(connectMs, 1),
  };
}
