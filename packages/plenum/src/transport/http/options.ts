// What an application gives to serveHttp, toNodeHandler and toFetchHandler, and the same with all defaults filled in.
import { isObject } from "../../jsonrpc/message.ts";
import type { ServeOptions } from "../../protocol/negotiate.ts";
import { factsOf, isRevision, type Revision, revisions } from "../../protocol/revisions.ts";
import type { TelemetryApi } from "../../protocol/trace.ts";
import { quote } from "../../util/quote.ts";
import type { Authenticate, Route } from "./exchange.ts";
import type { AccessEntry, Hooks, MetricsSample } from "./observe.ts";
import { checkPath, createReader, type OptionReader, toKind } from "./option-reader.ts";

/** Sessions of 2025-11-25 and older. 2026-07-28 has none. */
export interface SessionOptions {
  /** Sessions at a time; an `initialize` beyond them is refused with 503. Default 10 000. */
  readonly max?: number;
  /** A session without a request or an open stream for this long ends. Infinity: never. Default 30 minutes. */
  readonly idleMs?: number;
  /** A session ends after this long, used or not. Infinity: never. Default 24 hours. */
  readonly maxAgeMs?: number;
  /** Events that are kept for a client that comes back with `Last-Event-ID`, of one session. 0: none. Default 1000. */
  readonly maxEvents?: number;
  /** Bytes of such events, of one session. Default 4 MiB. */
  readonly maxEventBytes?: number;
  /**
   * Makes the id of a new session: 16 to 256 visible ASCII characters that nobody can guess, never the same twice.
   * Default: 192 random bits.
   */
  readonly createId?: () => string;
}

/** The paths of HTTP+SSE, the transport of 2024-11-05. */
export interface SseOptions {
  /** Where a client opens its stream with GET. Default "/sse". */
  readonly path?: string;
  /** Where it posts its messages. Default "/messages". */
  readonly messagesPath?: string;
}

export interface CorsOptions {
  /** How long a browser may keep the answer to a preflight. Default 7200, the longest that browsers keep it. */
  readonly maxAgeSeconds?: number;
  /** Response headers that pages may read, besides those of MCP. */
  readonly exposedHeaders?: readonly string[];
  /** Request headers that pages may send, besides those of MCP. */
  readonly allowedHeaders?: readonly string[];
}

export interface HttpOptions extends Omit<ServeOptions, "maxInFlight"> {
  /**
   * Where MCP is spoken; other paths are answered with 404. Undefined: on every path, for a handler that a framework mounts.
   * Default: "/mcp" for `serveHttp`, undefined for handlers.
   */
  readonly path?: string | undefined;
  /** Serves HTTP+SSE of 2024-11-05 too: `true` for the paths "/sse" and "/messages". Needs sessions. Default false. */
  readonly sse?: boolean | SseOptions;
  /** Limits of sessions. `false`: older revisions are served without sessions, so that nothing can be asked. Default: the limits' defaults. */
  readonly sessions?: false | SessionOptions;
  /**
   * "auto": an answer is JSON, and a stream of events only where the handler sends something before it. "stream": always a
   * stream, but for errors of 2026-07-28 that have an HTTP status. Default "auto".
   */
  readonly answers?: "auto" | "stream";

  /**
   * The names under which clients reach this server, as their Host header has them: "mcp.example.com" (any port),
   * "localhost:8080" (that port) or "*.example.com" (any subdomain). Others are refused with 403, and so is an Origin of
   * another host. Default: localhost, 127.x.x.x and [::1]; with `auth`, any.
   */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call besides, such as "https://app.example.com". Exact; "*" is none. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Neither Host nor Origin is looked at: any page in any browser that can reach this server may use it. Default false. */
  readonly dangerouslyAllowAnyHost?: boolean;
  /** Says who sent a request, by its headers, or refuses it. Default: everybody is let in, as nobody in particular. */
  readonly auth?: Authenticate;
  /** Answers browsers' preflights and lets pages of allowed origins read answers. Default false. */
  readonly cors?: boolean | CorsOptions;
  /** Pages beside MCP, by their path: `{ "/healthz": () => ({ body: "ok" }) }`. Default: none. */
  readonly routes?: { readonly [path: string]: Route };

  /** Bytes that the body of a request may have; a longer one is refused with 413. Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive; then 408. Infinity: for ever. Default 30 000. */
  readonly bodyTimeoutMs?: number;
  /** How long the reader of an answer or a stream may take nothing while something waits for it; then it is cut off. Default 30 000. */
  readonly readerTimeoutMs?: number;
  /** Bytes that may wait for the reader of one stream when more is to be sent; beyond them it is cut off. Default 4 MiB. */
  readonly maxQueuedBytes?: number;
  /**
   * Requests that may be open at once, those that merely listen not counted; more are refused with 503. A handler whose client
   * has left counts until it ends. Default 1000.
   */
  readonly maxInFlight?: number;
  /** Streams that may be open at once, listening or answering; more are refused with 503. Default 10 000. */
  readonly maxStreams?: number;
  /** A stream that is silent for this long is sent a comment, so that nothing on the way takes it for dead. Infinity: never. Default 15 000. */
  readonly keepAliveMs?: number;
  /** An answer that takes longer becomes a stream, which nothing on the way takes for dead. Infinity: never. Default 5000. */
  readonly streamAfterMs?: number;
  /** How soon a client whose stream has ended is to come back: the `retry` field of events. Default 1000. */
  readonly retryMs?: number;

  /**
   * The API of OpenTelemetry (`@opentelemetry/api`), for a span around every call. `false`: none. Default: the application's,
   * where it is installed, for `serveHttp` and `toNodeHandler`; none for `toFetchHandler`.
   */
  readonly telemetry?: TelemetryApi | false;
  /** Told of every request when it is over: an access log. What it throws is dropped. */
  readonly onAccess?: (entry: AccessEntry) => unknown;
  /** Told the sizes and times of every request when it is over. What it throws is dropped. */
  readonly onMetrics?: (sample: MetricsSample) => unknown;
}

export interface SessionSettings {
  readonly max: number;
  readonly idleMs: number;
  readonly maxAgeMs: number;
  readonly maxEvents: number;
  readonly maxEventBytes: number;
  readonly createId: (() => string) | undefined;
}

export interface SseSettings {
  readonly path: string;
  readonly messagesPath: string;
}

export interface CorsSettings {
  readonly maxAgeSeconds: number;
  /** In lower case. */
  readonly exposedHeaders: readonly string[];
  /** In lower case. */
  readonly allowedHeaders: readonly string[];
}

/** HttpOptions with all defaults filled in. Each time that is for a timer is one that a timer can keep. */
export interface HttpSettings extends Hooks {
  readonly revisions: readonly Revision[];
  readonly maxSubscriptions: number;
  readonly askTimeoutMs: number;
  readonly path: string | undefined;
  readonly sse: false | SseSettings;
  readonly sessions: false | SessionSettings;
  readonly answers: "auto" | "stream";
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly dangerouslyAllowAnyHost: boolean;
  readonly auth: Authenticate | undefined;
  readonly cors: false | CorsSettings;
  readonly routes: ReadonlyMap<string, Route>;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly readerTimeoutMs: number;
  readonly maxQueuedBytes: number;
  readonly maxInFlight: number;
  readonly maxStreams: number;
  readonly keepAliveMs: number;
  readonly streamAfterMs: number;
  readonly retryMs: number;
  readonly telemetry: TelemetryApi | false | undefined;
}

const mebibytes = 1_048_576;
const hours = 3_600_000;

/** What options are called elsewhere, and what stands for them here. */
const synonyms = {
  endpoint: 'write "path"',
  basePath: 'write "path"',
  stateless: 'write "sessions: false"',
  sessionIdGenerator: 'write "sessions: { createId }"',
  enableJsonResponse: 'write "answers"',
  enableDnsRebindingProtection: 'write "allowedHosts"; it is always on',
  eventStore: 'write "sessions: { maxEvents }"',
};
const listens = { hostname: 'write "host"' };
const listensNowhere = "a handler listens nowhere itself: use serveHttp";
const handles = { port: listensNowhere, host: listensNowhere, hostname: listensNowhere };

/** Throws a TypeError for what is no object. */
export function readOptions(options: unknown, name: string, extra: readonly string[] = []): OptionReader {
  const others = extra.includes("port") ? listens : handles;
  return createReader(options, { caller: name, extra, synonyms: { ...synonyms, ...others } });
}

/**
 * Checks the options and fills in what is not given; undefined counts as not given. Throws a TypeError that says what to
 * give instead.
 * @param name who was called, for messages: "serveHttp"
 * @param extra names of options that the caller has besides, and checks itself
 */
export function toSettings(options: HttpOptions, name: string, extra: readonly string[] = []): HttpSettings {
  const given = readOptions(options, name, extra);
  const spoken = toRevisions(given.any("revisions"), name);
  const path = given.path("path");
  const sessions = toSessions(given.any("sessions"), name);
  const sse = toSse(given.any("sse"), name);
  if (sse && !sessions)
    throw new TypeError(`${name}: a connection of HTTP+SSE is a session: leave out "sessions: false", or "sse"`);
  if (sse && spoken.every((revision) => factsOf(revision).era === "stateless"))
    throw new TypeError(`${name}: HTTP+SSE is for older revisions, and "revisions" has none`);
  const routes = toRoutes(given.any("routes"), name);
  assertDistinct(name, [
    ["path", path],
    ...(sse
      ? ([
          ["sse.path", sse.path],
          ["sse.messagesPath", sse.messagesPath],
        ] as const)
      : []),
    ...Array.from(routes.keys(), (route) => ["routes", route] as const),
  ]);
  const settings = {
    revisions: spoken,
    maxSubscriptions: given.count("maxSubscriptions", 1000),
    askTimeoutMs: given.limit("askTimeoutMs", 600_000),
    path,
    sse,
    sessions,
    answers: given.choice<"auto" | "stream">("answers", ["auto", "stream"]),
    allowedHosts: given.texts("allowedHosts"),
    allowedOrigins: given.texts("allowedOrigins"),
    dangerouslyAllowAnyHost: given.flag("dangerouslyAllowAnyHost"),
    auth: given.run<Authenticate>("auth"),
    cors: toCors(given.any("cors"), name),
    routes,
    maxBodyBytes: given.count("maxBodyBytes", 4 * mebibytes),
    bodyTimeoutMs: given.time("bodyTimeoutMs", 30_000),
    readerTimeoutMs: given.time("readerTimeoutMs", 30_000),
    maxQueuedBytes: given.count("maxQueuedBytes", 4 * mebibytes),
    maxInFlight: given.count("maxInFlight", 1000),
    maxStreams: given.count("maxStreams", 10_000),
    keepAliveMs: given.time("keepAliveMs", 15_000),
    streamAfterMs: given.time("streamAfterMs", 5000),
    retryMs: given.whole("retryMs", 1000),
    telemetry: toTelemetry(given.any("telemetry"), name),
    onAccess: given.run<(entry: AccessEntry) => unknown>("onAccess"),
    onMetrics: given.run<(sample: MetricsSample) => unknown>("onMetrics"),
  };
  given.end();
  return settings;
}

function toSessions(option: unknown = {}, name: string): false | SessionSettings {
  if (option === false) return false;
  const given = createReader(option, { caller: name, group: "sessions", or: "false or" });
  const settings = {
    max: given.count("max", 10_000),
    // Compared with a clock, never given to a timer: Infinity stays what it is.
    idleMs: given.span("idleMs", hours / 2),
    maxAgeMs: given.span("maxAgeMs", 24 * hours),
    maxEvents: given.count("maxEvents", 1000, 0),
    maxEventBytes: given.count("maxEventBytes", 4 * mebibytes, 0),
    createId: given.run<() => string>("createId"),
  };
  given.end();
  return settings;
}

/** A group that is off unless it is given; `true` is all of its defaults. */
function readSwitch(option: unknown, caller: string, group: string): OptionReader | undefined {
  if (option === undefined || option === false) return undefined;
  return createReader(option === true ? {} : option, { caller, group, or: "true, false or" });
}

function toSse(option: unknown, name: string): false | SseSettings {
  const given = readSwitch(option, name, "sse");
  if (!given) return false;
  const settings = { path: given.path("path") ?? "/sse", messagesPath: given.path("messagesPath") ?? "/messages" };
  given.end();
  return settings;
}

function toCors(option: unknown, name: string): false | CorsSettings {
  const given = readSwitch(option, name, "cors");
  if (!given) return false;
  const settings = {
    maxAgeSeconds: given.whole("maxAgeSeconds", 7200),
    exposedHeaders: given.headers("exposedHeaders"),
    allowedHeaders: given.headers("allowedHeaders"),
  };
  given.end();
  return settings;
}

function toTelemetry(option: unknown, name: string): TelemetryApi | false | undefined {
  const isApi = typeof option === "object" && option !== null && "trace" in option && "propagation" in option;
  if (option === undefined || option === false || isApi) return option as TelemetryApi | false | undefined;
  throw new TypeError(`${name}: "telemetry" must be false or what @opentelemetry/api exports`);
}

function toRevisions(option: unknown, name: string): readonly Revision[] {
  if (option === undefined) return revisions;
  const isList = Array.isArray(option) && option.length > 0 && option.every(isRevision);
  if (!isList) throw new TypeError(`${name}: "revisions" is a list of one or more of ${revisions.join(", ")}`);
  return [...(option as readonly Revision[])];
}

function toRoutes(option: unknown, name: string): ReadonlyMap<string, Route> {
  if (option === undefined) return new Map();
  if (!isObject(option)) throw new TypeError(`${name}: "routes" is an object of functions by path`);
  const routes = new Map<string, Route>();
  for (const [path, route] of Object.entries(option)) {
    const problem = checkPath(path);
    if (problem) throw new TypeError(`${name}: "routes" has ${quote(path)}: ${problem}`);
    if (typeof route !== "function")
      throw new TypeError(`${name}: "routes" has ${quote(path)}, which must be a function, not ${toKind(route)}`);
    routes.set(path, route as Route);
  }
  return routes;
}

/** Two that answer on one path: which would it be? */
function assertDistinct(name: string, paths: readonly (readonly [option: string, path: string | undefined])[]): void {
  const taken = new Map<string, string>();
  for (const [option, path] of paths) {
    if (path === undefined) continue;
    const other = taken.get(path);
    if (other) throw new TypeError(`${name}: "${option}" and "${other}" both have ${quote(path)}: give each its own`);
    taken.set(path, option);
  }
}
