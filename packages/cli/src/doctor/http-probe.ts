// Single HTTP requests to the server that is looked at, with headers that no client sends: Host, Origin, wrong types. Answers
// are bounded in size and time; streams are let go after their first event.
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { JsonObject } from "plenum";
import type { HttpAuth } from "plenum/http/client";
import type { UrlSpec } from "../target/spec.ts";
import { isObject, statelessMeta } from "./visit.ts";

export interface ProbeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Probe {
  readonly method?: string;
  /** Over the usual ones; `undefined` leaves one out. */
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly body?: string | undefined;
  /** Another place than the server's. */
  readonly url?: URL;
  /** Without what gives leave. */
  readonly isAnonymous?: boolean;
}

export interface Prober {
  readonly url: URL;
  /** A server of this machine. */
  readonly isLoopback: boolean;
  /** Rejects where there is no answer. */
  send(probe: Probe): Promise<ProbeAnswer>;
  /** A session of its own. Undefined where the server gives none an id, or has none. */
  openSession(): Promise<Session | undefined>;
  /** The request that a conversation begins with. */
  opening(): Probe;
  /** Whether it takes that: a server of HTTP+SSE alone, for one, does not. */
  isStreamable(): Promise<boolean>;
}

export interface Session {
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  end(): Promise<ProbeAnswer>;
}

export interface ProberOptions {
  readonly spec: UrlSpec;
  readonly auth: HttpAuth | undefined;
  /** What the server speaks. */
  readonly revision: string;
  /** The newest that it speaks of those with sessions. */
  readonly sessioned: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const maxText = 256 * 1024;
const loopback = /^(localhost|127(\.\d+){3}|\[::1\]|[\w-]+\.localhost)$/i;

export function isLoopbackHost(hostname: string): boolean {
  return loopback.test(hostname);
}

export function createProber({ spec, auth, revision, sessioned, timeoutMs, signal }: ProberOptions): Prober {
  const server = new URL(spec.url);
  const isStateless = revision >= "2026-07-28";
  const send = async ({
    method = "POST",
    headers = {},
    body,
    url = server,
    isAnonymous = false,
  }: Probe): Promise<ProbeAnswer> => {
    const own = isAnonymous || url.origin !== server.origin ? {} : spec.headers;
    const leave = isAnonymous || !auth ? {} : await auth.authorize({ method, url, server, signal, isUnattended: true });
    const all = { accept: "application/json, text/event-stream", ...own, ...leave };
    const given = body === undefined ? all : { ...all, "content-type": "application/json" };
    return sendOnce(url, { method, headers: compact({ ...given, ...headers }), body, timeoutMs, signal });
  };
  const opening = (): Probe => (isStateless ? toDiscover(revision) : toInitialize(revision));
  let streamable: Promise<boolean> | undefined;
  return {
    isStreamable() {
      streamable ??= send(opening()).then(isTaken, () => false);
      return streamable;
    },
    url: server,
    isLoopback: isLoopbackHost(server.hostname),
    send,
    opening,
    async openSession() {
      if (sessioned === undefined) return undefined;
      const answer = await send(toInitialize(sessioned));
      const id = answer.headers["mcp-session-id"];
      if (typeof id !== "string") return undefined;
      const about = { "mcp-session-id": id, ...(sessioned >= "2025-06-18" && { "mcp-protocol-version": sessioned }) };
      await send({ headers: about, body: toText({ method: "notifications/initialized" }) });
      return { id, headers: about, end: () => send({ method: "DELETE", headers: about }) };
    },
  };
}

export function toText(message: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", ...message });
}

function toInitialize(revision: string): Probe {
  const clientInfo = { name: "plenum-doctor", version: "0" };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return { body: toText({ id: "probe", method: "initialize", params }) };
}

function toDiscover(revision: string): Probe {
  const method = "server/discover";
  return {
    headers: { "mcp-protocol-version": revision, "mcp-method": method },
    body: toText({ id: "probe", method, params: { _meta: statelessMeta(revision) } }),
  };
}

function compact(headers: { readonly [name: string]: string | undefined }): { [name: string]: string } {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

interface Sending {
  readonly method: string;
  readonly headers: { [name: string]: string };
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

function sendOnce(url: URL, { method, headers, body, timeoutMs, signal }: Sending): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    // A connection of its own: what a probe breaks is broken for itself.
    const request = start(url, { method, headers: { ...length, ...headers }, agent: false, signal });
    const timer = setTimeout(() => request.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs);
    request.once("response", (response) => {
      readText(response, timeoutMs).then((text) => {
        clearTimeout(timer);
        request.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.end(body);
  });
}

/** The body; of a stream what comes until its first event is whole, or for a second. */
function readText(response: IncomingMessage, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const isStream = /^text\/event-stream/i.test(response.headers["content-type"] ?? "");
    let text = "";
    const finish = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(finish, isStream ? Math.min(1000, timeoutMs) : timeoutMs);
    response.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.length > maxText || (isStream && /(^|\n)data: ?\{.*\r?\n\r?\n/.test(text))) finish();
    });
    response.once("end", finish).once("error", finish).once("close", finish);
  });
}

/** Whether the server took it for a request of its own: an answer of JSON-RPC that is no refusal. */
export function isTaken(answer: ProbeAnswer): boolean {
  return answer.status < 300 && messageOf(answer)?.result !== undefined;
}

/** The message in an answer, be it JSON or the first event of a stream. */
export function messageOf({ text }: ProbeAnswer): JsonObject | undefined {
  const json = /(?:^|\n)data: ?(\{.*)/.exec(text)?.[1] ?? text;
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
