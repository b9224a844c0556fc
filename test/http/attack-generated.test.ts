// Ten thousand generated requests, judged by an oracle, in a process of their own; and attacks repeated by the thousand:
// the process lives, and its heap does not grow. PLENUM_FUZZ_SEED chooses other requests; `npm run fuzz:http` sends more.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";

const run = promisify(execFile);
const seed = Number(process.env.PLENUM_FUZZ_SEED ?? 20260728);

async function runProgram(path: string, args: readonly string[]): Promise<unknown> {
  const program = await bundleProgram(path);
  const options = { maxBuffer: 1 << 24, timeout: 150_000 };
  const { stdout } = await run(process.execPath, ["--expose-gc", program, ...args], options).catch(
    // What it found is on its standard output, whatever it ended with.
    (error: { stdout?: string }) => {
      if (!error.stdout) throw error;
      return { stdout: error.stdout };
    },
  );
  return JSON.parse(stdout);
}

/** Bytes that are left by each round. What leaks grows in both halves. */
function grownBy([before = 0, halfway = 0, after = 0]: readonly number[], rounds: number): number {
  return Math.min(halfway - before, after - halfway) / rounds;
}

test("10,000 generated requests get the right answer, and nothing of them stays", async () => {
  const told = (await runProgram("test/http/attack-program.ts", ["--count", "10000", "--seed", `${seed}`])) as {
    readonly count: number;
    readonly ran: number;
    readonly statuses: { readonly [status: string]: number };
    readonly heaps: readonly number[];
    readonly problems: readonly string[];
  };
  expect(told.problems, `seed ${seed}`).toEqual([]);
  expect(Object.values(told.statuses).reduce((sum, one) => sum + one, 0)).toBe(10_000);
  // They are of all kinds: many succeed, and every refusal is among them.
  expect(told.ran).toBeGreaterThan(200);
  for (const status of [200, 202, 204, 400, 403, 404, 405, 406, 415]) expect(told.statuses[status]).toBeGreaterThan(20);
  expect(grownBy(told.heaps, 4000)).toBeLessThan(300);
}, 180_000);

test.each([
  ["streamed calls of one session", 1500, 1500],
  ["handshakes beyond the limit", 1000, 1500],
  ["refused requests", 1000, 1500],
  ["calls that are cut", 500, 700],
  ["streams that are cut", 500, 700],
  ["calls behind others that are cut", 500, 700],
] as const)(
  "%s: after %i, twice %i more leave nothing behind",
  async (kind, warmUp, rounds) => {
    const heaps = (await runProgram("test/http/attack-heap.ts", [kind, `${warmUp}`, `${rounds}`])) as number[];
    const grown = grownBy(heaps, rounds);
    console.log(`${kind}: ${grown.toFixed(1)} bytes a round`);
    // A stream that is kept takes five hundred, a request with its response and its sockets thousands.
    expect(grown).toBeLessThan(kind.endsWith("cut") ? 1000 : 300);
  },
  180_000,
);
