// What a call costs with 1,000 tools beside what it costs with 10: two servers, loaded in turn, CPU time of each.
import type { Case, Target } from "../case.ts";
import { type Server, startEither } from "../drive/either.ts";
import { load, warm } from "../drive/http.ts";
import { cpuMs } from "../drive/machine.ts";
import { median, round } from "../drive/statistics.ts";

const inFlight = 64;
const turns = 6;
/** The tools that every server has. */
const own = 5;

interface Pair {
  readonly few: Server;
  readonly many: Server;
}

const start = (target: Target, variant: string, tools: number): Promise<Server> =>
  startEither(target, variant, { env: { BENCH_TOOLS: String(tools - own) } });

/** CPU time of one call, in microseconds. */
async function costOf(server: Server, ms: number): Promise<number> {
  if (server.http) return (await load(server.http, inFlight, ms, server.http.peer.echo())).cpuUs;
  const count = Math.max(1_000, Math.round(ms * 10));
  const cpu = cpuMs(server.pid);
  await server.stdio?.pipeline(count, inFlight);
  return ((cpuMs(server.pid) - cpu) * 1000) / count;
}

async function close({ few, many }: Pair): Promise<void> {
  await few.close();
  await many.close();
}

export const calls: Case<Pair> = {
  name: "calls",
  help: "what a call costs with 1,000 tools beside what it costs with 10 (growth), over HTTP and stdio",
  better: { growth: "low" },
  variants: ({ stdio, http }) => [
    ...(stdio ? ["stdio"] : []),
    ...["modern-json", "modern-auto", "modern-sse", "session-json", "session-sse"]
      .filter((mode) => http?.[mode])
      .slice(0, 1),
  ],
  // It is a ratio already.
  baseline: () => undefined,
  async setup(target, variant, { roundMs }) {
    const few = await start(target, variant, 10);
    const many = await start(target, variant, 1_000).catch(async (error) => {
      await few.close();
      throw error;
    });
    try {
      for (const { http, stdio } of [few, many]) {
        if (http) await warm(http, 2 * roundMs);
        await stdio?.pipeline(10_000, inFlight);
      }
    } catch (error) {
      await close({ few, many });
      throw error;
    }
    return { few, many };
  },
  async measure({ few, many }, { roundMs }) {
    const fewUs: number[] = [];
    const manyUs: number[] = [];
    for (let i = 0; i < turns; i++) {
      // Neither is always the first.
      if (i % 2) manyUs.push(await costOf(many, roundMs / turns));
      fewUs.push(await costOf(few, roundMs / turns));
      if (i % 2 === 0) manyUs.push(await costOf(many, roundMs / turns));
    }
    const growth = median(manyUs.map((value, i) => value / (fewUs[i] ?? Number.NaN)));
    return { growth: round(growth, 3), fewCpuUs: round(median(fewUs)), manyCpuUs: round(median(manyUs)) };
  },
  teardown: close,
};
