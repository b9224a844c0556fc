// The web-standard feed of the HTTP core: a Request in, a Response out. For Workers, Deno, Bun, Hono, Next and whatever else
// speaks fetch. Runtime-neutral.
import type { Endpoint } from "../../protocol/endpoint.ts";
import { readUtf8 } from "./body.ts";
import { type EventSink, type Headers, HttpFault, type HttpRequest, type Outlet } from "./exchange.ts";
import { createCore } from "./handler.ts";
import { type HttpOptions, type HttpSettings, toSettings } from "./options.ts";
import { createOwnPulse, toPeriod } from "./pulse.ts";

export type { Authenticate, HttpHead, HttpRequest, Refusal, Route, RouteAnswer } from "./exchange.ts";
export type { AccessEntry, MetricsSample } from "./observe.ts";
export type { CorsOptions, HttpOptions, SessionOptions, SseOptions } from "./options.ts";

export interface FetchHandler {
  (request: Request): Promise<Response>;
  /** Takes nothing new, ends what listens, gives calls that run `graceMs` (default 5000), then cancels them. */
  close(graceMs?: number): Promise<void>;
  /** Ends the connections of event streams; clients of 2025-11-25 come back after `retryMs` for the rest. */
  disconnect(retryMs?: number): void;
}

/**
 * Serves an endpoint, such as a server, to web-standard requests, in every revision. Throws a TypeError for options that
 * make no sense.
 */
export function toFetchHandler(endpoint: Endpoint, options: HttpOptions = {}): FetchHandler {
  if (typeof endpoint?.watch !== "function")
    throw new TypeError("toFetchHandler takes a server, such as createServer makes");
  const settings = toSettings(options, "toFetchHandler");
  const core = createCore(endpoint, settings, createOwnPulse(periodOf(settings)));
  const handle = (request: Request): Promise<Response> =>
    new Promise((resolve) => core.handle(toHttpRequest(request), toOutlet(request, resolve)));
  return Object.assign(handle, {
    close: (graceMs = 5000) => core.close(graceMs),
    disconnect: (retryMs?: number) => core.disconnect(retryMs),
  });
}

export function periodOf({ keepAliveMs, readerTimeoutMs, streamAfterMs }: HttpSettings): number {
  return toPeriod(keepAliveMs, readerTimeoutMs, streamAfterMs);
}

function toHttpRequest(request: Request): HttpRequest {
  const { pathname, search, host } = new URL(request.url);
  return {
    method: request.method.toUpperCase(),
    path: pathname,
    query: search.slice(1),
    // Some runtimes keep the Host header to themselves; the address is made of it.
    header: (name) => request.headers.get(name) ?? (name === "host" ? host : undefined),
    body: (maxBytes, timeoutMs) => {
      const length = Number(request.headers.get("content-length") ?? 0);
      if (length > maxBytes) return Promise.reject(tooLarge(maxBytes));
      return readUtf8(chunksOf(request), maxBytes, timeoutMs);
    },
  };
}

export function tooLarge(maxBytes: number): HttpFault {
  return new HttpFault(413, `The body has more than ${maxBytes} bytes`);
}

async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // What is left is not wanted.
    reader.cancel().catch(() => {});
  }
}

const encoder = new TextEncoder();
/** How much a runtime may take ahead of the reader. */
const ahead = 65_536;

function toOutlet(request: Request, resolve: (response: Response) => void): Outlet {
  let gone: (() => void) | undefined;
  let isOver = false;
  const lose = (): void => {
    if (isOver) return;
    isOver = true;
    gone?.();
  };
  // Not every runtime aborts the request's signal when the client leaves; the stream is cancelled in any case.
  request.signal?.addEventListener("abort", lose, { once: true });
  return {
    answer(status, headers, body) {
      isOver = true;
      resolve(new Response(body === undefined || status === 204 ? null : body, { status, headers: toInit(headers) }));
    },
    stream(headers) {
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>(
        {
          start(given) {
            controller = given;
          },
          cancel: lose,
        },
        { highWaterMark: ahead, size: (chunk) => chunk?.byteLength ?? 0 },
      );
      const sink: EventSink = {
        write(text) {
          if (!isOver) controller?.enqueue(encoder.encode(text));
        },
        end() {
          if (isOver) return;
          isOver = true;
          controller?.close();
        },
        abort() {
          if (isOver) return;
          isOver = true;
          controller?.error(new Error("The stream was cut off"));
        },
        get waitingBytes() {
          // What a runtime takes ahead is not behind.
          return isOver ? 0 : Math.max(0, ahead - (controller?.desiredSize ?? ahead));
        },
      };
      resolve(new Response(body, { status: 200, headers: toInit(headers) }));
      return sink;
    },
    onGone(run) {
      gone = run;
    },
  };
}

function toInit(headers: Headers): Record<string, string> {
  return { ...headers };
}
