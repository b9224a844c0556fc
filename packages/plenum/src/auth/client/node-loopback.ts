// A browser beside a command line: the authorization page is shown there, and sends what it has to say to a port of this
// machine that is open for that one visit. RFC 8252 § 7.3.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { within } from "../../util/abort.ts";
import { OAuthError } from "../oauth-error.ts";
import { assertOptionNames } from "../option-names.ts";
import { openBrowser } from "./node-browser.ts";
import { assertMs } from "./oauth-options.ts";
import type { Redirect, Visit } from "./redirect.ts";

export interface LoopbackOptions {
  /** Shows the page; `false`, also later, says that it cannot. Default: the browser of the desktop. */
  readonly open?: (url: URL) => unknown;
  /** Told the address as well, for whoever has no browser that can be opened. Default: nothing is printed, and it is an error. */
  readonly onUrl?: (url: URL) => void;
  /**
   * What the redirect URI says, for authorization servers that know `localhost` alone. Default "127.0.0.1", which no entry of a
   * table of hosts can lead elsewhere. It listens on 127.0.0.1 in either case: browsers try that too where ::1 does not answer.
   */
  readonly host?: "127.0.0.1" | "localhost";
  /** Default: the one of the last time, or another that is free. */
  readonly port?: number;
  /** Default "/callback". */
  readonly path?: string;
  /** How long the user may take. Default 300 000. */
  readonly timeoutMs?: number;
}

const optionNames: { readonly [K in keyof Required<LoopbackOptions>]: true } = {
  open: true,
  onUrl: true,
  host: true,
  port: true,
  path: true,
  timeoutMs: true,
};

/** Throws a TypeError for options that make no sense. */
export function loopbackRedirect(options: LoopbackOptions = {}): Redirect {
  assertOptions(options);
  const { host = "127.0.0.1", path = "/callback", port = 0, timeoutMs = 300_000 } = options;
  return {
    async begin(registered = []): Promise<Visit> {
      /** Undefined: nobody waits, not yet or not any more. */
      let waiting: { readonly state: string | null; came(parameters: URLSearchParams): void } | undefined;
      const server = createServer((request, response) => {
        const parameters = waiting && read(request, path, waiting.state);
        if (!waiting || !parameters) return refuse(response);
        show(response, parameters.get("error"));
        waiting.came(parameters);
      });
      const last = port === 0 ? portIn(registered, host, path) : 0;
      await listen(server, last || port).catch((error) => (last === 0 ? Promise.reject(error) : listen(server, 0)));
      const { port: bound } = server.address() as AddressInfo;
      return {
        uri: new URL(`http://${host}:${bound}${path}`).href,
        async open(url, signal) {
          signal?.throwIfAborted();
          const answer = new Promise<URLSearchParams>((came) => {
            waiting = { state: url.searchParams.get("state"), came };
          });
          const opened = openFor(url, options).then(() => answer);
          try {
            return await within(Promise.race([answer, opened]), timeoutMs, signal, (isLate, reason) =>
              isLate ? late(timeoutMs) : reason,
            );
          } finally {
            waiting = undefined;
          }
        },
        close() {
          waiting = undefined;
          server.close();
          // The browser may keep connections, which are of no more use; the page must get through before.
          setTimeout(() => server.closeAllConnections(), 500).unref();
        },
      };
    },
  };
}

function assertOptions(options: LoopbackOptions): void {
  assertOptionNames("loopbackRedirect", options, optionNames);
  const { host = "127.0.0.1", path = "/callback", port = 0, timeoutMs } = options;
  if (typeof path !== "string" || !path.startsWith("/") || new URL(path, "http://127.0.0.1").pathname !== path)
    throw new TypeError('loopbackRedirect: path is the path of a URL, such as "/callback"');
  if (host !== "127.0.0.1" && host !== "localhost")
    throw new TypeError(
      'loopbackRedirect: host is "127.0.0.1" or "localhost": nobody else may be sent what comes back',
    );
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new TypeError("loopbackRedirect: port is a whole number up to 65535; leave it out for one that is free");
  for (const name of ["open", "onUrl"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw new TypeError(`loopbackRedirect: ${name} must be a function that is given the URL of the page`);
  assertMs("loopbackRedirect", "timeoutMs", timeoutMs);
}

/** The port that the authorization server knows already: 0 where it knows none. */
function portIn(registered: readonly string[], host: string, path: string): number {
  const known = registered.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri));
  const same = known.find(
    ({ protocol, hostname, pathname }) => protocol === "http:" && hostname === host && pathname === path,
  );
  return Number(same?.port ?? 0);
}

async function listen(server: Server, port: number): Promise<void> {
  // One visitor, who has little to say.
  server.headersTimeout = 5000;
  server.requestTimeout = 10_000;
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    const fail = ({ code }: NodeJS.ErrnoException): void => {
      const why = code === "EADDRINUSE" ? "is in use" : `cannot be had (${code})`;
      const text = `Port ${port} of this machine ${why}, and nobody could come back to it. Give loopbackRedirect another, or none`;
      reject(new OAuthError("no_redirect", text));
    };
    server.once("error", fail);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", fail);
      resolve();
    });
  });
}

async function openFor(url: URL, { open, onUrl }: LoopbackOptions): Promise<void> {
  onUrl?.(url);
  if ((await (open ?? openBrowser)(url)) === false && !onUrl)
    throw new OAuthError(
      "no_redirect",
      "No browser could be opened. Show the address with loopbackRedirect({ onUrl }), or use terminalRedirect()",
    );
}

function late(ms: number): OAuthError {
  return new OAuthError("timeout", `Nobody came back from the authorization page in ${ms / 1000} s`);
}

/**
 * Undefined for whatever is not the answer that is waited for. Any page on the web can have a browser ask for something here, and
 * must not end the visit by it: such a request has another Host (rebinding), is for a part of that page, or cannot know `state`.
 */
function read(request: IncomingMessage, path: string, state: string | null): URLSearchParams | undefined {
  const { method, url = "", headers, socket } = request;
  const isOurs = ["127.0.0.1", "localhost"].some(
    (name) => headers.host === new URL(`http://${name}:${socket.localPort}`).host,
  );
  const isPart = (headers["sec-fetch-dest"] ?? "document") !== "document";
  const at = url.indexOf("?");
  if (method !== "GET" || !isOurs || isPart || at < 0 || url.slice(0, at) !== path) return undefined;
  const parameters = new URLSearchParams(url.slice(at + 1));
  const told = parameters.get("state");
  // Some leave it out when they say no.
  if (parameters.has("error")) return told === null || told === state ? parameters : undefined;
  return parameters.has("code") && told === state ? parameters : undefined;
}

const style = "body{font:16px system-ui;max-width:32em;margin:15vh auto;padding:0 1em}";
const styleHash = createHash("sha256").update(style).digest("base64");

const headers = {
  "cache-control": "no-store",
  // The address of the page holds the code: it must not be told to anybody.
  "referrer-policy": "no-referrer",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  connection: "close",
};

/** Nothing of what came is on the page. */
function show(response: ServerResponse, error: string | null): void {
  const [title, text] = toWords(error);
  response.writeHead(200, { ...headers, "content-type": "text/html; charset=utf-8" });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>${style}</style>` +
      `<body><h1>${title}</h1><p>${text}</p></body></html>`,
  );
}

function toWords(error: string | null): readonly [title: string, text: string] {
  if (error === null) return ["Thank you", "You can close this window, and go on where you came from."];
  if (error === "access_denied")
    return ["Nothing was granted", "You can close this window. Nobody was given leave to do anything."];
  return ["That did not work", "You can close this window. Where you came from it says what went wrong."];
}

function refuse(response: ServerResponse): void {
  response.writeHead(404, { ...headers, "content-type": "text/plain; charset=utf-8" }).end("Nothing is here");
}
