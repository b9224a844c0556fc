// The peers of the interop tests, and one shape for all official clients.
//
// The servers of this folder have one surface: the tools echo {text}, add {a, b} → {sum}, slow {steps, delayMs} (tells its
// progress, writes "cancelled" to stderr when it is), ask (a form {name}), sample {prompt}, roots, fail, log {message},
// touch (memo://one was updated), grow (a new tool, grown), and in SDK 1.x cut (ends the stream of its own call, and answers
// later); the resource memo://one and the template memo://{id}; the prompt greet {name} with completion.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, type ClientOptions, connect, type ElicitForm, type McpError } from "plenum";
import { root } from "../house/source.ts";

export type Obj = Record<string, unknown>;

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where a server is over HTTP: "http" is Streamable HTTP, "sse" the older HTTP+SSE. */
export interface Endpoint {
  readonly url: string;
  readonly over: "http" | "sse";
}

/** One HTTP exchange as a client saw it, when the head of the answer was there. */
export interface Exchange {
  readonly method: string;
  readonly status: number;
  readonly type: string | null;
  readonly session: string | null;
}

/** A `fetch` that writes down what is exchanged. */
export function tapFetch(exchanges: Exchange[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    exchanges.push({
      method: init?.method ?? "GET",
      status: response.status,
      type: response.headers.get("content-type"),
      session: response.headers.get("mcp-session-id"),
    });
    return response;
  };
}

/** Until a client over HTTP that has a session has its stream too: what a server tells before may be lost. */
export async function untilListening(exchanges: readonly Exchange[], hasSession: boolean): Promise<void> {
  for (const end = Date.now() + 10_000; hasSession && Date.now() < end; await pause(20))
    if (exchanges.some(({ method, status }) => method === "GET" && status === 200)) return;
  if (hasSession) throw new Error("The client has opened no stream to listen on.");
}

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(root, "node_modules", "@modelcontextprotocol");
const node = (...args: string[]): Command => ({ command: process.execPath, args });

export const ourServer: Command = node("--conditions=plenum-source", "--import", "tsx", join(here, "our-server.ts"));
export const sdk1Server: Command = node(join(here, "servers", "sdk1.mjs"));
export const sdk2Server: Command = node(join(here, "servers", "sdk2.mjs"));

/** One that, asked anything before `initialize`, "exits" or "is-silent". */
export const touchyServer = (how: "exits" | "is-silent"): Command => node(join(here, "servers", "touchy.mjs"), how);

/** One of the published servers: everything, filesystem, memory. */
export function publishedServer(name: string, ...args: string[]): Command {
  return node(join(packages, `server-${name}`, "dist", "index.js"), ...args);
}

export interface CountedCommand extends Command {
  /** The ids of all processes that were started by it. */
  pids(): readonly number[];
}

/** The same server, by way of a file that writes down its process id first. */
export function counted({ command, args }: Command, folder: string): CountedCommand {
  const list = join(mkdtempSync(join(folder, "pids-")), "pids");
  const read = (): string[] => {
    try {
      return readFileSync(list, "utf8").trim().split("\n");
    } catch {
      return [];
    }
  };
  return { command, args: [join(here, "servers", "counted.mjs"), list, ...args], pids: () => read().map(Number) };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A folder that is gone after the tests. */
export function makeFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "plenum-interop-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** What the client's side answers, in the words of the protocol. */
export interface Handlers {
  readonly elicit?: (params: Obj) => Obj;
  readonly sample?: (params: Obj) => Obj;
  readonly roots?: () => { uri: string; name?: string }[];
}

export interface CallOptions {
  readonly onProgress?: (update: Obj) => void;
  readonly signal?: AbortSignal;
}

/** An official client, of whatever line. Results are as they came over the wire. */
export interface OfficialClient {
  revision(): string | undefined;
  serverInfo(): Obj | undefined;
  instructions(): string | undefined;
  listTools(): Promise<Obj[]>;
  callTool(name: string, args?: Obj, options?: CallOptions): Promise<Obj>;
  listResources(): Promise<Obj[]>;
  listResourceTemplates(): Promise<Obj[]>;
  readResource(uri: string): Promise<Obj[]>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** Hears when the list of tools changes. In a session it does so anyway. */
  watchTools(): Promise<void>;
  listPrompts(): Promise<Obj[]>;
  getPrompt(name: string, args: Record<string, string>): Promise<Obj[]>;
  complete(ref: Obj, argument: { name: string; value: string }): Promise<string[]>;
  /** Rejects where the revision has no pings. */
  ping(): Promise<void>;
  setLogLevel(level: string): Promise<void>;
  close(): Promise<void>;
  /** Until the server can tell it something outside of a call. */
  listening(): Promise<void>;
  readonly exchanges: readonly Exchange[];
  readonly logs: Obj[];
  readonly updates: string[];
  /** The methods of the notices that a list has changed. */
  readonly changes: string[];
  /** All that the server wrote to stderr. */
  stderr(): string;
}

/** What a client heard and was asked, and what its user answers. */
export interface Heard {
  readonly logs: Obj[];
  readonly changes: string[];
  readonly updates: string[];
  readonly forms: ElicitForm[];
  readonly samples: unknown[];
  readonly warnings: string[];
  stderr: string;
  answer: { action: "accept"; content: Record<string, string> } | { action: "decline" } | { action: "cancel" };
}

export interface Connected {
  readonly client: Client;
  readonly heard: Heard;
}

/** Connects, to a command or to a URL, with everything that a client can answer. */
export async function connectFully(
  target: Command | string,
  options: ClientOptions = {},
  env = {},
): Promise<Connected> {
  const heard: Heard = {
    logs: [],
    changes: [],
    updates: [],
    forms: [],
    samples: [],
    warnings: [],
    stderr: "",
    answer: { action: "cancel" },
  };
  const stderr = (text: string) => {
    heard.stderr += text;
  };
  const client = await connect(
    typeof target === "string" ? target : { command: target.command, args: target.args, env, stderr },
    {
      onElicit: (form) => {
        heard.forms.push(form);
        return heard.answer;
      },
      onElicitUrl: () => ({ action: "accept" }),
      onSample: (ask) => {
        heard.samples.push(ask);
        return { role: "assistant", model: "parrot", content: { type: "text", text: "Polly" } };
      },
      roots: [{ uri: "file:///work", name: "work" }, "file:///home"],
      onLog: (entry) => heard.logs.push(entry),
      onListChanged: (kind) => heard.changes.push(kind),
      onResourceUpdated: (uri) => heard.updates.push(uri),
      onWarning: (problem) => heard.warnings.push(problem),
      ...options,
    },
  );
  return { client, heard };
}

/** The code of the McpError that it rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "nothing was thrown",
    (error: McpError) => error.code,
  );
}
