// Spans around calls, with OpenTelemetry's own SDK: names, attributes, parents, and what must not be seen in them.
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type Client, connect, createServer, McpError, ToolError, toolResult } from "plenum";
import { toFetchHandler } from "plenum/http";
import { serveHttp, toNodeHandler } from "plenum/http/node";
import { loadTelemetry, traceCalls } from "plenum/trace";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
  api.propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
  api.trace.setGlobalTracerProvider(provider);
});

afterAll(async () => {
  api.trace.disable();
  api.propagation.disable();
  api.context.disable();
  await provider.shutdown();
});

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  exporter.reset();
});

let start = (): void => {};
const started = new Promise<void>((resolve) => {
  start = resolve;
});

function createTraced() {
  const server = createServer({ name: "traced", version: "1.0.0", onError: () => {} });
  const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  server.tool("forecast", { input }, ({ city }) => `sun in ${city}`);
  server.tool("within", {}, () => {
    const span = api.trace.getActiveSpan();
    const baggage = api.propagation.getBaggage(api.context.active())?.getEntry("user")?.value;
    return { spanId: span?.spanContext().spanId, baggage };
  });
  server.tool("broken", {}, () => {
    throw new Error("the password is hunter2");
  });
  server.tool("unhappy", {}, () => {
    throw new ToolError("no such city: Atlantis");
  });
  server.tool("failed", {}, () => toolResult({ isError: true }));
  server.tool("limited", {}, () => {
    throw new McpError("rate_limited", "too many");
  });
  server.tool("waits", {}, async (_, { signal }) => {
    start();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  server.tool("asks", {}, async (_, ctx) => (await ctx.elicit("Sure?", { type: "object" })).action);
  server.prompt("greet", {}, () => "hello");
  server.resource("note://a", { name: "note" }, () => "a note");
  return server;
}

async function open(revision: "2025-11-25" | "2026-07-28" = "2026-07-28"): Promise<Client> {
  const client = await connect(traceCalls(createTraced(), api), {
    revision,
    onElicit: () => ({ action: "accept", content: {} }),
  });
  clients.push(client);
  return client;
}

/** The spans of a method, in their order: a client may list tools on its own account. */
function spansOf(method: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter(({ attributes }) => attributes["mcp.method.name"] === method);
}

function only(method: string): ReadableSpan {
  const [span, ...others] = spansOf(method);
  if (!span || others.length > 0) throw new Error(`${others.length + (span ? 1 : 0)} spans of ${method}`);
  exporter.reset();
  return span;
}

test.each(["2025-11-25", "2026-07-28"] as const)("a call of %s is a span of a server", async (revision) => {
  const client = await open(revision);
  await client.callTool("forecast", { city: "Oslo" });
  const { name, kind, attributes, status, parentSpanContext, links } = only("tools/call");
  expect({ name, kind, status, links, parentSpanContext }).toEqual({
    name: "tools/call forecast",
    kind: api.SpanKind.SERVER,
    status: { code: api.SpanStatusCode.UNSET },
    links: [],
    parentSpanContext: undefined,
  });
  expect(attributes).toEqual({
    "mcp.method.name": "tools/call",
    "mcp.protocol.version": revision,
    "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "forecast",
  });
});

test("a handshake and a discovery are calls too", async () => {
  await open("2025-11-25");
  expect(only("initialize").name).toBe("initialize");
  await open("2026-07-28");
  expect(only("server/discover").name).toBe("server/discover");
});

test("other targets have attributes of their own, and addresses stay out of names", async () => {
  const client = await open();
  await client.getPrompt("greet");
  expect(only("prompts/get")).toMatchObject({
    name: "prompts/get greet",
    attributes: { "gen_ai.prompt.name": "greet" },
  });
  await client.readResource("note://a");
  expect(only("resources/read")).toMatchObject({
    name: "resources/read",
    attributes: { "mcp.resource.uri": "note://a" },
  });
  await expect(client.readResource("note://me:secret@host/a?token=secret#secret")).rejects.toThrow();
  expect(only("resources/read").attributes).toMatchObject({ "mcp.resource.uri": "note://host/a" });
});

test("the parent is what the request says, in every revision", async () => {
  covers("meta-trace-context");
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    const client = await open(revision);
    await client.callTool("within", {}, { meta: { traceparent, tracestate: "vendor=1" } });
    const span = only("tools/call");
    expect(span.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true });
    expect(span.spanContext().traceId).toBe(traceId);
    expect(span.spanContext().traceState?.get("vendor")).toBe("1");
  }
});

test("a parent that is none is passed over", async () => {
  const client = await open();
  await client.callTool("within", {}, { meta: { traceparent: `ff-${traceId}-${spanId}-01` } });
  expect(only("tools/call").parentSpanContext).toBeUndefined();
});

test("what is active on the server is linked, or the parent where the request names none", async () => {
  const server = traceCalls(createTraced(), api);
  const http = provider.getTracer("http").startSpan("POST /mcp");
  const { spanId: around } = http.spanContext();
  const client = await api.context.with(api.trace.setSpan(api.context.active(), http), () => connect(server));
  clients.push(client);
  await api.context.with(api.trace.setSpan(api.context.active(), http), async () => {
    await client.callTool("within", {}, { meta: { traceparent } });
    const asked = only("tools/call");
    expect(asked.parentSpanContext?.spanId).toBe(spanId);
    expect(asked.links.map(({ context }) => context.spanId)).toEqual([around]);
    await client.callTool("within");
    const unasked = only("tools/call");
    expect(unasked.parentSpanContext?.spanId).toBe(around);
    expect(unasked.links).toEqual([]);
  });
  http.end();
});

test("the handler runs inside its span, with the caller's baggage", async () => {
  const client = await open();
  const { text } = await client.callTool("within", {}, { meta: { traceparent, baggage: "user=alice" } });
  expect(JSON.parse(text)).toEqual({ spanId: only("tools/call").spanContext().spanId, baggage: "alice" });
});

test.each([
  ["a tool that tells the model", "unhappy", "tool_error", undefined],
  ["a tool that returns a failure", "failed", "tool_error", undefined],
  ["a tool that breaks", "broken", "tool_error", undefined],
  ["arguments that the model is to mend", "forecast", "tool_error", undefined],
  ["an error of the protocol", "limited", "-32603", "-32603"],
  ["a tool that is not there", "nowhere", "-32602", "-32602"],
])("%s is an error of its span", async (_, name, type, code) => {
  const client = await open();
  await client.callTool(name).catch(() => {});
  const { attributes, status, events } = only("tools/call");
  expect(status).toEqual({ code: api.SpanStatusCode.ERROR });
  expect(attributes["error.type"]).toBe(type);
  expect(attributes["rpc.response.status_code"]).toBe(code);
  expect(events).toEqual([]);
});

test("a number is the one of the revision", async () => {
  for (const [revision, code] of [
    ["2025-11-25", "-32002"],
    ["2026-07-28", "-32602"],
  ] as const) {
    const client = await open(revision);
    await client.readResource("note://none").catch(() => {});
    expect(only("resources/read").attributes).toMatchObject({
      "error.type": code,
      "rpc.response.status_code": code,
    });
  }
});

test("a call that asks is no error, in either era", async () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    const client = await open(revision);
    expect((await client.callTool("asks")).text).toBe("accept");
    const spans = spansOf("tools/call");
    expect(spans.map(({ status }) => status.code)).toEqual(spans.map(() => api.SpanStatusCode.UNSET));
    // Without a session it is run once more for the answer.
    expect(spans).toHaveLength(revision === "2026-07-28" ? 2 : 1);
    exporter.reset();
  }
});

test("a call that was cancelled says so, and has no number", async () => {
  const client = await open();
  const controller = new AbortController();
  const call = client.callTool("waits", {}, { signal: controller.signal });
  await started;
  controller.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(() => spansOf("tools/call").length).toBe(1);
  const { attributes } = only("tools/call");
  expect(attributes["error.type"]).toBe("cancelled");
  expect(attributes).not.toHaveProperty("rpc.response.status_code");
});

test("nothing of what was sent is to be seen, but names", async () => {
  const client = await open();
  await client.callTool("forecast", { city: "hunter2" });
  await client.callTool("forecast", { city: 7, hunter2: true }).catch(() => {});
  await client.callTool("broken").catch(() => {});
  const shown = exporter
    .getFinishedSpans()
    .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
  expect(shown.length).toBeGreaterThanOrEqual(3);
  expect(JSON.stringify(shown)).not.toContain("hunter2");
});

test("the API is found where it is installed, once", async () => {
  const loaded = loadTelemetry();
  expect(loadTelemetry()).toBe(loaded);
  expect((await loaded)?.trace.getTracer).toBeTypeOf("function");
});

test.each(["2025-11-25", "2026-07-28"] as const)("over HTTP there are spans by themselves, in %s", async (revision) => {
  const server = createTraced();
  const http = await serveHttp(server);
  onTestFinished(() => http.close(0));
  await loadTelemetry();
  const client = await connect(http.url, { revision });
  clients.push(client);
  await client.request("tools/call", { name: "forecast", arguments: { city: "Oslo" } }, { meta: { traceparent } });
  const span = exporter.getFinishedSpans().find(({ name }) => name === "tools/call forecast");
  expect(span?.spanContext().traceId).toBe(traceId);
  expect(span?.attributes["mcp.protocol.version"]).toBe(revision);
});

test("handlers take the API, or none", async () => {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "forecast", arguments: { city: "Oslo" } },
  };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (telemetry: typeof api | false | undefined) =>
    toFetchHandler(createTraced(), { sessions: false, ...(telemetry !== undefined && { telemetry }) })(
      new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(body) }),
    );
  for (const [telemetry, spans] of [
    [undefined, 0],
    [false, 0],
    [api, 1],
  ] as const) {
    exporter.reset();
    expect((await post(telemetry)).status).toBe(200);
    expect(exporter.getFinishedSpans()).toHaveLength(spans);
  }
  expect(() => toNodeHandler(createTraced(), { telemetry: true as never })).toThrow(/@opentelemetry\/api/);
});
