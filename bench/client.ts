// Calls per second of clients, in memory and over stdio, beside the official ones and the least that a client can do.
// Every cell runs in a process of its own, rounds interleaved; medians of CPU time of the client's process per call, and
// their ratio to bare in the same round. Over stdio the server is the same bare one for all; in memory it is each one's own.
//   npm run bench:client            all of it
//   npm run bench:client -- --json  the same as JSON
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Case, targets } from "./clients/targets.ts";

const rounds = 5;
const inFlight = 64;
const calls = { stdio: 20_000, memory: 20_000 } as const;

interface Figures {
  readonly cpuUs: number;
  readonly perSecond: number;
}

/** One cell, in this process. */
async function measure(name: string, kind: Case): Promise<Figures> {
  const server = join(import.meta.dirname, "clients", "bare-server.mjs");
  const ready = await targets[name]?.(kind, [process.execPath, server]);
  if (!ready) throw new Error(`There is no client called ${name}`);
  const check = JSON.stringify(await ready.call());
  if (!check.includes("hello")) throw new Error(`${name}: the call went wrong: ${check}`);
  const run = async (count: number): Promise<void> => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await ready.call();
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  };
  await run(calls[kind] / 4);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await run(calls[kind]);
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await ready.close();
  return { cpuUs: (user + system) / calls[kind], perSecond: (calls[kind] / wallMs) * 1000 };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

function compare(): void {
  const self = fileURLToPath(import.meta.url);
  const table: Record<string, Figures & { ratio: number }> = {};
  for (const kind of ["stdio", "memory"] as const) {
    const seen = new Map<string, (Figures & { ratio: number })[]>();
    for (let round = 0; round < rounds; round++) {
      let bareUs = 0;
      for (const name of Object.keys(targets)) {
        const text = execFileSync(process.execPath, [...process.execArgv, self, "--cell", name, kind], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "inherit"],
        });
        const figures = JSON.parse(text.trim().split("\n").at(-1) ?? "") as Figures;
        if (name === "bare") bareUs = figures.cpuUs;
        seen.set(name, [...(seen.get(name) ?? []), { ...figures, ratio: figures.cpuUs / bareUs }]);
      }
    }
    for (const [name, all] of seen) {
      const of = (key: "cpuUs" | "perSecond" | "ratio"): number => median(all.map((one) => one[key]));
      table[`${kind}, ${name}`] = { cpuUs: of("cpuUs"), perSecond: of("perSecond"), ratio: of("ratio") };
    }
  }
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify(table, undefined, 2));
    return;
  }
  console.log(`Clients, ${inFlight} calls in flight, medians of ${rounds} rounds; CPU of the client's process`);
  for (const [name, { cpuUs, perSecond, ratio }] of Object.entries(table)) {
    const figures = [
      `${cpuUs.toFixed(1)} µs CPU/call`,
      `${ratio.toFixed(2)} × bare`,
      `${Math.round(perSecond)} calls/s`,
    ];
    console.log(`  ${name.padEnd(26)}${figures.map((text) => text.padStart(20)).join("")}`);
  }
}

const cell = process.argv.indexOf("--cell");
if (cell < 0) compare();
else {
  const [name = "", kind] = process.argv.slice(cell + 1);
  console.log(JSON.stringify(await measure(name, kind as Case)));
  process.exit(0);
}
