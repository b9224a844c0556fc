// The memory of a server that was started with the hook, after everything that can be collected is.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Started } from "./process.ts";

/** Options of node that load the hook. */
export const hookArgs: readonly string[] = ["--import", join(import.meta.dirname, "hook.mjs")];

export interface Heap {
  readonly heapKb: number;
  readonly rssKb: number;
}

export async function readHeap(started: Started): Promise<Heap> {
  started.stderr = "";
  process.kill(started.pid, "SIGUSR2");
  for (let i = 0; i < 400; i++) {
    await delay(25);
    const found = /HEAP (\d+) (\d+)/.exec(started.stderr);
    if (found) return { heapKb: Number(found[1]) / 1024, rssKb: Number(found[2]) / 1024 };
  }
  throw new Error("the server did not tell its memory within 10 s");
}
