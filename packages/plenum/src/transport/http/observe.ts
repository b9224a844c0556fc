// What an application learns of each HTTP exchange when it is over: a line for an access log, and numbers. Never a
// query, a session id, a token or an argument.
import { callBack } from "../../util/call-back.ts";
import { toLine } from "../../util/quote.ts";
import type { EventSink, Headers, HttpHead, Outlet } from "./exchange.ts";

/** What only the core can tell of an exchange. */
export interface Noted {
  /** The JSON-RPC method; of a batch its first. */
  readonly rpcMethod: string | undefined;
  readonly revision: string | undefined;
  readonly requestBytes: number;
  /** The answer is a JSON-RPC error, or the result of a tool that failed. */
  readonly isError: boolean;
  readonly rpcCode: number | undefined;
}

export interface AccessEntry {
  /** When the request came. */
  readonly at: Date;
  readonly method: string;
  /** Without the query. Of foreign text: bounded and on one line. */
  readonly path: string;
  /** Undefined where the client left before it was answered. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestBytes: number;
  /** Of the body alone, before any encoding on the way. */
  readonly responseBytes: number;
  /** Foreign text too. */
  readonly rpcMethod: string | undefined;
  readonly revision: string | undefined;
  readonly isError: boolean;
  readonly rpcCode: number | undefined;
  readonly peer: string | undefined;
  /** "gone": the client left before the end, or was cut off since it did not read. */
  readonly outcome: "answered" | "streamed" | "gone";
}

export interface MetricsSample {
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly durationMs: number;
  /** From the request to the head of the answer. Undefined where there was none. */
  readonly firstByteMs: number | undefined;
  readonly status: number | undefined;
  /** Undefined for a method that the server does not know: names that clients make up would be series without end. */
  readonly rpcMethod: string | undefined;
  readonly revision: string | undefined;
  readonly isError: boolean;
  readonly rpcCode: number | undefined;
  /** Events that were sent, comments not counted. */
  readonly events: number;
}

export interface Hooks {
  readonly onAccess: ((entry: AccessEntry) => unknown) | undefined;
  readonly onMetrics: ((sample: MetricsSample) => unknown) | undefined;
}

export interface Observed {
  readonly outlet: Outlet;
  /** Adds to what is known; what is noted after the end comes too late. */
  note(what: Partial<Noted>): void;
}

const unknownMethod = -32601;
const nothing = (): void => {};

/**
 * Wraps the outlet so that the hooks are told, once, when the exchange is over. Without hooks it is the outlet itself.
 * What a hook throws is dropped.
 */
export function observe(head: HttpHead, outlet: Outlet, { onAccess, onMetrics }: Hooks): Observed {
  if (!onAccess && !onMetrics) return { outlet, note: nothing };
  const at = new Date();
  const start = performance.now();
  let noted: Partial<Noted> = {};
  let status: number | undefined;
  let firstByteMs: number | undefined;
  let responseBytes = 0;
  let events = 0;
  let isOver = false;

  const begin = (code: number): void => {
    status = code;
    firstByteMs = performance.now() - start;
  };
  const finish = (outcome: AccessEntry["outcome"]): void => {
    if (isOver) return;
    isOver = true;
    const rpcMethod = noted.rpcMethod === undefined ? undefined : toLine(noted.rpcMethod, 100);
    const both = {
      status,
      durationMs: performance.now() - start,
      requestBytes: noted.requestBytes ?? 0,
      responseBytes,
      revision: noted.revision === undefined ? undefined : toLine(noted.revision, 20),
      isError: noted.isError ?? false,
      rpcCode: noted.rpcCode,
    };
    if (onAccess) {
      const { method, path, peer } = head;
      const entry = { ...both, at, method: toLine(method, 20), path: toLine(path), rpcMethod, peer, outcome };
      callBack(() => onAccess(entry), nothing);
    }
    if (onMetrics) {
      const isKnown = noted.rpcCode !== unknownMethod;
      const sample = { ...both, firstByteMs, rpcMethod: isKnown ? rpcMethod : undefined, events };
      callBack(() => onMetrics(sample), nothing);
    }
  };

  let runGone = nothing;
  outlet.onGone(() => {
    finish("gone");
    runGone();
  });
  return {
    note(what) {
      noted = { ...noted, ...what };
    },
    outlet: {
      answer(code: number, headers: Headers, body?: string): void {
        begin(code);
        responseBytes = body === undefined ? 0 : toByteLength(body);
        outlet.answer(code, headers, body);
        finish("answered");
      },
      stream(headers: Headers): EventSink {
        begin(200);
        const sink = outlet.stream(headers);
        return {
          write(text) {
            if (!isOver) {
              responseBytes += toByteLength(text);
              events += countEvents(text);
            }
            sink.write(text);
          },
          end() {
            sink.end();
            finish("streamed");
          },
          abort() {
            sink.abort();
            finish("gone");
          },
          get waitingBytes() {
            return sink.waitingBytes;
          },
        };
      },
      onGone(run) {
        runGone = run;
      },
    },
  };
}

const encoder = new TextEncoder();

function toByteLength(text: string): number {
  return encoder.encode(text).length;
}

/** An empty line ends an event; a block that begins with a colon is a comment. */
function countEvents(text: string): number {
  let count = 0;
  let from = 0;
  for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
    if (text[from] !== ":") count++;
    from = end + 2;
  }
  return count;
}
