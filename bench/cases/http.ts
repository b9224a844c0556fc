// tools/call over HTTP in every mode of a target: 64 in flight, and one after the other.
import type { Case } from "../case.ts";
import { type HttpServer, load, startHttp, warm } from "../drive/http.ts";
import { rssMb } from "../drive/machine.ts";
import { stop } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";

export const http: Case<HttpServer> = {
  name: "http",
  help: "tools/call over HTTP, every mode: 64 in flight, and one after the other",
  better: { cpuUs: "low", perSecond: "high", sequentialP50Us: "low", sequentialPerSecond: "high" },
  variants: (target) => Object.keys(target.http ?? {}),
  isPaired: true,
  // One process may be a fifth slower than the next for as long as it lives: by when its engine first collects all garbage,
  // what Node does for each of its ticks is compiled well or not.
  isFresh: true,
  repeats: 5,
  // All modes stand beside the same floor.
  baseline: () => "session-json",
  async setup(target, mode, { roundMs }) {
    const server = await startHttp(target, mode);
    try {
      await warm(server, 2 * roundMs);
      return server;
    } catch (error) {
      await stop(server.started);
      throw error;
    }
  },
  async measure(server, { roundMs }) {
    const echo = server.peer.echo();
    const alone = await load(server, 1, roundMs / 2, echo);
    const all = await load(server, 64, roundMs, echo);
    return {
      cpuUs: round(all.cpuUs),
      perSecond: round(all.perSecond, 0),
      p50Us: all.p50Us,
      p99Us: all.p99Us,
      driverCpuUs: round(all.driverCpuUs),
      sequentialPerSecond: round(alone.perSecond, 0),
      sequentialP50Us: alone.p50Us,
      rssMb: round(rssMb(server.pid), 1),
    };
  },
  teardown: ({ started }) => stop(started),
};
