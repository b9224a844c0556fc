// tools/list with 1,000 tools of five properties each.
import type { Case } from "../case.ts";
import { type Server, startEither, toolsIn } from "../drive/either.ts";
import { load } from "../drive/http.ts";
import { cpuMs } from "../drive/machine.ts";
import { round } from "../drive/statistics.ts";

const extra = 1_000;

async function loadLists(server: Server, ms: number): Promise<{ perSecond: number; cpuUs: number }> {
  if (server.http) {
    const { peer } = server.http;
    return load(server.http, 4, ms, {
      headers: peer.headers("tools/list"),
      body: (id) => peer.body(id, "tools/list"),
      isRight: ({ status, body }) => status === 200 && body.includes(`tool_${extra - 1}"`),
    });
  }
  const cpu = cpuMs(server.pid);
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < ms) {
    const { text } = await server.ask("tools/list", undefined, "");
    if (!text.includes(`tool_${extra - 1}"`)) throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
    count++;
  }
  const wallMs = performance.now() - started;
  return { perSecond: count / (wallMs / 1000), cpuUs: ((cpuMs(server.pid) - cpu) * 1000) / count };
}

export const list: Case<Server> = {
  name: "list",
  help: "tools/list with 1,000 tools, over stdio one after the other and over HTTP with 4 in flight",
  better: { perSecond: "high", cpuUs: "low" },
  variants: ({ stdio, http }) => [
    ...(stdio ? ["stdio"] : []),
    ...Object.keys(http ?? {}).filter((mode) => !mode.endsWith("node:http")),
  ],
  baseline: (variant) => (variant === "stdio" ? "stdio" : "session-json"),
  async setup(target, variant) {
    const server = await startEither(target, variant, { env: { BENCH_TOOLS: String(extra) } });
    try {
      const { text } = await server.ask("tools/list", undefined, "");
      const count = toolsIn(text).length;
      if (count !== extra + 5) throw new Error(`a list of ${count} tools, not of ${extra + 5}`);
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  },
  async measure(server, { roundMs }) {
    await loadLists(server, roundMs / 4);
    const { perSecond, cpuUs } = await loadLists(server, roundMs);
    return { perSecond: round(perSecond, 1), cpuUs: round(cpuUs, 0) };
  },
  teardown: (server) => server.close(),
};
