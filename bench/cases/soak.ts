// What 100,000 calls leave behind: the heap after everything that can be collected is, with 10,000 calls made and with 110,000.
import type { Case, Target } from "../case.ts";
import { type Server, startEither } from "../drive/either.ts";
import { hookArgs, readHeap } from "../drive/heap.ts";
import { load } from "../drive/http.ts";
import { round } from "../drive/statistics.ts";

const before = 10_000;
const counted = 100_000;
const inFlight = 64;
/** A server that takes longer is given fewer. */
const maxMs = 15_000;

/** The rows, and which of a target's modes is taken for each: the first that it has. */
const rows: { readonly [variant: string]: readonly string[] } = {
  session: ["session-json", "session-sse"],
  "2026-07-28": ["modern-json", "modern-auto", "modern-sse"],
  stdio: ["stdio"],
};

function modeOf({ stdio, http }: Target, variant: string): string | undefined {
  return rows[variant]?.find((mode) => (mode === "stdio" ? stdio : http?.[mode]));
}

/** Makes so many calls; gives how many there was time for. */
async function call({ stdio, http }: Server, count: number): Promise<number> {
  const end = performance.now() + maxMs;
  let made = 0;
  while (made < count && performance.now() < end) {
    if (stdio) {
      const some = Math.min(5_000, count - made);
      await stdio.pipeline(some, inFlight);
      made += some;
    } else if (http) made += (await load(http, inFlight, 500, http.peer.echo())).count;
  }
  return made;
}

export const soak: Case<Server> = {
  name: "soak",
  help: "memory after 100,000 calls: what the heap grows by for 1,000 of them",
  better: {},
  repeats: 1,
  isFresh: true,
  variants: (target) => Object.keys(rows).filter((variant) => modeOf(target, variant)),
  baseline: () => undefined,
  setup: (target, variant) => startEither(target, modeOf(target, variant) ?? "", { nodeArgs: hookArgs }),
  async measure(server) {
    const started = (server.stdio ?? server.http)?.started;
    if (!started) throw new Error("no server");
    await call(server, before);
    const first = await readHeap(started);
    const made = await call(server, counted);
    const last = await readHeap(started);
    return {
      growthKb: round(((last.heapKb - first.heapKb) / made) * 1_000),
      heapMb: round(last.heapKb / 1024, 1),
      rssMb: round(last.rssKb / 1024, 1),
      calls: made,
    };
  },
  teardown: (server) => server.close(),
};
