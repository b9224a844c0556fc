// Sessions over HTTP: how fast they are made, and what one costs while it does nothing.
import { setTimeout as delay } from "node:timers/promises";
import type { Case } from "../case.ts";
import { hookArgs, readHeap } from "../drive/heap.ts";
import { type HttpPeer, type HttpServer, startHttp } from "../drive/http.ts";
import { cpuMs, stayAwake } from "../drive/machine.ts";
import { stop } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";

const wanted = 5_000;
const inFlight = 16;

/** Makes so many, but not for longer than `maxMs`: a server that lets its clients wait gets fewer, not a longer run. */
async function create(peer: HttpPeer, count: number, maxMs: number): Promise<{ made: number; ms: number }> {
  const started = performance.now();
  const ids = new Set<string | undefined>();
  let left = count;
  let made = 0;
  const worker = async (): Promise<void> => {
    const connection = peer.connection();
    while (left-- > 0 && performance.now() - started < maxMs) {
      ids.add(await peer.initialize(connection));
      made++;
    }
    connection.close();
  };
  const rest = stayAwake();
  try {
    await Promise.all(Array.from({ length: inFlight }, worker));
  } finally {
    rest();
  }
  if (ids.size !== made) throw new Error(`only ${ids.size} of ${made} sessions have an id of their own`);
  return { made, ms: performance.now() - started };
}

export const sessions: Case<HttpServer> = {
  name: "sessions",
  help: "sessions over HTTP: made per second (initialize and initialized), and the memory of one that is idle",
  better: { perSecond: "high", cpuUs: "low", heapKb: "low", rssKb: "low" },
  isPaired: true,
  repeats: 5,
  isFresh: true,
  variants: ({ http }) => ["session-json", "session-sse"].filter((mode) => http?.[mode]).slice(0, 1),
  baseline: () => "session-json",
  setup: (target, mode) => startHttp(target, mode, { nodeArgs: hookArgs }),
  async measure({ peer, started, pid }) {
    // To warm it up; together they stay below what a server holds by default.
    await create(peer, 3_000, 4_000);
    await delay(300);
    const before = await readHeap(started);
    const cpu = cpuMs(pid);
    const { made, ms } = await create(peer, wanted, 15_000);
    const cpuUs = ((cpuMs(pid) - cpu) * 1000) / made;
    await delay(500);
    const after = await readHeap(started);
    return {
      perSecond: round(made / (ms / 1000), 0),
      cpuUs: round(cpuUs),
      heapKb: round((after.heapKb - before.heapKb) / made),
      rssKb: round((after.rssKb - before.rssKb) / made),
      made,
    };
  },
  teardown: ({ started }) => stop(started),
};
