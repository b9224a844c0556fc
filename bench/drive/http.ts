// How the driver speaks MCP over HTTP: the headers and messages of a mode, a started server, and load on it.
import type { Target } from "../case.ts";
import { type Answer, HttpConnection } from "./http-connection.ts";
import { cpuMs, stayAwake } from "./machine.ts";
import { findPort, type Started, type StartOptions, startProgram, stop, waitForPort } from "./process.ts";
import { percentiles } from "./statistics.ts";

export const modern = "2026-07-28";
export const legacy = "2025-11-25";

/** Only what the driver looks at. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: unknown;
}

export interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
}

const clientInfo = '{"name":"bench","version":"1.0.0"}';
const envelope =
  `"io.modelcontextprotocol/protocolVersion":"${modern}","io.modelcontextprotocol/clientInfo":${clientInfo},` +
  '"io.modelcontextprotocol/clientCapabilities":{}';
export const initializeParams = `{"protocolVersion":"${legacy}","capabilities":{},"clientInfo":${clientInfo}}`;

/** All messages of an answer, a body or a stream. */
export function messagesOf({ isStream, body }: Answer): Message[] {
  if (!isStream) return body ? [JSON.parse(body) as Message] : [];
  const messages: Message[] = [];
  for (let at = body.indexOf("data:"); at >= 0; at = body.indexOf("data:", at)) {
    let end = body.indexOf("\n", at);
    if (end < 0) end = body.length;
    const isField = at === 0 || body.charCodeAt(at - 1) === 10;
    const data = isField ? body.slice(at + 5, end).trim() : "";
    if (data) messages.push(JSON.parse(data) as Message);
    at = isField ? end : at + 5;
  }
  return messages;
}

/** What one kind of request is made of, and whether an answer is right. */
export interface Request {
  readonly headers: string;
  body(id: number): string;
  isRight(answer: Answer, id: number): boolean;
}

/** A server as one mode speaks to it. */
export class HttpPeer {
  readonly port: number;
  readonly isModern: boolean;
  /** The session that requests belong to. */
  session: string | undefined;
  #version: string;
  #nextId = 1;

  constructor(port: number, mode: string) {
    this.port = port;
    this.isModern = mode.startsWith("modern");
    this.#version = this.isModern ? modern : legacy;
  }

  connection(): HttpConnection {
    return new HttpConnection(this.port, "/mcp");
  }

  nextId(): number {
    return this.#nextId++;
  }

  headers(method: string, name?: string, session: string | undefined = this.session): string {
    let lines = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    if (method !== "initialize") lines += `MCP-Protocol-Version: ${this.#version}\r\n`;
    if (this.isModern) lines += `Mcp-Method: ${method}\r\n${name ? `Mcp-Name: ${name}\r\n` : ""}`;
    return session ? `${lines}Mcp-Session-Id: ${session}\r\n` : lines;
  }

  /** `params` are the members of the params, without their braces; `meta` those of `_meta`. */
  body(id: number, method: string, params = "", meta = ""): string {
    const whole = [this.isModern ? envelope : "", meta].filter(Boolean).join(",");
    const members = [params, whole && `"_meta":{${whole}}`].filter(Boolean).join(",");
    return `{"jsonrpc":"2.0","id":${id},"method":"${method}"${members ? `,"params":{${members}}` : ""}}`;
  }

  /** Opens a session; gives its id. */
  async initialize(connection: HttpConnection): Promise<string | undefined> {
    const first = await connection.post(
      this.headers("initialize", undefined, ""),
      `{"jsonrpc":"2.0","id":0,"method":"initialize","params":${initializeParams}}`,
    );
    const result = first.status === 200 ? messagesOf(first).find(({ id }) => id === 0)?.result : undefined;
    if (!result) throw new Error(`initialize: ${describe(first)}`);
    this.#version = String(result.protocolVersion);
    const second = await connection.post(
      this.headers("notifications/initialized", undefined, first.session ?? ""),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    );
    if (second.status >= 300) throw new Error(`initialized: ${describe(second)}`);
    return first.session;
  }

  async request(connection: HttpConnection, method: string, name?: string, params?: string): Promise<Message> {
    const id = this.nextId();
    const answer = await connection.post(this.headers(method, name), this.body(id, method, params));
    const message = messagesOf(answer).find((one) => one.id === id);
    if (!message?.result) throw new Error(`${method}: ${describe(answer)}`);
    return message;
  }

  /** A call of the tool `echo`, whose answer is looked at. */
  echo(): Request {
    return {
      headers: this.headers("tools/call", "echo"),
      body: (id) => this.body(id, "tools/call", `"name":"echo","arguments":{"text":"msg-${id}"}`),
      isRight: (answer, id) => {
        const last = messagesOf(answer).at(-1);
        return last?.id === id && (last.result as ToolResult | undefined)?.content?.[0]?.text === `msg-${id}`;
      },
    };
  }
}

export function describe({ status, body }: Answer): string {
  return `HTTP ${status} ${body.slice(0, 300)}`;
}

export interface HttpServer {
  readonly started: Started;
  readonly peer: HttpPeer;
  readonly pid: number;
}

/** Starts a target's server in one of its modes, and opens a session where the mode has one. */
export async function startHttp(target: Target, mode: string, options: StartOptions = {}): Promise<HttpServer> {
  const program = target.http?.[mode];
  if (!program) throw new Error(`${target.name} does not serve ${mode}`);
  const port = await findPort();
  const started = startProgram(target, program, { ...options, port });
  try {
    await waitForPort(port, started);
    const peer = new HttpPeer(port, mode);
    if (mode.startsWith("session")) {
      const connection = peer.connection();
      peer.session = await peer.initialize(connection);
      connection.close();
      if (!peer.session) throw new Error("the answer to initialize has no Mcp-Session-Id");
    }
    return { started, peer, pid: started.pid };
  } catch (error) {
    await stop(started);
    throw error;
  }
}

export interface Load {
  readonly count: number;
  readonly perSecond: number;
  /** Of the server, for one request. */
  readonly cpuUs: number;
  /** Of this process, for one request. */
  readonly driverCpuUs: number;
  readonly p50Us: number | null;
  readonly p99Us: number | null;
}

/** So many connections, one request in flight on each, for so long. */
export async function load({ peer, pid }: HttpServer, inFlight: number, ms: number, request: Request): Promise<Load> {
  const times: number[] = [];
  const cpu = cpuMs(pid);
  const own = process.cpuUsage();
  const started = performance.now();
  const worker = async (): Promise<void> => {
    const connection = peer.connection();
    try {
      while (performance.now() - started < ms) {
        const id = peer.nextId();
        const sent = performance.now();
        const answer = await connection.post(request.headers, request.body(id));
        times.push(performance.now() - sent);
        if (!request.isRight(answer, id)) throw new Error(`a wrong answer to request ${id}: ${describe(answer)}`);
      }
    } finally {
      connection.close();
    }
  };
  const rest = inFlight > 1 ? stayAwake() : undefined;
  try {
    await Promise.all(Array.from({ length: inFlight }, worker));
  } finally {
    rest?.();
  }
  const count = times.length;
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(own);
  return {
    count,
    perSecond: count / (wallMs / 1000),
    cpuUs: ((cpuMs(pid) - cpu) * 1000) / count,
    driverCpuUs: (user + system) / count,
    ...percentiles(times),
  };
}

/** Load until the code of a server has been compiled, but not much longer than `maxMs`, or a second if that is less. */
export async function warm(server: HttpServer, maxMs: number, request: Request = server.peer.echo()): Promise<void> {
  const end = performance.now() + Math.max(1_000, maxMs);
  let count = 0;
  while (count < 20_000 && performance.now() < end) count += (await load(server, 32, 250, request)).count;
}
