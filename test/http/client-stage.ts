// HTTP servers by hand, for the client: the test says what becomes of each request, and looks at what was sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, type ClientOptions, connect, McpError, type Revision } from "plenum";
import { type HttpTargetOptions, httpTarget } from "plenum/http/client";
import { expect, onTestFinished } from "vitest";

export type Obj = { readonly [key: string]: unknown };

/** One HTTP request, whole. */
export interface Seen {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The body as JSON; undefined where there is none. */
  readonly body: Obj | undefined;
  /** The method of the message in it. */
  readonly method: string | undefined;
  readonly id: string | number | undefined;
  readonly at: number;
  /** Settles when the client closes the connection before the answer is complete. */
  readonly gone: Promise<void>;
}

export type Handler = (seen: Seen, res: ServerResponse) => unknown;

export interface Stage {
  readonly url: string;
  readonly origin: string;
  readonly seen: Seen[];
  /** Methods of the posted messages in order, and other verbs: "initialize", "GET". */
  readonly order: string[];
  of(what: string): Seen[];
  /** Settles when that many of a kind have come; gives the last of them. */
  heard(what: string, count?: number): Promise<Seen>;
  /** Ends all connections, as a server that dies does. */
  cut(): void;
}

const nameOf = ({ verb, method }: Seen): string => (verb === "POST" ? (method ?? "answer") : verb);

const taken = new Set<number>();

/** On a port that no server before has had: what a client has learned of an address it keeps. */
async function listenAnew(server: Server): Promise<number> {
  for (;;) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    if (!taken.has(port)) {
      taken.add(port);
      return port;
    }
    await new Promise((resolve) => server.close(resolve));
  }
}

export async function serveScript(handle: Handler): Promise<Stage> {
  const seen: Seen[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk);
    } catch {
      return;
    }
    const text = Buffer.concat(chunks).toString();
    const body = text === "" ? undefined : JSON.parse(text);
    const one: Seen = {
      verb: req.method ?? "",
      path: req.url ?? "",
      headers: req.headers,
      body,
      method: body?.method,
      id: body?.id,
      at: performance.now(),
      gone: new Promise((resolve) => res.on("close", () => !res.writableFinished && resolve())),
    };
    seen.push(one);
    for (const look of waiting) look();
    await handle(one, res);
  });
  const port = await listenAnew(server);
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const origin = `http://127.0.0.1:${port}`;
  const of = (what: string): Seen[] => seen.filter((one) => nameOf(one) === what);
  return {
    url: `${origin}/mcp`,
    origin,
    seen,
    of,
    get order() {
      return seen.map(nameOf);
    },
    heard: (what, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = of(what)[count - 1];
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    cut: () => server.closeAllConnections(),
  };
}

export function json(res: ServerResponse, status: number, body?: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { ...(body !== undefined && { "content-type": "application/json" }), ...headers });
  res.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Begins a stream of events. */
export function events(res: ServerResponse, headers: Record<string, string> = {}) {
  res.writeHead(200, { "content-type": "text/event-stream", ...headers });
  res.flushHeaders();
  return {
    raw: (text: string) => void res.write(text),
    send: (message: unknown, id?: string) =>
      void res.write(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`),
    end: () => void res.end(),
    /** Not in order: the connection breaks. */
    cut: () => void res.destroy(),
  };
}

export const result = (id: unknown, value: Obj): Obj => ({ jsonrpc: "2.0", id, result: value });
export const failure = (id: unknown, code: number, message = "no", data?: unknown): Obj => ({
  jsonrpc: "2.0",
  ...(id !== undefined && { id }),
  error: { code, message, ...(data !== undefined && { data }) },
});
export const text = (words: string): Obj => ({ content: [{ type: "text", text: words }] });

const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {} };

export const discovered = (supported: readonly string[] = ["2026-07-28"]): Obj => ({
  resultType: "complete",
  supportedVersions: supported,
  capabilities,
  ttlMs: 0,
  cacheScope: "private",
});

/** A server of 2026-07-28. What the handler returns true for is dealt with. */
export function modern(handle: Handler, tools: () => readonly Obj[] = () => []): Handler {
  return async (seen, res) => {
    if (await handle(seen, res)) return;
    if (seen.verb !== "POST") json(res, 405);
    else if (seen.method === "server/discover") json(res, 200, result(seen.id, discovered()));
    else if (seen.method === "tools/list")
      json(res, 200, result(seen.id, { resultType: "complete", tools: tools(), ttlMs: 0, cacheScope: "private" }));
    else if (seen.method === "tools/call") json(res, 200, result(seen.id, { resultType: "complete", ...text("done") }));
    else json(res, 404, failure(seen.id, -32601));
  };
}

export interface SessionOptions {
  readonly revision?: Revision;
  /** The id of the nth session; undefined for none. */
  readonly session?: (count: number) => string | undefined;
}

export const initialized = (revision: Revision): Obj => ({
  protocolVersion: revision,
  capabilities,
  serverInfo: { name: "by hand", version: "1" },
});

/** A server of the sessioned era, which knows the newest session alone. What the handler returns true for is dealt with. */
export function sessioned(handle: Handler, options: SessionOptions = {}): Handler {
  const { revision = "2025-11-25", session = (count) => `session-${count}` } = options;
  let count = 0;
  return async (seen, res) => {
    if (await handle(seen, res)) return;
    if (seen.method === "server/discover") json(res, 400, failure(undefined, -32000, "Server not initialized"));
    else if (seen.method === "initialize") {
      const id = session(++count);
      json(res, 200, result(seen.id, initialized(revision)), id === undefined ? {} : { "mcp-session-id": id });
    } else if (seen.verb === "GET") json(res, 405);
    else if (seen.verb === "DELETE") json(res, 200);
    else if (seen.id === undefined || seen.method === undefined) json(res, 202);
    else if (seen.method === "tools/list") json(res, 200, result(seen.id, { tools: [] }));
    else if (seen.method === "prompts/list") json(res, 200, result(seen.id, { prompts: [] }));
    else if (seen.method === "tools/call") json(res, 200, result(seen.id, text("done")));
    else json(res, 200, result(seen.id, {}));
  };
}

export interface Told {
  readonly client: Client;
  readonly states: string[];
  readonly warnings: string[];
}

/** A client that is closed when the test ends, and what it tells. */
export async function reach(target: string | HttpTargetOptions, options: ClientOptions = {}): Promise<Told> {
  const states: string[] = [];
  const warnings: string[] = [];
  const client = await connect(httpTarget(typeof target === "string" ? { url: target } : target), {
    onStateChange: (state) => states.push(state),
    onWarning: (problem) => warnings.push(problem),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, states, warnings };
}

/** The error that a promise is rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    (value) => expect.fail(`expected an error, not ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(McpError);
  return error as McpError;
}
