// A server over stdio or HTTP, for cases that have a variant for each.
import type { Target } from "../case.ts";
import { describe, type HttpServer, messagesOf, startHttp } from "./http.ts";
import type { HttpConnection } from "./http-connection.ts";
import { type StartOptions, stop } from "./process.ts";
import { type StdioPeer, startStdio } from "./stdio.ts";

export interface Exchange {
  /** The answer as it came: one line, or the body. */
  readonly text: string;
  readonly ms: number;
}

/** `http` is there if the variant is a mode of HTTP, `stdio` if not. */
export interface Server {
  readonly pid: number;
  readonly stdio?: StdioPeer;
  readonly http?: HttpServer;
  /** One request, on the same connection each time. `params` are the members of the params. */
  ask(method: string, name: string | undefined, params: string, meta?: string): Promise<Exchange>;
  close(): Promise<void>;
}

export async function startEither(target: Target, variant: string, options: StartOptions = {}): Promise<Server> {
  if (variant !== "stdio") return overHttp(await startHttp(target, variant, options));
  return overStdio(await startStdio(target, options));
}

function overHttp(http: HttpServer): Server {
  let connection: HttpConnection | undefined;
  return {
    pid: http.pid,
    http,
    async ask(method, name, params, meta) {
      connection ??= http.peer.connection();
      const body = http.peer.body(http.peer.nextId(), method, params, meta);
      const started = performance.now();
      const answer = await connection.post(http.peer.headers(method, name), body);
      const ms = performance.now() - started;
      return { text: answer.status === 200 ? answer.body : describe(answer), ms };
    },
    async close() {
      connection?.close();
      await stop(http.started);
    },
  };
}

function overStdio(stdio: StdioPeer): Server {
  return {
    pid: stdio.pid,
    stdio,
    async ask(method, _, params, meta) {
      const members = [params, meta && `"_meta":{${meta}}`].filter(Boolean).join(",");
      const started = performance.now();
      const text = await stdio.requestLine(method, `{${members}}`);
      return { text, ms: performance.now() - started };
    },
    close: () => stdio.close(),
  };
}

/** The tools of a list, in an answer as it came. */
export function toolsIn(text: string): readonly { readonly name: string }[] {
  const isStream = !text.startsWith("{");
  const messages = messagesOf({ status: 200, isStream, session: undefined, body: text, bytes: text.length });
  const tools = messages.at(-1)?.result?.tools;
  if (!Array.isArray(tools)) throw new Error(`tools/list: ${text.slice(0, 300)}`);
  return tools;
}
