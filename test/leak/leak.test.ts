// Nothing is left behind by a connection: heap and handles are flat over many rounds of connect, call and close.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Revision } from "plenum";
import { expect, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";

const run = promisify(execFile);

interface Left {
  readonly heap: number;
  readonly handles: number;
  readonly listeners: number;
}

async function measure(kind: "memory" | "stdio", revision: Revision, warmUp: number, rounds: number) {
  const program = await bundleProgram("test/leak/rounds.ts");
  const server = await bundleProgram("test/client/fixtures/workshop.ts");
  const args = ["--expose-gc", program, kind, revision, `${warmUp}`, `${rounds}`, server];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 20 });
  return JSON.parse(stdout) as [before: Left, halfway: Left, after: Left];
}

test.each([
  // The first rounds also pay for what the engine learns of the code.
  ["memory", "2025-11-25", 3000, 10_000],
  ["memory", "2026-07-28", 3000, 10_000],
  ["stdio", "2025-11-25", 30, 150],
  ["stdio", "2026-07-28", 30, 150],
] as const)(
  "%s, %s: after %i rounds, %i more leave nothing behind",
  async (kind, revision, warmUp, rounds) => {
    const [before, halfway, after] = await measure(kind, revision, warmUp, rounds);
    // What leaks grows in both halves; what the engine learns of the code, and when it collects, shows in one.
    const grown = Math.min(halfway.heap - before.heap, after.heap - halfway.heap) / (rounds / 2);
    console.log(`${kind} ${revision}: ${grown.toFixed(1)} bytes per round, ${after.handles} handles`);
    // A closure or an entry of a map takes 50 bytes at the least, a client thousands.
    expect(grown).toBeLessThan(kind === "memory" ? 40 : 1000);
    expect(after.handles).toBeLessThanOrEqual(before.handles);
    expect(after.listeners).toBeLessThanOrEqual(before.listeners);
  },
  300_000,
);
