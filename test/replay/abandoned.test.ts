// Calls that nobody goes on with: the server waits for nothing, and keeps nothing of them.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createMemoryStore } from "plenum/store";
import { expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { modern, Peer } from "../suites/peer.ts";
import { capabilities, toLeg } from "./rounds.ts";
import { createStage, onward } from "./stage.ts";

watchStrays();

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("1,000 abandoned calls leave no memory, no timer and no handler behind", async () => {
  covers("mrtr-no-assumed-retry", modern);
  let running = 0;
  const stateStore = createMemoryStore();
  const kept: string[] = [];
  const { server, errors } = createStage(
    async (ctx) => {
      running++;
      try {
        const ballast = await ctx.step("load", () => "x".repeat(10_000));
        await Promise.all([ctx.elicit("a", z.object({ ok: z.boolean() })), ctx.roots()]);
        await ctx.elicit("b", z.object({ ok: z.boolean() }));
        return ballast;
      } finally {
        running--;
      }
    },
    {
      stateStore: {
        ...stateStore,
        put: (key, ...rest) => {
          kept.push(key);
          return stateStore.put(key, ...rest);
        },
      },
    },
  );
  /** Half of them are abandoned at once, half after one more round. */
  const abandon = async (calls: number): Promise<void> => {
    for (let i = 0; i < calls; i++) {
      const peer = new Peer(server, modern, { capabilities });
      const first = toLeg(await peer.request("tools/call", { name: "run" }));
      expect(first).toBeDefined();
      if (i % 2 === 0) {
        const second = toLeg(await peer.request("tools/call", { name: "run", ...onward(first as never) }));
        expect(second).toBeDefined();
      }
      peer.raw.close();
    }
  };
  await abandon(200);
  const [heapBefore, timersBefore] = [await heap(), timers()];
  await abandon(1000);
  expect(running).toBe(0);
  expect(timers()).toBeLessThanOrEqual(timersBefore);
  // One of them holds 10 kB in its step alone. What the store has to remember is its own.
  expect(kept).toHaveLength(600);
  expect((await heap()) - heapBefore).toBeLessThan(1_500_000);
  expect(errors).toEqual([]);
});
