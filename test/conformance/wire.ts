// A bare peer over HTTP, for looking at what a server really sends: JSON-RPC by hand, in a session or without one.
import type { Json, JsonObject } from "plenum";

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

export interface Exchange {
  readonly status: number;
  /** The answer to the request. */
  readonly answer: Message | undefined;
  /** All that came before it: notifications, and requests of the server's. */
  readonly before: readonly Message[];
}

export interface Wire {
  readonly revision: string;
  request(method: string, params?: JsonObject, headers?: { readonly [name: string]: string }): Promise<Exchange>;
  close(): Promise<void>;
}

/** Answers a request of the server's. */
export type Respond = (request: Message) => JsonObject;

const timeoutMs = 10_000;
const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const clientInfo = { name: "conformance-texts", version: "1.0.0" };

function post(url: string, body: unknown, headers: { readonly [name: string]: string }): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
}

/** The messages of a response, as they come. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    if (text) yield JSON.parse(text) as Message;
    return;
  }
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (rest + text).split("\n\n");
    rest = events.pop() as string;
    for (const event of events) {
      const data = event
        .split("\n")
        .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []))
        .join("\n");
      if (data) yield JSON.parse(data) as Message;
    }
  }
}

async function converse(
  url: string,
  request: { readonly id: number; readonly method: string; readonly params: JsonObject },
  headers: { readonly [name: string]: string },
  respond: Respond | undefined,
): Promise<Exchange & { readonly headers: Headers }> {
  const response = await post(url, { jsonrpc: "2.0", ...request }, headers);
  const before: Message[] = [];
  let answer: Message | undefined;
  for await (const message of messagesOf(response)) {
    if (message.id === request.id && !message.method) answer = message;
    else before.push(message);
    if (message.method && message.id !== undefined && respond)
      await post(url, { jsonrpc: "2.0", id: message.id, result: respond(message) }, headers);
  }
  return { status: response.status, answer, before, headers: response.headers };
}

/** A session of 2025-11-25 or older. */
export async function openSession(url: string, revision: string, respond: Respond): Promise<Wire> {
  let id = 0;
  const params = { protocolVersion: revision, capabilities, clientInfo };
  const opened = await converse(url, { id, method: "initialize", params }, {}, undefined);
  const session = opened.headers.get("mcp-session-id");
  if (!session) throw new Error(`initialize was answered without a session: ${JSON.stringify(opened)}`);
  const own = { "Mcp-Session-Id": session, "MCP-Protocol-Version": revision };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, own);
  return {
    revision,
    request: (method, given = {}, headers = {}) =>
      converse(url, { id: ++id, method, params: given }, { ...own, ...headers }, respond),
    async close() {
      await fetch(url, { method: "DELETE", headers: own, signal: AbortSignal.timeout(timeoutMs) });
    },
  };
}

/** Requests of 2026-07-28, each complete in itself. */
export function openStateless(url: string): Wire {
  const revision = "2026-07-28";
  let id = 0;
  return {
    revision,
    request(method, params = {}, headers = {}) {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": clientInfo,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/logLevel": "info",
        ...(params._meta as JsonObject | undefined),
      };
      const name = params.name ?? params.uri;
      const own = {
        "MCP-Protocol-Version": revision,
        "Mcp-Method": method,
        ...(name !== undefined && { "Mcp-Name": String(name) }),
        ...headers,
      };
      return converse(url, { id: ++id, method, params: { ...params, _meta } }, own, undefined);
    },
    async close() {},
  };
}
