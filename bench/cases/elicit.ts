// A tool that asks its user one question: in a session, where the question comes on the stream of the call and is answered by a
// POST, and without one (2026-07-28), where the call is made again with the answer.
import { baselineName, type Case, type Target } from "../case.ts";
import { describe, type HttpServer, initializeParams, type Message, messagesOf, startHttp } from "../drive/http.ts";
import type { HttpConnection } from "../drive/http-connection.ts";
import { cpuMs, stayAwake } from "../drive/machine.ts";
import { stop } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";

const inFlight = 16;
const rounds: { readonly [variant: string]: { readonly modes: readonly string[]; readonly run: Round } } = {
  "in a session": { modes: ["session-sse"], run: runInSession },
  "2026-07-28": { modes: ["modern-json", "modern-auto"], run: runAnew },
};

/** What can ask, and says so in peers/common.mjs. */
const able = [baselineName, "plenum", "v1", "v2"];

type Round = (server: HttpServer, near: HttpConnection, beside: HttpConnection) => Promise<void>;

interface Ready extends HttpServer {
  readonly run: Round;
}

const capabilities = '{"elicitation":{}}';
const accepted = '{"action":"accept","content":{"confirm":true}}';

function modeOf({ name, http, programs }: Target, variant: string): string | undefined {
  if (!able.includes(name)) return undefined;
  return rounds[variant]?.modes.find((mode) => programs?.elicit?.[mode] ?? (http?.[mode] && name !== baselineName));
}

/** A session of a client that can be asked. */
async function openSession({ peer }: HttpServer): Promise<void> {
  const connection = peer.connection();
  const params = initializeParams.replace('"capabilities":{}', `"capabilities":${capabilities}`);
  const body = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":${params}}`;
  const { session } = await connection.post(peer.headers("initialize", undefined, ""), body);
  peer.session = session;
  const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const answer = await connection.post(peer.headers("notifications/initialized"), note);
  connection.close();
  if (answer.status >= 300 || !session) throw new Error(`initialized: ${describe(answer)}`);
}

function assertAccepted(message: Message | undefined, id: number): void {
  const text = JSON.stringify(message ?? null);
  if (message?.id !== id || !text.includes('"text":"accept"')) throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
}

async function runInSession({ peer }: HttpServer, near: HttpConnection, beside: HttpConnection): Promise<void> {
  const id = peer.nextId();
  let text = "";
  let reply: Promise<unknown> | undefined;
  const answer = await near.post(
    peer.headers("tools/call", "ask"),
    peer.body(id, "tools/call", '"name":"ask","arguments":{}'),
    (part) => {
      if (reply) return;
      text += part.toString("latin1");
      const question = /^data:(.*"elicitation\/create".*)\n/m.exec(text)?.[1];
      if (!question) return;
      const asked = JSON.parse(question) as Message;
      const body = `{"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},"result":${accepted}}`;
      reply = beside.post(peer.headers("response"), body);
      // Whoever waits for it may have failed before.
      reply.catch(() => {});
    },
  );
  if (!reply) throw new Error(`nothing was asked: ${describe(answer)}`);
  await reply;
  assertAccepted(messagesOf(answer).at(-1), id);
}

async function runAnew({ peer }: HttpServer, near: HttpConnection): Promise<void> {
  const call = async (more: string): Promise<[number, Message | undefined]> => {
    const id = peer.nextId();
    const body = peer.body(id, "tools/call", `"name":"ask","arguments":{}${more}`);
    const answer = await near.post(
      peer.headers("tools/call", "ask"),
      body.replace('clientCapabilities":{}', `clientCapabilities":${capabilities}`),
    );
    return [id, messagesOf(answer).at(-1)];
  };
  const [, first] = await call("");
  const { inputRequests, requestState } = first?.result ?? {};
  const [name] = Object.keys((inputRequests as object | undefined) ?? {});
  if (!name) throw new Error(`nothing was asked: ${JSON.stringify(first).slice(0, 300)}`);
  const state = requestState === undefined ? "" : `,"requestState":${JSON.stringify(requestState)}`;
  const [id, second] = await call(`,"inputResponses":{${JSON.stringify(name)}:${accepted}}${state}`);
  assertAccepted(second, id);
}

async function load(ready: Ready, ms: number): Promise<{ count: number; wallMs: number; cpuUs: number }> {
  const { peer, pid, run } = ready;
  const cpu = cpuMs(pid);
  const started = performance.now();
  let count = 0;
  const worker = async (): Promise<void> => {
    const [near, beside] = [peer.connection(), peer.connection()];
    try {
      while (performance.now() - started < ms) {
        await run(ready, near, beside);
        count++;
      }
    } finally {
      near.close();
      beside.close();
    }
  };
  const rest = stayAwake();
  try {
    await Promise.all(Array.from({ length: inFlight }, worker));
  } finally {
    rest();
  }
  return { count, wallMs: performance.now() - started, cpuUs: ((cpuMs(pid) - cpu) * 1000) / count };
}

export const elicit: Case<Ready> = {
  name: "elicit",
  help: `a tool that asks one question, ${inFlight} in flight: rounds of call, question, answer and result`,
  better: { cpuUs: "low", perSecond: "high" },
  variants: (target) => Object.keys(rounds).filter((variant) => modeOf(target, variant)),
  async setup(target, variant, { roundMs }) {
    const mode = modeOf(target, variant) ?? "";
    const http = { ...target.http, ...target.programs?.elicit };
    const server = await startHttp({ ...target, http }, mode, { env: { BENCH_ASK: "1" } });
    const ready = { ...server, run: (rounds[variant] as { run: Round }).run };
    try {
      if (!server.peer.isModern) await openSession(server);
      await load(ready, roundMs);
    } catch (error) {
      await stop(server.started);
      throw error;
    }
    return ready;
  },
  async measure(ready, { roundMs }) {
    const { count, wallMs, cpuUs } = await load(ready, roundMs);
    return { cpuUs: round(cpuUs), perSecond: round(count / (wallMs / 1000), 0) };
  },
  teardown: ({ started }) => stop(started),
};
