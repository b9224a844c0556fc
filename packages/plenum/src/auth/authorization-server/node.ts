// The authorization server alone, on Node: on this machine only unless it is told otherwise, with bounds on what comes in, and
// an end that lets what runs finish.
import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopbackHost } from "../guarded-fetch.ts";
import { assertOptionNames } from "../option-names.ts";
import { readBody } from "./body.ts";
import type { AuthorizationServer } from "./server.ts";

export interface ServeAuthorizationServerOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** The address to listen on. Default "127.0.0.1". */
  readonly host?: string;
}

export interface AuthorizationServing {
  readonly server: AuthorizationServer;
  readonly host: string;
  readonly port: number;
  /** Where it listens: http://127.0.0.1:4000. */
  readonly origin: string;
  /** Takes nothing new, and gives what runs `graceMs` (default 5000). */
  close(graceMs?: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const caller = "serveAuthorizationServer";
const optionNames: { readonly [K in keyof Required<ServeAuthorizationServerOptions>]: true } = {
  port: true,
  host: true,
};

/**
 * Serves an authorization server over HTTP. TLS is for what stands in front of it. Rejects where the port is taken, and with a
 * TypeError for options that make no sense.
 * @param server or what makes it, once the port is known: (origin) => createAuthorizationServer({ issuer: origin, … })
 */
export async function serveAuthorizationServer(
  server: AuthorizationServer | ((origin: string) => AuthorizationServer),
  options: ServeAuthorizationServerOptions = {},
): Promise<AuthorizationServing> {
  assertOptionNames(caller, options, optionNames);
  const { port = 0, host = "127.0.0.1" } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new TypeError(`${caller}: port is a whole number up to 65535; leave it out for one that is free`);
  // To Node an empty one means all addresses of the machine.
  if (typeof host !== "string" || host === "")
    throw new TypeError(`${caller}: host is the address to listen on, such as "127.0.0.1"`);
  if (typeof server !== "function" && typeof server?.answer !== "function")
    throw new TypeError(`${caller} takes what createAuthorizationServer makes, or a function that makes it`);
  let made: AuthorizationServer | undefined;
  let isClosing = false;
  const http = createServer(
    { maxHeaderSize: 16_384, headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1000 },
    (request, response) => {
      // It cannot be answered any more: what is left is to say so.
      answer(made, request, response).catch(() => response.destroy());
      // A connection that is kept for a next request would keep the server.
      response.once("close", () => setImmediate(() => isClosing && http.closeIdleConnections()));
    },
  );
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  const { address, port: bound, family } = http.address() as AddressInfo;
  const origin = `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
  try {
    made = typeof server === "function" ? server(origin) : server;
    if (typeof made?.answer !== "function")
      throw new TypeError(`${caller}: the function must return what createAuthorizationServer makes`);
  } catch (error) {
    http.close();
    throw error;
  }
  const closed = new Promise<void>((resolve) => http.once("close", () => resolve()));

  async function close(graceMs = 5000): Promise<void> {
    isClosing = true;
    http.close();
    http.closeIdleConnections();
    const timer = setTimeout(() => http.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  return { server: made, host: address, port: bound, origin, close, [Symbol.asyncDispose]: () => close() };
}

async function answer(
  server: AuthorizationServer | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers, method = "GET", url = "/" } = request;
  if (!server || !isExpectedHost(server, headers.host)) {
    response.writeHead(421, { "content-type": "text/plain", connection: "close" }).end("Nothing is here by that name");
    return;
  }
  const at = url.indexOf("?");
  const written = await server.answer({
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: at < 0 ? "" : url.slice(at + 1),
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    // The answer is still to be written where it is left before its end.
    body: (maxBytes, timeoutMs) => readBody(request.iterator({ destroyOnReturn: false }), maxBytes, timeoutMs),
  });
  // What was not read of the body would be taken for the next request.
  const ending = request.complete ? {} : { connection: "close" };
  response.writeHead(written.status, { ...written.headers, ...ending }).end(written.text);
}

/**
 * A page of the internet can have its own name lead to this machine (DNS rebinding), and then reads what is answered to that name.
 * What is meant for the internet is behind something that looks at names.
 */
function isExpectedHost({ issuer }: AuthorizationServer, host = ""): boolean {
  if (!isLoopbackHost(new URL(issuer).hostname)) return true;
  return URL.canParse(`http://${host}`) && isLoopbackHost(new URL(`http://${host}`).hostname);
}

/** For `lookup` in the options: what a name leads to is looked at before a client's document is fetched from there. */
export async function lookupAddresses(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
