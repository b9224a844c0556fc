// Nothing is left behind by a connection: heap and handles are flat over many rounds of connect, call and close.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Revision } from "plenum";
import { expect, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";
import type { Left } from "./left.ts";

const run = promisify(execFile);

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

interface LeftOverHttp {
  readonly seen: readonly [before: Left, halfway: Left, after: Left];
  /** Calls whose handlers have not ended. */
  readonly running: number;
  /** Of Node's own, such as that of listeners that become too many. */
  readonly warnings: number;
  /** Requests that the server has told of as over. */
  readonly over: number;
  /** When the server was closed. */
  readonly closed: { readonly timers: number; readonly servers: number };
}

test.each([
  ["sessions", "2025-11-25", 200, 600],
  ["sessions", "2026-07-28", 200, 600],
  ["sessionless", "2025-11-25", 200, 600],
] as const)(
  "HTTP with %s, %s: after %i rounds, %i more leave nothing behind, neither at the client nor at the server",
  async (kind, revision, warmUp, rounds) => {
    const program = await bundleProgram("test/leak/http-rounds.ts");
    // What the engine learns of the code, and forgets again, would be most of what changes.
    const args = ["--expose-gc", "--no-opt", "--no-flush-bytecode", program, kind, revision, `${warmUp}`, `${rounds}`];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 20 });
    const left: LeftOverHttp = JSON.parse(stdout);
    const [before, halfway, after] = left.seen;
    const grown = Math.min(halfway.heap - before.heap, after.heap - halfway.heap) / (rounds / 2);
    console.log(`HTTP ${kind} ${revision}: ${grown.toFixed(1)} bytes per round, ${after.handles} handles`);
    // A timer and its signal take 800 bytes, a session as many.
    expect(grown).toBeLessThan(300);
    // A connection more or less is kept for the next request.
    expect(after.handles).toBeLessThanOrEqual(before.handles + 2);
    expect(after.listeners).toBeLessThanOrEqual(before.listeners);
    // Two clocks of the server, and one or two that end soon.
    expect(after.timers).toBeLessThanOrEqual(before.timers + 3);
    expect(left.over).toBeGreaterThan(rounds * 5);
    expect(left).toMatchObject({ running: 0, warnings: 0, closed: { timers: 0, servers: 0 } });
  },
  300_000,
);

test("a session that is idle is small, also when something was called in it", async () => {
  const program = await bundleProgram("test/leak/idle-sessions.ts");
  const { stdout } = await run(process.execPath, ["--expose-gc", program, "1000", "5000"]);
  const bytes: number = JSON.parse(stdout);
  console.log(`${bytes.toFixed(0)} bytes per idle session`);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(1024);
}, 60_000);

test("a stream that is open holds nothing of the body that opened it", async () => {
  const program = await bundleProgram("test/leak/open-streams.ts");
  const { stdout } = await run(process.execPath, ["--expose-gc", program, "10", "40"]);
  const bytes: number = JSON.parse(stdout);
  console.log(`${bytes.toFixed(0)} bytes per open stream`);
  expect(bytes).toBeLessThan(100_000);
}, 60_000);
