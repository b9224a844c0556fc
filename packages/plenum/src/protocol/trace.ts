// A span around every call that an endpoint answers, whatever brought the call: for OpenTelemetry, which is not a
// dependency. Names and attributes are those of its semantic conventions for MCP. What a client sends as arguments is
// nobody's business but the handler's: no attribute shows it, and error messages, which may quote it, stay out too.
import { toLine } from "../util/quote.ts";
import type { Call, Endpoint, Result } from "./endpoint.ts";
import { McpError, toErrorObject } from "./errors.ts";
import { traceContextOf } from "./meta.ts";
import { findMethod } from "./methods.ts";
import { assertResult, toToolFault } from "./revise.ts";

/** What is used of `@opentelemetry/api`. A context is opaque here. */
export interface TelemetryApi {
  readonly trace: {
    getTracer(name: string): TelemetryTracer;
    getSpan(context: unknown): TelemetrySpan | undefined;
    setSpan(context: unknown, span: TelemetrySpan): unknown;
  };
  readonly context: {
    active(): unknown;
    with<T>(context: unknown, run: () => T): T;
  };
  readonly propagation: { extract(context: unknown, carrier: { readonly [key: string]: string }): unknown };
  readonly SpanKind: { readonly SERVER: number };
  readonly SpanStatusCode: { readonly ERROR: number };
}

/** What names a span to others. */
export interface TelemetrySpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface TelemetryTracer {
  startSpan(
    name: string,
    options: { kind: number; attributes: { [key: string]: string }; links: { context: TelemetrySpanContext }[] },
    context: unknown,
  ): TelemetrySpan;
}

export interface TelemetrySpan {
  setAttribute(key: string, value: string): unknown;
  setStatus(status: { code: number }): unknown;
  spanContext(): TelemetrySpanContext;
  end(): void;
}

/** No name of a tool or prompt is longer; what somebody makes up may be. */
const maxNameLength = 128;
const maxUriLength = 2000;

/**
 * The endpoint, with a span around every call. Its parent is what the request's `_meta` says; a span that is active
 * beside that, such as one of the HTTP request, is linked, and is the parent where `_meta` says nothing.
 */
export function traceCalls(endpoint: Endpoint, api: TelemetryApi): Endpoint {
  const { trace, context, propagation } = api;
  const tracer = trace.getTracer("plenum");

  async function call(call: Call): Promise<Result> {
    const active = context.active();
    const carrier = traceContextOf(call.meta);
    const parent = propagation.extract(active, carrier);
    const around = carrier.traceparent === undefined ? undefined : trace.getSpan(active);
    const { name, attributes } = describe(call);
    const links = around ? [{ context: around.spanContext() }] : [];
    const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes, links }, parent);
    const fail = (type: string): void => {
      // Of a call that was cancelled or cut off nobody is told how it went.
      span.setAttribute("error.type", call.link.ended ? "cancelled" : type);
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    };
    try {
      const result = await context.with(trace.setSpan(parent, span), () => endpoint.call(call));
      assertResult(result, call.method);
      if (result.isError === true) fail("tool_error");
      return result;
    } catch (error) {
      const problem = toProblem(error, call);
      if (problem) fail(problem.type);
      if (problem?.code !== undefined && !call.link.ended) span.setAttribute("rpc.response.status_code", problem.code);
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    describe: () => endpoint.describe(),
    handles: (method) => endpoint.handles(method),
    call,
    watch: (listener) => endpoint.watch(listener),
    report: (error, about) => endpoint.report(error, about),
    cacheHints: () => endpoint.cacheHints(),
    ...(endpoint.rounds && { rounds: endpoint.rounds }),
  };
}

function describe({ method, params, id, client }: Call): { name: string; attributes: { [key: string]: string } } {
  const attributes: { [key: string]: string } = {
    "mcp.method.name": method,
    "mcp.protocol.version": client.revision,
    "jsonrpc.request.id": String(id),
  };
  if (method.startsWith("resources/") && typeof params.uri === "string")
    attributes["mcp.resource.uri"] = toShown(params.uri);
  const isTool = method === "tools/call";
  if (isTool) attributes["gen_ai.operation.name"] = "execute_tool";
  if (!(isTool || method === "prompts/get") || typeof params.name !== "string") return { name: method, attributes };
  const target = toLine(params.name, maxNameLength);
  attributes[isTool ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  return { name: `${method} ${target}`, attributes };
}

/** A URI without what may be secret in it: who asks, and with what. */
function toShown(uri: string): string {
  return toLine(uri.replace(/[?#].*/s, "").replace(/\/\/[^/]*@/, "//"), maxUriLength);
}

/** What went wrong, as the peer is told it. Nothing, where the call merely goes on when its questions are answered. */
function toProblem(
  error: unknown,
  { method, client }: Call,
): { readonly type: string; readonly code?: string } | undefined {
  if (error instanceof McpError && error.code === "input_required") return undefined;
  if (toToolFault(error, findMethod(method), client.revision)) return { type: "tool_error" };
  // Who answers reports what is hidden from the peer.
  const code = String(toErrorObject(error, client.revision, () => "").code);
  return { type: code, code };
}

let loading: Promise<TelemetryApi | undefined> | undefined;

/** `@opentelemetry/api`, where the application has installed it. */
export function loadTelemetry(): Promise<TelemetryApi | undefined> {
  // No literal: a bundler would want to have it.
  const specifier: string = "@opentelemetry/api";
  loading ??= import(/* @vite-ignore */ /* webpackIgnore: true */ specifier).then(
    (api: TelemetryApi) => api,
    () => undefined,
  );
  return loading;
}
