// Generated HTTP requests: good exchanges of all revisions with one to four things changed, and an oracle that says by
// itself, from the request alone, which statuses are right and whether a handler may run.
import type { Revision } from "plenum";
import { good, handshake, methodsIn, modern, type Obj, request } from "../fuzz/target.ts";
import type { Random } from "./attack-random.ts";
import { json, mirrorOf, sessionHeaders } from "./attack-requests.ts";

type Header = readonly [name: string, value: string];

export interface Draft {
  method: string;
  target: string;
  headers: Header[];
  body: string | undefined;
  /** How the body's end is told. */
  framing: "length" | "chunks";
}

export interface Case {
  readonly bytes: Buffer;
  readonly draft: Draft;
  /** Nothing was changed: it is to succeed. */
  readonly isGood: boolean;
  /** Changed in its bytes: what the server makes of it is not foreseen. */
  readonly isDamaged: boolean;
  /** Less was written than announced: no answer is owed. */
  readonly isCut: boolean;
  readonly verdict: Verdict;
}

export interface Verdict {
  readonly statuses: readonly number[];
  /** Handlers that may run at most. */
  readonly mayRun: number;
}

/** What the server has at the moment. */
export interface World {
  readonly port: number;
  /** The ids of sessions that are open, by revision. */
  readonly sessions: ReadonlyMap<Revision, string>;
  /** Where the one stream of HTTP+SSE is posted to. */
  readonly address: string;
}

export const sessionRevisions: readonly Revision[] = ["2025-03-26", "2025-06-18", "2025-11-25"];

const page = "<script>alert(1)</script>";
const hostileValues = [
  "",
  "x",
  "0",
  "-1",
  page,
  "a".repeat(3000),
  "2025-11-25",
  "2026-07-28",
  "2099-01-01",
  "tools/call",
  "tools/list",
  "echo",
  "add",
  "application/json",
  "text/plain",
  "text/event-stream",
  "*/*",
  "localhost",
  "evil.example",
  "http://evil.example",
  "null",
  "=?base64?ZWNobw==?=",
  "gr\u00f6\u00dfe",
  "a, b",
  '"',
  "1-1",
  "0-0",
  "chunked",
  "100-continue",
];
const headerNames = [
  "Host",
  "Origin",
  "Content-Type",
  "Accept",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "Last-Event-ID",
  "Authorization",
  "Mcp-Param-x",
  "Mcp_Method",
  "X-Forwarded-Host",
  "Cookie",
  "Content-Encoding",
  "Access-Control-Request-Method",
];
const targets = [
  "/mcp",
  "/sse",
  "/messages",
  "/messages?sessionId=x",
  "/healthz",
  "/",
  "/mcp/",
  "/MCP",
  "/%6dcp",
  "//mcp",
  "/mcp/../sse",
  "/mcp?x=1",
  "/__proto__",
  `/${"a".repeat(2000)}`,
];
const methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "PROPFIND"];
const hostileJson: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  "x",
  page,
  "__proto__",
  "tools/call",
  "echo",
  "2025-11-25",
  modern,
  [],
  {},
  [[]],
  { constructor: { prototype: { polluted: 1 } } },
  "a".repeat(4000),
  "\0",
  "\ud800",
];

function goodDraft(random: Random, world: World): Draft {
  const host: Header = ["Host", `127.0.0.1:${world.port}`];
  const draft = (method: string, target: string, headers: readonly Header[], body?: Obj | readonly Obj[]): Draft => ({
    method,
    target,
    headers: [host, ...headers],
    body: body && JSON.stringify(body),
    framing: random.percent(85) ? "length" : "chunks",
  });
  const kind = random.below(100);
  if (kind < 40) {
    const method = random.pick(methodsIn(modern));
    const message = request(modern, method, good[method], random.pick([1, "x", 0, ""]));
    return draft("POST", "/mcp", [...json, ...mirrorOf(message)], message);
  }
  const revision = random.pick(sessionRevisions);
  const session = sessionHeaders(world.sessions.get(revision) ?? "none", revision);
  if (kind < 70) {
    const method = random.pick(methodsIn(revision).filter((one) => one !== "initialize"));
    const message = request(revision, method, good[method], random.pick([1, "x", 0, ""]));
    const isBatch = revision === "2025-03-26" && random.percent(30);
    return draft("POST", "/mcp", [...json, ...session], isBatch ? [message] : message);
  }
  if (kind < 76) return draft("POST", "/mcp", json, handshake(revision));
  if (kind < 80)
    return draft("POST", "/mcp", [...json, ...session], {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 9 },
    });
  if (kind < 83) return draft("POST", "/mcp", [...json, ...session], { jsonrpc: "2.0", id: 99, result: {} });
  if (kind < 88) return draft("GET", "/mcp", [["Accept", "text/event-stream"], ...session]);
  if (kind < 90) return draft("DELETE", "/mcp", session);
  if (kind < 93) return draft("POST", world.address, json, request("2024-11-05", "tools/call", good["tools/call"], 1));
  if (kind < 96) return draft("GET", "/sse", [["Accept", "text/event-stream"]]);
  return draft("GET", "/healthz", []);
}

function change(draft: Draft, random: Random): void {
  const at = random.below(draft.headers.length + 1);
  const existing = draft.headers[at % Math.max(1, draft.headers.length)];
  const kind = random.below(100);
  if (kind < 6) draft.method = random.pick(methods);
  else if (kind < 14) draft.target = random.pick(targets);
  else if (kind < 24 && existing) draft.headers.splice(draft.headers.indexOf(existing), 1);
  else if (kind < 32 && existing) draft.headers.splice(at, 0, existing);
  else if (kind < 46 && existing)
    draft.headers[draft.headers.indexOf(existing)] = [existing[0], random.pick(hostileValues)];
  else if (kind < 54) draft.headers.splice(at, 0, [random.pick(headerNames), random.pick(hostileValues)]);
  else if (kind < 58)
    draft.headers = draft.headers.map(([name, value]) => [
      random.percent(50) ? name.toUpperCase() : name.toLowerCase(),
      value,
    ]);
  else if (kind < 62) draft.body = draft.body === undefined ? "{}" : undefined;
  else if (draft.body !== undefined)
    draft.body = kind < 85 ? changeJson(draft.body, random) : scratch(draft.body, random);
}

function changeJson(body: string, random: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return scratch(body, random);
  }
  const places = placesIn(value);
  const place = random.pick(places);
  if (!place) return JSON.stringify(random.pick(hostileJson));
  const { holder, key } = place;
  const kind = random.below(7);
  const kept = holder[key];
  if (kind === 0) delete holder[key];
  else if (kind === 1) holder[key] = [kept];
  else if (kind === 2)
    Object.defineProperty(holder, "__proto__", { value: { polluted: 1 }, enumerable: true, configurable: true });
  else if (kind === 3) {
    delete holder[key];
    holder[key.toUpperCase()] = kept;
  } else if (kind === 4) return JSON.stringify([value, value]);
  else holder[key] = random.pick(hostileJson);
  return JSON.stringify(value);
}

function placesIn(value: unknown): { readonly holder: Obj; readonly key: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Obj;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

function scratch(text: string, random: Random): string {
  const from = random.below(text.length + 1);
  const put = random.pick(["", "", "\0", '"', "{", "[", "[".repeat(200), "\ufeff", ",", "1", "\ud83e\uddca", page]);
  return text.slice(0, from) + put + text.slice(from + random.below(5));
}

/** Draws a request. */
export function draw(random: Random, world: World): Case {
  const draft = goodDraft(random, world);
  const changes = random.percent(12) ? 0 : 1 + random.below(4);
  for (let i = 0; i < changes; i++) change(draft, random);
  let bytes = format(draft);
  const isDamaged = changes > 0 && random.percent(12);
  const isCut = !isDamaged && changes > 0 && random.percent(6);
  if (isDamaged) {
    for (let i = 0; i <= random.below(3); i++) {
      const at = random.below(bytes.length);
      const put = Buffer.from(
        random.pick(["\r\n", "\n", "\0", " ", ":", "0\r\n\r\n", "\xff", "GET / HTTP/1.1\r\n", ""]),
        "latin1",
      );
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + random.below(4))]);
    }
  } else if (isCut) bytes = bytes.subarray(0, random.below(bytes.length));
  return { bytes, draft, isGood: changes === 0, isDamaged, isCut, verdict: judge(draft, world) };
}

function format({ method, target, headers, body, framing }: Draft): Buffer {
  const text = Buffer.from(body ?? "");
  const isChunked = framing === "chunks" && body !== undefined;
  const end: Header[] = isChunked ? [["Transfer-Encoding", "chunked"]] : [["Content-Length", `${text.length}`]];
  const lines = [...headers, ...(body === undefined ? [] : end)].map(([name, value]) => `${name}: ${value}`);
  const head = Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  if (!isChunked) return Buffer.concat([head, text]);
  const half = text.length >> 1;
  const chunks = [text.subarray(0, half), text.subarray(half)].filter(({ length }) => length > 0);
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([head, ...parts, Buffer.from("0\r\n\r\n")]);
}

const refused = (...statuses: number[]): Verdict => ({ statuses, mayRun: 0 });

/** Which answers are right, by the rules of the specification and of safety, and nothing that the server says. */
function judge({ method, target, headers, body }: Draft, world: World): Verdict {
  const valuesOf = (name: string): string[] =>
    headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value.trim());
  const [host, ...more] = valuesOf("host");
  if (valuesOf("expect").length > 0) return refused(417, 400, 403);
  if (host === undefined || more.length > 0) return refused(400);
  if (host !== `127.0.0.1:${world.port}` && host !== "localhost") return refused(400, 403);
  if (valuesOf("origin").length > 0) return refused(403);
  const path = target.split("?", 1)[0];
  if (path === "/healthz") return refused(200);
  if (path === "/sse") return method === "GET" ? refused(200, 406, 503) : refused(405);
  if (path !== "/mcp" && path !== "/messages") return refused(404);
  if (method === "GET" && path === "/mcp") return refused(200, 400, 404, 406, 503);
  if (method === "DELETE" && path === "/mcp") return refused(204, 400, 404);
  if (method !== "POST") return refused(405);
  const types = valuesOf("content-type");
  if (types.length !== 1 || !/^application\/json$/i.test(types[0] as string)) return refused(406, 415);
  const message = parse(body ?? "");
  if (message === undefined) return refused(400, path === "/messages" ? 404 : 406);
  if (path === "/messages") return { statuses: [202, 400, 404], mayRun: target === world.address ? 2 : 0 };
  const sessions = valuesOf("mcp-session-id");
  const open = [...world.sessions].find(([, id]) => sessions.length === 1 && id === sessions[0])?.[0];
  if (Array.isArray(message)) {
    const mayRun = open === "2025-03-26" ? message.length : 0;
    return { statuses: mayRun > 0 ? [200, 202, 400, 406] : [400, 404, 406], mayRun };
  }
  const { method: called, params } = message as { method?: unknown; params?: Obj };
  const versions = valuesOf("mcp-protocol-version");
  const name = called === "resources/read" ? params?.uri : params?.name;
  const isMirrored =
    versions.length === 1 &&
    versions[0] === modern &&
    valuesOf("mcp-method").join() === called &&
    (valuesOf("mcp-name").join() === name ||
      (valuesOf("mcp-name").join() === "=?base64?ZWNobw==?=" && name === "echo"));
  const runs = called === "tools/call" || called === "resources/read" || called === "prompts/get";
  const mayRun = runs && (isMirrored || open !== undefined) ? 1 : 0;
  return { statuses: [200, 202, 400, 404, 406, ...(called === "initialize" ? [503] : [])], mayRun };
}

/** Undefined for what is no JSON or no message. */
function parse(text: string): unknown {
  try {
    const value = JSON.parse(text.replace(/^\ufeff/, "")) as unknown;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
