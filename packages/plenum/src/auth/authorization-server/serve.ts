// Routes as a function from Request to Response, for every runtime that has these; and what of an answer is the same wherever it
// is written.
import type { RouteAnswer, RouteRequest, Routes } from "../route.ts";
import { readBody } from "./body.ts";
import { toFaultAnswer } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";

export interface Written {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Undefined: none. */
  readonly text: string | undefined;
}

export type Report = (error: unknown, about: { readonly path: string }) => void;

/** What a route answers, and what is answered where there is none, or where it fails: nothing of why. */
export async function answerRequest(routes: Routes, request: RouteRequest, report: Report): Promise<Written> {
  const route = Object.hasOwn(routes, request.path) ? routes[request.path] : undefined;
  if (!route) return toWritten({ status: 404, body: { error: "not_found" } }, request);
  try {
    return toWritten(await route(request), request);
  } catch (error) {
    if (error instanceof AuthFault) return toWritten(toFaultAnswer(error), request);
    try {
      report(error, { path: request.path });
    } catch {
      // Whoever is told must not take the answer with it.
    }
    return toWritten(toFaultAnswer(new AuthFault("server_error", "Something went wrong here", 500)), request);
  }
}

function toWritten({ status = 200, headers = {}, body }: RouteAnswer, { method }: RouteRequest): Written {
  const isText = typeof body === "string";
  const type = isText ? "text/plain; charset=utf-8" : "application/json";
  const text = body === undefined || method === "HEAD" ? undefined : isText ? body : JSON.stringify(body);
  return { status, headers: body === undefined ? headers : { "content-type": type, ...headers }, text };
}

export type Answerer = (request: RouteRequest) => Promise<Written>;

export function toFetchHandler(answer: Answerer): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, text } = await answer({
      method: request.method.toUpperCase(),
      path: pathname,
      query: search.slice(1),
      header: (name) => request.headers.get(name) ?? undefined,
      body: (maxBytes, timeoutMs) => readBody(partsOf(request), maxBytes, timeoutMs),
    });
    return new Response(text ?? null, { status, headers });
  };
}

/** Not every runtime can go through a stream without a reader. */
async function* partsOf({ body }: Request): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
