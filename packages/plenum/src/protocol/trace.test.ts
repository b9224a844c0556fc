import { afterEach, expect, test, vi } from "vitest";
import type { Call, Change, Description, Endpoint } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import { type TelemetryApi, traceCalls } from "./trace.ts";

interface Seen {
  readonly name: string;
  readonly attributes: { [key: string]: string };
  status?: number;
  ended: boolean;
}

/** An API that keeps its spans. A context is the list of what was put into it. */
function createApi(): { api: TelemetryApi; spans: Seen[]; entered: unknown[] } {
  const spans: Seen[] = [];
  const entered: unknown[] = [];
  const api: TelemetryApi = {
    trace: {
      getTracer: () => ({
        startSpan(name, { attributes }) {
          const seen: Seen = { name, attributes: { ...attributes }, ended: false };
          spans.push(seen);
          return {
            setAttribute: (key, value) => {
              seen.attributes[key] = value;
            },
            setStatus: ({ code }) => {
              seen.status = code;
            },
            spanContext: () => ({ traceId: "t", spanId: "s", traceFlags: 1 }),
            end: () => {
              seen.ended = true;
            },
          };
        },
      }),
      getSpan: () => undefined,
      setSpan: (context, span) => [context, span],
    },
    context: {
      active: () => "active",
      with: (context, run) => {
        entered.push(context);
        return run();
      },
    },
    propagation: { extract: (context) => context },
    SpanKind: { SERVER: 1 },
    SpanStatusCode: { ERROR: 2 },
  };
  return { api, spans, entered };
}

/** An endpoint with a state that its methods reach by `this`. */
class Counter implements Endpoint {
  readonly rounds = { secrets: [], isGenerated: true, maxStateBytes: 1, store: undefined };
  #calls = 0;
  answer: (call: Call) => { [key: string]: unknown } = () => ({});
  describe(): Description {
    return { info: { name: `${this.#calls} calls`, version: "1" } } as Description;
  }
  handles(method: string): boolean {
    return method === `x/${this.#calls}`;
  }
  call(call: Call) {
    this.#calls++;
    return this.answer(call);
  }
  watch(listener: (change: Change) => void): () => void {
    listener({ kind: "closing" });
    return () => this.#calls++;
  }
  report(error: unknown): string {
    return `${error} ${this.#calls}`;
  }
  cacheHints() {
    return { ttlMs: this.#calls, cacheScope: "private" as const };
  }
}

function toCall(call: Partial<Call>): Call {
  return {
    method: "tools/call",
    params: { name: "echo" },
    meta: {},
    id: 1,
    client: { info: undefined, capabilities: {}, revision: "2025-11-25" },
    link: { ended: false },
    ...call,
  } as Call;
}

test("all that an endpoint is goes through", async () => {
  const { api } = createApi();
  const inner = new Counter();
  const traced = traceCalls(inner, api);
  expect(traced.rounds).toBe(inner.rounds);
  expect(traced.describe().info.name).toBe("0 calls");
  expect(traced.handles("x/0")).toBe(true);
  await traced.call(toCall({}));
  expect(traced.cacheHints()).toEqual({ ttlMs: 1, cacheScope: "private" });
  expect(traced.report("e", { method: "m" })).toBe("e 1");
  const changes: Change[] = [];
  traced.watch((change) => changes.push(change))();
  expect(changes).toEqual([{ kind: "closing" }]);
  expect(traced.describe().info.name).toBe("2 calls");
});

test("a span ends whichever way the call does, and what was thrown goes on", async () => {
  const { api, spans, entered } = createApi();
  const inner = new Counter();
  const traced = traceCalls(inner, api);
  const error = new Error("hidden");
  inner.answer = () => {
    throw error;
  };
  await expect(traced.call(toCall({}))).rejects.toBe(error);
  expect(spans).toEqual([
    {
      name: "tools/call echo",
      attributes: expect.objectContaining({ "error.type": "-32603", "rpc.response.status_code": "-32603" }),
      status: 2,
      ended: true,
    },
  ]);
  expect(entered).toEqual([["active", expect.anything()]]);
});

test("an error that a model is told has no number", async () => {
  const { api, spans } = createApi();
  const inner = new Counter();
  inner.answer = () => {
    throw new McpError("invalid_arguments", "bad");
  };
  const traced = traceCalls(inner, api);
  await Promise.resolve(traced.call(toCall({}))).catch(() => {});
  const client = { info: undefined, capabilities: {}, revision: "2025-06-18" } as const;
  await Promise.resolve(traced.call(toCall({ client }))).catch(() => {});
  expect(spans.map(({ attributes }) => attributes["error.type"])).toEqual(["tool_error", "-32602"]);
});

test("names that were made up are cut, and kept on one line", async () => {
  const { api, spans } = createApi();
  const traced = traceCalls(new Counter(), api);
  await traced.call(toCall({ params: { name: `a\nb${"x".repeat(10_000)}` } }));
  await traced.call(toCall({ params: { name: { toString: null } } }));
  await traced.call(toCall({ method: "resources/read", params: { uri: `a:\n${"x".repeat(10_000)}` } }));
  const [long, none, uri] = spans;
  expect(long?.name).toMatch(/^tools\/call a bx+$/);
  expect(long?.name.length).toBeLessThan(200);
  expect(none?.name).toBe("tools/call");
  expect(uri?.attributes["mcp.resource.uri"]).toMatch(/^a: x{1997}$/);
});

afterEach(() => {
  vi.doUnmock("@opentelemetry/api");
  vi.resetModules();
});

test("without the package there is no telemetry", async () => {
  vi.resetModules();
  vi.doMock("@opentelemetry/api", () => {
    throw new Error("Cannot find package");
  });
  const { loadTelemetry } = await import("./trace.ts");
  expect(await loadTelemetry()).toBeUndefined();
});
