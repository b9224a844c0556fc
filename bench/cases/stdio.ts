// tools/call over stdio: what a call costs the server with 64 in flight, and how long one takes alone.
import type { Case } from "../case.ts";
import { cpuMs } from "../drive/machine.ts";
import { percentiles, round } from "../drive/statistics.ts";
import { type StdioPeer, startStdio } from "../drive/stdio.ts";

const inFlight = 64;

export const stdio: Case<StdioPeer> = {
  name: "stdio",
  help: "tools/call over stdio: 64 in flight, and one after the other",
  better: { cpuUs: "low", perSecond: "high", sequentialP50Us: "low", sequentialPerSecond: "high" },
  variants: (target) => (target.stdio ? ["stdio"] : []),
  async setup(target) {
    const peer = await startStdio(target);
    try {
      await peer.pipeline(5_000, inFlight);
      return peer;
    } catch (error) {
      await peer.close();
      throw error;
    }
  },
  async measure(peer, { roundMs }) {
    const times: number[] = [];
    const started = performance.now();
    while (performance.now() - started < roundMs / 2) {
      const text = `alone-${times.length}`;
      const sent = performance.now();
      const result = await peer.callTool("echo", `{"text":"${text}"}`);
      times.push(performance.now() - sent);
      if (result.content?.[0]?.text !== text) throw new Error(`a wrong answer: ${JSON.stringify(result)}`);
    }
    const aloneMs = performance.now() - started;
    const { p50Us, p99Us } = percentiles(times);
    // By count, not by time: the driver only looks at the clock between chunks.
    const count = Math.max(2_000, roundMs * 10);
    const cpu = cpuMs(peer.pid);
    const ms = await peer.pipeline(count, inFlight);
    return {
      cpuUs: round(((cpuMs(peer.pid) - cpu) * 1000) / count),
      perSecond: round(count / (ms / 1000), 0),
      sequentialPerSecond: round(times.length / (aloneMs / 1000), 0),
      sequentialP50Us: p50Us,
      sequentialP99Us: p99Us,
    };
  },
  teardown: (peer) => peer.close(),
};
