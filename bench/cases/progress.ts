// A tool that reports its progress 1,000 times: notifications per second, over stdio and streams of HTTP.
import type { Case } from "../case.ts";
import { type Server, startEither } from "../drive/either.ts";
import { cpuMs } from "../drive/machine.ts";
import { round } from "../drive/statistics.ts";

const perCall = 1_000;
const calls = 20;
const params = `"name":"progress","arguments":{"count":${perCall}}`;
const token = '"progressToken":9001';

/** How many notifications came with a call. */
async function callOnce(server: Server): Promise<number> {
  if (server.stdio) {
    server.stdio.notifications = 0;
    await server.stdio.callTool("progress", `{"count":${perCall}}`, token);
    return server.stdio.notifications;
  }
  const { text } = await server.ask("tools/call", "progress", params, token);
  if (!text.includes('"done"')) throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
  return text.split('"notifications/progress"').length - 1;
}

export const progress: Case<Server> = {
  name: "progress",
  help: "a tool that reports its progress 1,000 times: notifications per second, over stdio and HTTP",
  better: { perSecond: "high", cpuUs: "low" },
  variants: ({ stdio, http }) => [
    ...(stdio ? ["stdio"] : []),
    ...Object.keys(http ?? {}).filter((mode) => /^(session-sse|modern-(sse|auto))$/.test(mode)),
  ],
  baseline: (variant) => (variant === "stdio" ? "stdio" : "session-sse"),
  setup: (target, variant) => startEither(target, variant),
  async measure(server) {
    for (let i = 0; i < 5; i++) await callOnce(server);
    const cpu = cpuMs(server.pid);
    const started = performance.now();
    let delivered = 0;
    for (let i = 0; i < calls; i++) delivered += await callOnce(server);
    const ms = performance.now() - started;
    return {
      perSecond: round(delivered / (ms / 1000), 0),
      cpuUs: round(((cpuMs(server.pid) - cpu) * 1000) / delivered),
      deliveredPerCall: delivered / calls,
    };
  },
  teardown: (server) => server.close(),
};
