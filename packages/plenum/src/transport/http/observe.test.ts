import { describe, expect, test, vi } from "vitest";
import type { EventSink, HttpHead, Outlet } from "./exchange.ts";
import { type AccessEntry, type MetricsSample, observe } from "./observe.ts";

const head: HttpHead = {
  method: "POST",
  path: "/mcp",
  query: "sessionId=s3cret",
  header: (name) => (name === "authorization" ? "Bearer s3cret" : undefined),
  peer: "127.0.0.1",
};

function createOutlet() {
  const end = vi.fn<EventSink["end"]>((told) => told?.(true));
  const sink = { write: vi.fn(), end, abort: vi.fn(), waitingBytes: 7 } satisfies EventSink;
  let gone = (): void => {};
  const outlet: Outlet = {
    answer: vi.fn<Outlet["answer"]>((_status, _headers, _body, told) => told?.(true)),
    stream: vi.fn(() => sink),
    onGone: vi.fn((listener) => {
      gone = () => listener.gone();
    }),
  };
  return { outlet, sink, leave: () => gone() };
}

function createOwn(own: HttpHead = head) {
  const inner = createOutlet();
  const entries: AccessEntry[] = [];
  const samples: MetricsSample[] = [];
  const onAccess = (entry: AccessEntry) => entries.push(entry);
  const onMetrics = (sample: MetricsSample) => samples.push(sample);
  const observed = observe(own, inner.outlet, { onAccess, onMetrics });
  return { ...inner, ...observed, inner: inner.outlet, entries, samples };
}

test("without hooks it is the outlet itself", () => {
  const { outlet } = createOutlet();
  const observed = observe(head, outlet, { onAccess: undefined, onMetrics: undefined });
  expect(observed.outlet).toBe(outlet);
  expect(outlet.onGone).not.toHaveBeenCalled();
  expect(() => observed.note(() => ({ rpcMethod: "ping" }))).not.toThrow();
});

describe("an answer", () => {
  test("is told once, with what was noted", () => {
    const { outlet, note, inner, entries, samples, leave } = createOwn();
    note(() => ({ rpcMethod: "tools/call", requestBytes: 7 }));
    note(() => ({ revision: "2025-06-18" }));
    expect(entries).toEqual([]);
    outlet.answer(200, { a: "b" }, "zwölf €");
    leave();
    expect(inner.answer).toHaveBeenCalledExactlyOnceWith(200, { a: "b" }, "zwölf €", expect.any(Function));
    const both = { status: 200, requestBytes: 7, responseBytes: 10, rpcCode: undefined };
    const method = { rpcMethod: "tools/call", revision: "2025-06-18", durationMs: expect.any(Number) };
    expect(entries).toEqual([
      {
        ...both,
        ...method,
        at: expect.any(Date),
        method: "POST",
        path: "/mcp",
        peer: "127.0.0.1",
        outcome: "answered",
      },
    ]);
    expect(samples).toEqual([{ ...both, ...method, firstByteMs: expect.any(Number), events: 0 }]);
  });

  test("without a body, and with nothing noted", () => {
    const { outlet, inner, entries, samples } = createOwn();
    outlet.answer(202, {});
    expect(inner.answer).toHaveBeenCalledExactlyOnceWith(202, {}, undefined, expect.any(Function));
    const nothing = { rpcMethod: undefined, revision: undefined, rpcCode: undefined };
    expect(entries).toMatchObject([{ status: 202, requestBytes: 0, responseBytes: 0, ...nothing }]);
    expect(samples).toMatchObject([{ status: 202, requestBytes: 0, responseBytes: 0, ...nothing }]);
  });

  test.each([
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', -32601],
    ['{"jsonrpc":"2.0","id":"a \\" b","error":{"code":-32020,"message":"no"}}', -32020],
    ['{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}', -32700],
    ['{"jsonrpc":"2.0","id":1,"result":{"text":"{\\"jsonrpc\\":\\"2.0\\",\\"error\\":{\\"code\\":-1"}}', undefined],
    ['[{"jsonrpc":"2.0","id":1,"result":{"jsonrpc":"2.0","error":{"code":5}}}]', undefined],
  ])("the code of %s", (body, rpcCode) => {
    const { outlet, samples } = createOwn();
    outlet.answer(200, {}, body);
    expect(samples).toMatchObject([{ rpcCode }]);
  });

  test("the code of an error that comes as an event", () => {
    const { outlet, samples } = createOwn();
    const sink = outlet.stream({});
    sink.write('id: 1-2\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n');
    sink.write('id: 1-3\nevent: message\ndata: {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x"}}\n\n');
    sink.end();
    expect(samples).toMatchObject([{ rpcCode: -32603 }]);
  });

  test("times do not run backwards", () => {
    const { outlet, samples } = createOwn();
    outlet.answer(200, {}, "x");
    const [{ firstByteMs, durationMs } = { firstByteMs: -1, durationMs: -1 }] = samples;
    expect(firstByteMs).toBeGreaterThanOrEqual(0);
    expect(durationMs).toBeGreaterThanOrEqual(firstByteMs ?? 0);
  });
});

describe("a stream", () => {
  test("is told when it ends, with its bytes and events", () => {
    const { outlet, sink, inner, entries, samples } = createOwn();
    const stream = outlet.stream({ a: "b" });
    expect(inner.stream).toHaveBeenCalledExactlyOnceWith({ a: "b" });
    stream.write("id: 1\ndata:\n\n");
    stream.write(": comment\n\n");
    stream.write("data: é\n\ndata: 2\ndata: 3\n\n");
    expect(stream.waitingBytes).toBe(7);
    expect(entries).toEqual([]);
    stream.end();
    stream.end();
    expect(sink.write.mock.calls.flat()).toEqual([
      ...["id: 1\ndata:\n\n", ": comment\n\n", "data: é\n\ndata: 2\ndata: 3\n\n"],
    ]);
    expect(sink.end).toHaveBeenCalled();
    expect(entries).toMatchObject([{ status: 200, outcome: "streamed", responseBytes: 13 + 11 + 27 }]);
    expect(samples).toMatchObject([{ status: 200, events: 3, responseBytes: 13 + 11 + 27 }]);
  });

  test("cut off by us", () => {
    const { outlet, sink, entries } = createOwn();
    outlet.stream({}).abort();
    expect(sink.abort).toHaveBeenCalledOnce();
    expect(entries).toMatchObject([{ status: 200, outcome: "gone" }]);
  });

  test("left by the client: told once, and the core is told too", () => {
    const { outlet, entries, samples, leave, note } = createOwn();
    const first = vi.fn();
    const second = vi.fn();
    outlet.onGone({ gone: first });
    const stream = outlet.stream({});
    outlet.onGone({ gone: second });
    stream.write("data: 1\n\n");
    leave();
    note(() => ({ rpcMethod: "late" }));
    stream.write("data: 2\n\n");
    stream.end();
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledOnce();
    expect(entries).toMatchObject([{ status: 200, outcome: "gone", responseBytes: 9, rpcMethod: undefined }]);
    expect(samples).toMatchObject([{ events: 1, responseBytes: 9 }]);
  });
});

test("a client that leaves before any answer", () => {
  const { outlet, entries, samples, leave } = createOwn();
  const gone = vi.fn();
  outlet.onGone({ gone });
  leave();
  expect(gone).toHaveBeenCalledOnce();
  expect(entries).toMatchObject([{ status: undefined, outcome: "gone" }]);
  expect(samples).toMatchObject([{ status: undefined, firstByteMs: undefined }]);
});

test("the peer is who it was at the start", () => {
  let peer: string | undefined = "10.0.0.1";
  const { entries, leave } = createOwn({
    ...head,
    get peer() {
      return peer;
    },
  });
  peer = undefined;
  leave();
  expect(entries).toMatchObject([{ peer: "10.0.0.1" }]);
});

test("neither hook sees the query or a header", () => {
  const { outlet, note, entries, samples } = createOwn();
  note(() => ({ rpcMethod: "tools/call" }));
  outlet.answer(200, { "mcp-session-id": "s3cret" }, "s3cret");
  expect(JSON.stringify([entries, samples])).not.toMatch(/s3cret/);
});

test("foreign text is bounded and on one line", () => {
  const path = `/\r\nGET /forged\u202e${"x".repeat(10_000)}`;
  const { outlet, note, entries, samples } = createOwn({ ...head, path, method: "M".repeat(1000) });
  note(() => ({ rpcMethod: `a\nb${"y".repeat(10_000)}`, revision: `2\n${"z".repeat(10_000)}` }));
  outlet.answer(404, {});
  const [entry] = entries;
  expect(entry?.path).toMatch(/^\/ GET \/forged x+$/);
  expect(entry?.rpcMethod).toMatch(/^a by+$/);
  expect(JSON.stringify([entries, samples]).length).toBeLessThan(2000);
});

test("what clients make up is no series of its own", () => {
  const { outlet, note, entries, samples } = createOwn();
  note(() => ({ rpcMethod: "made/up", revision: "2099-01-01" }));
  outlet.answer(404, {});
  expect(entries).toMatchObject([{ rpcMethod: "made/up", revision: "2099-01-01" }]);
  expect(samples).toMatchObject([{ rpcMethod: undefined, revision: undefined }]);
});

test("what a hook throws or rejects with harms nobody, not even the other hook", async () => {
  const { outlet } = createOutlet();
  const onMetrics = vi.fn(async () => {
    throw new Error("later");
  });
  const onAccess = (): never => {
    throw new Error("at once");
  };
  observe(head, outlet, { onAccess, onMetrics }).outlet.answer(200, {}, "x");
  await new Promise((resolve) => setTimeout(resolve));
  expect(outlet.answer).toHaveBeenCalledOnce();
  expect(onMetrics).toHaveBeenCalledOnce();
});

test("one hook alone", () => {
  const onMetrics = vi.fn();
  observe(head, createOutlet().outlet, { onAccess: undefined, onMetrics }).outlet.answer(200, {});
  expect(onMetrics).toHaveBeenCalledOnce();
  const onAccess = vi.fn();
  observe(head, createOutlet().outlet, { onAccess, onMetrics: undefined }).outlet.answer(200, {});
  expect(onAccess).toHaveBeenCalledOnce();
});
