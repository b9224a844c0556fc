// Clients by hand over HTTP: single requests of 2026-07-28 with their headers, and sessions of the revisions before it.
import type { Revision } from "plenum";
import { expect } from "vitest";
import type { Answer, Message, Obj } from "./answer.ts";
import { type Headers, type Http, jsonHeaders, type Started } from "./harness.ts";

export const modern = "2026-07-28";
/** The revisions with Streamable HTTP and sessions. */
export const sessioned = ["2025-03-26", "2025-06-18", "2025-11-25"] as const satisfies readonly Revision[];
export type Sessioned = (typeof sessioned)[number];

const clientInfo = { name: "by-hand", version: "1.0.0" };

export interface ModernOptions {
  readonly id?: string | number;
  readonly capabilities?: Obj;
  /** Beside those that mirror the body, or in place of them. */
  readonly headers?: Headers;
}

export function modernBody(method: string, params: Obj = {}, { id = 1, capabilities = {} }: ModernOptions = {}): Obj {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": modern,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    ...(params._meta as Obj | undefined),
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

/** The headers that a client sends with a body of 2026-07-28. */
export function modernHeaders({ method, params }: Obj): Headers {
  const { name, uri } = params as { name?: string; uri?: string };
  return {
    ...jsonHeaders,
    "mcp-protocol-version": modern,
    "mcp-method": method as string,
    "mcp-name": name ?? uri,
  };
}

export function startModern(http: Http, method: string, params?: Obj, options: ModernOptions = {}): Started {
  const body = modernBody(method, params, options);
  return http.start({ body, headers: { ...modernHeaders(body), ...options.headers } });
}

export function callModern(http: Http, method: string, params?: Obj, options?: ModernOptions): Promise<Answer> {
  return startModern(http, method, params, options).answer;
}

export const initializeBody = (revision: string, capabilities: Obj = {}, id: string | number = "init"): Obj => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: { protocolVersion: revision, capabilities, clientInfo },
});

/** A session as its client holds it. */
export class Session {
  readonly http: Http;
  readonly revision: string;
  /** Sent with every request. */
  readonly headers: Headers;
  readonly id: string;
  #nextId = 1;

  constructor(http: Http, revision: string, id: string, headers: Headers) {
    this.http = http;
    this.revision = revision;
    this.id = id;
    const version = revision >= "2025-06-18" ? revision : undefined;
    this.headers = { "mcp-session-id": id, "mcp-protocol-version": version, ...headers };
  }

  start(method: string, params?: Obj, id: string | number = this.#nextId++): Started {
    return this.startBody({ jsonrpc: "2.0", id, method, ...(params && { params }) });
  }

  startBody(body: unknown): Started {
    return this.http.start({ body, headers: { ...jsonHeaders, ...this.headers } });
  }

  request(method: string, params?: Obj, id?: string | number): Promise<Answer> {
    return this.start(method, params, id).answer;
  }

  /** Whatever the body is. */
  post(body: unknown, headers?: Headers): Promise<Answer> {
    return this.http.post(body, { ...this.headers, ...headers });
  }

  notify(method: string, params?: Obj): Promise<Answer> {
    return this.post({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Answers a request of the server's. */
  respond({ id }: Message, result: Obj): Promise<Answer> {
    return this.post({ jsonrpc: "2.0", id, result });
  }

  get(headers?: Headers): Promise<Answer> {
    return this.http.get({ ...this.headers, ...headers });
  }

  resume(lastEventId: string | undefined): Promise<Answer> {
    return this.get({ "last-event-id": lastEventId });
  }

  delete(headers?: Headers): Promise<Answer> {
    return this.http.delete({ ...this.headers, ...headers });
  }
}

export interface SessionOpening {
  readonly capabilities?: Obj;
  /** Sent with every request. */
  readonly headers?: Headers;
}

export async function openSession(http: Http, revision: string, opening: SessionOpening = {}): Promise<Session> {
  const answer = await http.post(initializeBody(revision, opening.capabilities), opening.headers);
  expect(answer.status).toBe(200);
  const { protocolVersion } = await answer.result();
  expect(protocolVersion).toBe(revision);
  const session = new Session(http, revision, answer.header("mcp-session-id") as string, opening.headers ?? {});
  expect((await session.notify("notifications/initialized")).status).toBe(202);
  return session;
}
