// The Node feed of the HTTP core, straight from node:http without Request and Response in between; and a server of its own,
// which listens on this machine alone unless it is told who may call.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { createCore, type HttpCore } from "./handler.ts";
import { type Bodies, createBodies } from "./node-body.ts";
import { NodeExchange } from "./node-exchange.ts";
import { type HttpOptions, type HttpSettings, readOptions, toSettings } from "./options.ts";
import { checkExposure, toReachable } from "./origin.ts";
import { createSharedPulse, periodOf } from "./pulse.ts";
import { withTelemetry } from "./telemetry.ts";

export type { Authenticate, HttpHead, HttpRequest, Refusal, Route, RouteAnswer } from "./exchange.ts";
export type { AccessEntry, MetricsSample } from "./observe.ts";
export type { CorsOptions, HttpOptions, SessionOptions, SseOptions } from "./options.ts";

export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Takes nothing new, ends what listens, gives calls that run `graceMs` (default 5000), then cancels them. */
  close(graceMs?: number): Promise<void>;
  /** Ends the connections of event streams; clients of 2025-11-25 come back after `retryMs` for the rest. */
  disconnect(retryMs?: number): void;
}

export interface ServeHttpOptions extends HttpOptions {
  /** Default: one that is free; see `HttpServing.port`. */
  readonly port?: number;
  /**
   * The address to listen on. Any but a loopback address needs `allowedHosts`, `auth` or `dangerouslyAllowAnyHost`.
   * Default "127.0.0.1".
   */
  readonly host?: string;
  /** Bytes that the headers of a request may have; more is refused with 431. Default 16 KiB. */
  readonly maxHeaderBytes?: number;
  /** How long the headers of a request may take to arrive. Default 15 000. */
  readonly headerTimeoutMs?: number;
  /** Connections that may be open at once. Default: no limit but the machine's. */
  readonly maxConnections?: number;
}

export interface HttpServing {
  readonly host: string;
  readonly port: number;
  /**
   * Where clients connect to, such as http://127.0.0.1:3000/mcp. Of a server on every address: a loopback address where
   * that is allowed, else the first of `allowedHosts`.
   */
  readonly url: string;
  /** Stops accepting, ends what listens, gives calls that run `graceMs` (default 5000), cancels them, and ends. */
  close(graceMs?: number): Promise<void>;
  /** Ends the connections of event streams; clients of 2025-11-25 come back after `retryMs` for the rest. */
  disconnect(retryMs?: number): void;
  /** Settles when it has ended. */
  readonly closed: Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What Node can count to. */
const mostHeaderBytes = 2 ** 31 - 1;

const extraNames = ["port", "host", "maxHeaderBytes", "headerTimeoutMs", "maxConnections"];

/**
 * A handler for node:http, Express, Fastify and the like. Throws a TypeError for options that make no sense. A body that
 * was parsed before (`request.body`) is taken as it is.
 */
export function toNodeHandler(endpoint: Endpoint, options: HttpOptions = {}): NodeHandler {
  const settings = toSettings(options, "toNodeHandler");
  const core = openCore(endpoint, settings, "toNodeHandler");
  const bodies = createBodies(settings.bodyTimeoutMs);
  return Object.assign(toListener(core, settings, bodies), {
    async close(graceMs = 5000) {
      await core.close(graceMs);
      bodies.close();
    },
    disconnect: (retryMs?: number) => core.disconnect(retryMs),
  });
}

/**
 * Serves an endpoint over HTTP in every revision, on http://127.0.0.1:<port>/mcp. Rejects where the port is taken; throws a
 * TypeError for options that make no sense, and where it would be open to anybody.
 */
export async function serveHttp(endpoint: Endpoint, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const given = readOptions(options, "serveHttp", extraNames);
  const host = given.text("host") ?? "127.0.0.1";
  const maxHeaderBytes = given.count("maxHeaderBytes", 16_384);
  const headerTimeoutMs = Math.ceil(given.time("headerTimeoutMs", 15_000));
  const maxConnections = given.count("maxConnections", Number.POSITIVE_INFINITY);
  const settings = toSettings({ path: "/mcp", ...options }, "serveHttp", extraNames);
  const { port = 0 } = options;
  assertPort(port);
  const exposure = checkExposure(host, settings);
  if (exposure) throw new TypeError(`serveHttp: ${exposure}`);
  const core = openCore(endpoint, settings, "serveHttp");
  const bodies = createBodies(settings.bodyTimeoutMs);
  const listen = toListener(core, settings, bodies);
  // Connections that brought no request yet: Node does not count them as idle, and waits for them when it closes.
  const unused = new Set<Socket>();
  const server = createServer(
    {
      maxHeaderSize: Math.min(maxHeaderBytes, mostHeaderBytes),
      headersTimeout: headerTimeoutMs,
      // The core has a limit of its own for bodies; this one ends what does not even get there.
      requestTimeout: Math.max(headerTimeoutMs, Math.ceil(settings.bodyTimeoutMs)) + 5000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
    },
    (request, response) => {
      unused.delete(request.socket);
      listen(request, response);
    },
  );
  if (Number.isFinite(maxConnections)) server.maxConnections = maxConnections;
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  }).catch(async (error) => {
    // The endpoint must not go on telling of changes to what never was.
    await core.close(0);
    throw error;
  });
  const { address, port: bound } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => server.once("close", () => resolve()));
  let closing: Promise<void> | undefined;

  async function close(graceMs: number): Promise<void> {
    server.close();
    server.closeIdleConnections();
    for (const socket of unused) socket.destroy();
    await core.close(graceMs);
    // What was answered last is on its way; what still keeps a connection after that does not want to end.
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), 1000);
    await closed;
    clearTimeout(timer);
    bodies.close();
  }

  const serving: HttpServing = {
    host: address,
    port: bound,
    url: `http://${toReachable(address, bound, settings)}${settings.path ?? "/"}`,
    close(graceMs = 5000) {
      closing ??= close(graceMs);
      return closing;
    },
    disconnect: (retryMs) => core.disconnect(retryMs),
    closed,
    [Symbol.asyncDispose]: () => serving.close(),
  };
  // A server that is closed has nothing left to serve.
  const unwatch = endpoint.watch((change) => {
    if (change.kind === "closing") void serving.close();
  });
  void closed.then(unwatch);
  return serving;
}

function openCore(endpoint: Endpoint, settings: HttpSettings, name: string): HttpCore {
  if (typeof endpoint?.watch !== "function")
    throw new TypeError(`${name} takes a server first, such as createServer makes`);
  const traced = withTelemetry(endpoint, settings.telemetry, true);
  const core = createCore(traced, settings, createSharedPulse(periodOf(settings)));
  core.load();
  return core;
}

function toListener(core: HttpCore, { readerTimeoutMs }: HttpSettings, bodies: Bodies) {
  const ground = { readerTimeoutMs, bodies };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = new NodeExchange(request, response, ground);
    core.handle(exchange, exchange);
  };
}

function assertPort(port: unknown): void {
  if (!Number.isInteger(port) || (port as number) < 0 || (port as number) > 65_535)
    throw new TypeError("serveHttp: port must be a whole number from 0 (any that is free) to 65535");
}

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const what = `serveHttp: cannot listen on ${host}:${port}`;
  if (error.code === "EADDRINUSE")
    return new Error(`${what}: the port is taken. Choose another, or 0 for any that is free`, { cause: error });
  if (error.code === "EACCES")
    return new Error(`${what}: not permitted. Ports below 1024 need privileges`, { cause: error });
  return new Error(`${what}: ${error.message}`, { cause: error });
}
