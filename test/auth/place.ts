// An HTTP server on a socket of this machine whose every page a test can bend, and what was asked of it.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request, whole. */
export interface Seen {
  /** The place that it came to. */
  readonly place: string;
  readonly verb: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** As text; empty where somebody else reads it. */
  readonly body: string;
  /** The body, where it is a form. */
  readonly form: URLSearchParams;
}

export interface Answer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Text as it is; any other value as JSON. */
  readonly body?: unknown;
  readonly delayMs?: number;
  /** Breaks the connection in place of an answer. */
  readonly isCut?: boolean;
}

export type Page = Answer | ((seen: Seen) => Answer | Promise<Answer>);

/** Whoever reads a request by himself. */
export type Rest = (request: IncomingMessage, response: ServerResponse) => void;

export interface Place {
  readonly origin: string;
  /** By path. What is not there is 404, unless somebody takes the rest. */
  readonly pages: Map<string, Page>;
  rest: Rest | undefined;
  /** Ends all connections, as a server that dies does. */
  cut(): void;
}

/** @param log everything that is asked of any place of the test, in order */
export async function openPlace(name: string, log: Seen[]): Promise<Place> {
  const place = { origin: "", pages: new Map<string, Page>(), rest: undefined as Rest | undefined, cut() {} };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const page = place.pages.get(pathname);
    const isRest = !page && place.rest !== undefined;
    const body = isRest ? "" : await readBody(request);
    const seen: Seen = {
      place: name,
      verb: request.method ?? "",
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body,
      form: new URLSearchParams(body),
    };
    log.push(seen);
    if (isRest) return place.rest?.(request, response);
    await answer(response, page ? await (typeof page === "function" ? page(seen) : page) : { status: 404 });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  place.cut = () => server.closeAllConnections();
  place.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return place;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    // The client has left.
  }
  return Buffer.concat(chunks).toString();
}

async function answer(response: ServerResponse, { status = 200, headers, body, delayMs, isCut }: Answer) {
  if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (isCut) return void response.destroy();
  const isText = typeof body === "string";
  const type = body === undefined || isText ? undefined : { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(body === undefined || isText ? body : JSON.stringify(body));
}
