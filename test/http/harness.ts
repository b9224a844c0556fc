// A server over HTTP on either feed, and a client that is nothing but HTTP: it sends what it is told and reads what comes,
// JSON or events, each wait bounded. Whatever a test leaves open is closed after it.
import { createServer, type IncomingMessage, type ServerResponse, request as startRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { Endpoint } from "plenum";
import { type HttpOptions, toFetchHandler } from "plenum/http";
import { serveHttp } from "plenum/http/node";
import { afterEach } from "vitest";
import { Answer, type Obj, within } from "./answer.ts";

/** `node`: straight from node:http. `web`: Request and Response, behind a server of the test's own. */
export type Feed = "node" | "web";
export const feeds: readonly Feed[] = ["node", "web"];

/** A header that is undefined is not sent, be it one that is sent otherwise. */
export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

export interface Sending {
  readonly method?: string;
  /** Default: where MCP is. */
  readonly path?: string;
  readonly headers?: Headers;
  /** Text as it is, other values as JSON. */
  readonly body?: unknown;
}

/** A request under way. */
export interface Started {
  readonly answer: Promise<Answer>;
  /** Cuts the connection, answered or not. */
  drop(): void;
}

export interface Http {
  readonly feed: Feed;
  readonly url: string;
  readonly port: number;
  /** Sends a message as a client would, JSON and with the right Accept. */
  post(body: unknown, headers?: Headers): Promise<Answer>;
  get(headers?: Headers): Promise<Answer>;
  delete(headers?: Headers): Promise<Answer>;
  /** Sends what is given and no header besides. */
  send(sending: Sending): Promise<Answer>;
  start(sending: Sending): Started;
  disconnect(retryMs?: number): void;
  close(graceMs?: number): Promise<void>;
}

const open = new Set<{ close(graceMs?: number): Promise<void> }>();
const started = new Set<Started>();

afterEach(async () => {
  for (const one of started) one.drop();
  started.clear();
  const all = [...open];
  open.clear();
  await Promise.all(all.map((one) => one.close(0)));
});

export const jsonHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Serves on 127.0.0.1, a port that is free, the path /mcp. */
export async function openHttp(endpoint: Endpoint, options: HttpOptions = {}, feed: Feed = "node"): Promise<Http> {
  const opened = await (feed === "node" ? openNode : openWeb)(endpoint, options);
  return toHttp(opened, feed, options.path);
}

/** What a test has opened itself on 127.0.0.1. It is closed after the test. */
export function toHttp({ port, ...serving }: Opened, feed: Feed = "node", path = "/mcp"): Http {
  function start({ method = "POST", path: to = path, headers = {}, body }: Sending): Started {
    const given = Object.entries(headers).filter((entry): entry is [string, string | string[]] => Boolean(entry[1]));
    const request = startRequest({
      ...{ host: "127.0.0.1", port, path: to, method, agent: false, headers: Object.fromEntries(given) },
    });
    const answer = new Promise<Answer>((resolve, reject) => {
      request.on("response", (response) => resolve(new Answer(response)));
      request.on("error", reject);
    });
    answer.catch(() => {});
    if (body === undefined) request.end();
    else request.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
    const one: Started = { answer: within(answer, `${method} ${to} was not answered`), drop: () => request.destroy() };
    one.answer.catch(() => {});
    started.add(one);
    return one;
  }

  const send = (sending: Sending): Promise<Answer> => start(sending).answer;
  const http: Http = {
    feed,
    port,
    url: `http://127.0.0.1:${port}${path}`,
    ...serving,
    start,
    send,
    post: (body, headers) => send({ body, headers: { ...jsonHeaders, ...headers } }),
    get: (headers) => send({ method: "GET", headers: { accept: "text/event-stream", ...headers } }),
    delete: (headers) => send({ method: "DELETE", headers: headers ?? {} }),
  };
  open.add(http);
  return http;
}

export type Opened = Pick<Http, "port" | "close" | "disconnect">;

async function openNode(endpoint: Endpoint, options: HttpOptions): Promise<Opened> {
  const { port, close, disconnect } = await serveHttp(endpoint, options);
  return { port, close, disconnect };
}

/** What a runtime that speaks fetch does around a handler, on node:http. */
async function openWeb(endpoint: Endpoint, options: HttpOptions): Promise<Opened> {
  const handler = toFetchHandler(endpoint, { path: "/mcp", ...options });
  const server = createServer((request, response) => {
    bridge(handler, request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    disconnect: handler.disconnect,
    async close(graceMs) {
      await handler.close(graceMs);
      const closed = new Promise((resolve) => server.close(resolve));
      // What was answered last is on its way.
      const timer = setTimeout(() => server.closeAllConnections(), 200);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function bridge(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  outgoing.on("error", () => {});
  const headers: [string, string][] = [];
  for (let i = 0; i < incoming.rawHeaders.length; i += 2)
    headers.push([incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string]);
  const { method = "GET", url = "/" } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const init = { method, headers, signal: gone.signal };
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" as const } : {};
  const { host = "127.0.0.1" } = incoming.headers;
  const response = await handle(new Request(new URL(url, `http://${host}`), { ...init, ...body }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  let drain = (): void => {};
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      drain = resolve;
    });
  outgoing.on("drain", () => drain()).on("close", () => drain());
  gone.signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done) break;
      if (!outgoing.write(value) && !gone.signal.aborted) await drained();
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

/** Waits until it holds; fails with the words given if it never does. */
export async function until(holds: () => boolean, what: string, limitMs = 5000): Promise<void> {
  for (const end = Date.now() + limitMs; !holds(); await pause(5))
    if (Date.now() > end) throw new Error(`Never came true: ${what}`);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export { Answer, type Obj, within };
