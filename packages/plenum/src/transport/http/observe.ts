// What an application learns of each HTTP exchange when it is over: a line for an access log, and numbers. Never a
// query, a session id, a token or an argument.
import { findMethod } from "../../protocol/methods.ts";
import { isRevision, type Revision } from "../../protocol/revisions.ts";
import { callBack } from "../../util/call-back.ts";
import { toLine } from "../../util/quote.ts";
import type { EventSink, GoneListener, Headers, HttpHead, Outlet } from "./exchange.ts";

/** What only the core can tell of an exchange. */
export interface Noted {
  /** The JSON-RPC method; of a batch its first. */
  readonly rpcMethod: string | undefined;
  readonly revision: string | undefined;
  readonly requestBytes: number;
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
  /** Of an answer that is a JSON-RPC error; undefined for any other. */
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
  /** Only where MCP defines it: names that clients make up would be series without end. */
  readonly rpcMethod: string | undefined;
  /** Only where there is such a revision. */
  readonly revision: Revision | undefined;
  /** Of an answer that is a JSON-RPC error; undefined for any other. */
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
  /** Adds to what is known; what is noted after the end comes too late. Without hooks nothing is asked for. */
  note(what: () => Partial<Noted>): void;
}

const nothing = (): void => {};

/**
 * Wraps the outlet so that the hooks are told, once, when the exchange is over. Without hooks it is the outlet itself.
 * What a hook throws is dropped.
 */
export function observe(head: HttpHead, outlet: Outlet, { onAccess, onMetrics }: Hooks): Observed {
  if (!onAccess && !onMetrics) return { outlet, note: nothing };
  // A socket that has closed no longer tells it.
  const { peer } = head;
  const at = new Date();
  const start = performance.now();
  let noted: Partial<Noted> = {};
  let status: number | undefined;
  let firstByteMs: number | undefined;
  let responseBytes = 0;
  let events = 0;
  let rpcCode: number | undefined;
  let isOver = false;

  const begin = (code: number): void => {
    firstByteMs ??= performance.now() - start;
    status = code;
  };
  const finish = (outcome: AccessEntry["outcome"]): void => {
    if (isOver) return;
    isOver = true;
    const { rpcMethod, revision } = noted;
    const both = {
      status,
      durationMs: performance.now() - start,
      requestBytes: noted.requestBytes ?? 0,
      responseBytes,
      rpcCode,
    };
    if (onAccess) {
      const entry: AccessEntry = {
        ...both,
        at,
        method: toLine(head.method, 20),
        path: toLine(head.path),
        rpcMethod: rpcMethod && toLine(rpcMethod, 100),
        revision: revision && toLine(revision, 20),
        peer,
        outcome,
      };
      callBack(() => onAccess(entry), nothing);
    }
    if (onMetrics) {
      const sample: MetricsSample = {
        ...both,
        firstByteMs,
        rpcMethod: rpcMethod !== undefined && findMethod(rpcMethod) ? rpcMethod : undefined,
        revision: isRevision(revision) ? revision : undefined,
        events,
      };
      callBack(() => onMetrics(sample), nothing);
    }
  };

  let listener: GoneListener | undefined;
  outlet.onGone({
    gone() {
      finish("gone");
      listener?.gone();
    },
  });
  return {
    note(what) {
      if (!isOver) noted = { ...noted, ...what() };
    },
    outlet: {
      answer(code: number, headers: Headers, body?: string): void {
        const tell = (): void => {
          begin(code);
          responseBytes = body === undefined ? 0 : toByteLength(body);
          rpcCode = codeIn(body ?? "");
        };
        outlet.answer(code, headers, body, (isWhole) => {
          tell();
          finish(isWhole ? "answered" : "gone");
        });
        // What the reader takes its time for has begun all the same.
        if (!isOver) tell();
      },
      stream(headers: Headers): EventSink {
        const sink = outlet.stream(headers);
        if (!isOver) begin(200);
        return {
          write(text) {
            responseBytes += toByteLength(text);
            events += countEvents(text);
            rpcCode = codeIn(text) ?? rpcCode;
            sink.write(text);
          },
          end() {
            sink.end((isWhole) => finish(isWhole ? "streamed" : "gone"));
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
      onGone(given) {
        listener = given;
      },
    },
  };
}

// As the core writes errors: in front of the id only what an event has.
const errorForm = /^(?:[^{]*)\{"jsonrpc":"2\.0",(?:"id":(?:"(?:[^"\\]|\\.)*"|-?\d+),)?"error":\{"code":(-?\d+)/;

function codeIn(text: string): number | undefined {
  const [, code] = errorForm.exec(text.slice(0, 2000)) ?? [];
  return code === undefined ? undefined : Number(code);
}

const encoder = new TextEncoder();

export function toByteLength(text: string): number {
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
