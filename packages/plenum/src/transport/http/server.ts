// The web-standard feed of the HTTP core: a Request in, a Response out. For Workers, Deno, Bun, Hono, Next and whatever else
// speaks fetch. Runtime-neutral.
import type { Endpoint } from "../../protocol/endpoint.ts";
import { bodyIsRead, readUtf8, tooLarge } from "./body.ts";
import type { EventSink, GoneListener, Headers, HttpRequest, Outlet } from "./exchange.ts";
import { createCore } from "./handler.ts";
import { type HttpOptions, toSettings } from "./options.ts";
import { createOwnPulse, periodOf } from "./pulse.ts";
import { withTelemetry } from "./telemetry.ts";

export type { Authenticate, HttpHead, HttpRequest, Refusal, Route, RouteAnswer } from "./exchange.ts";
export type { AccessEntry, MetricsSample } from "./observe.ts";
export type { CorsOptions, HttpOptions, SessionOptions, SseOptions } from "./options.ts";

/** What Workers give a handler beside the request: it keeps alive what the request has begun. */
export interface RequestContext {
  waitUntil(promise: Promise<unknown>): void;
}

export interface FetchHandler {
  /** @param context in Workers: what a request sets in motion for others, such as news, is done though it is answered */
  (request: Request, env?: unknown, context?: RequestContext): Promise<Response>;
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
  const traced = withTelemetry(endpoint, settings.telemetry, false);
  const core = createCore(traced, settings, createOwnPulse(periodOf(settings)));
  const handle = (request: Request, _env?: unknown, context?: RequestContext): Promise<Response> =>
    new Promise((resolve) => {
      let over = (): void => {};
      // Workers drop the timers of a request that is over, and with them what was put off to the next turn.
      const turn = (done: () => void): void => {
        over = () => setTimeout(done, lastTurnMs);
      };
      context?.waitUntil?.(new Promise<void>(turn));
      core.handle(toHttpRequest(request), toOutlet(request, resolve, over));
    });
  return Object.assign(handle, {
    close: (graceMs = 5000) => core.close(graceMs),
    disconnect: (retryMs?: number) => core.disconnect(retryMs),
  });
}

function toHttpRequest(request: Request): HttpRequest {
  const { pathname, search, host } = new URL(request.url);
  return {
    method: request.method.toUpperCase(),
    path: pathname,
    query: search.slice(1),
    // Some runtimes keep the Host header to themselves; the address is made of it.
    header: (name) => request.headers.get(name) ?? (name === "host" ? host : undefined),
    body: (maxBytes, timeoutMs) => readBody(request, maxBytes, timeoutMs),
  };
}

async function readBody(request: Request, maxBytes: number, timeoutMs: number): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.bodyUsed || request.body?.locked) throw bodyIsRead();
  const reader = request.body?.getReader();
  if (!reader) return "";
  try {
    return await readUtf8(reader, maxBytes, timeoutMs);
  } finally {
    // What is left is not wanted, whether it came too late or is too much.
    reader.cancel().catch(() => {});
  }
}

const encoder = new TextEncoder();
const lastTurnMs = 10;
/** How much a runtime may take ahead of the reader. */
const ahead = 65_536;

function toOutlet(request: Request, resolve: (response: Response) => void, over: () => void): Outlet {
  let listener: GoneListener | undefined;
  let isOver = false;
  const finish = (): void => {
    isOver = true;
    over();
  };
  const lose = (): void => {
    if (isOver) return;
    finish();
    listener?.gone();
  };
  // Not every runtime aborts the request's signal when the client leaves; the stream is cancelled in any case.
  request.signal?.addEventListener("abort", lose, { once: true });
  return {
    answer(status, headers, body, told) {
      const text = body === undefined || status === 204 ? null : body;
      const response = new Response(text, { status, headers: toInit(headers) });
      finish();
      resolve(response);
      told?.(true);
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
        end(told) {
          if (isOver) return;
          finish();
          controller?.close();
          told?.(true);
        },
        abort() {
          if (isOver) return;
          finish();
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
    onGone(given) {
      listener = given;
    },
  };
}

function toInit(headers: Headers): Record<string, string> {
  return { ...headers };
}
