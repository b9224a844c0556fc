import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Channel, Receiver } from "./channel.ts";
import { type ConnectionOptions, createConnection } from "./connection.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { formatMessage, type JsonObject, parseMessage, type Request } from "./message.ts";
import { createRequests } from "./requests.ts";

/** A channel whose far end is the test. */
function open(options: Partial<ConnectionOptions> = {}) {
  const sent: JsonObject[] = [];
  let receiver: Receiver | undefined;
  const channel: Channel = {
    oneStream: true,
    open: (given) => {
      receiver = given;
    },
    send: (message) => {
      sent.push(JSON.parse(formatMessage(message)));
    },
    close: () => receiver?.closed(),
  };
  const connection = createConnection(channel, {
    requests: createRequests,
    onRequest: () => ({ result: {} }),
    onNotification: () => {},
    ...options,
  });
  connection.open();
  const receive = (value: unknown) =>
    receiver?.receive(parseMessage(typeof value === "string" ? value : JSON.stringify(value)));
  return { connection, sent, receive, lose: (cause?: unknown) => receiver?.closed(cause) };
}

const request = (id: unknown, method = "m") => ({ jsonrpc: "2.0", id, method });
const turn = () => new Promise((resolve) => setTimeout(resolve));

describe("answering", () => {
  test.each<[string, () => Answer | Promise<Answer>]>([
    [
      "throws an error",
      () => {
        throw new Error("secret");
      },
    ],
    [
      "throws undefined",
      () => {
        throw undefined;
      },
    ],
    ["rejects with undefined", () => Promise.reject(undefined)],
    ["rejects with a string", () => Promise.reject("secret")],
  ])("a handler that %s gives one internal error", async (_, onRequest) => {
    const { receive, sent } = open({ onRequest });
    receive(request(1));
    await turn();
    expect(sent).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } }]);
  });

  test.each([
    ["a BigInt", { n: 1n }],
    [
      "a cycle",
      (() => {
        const a: { a?: unknown } = {};
        a.a = a;
        return a;
      })(),
    ],
  ])("a result with %s gives one internal error", async (_, result) => {
    const { receive, sent } = open({ onRequest: () => ({ result: result as unknown as JsonObject }) });
    receive(request(1));
    await turn();
    expect(sent).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } }]);
  });

  test("what takes the place of an answer that cannot be written is told the method, in a batch too", async () => {
    const told: unknown[] = [];
    const { receive, sent } = open({
      refuseBatch: () => undefined,
      onRequest: ({ method }) => ({ result: (method === "big" ? { n: 1n } : {}) as JsonObject }),
      onUnwritable(error, method) {
        told.push([error, method]);
        return { code: 5, message: `${told.length}` };
      },
    });
    const big = { ...request(1), method: "big" };
    receive(big);
    receive([request(2), { ...big, id: 3 }]);
    await turn();
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: 5, message: "1" } },
      [
        { jsonrpc: "2.0", id: 2, result: {} },
        { jsonrpc: "2.0", id: 3, error: { code: 5, message: "2" } },
      ],
    ]);
    expect(told).toEqual([
      [expect.any(TypeError), "big"],
      [expect.any(TypeError), "big"],
    ]);
  });

  test("answers carry the id as it came, in whatever order", async () => {
    const waiting: (() => void)[] = [];
    const { receive, sent } = open({
      onRequest: () => new Promise((resolve) => waiting.push(() => resolve({ result: {} }))),
    });
    for (const id of [7, "7", "", 0, "0"]) receive(request(id));
    for (const finish of waiting.reverse()) finish();
    await turn();
    expect(sent.map((message) => message.id)).toEqual(["0", 0, "", "7", 7]);
  });

  test("an id that is still open is refused, and free again after", async () => {
    let finish: (answer: Answer) => void = () => {};
    const { receive, sent } = open({
      onRequest: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    receive(request(1));
    receive(request(1));
    expect(sent).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    finish({ result: {} });
    await turn();
    receive(request(1));
    finish({ result: {} });
    await turn();
    expect(sent).toHaveLength(3);
  });

  test("no more than the limit are open at once", () => {
    const { receive, sent, connection } = open({ onRequest: () => new Promise(() => {}), maxInFlight: 2 });
    for (const id of [1, 2, 3]) receive(request(id));
    expect(sent).toMatchObject([{ id: 3, error: { code: -32600 } }]);
    expect(connection.inFlight).toBe(2);
  });

  test("one may be answered before whoever works on it is done, who counts until then", async () => {
    const finish: ((answer: Answer) => void)[] = [];
    const { receive, sent, connection } = open({
      maxInFlight: 1,
      onRequest: (_, exchange) => {
        exchange.beforeEnd(() => exchange.notify("first", {}));
        exchange.beforeEnd(() => {
          exchange.notify("held", { id: exchange.id });
          throw new Error("nobody else's business");
        });
        exchange.answer({ result: { early: true } });
        exchange.answer({ result: { twice: true } });
        return new Promise((resolve) => finish.push(resolve));
      },
    });
    receive(request(1));
    // What was held back goes out before the answer, and nothing behind it.
    expect(sent).toMatchObject([{ method: "first" }, { method: "held" }, { id: 1, result: { early: true } }]);
    expect(connection.inFlight).toBe(0);
    receive(request(2));
    expect(sent[3]).toMatchObject({ id: 2, error: { code: -32600 } });
    finish[0]?.({ result: { late: true } });
    await turn();
    receive(request(3));
    expect(sent.slice(4)).toMatchObject([{ method: "first" }, { method: "held" }, { id: 3, result: { early: true } }]);
  });

  test("notifications are never answered, even when their handler throws", () => {
    const { receive, sent } = open({
      onNotification: () => {
        throw new Error();
      },
    });
    receive({ jsonrpc: "2.0", method: "n" });
    expect(sent).toEqual([]);
  });
});

describe("cancelling what the peer asked", () => {
  test("aborts the handler with the reason and silences it", async () => {
    let seen: Exchange | undefined;
    let finish: (answer: Answer) => void = () => {};
    const onRequest = (_: Request, exchange: Exchange) => {
      seen = exchange;
      return new Promise<Answer>((resolve) => {
        finish = resolve;
      });
    };
    const { connection, receive, sent } = open({ onRequest });
    receive(request("c"));
    const reason = new Error("no longer needed");
    expect(connection.cancel("c", reason)).toBe(true);
    expect(seen?.signal.aborted).toBe(true);
    expect(seen?.signal.reason).toBe(reason);
    seen?.notify("late", {});
    finish({ result: {} });
    await turn();
    expect(sent).toEqual([]);
    expect(connection.inFlight).toBe(0);
    expect(connection.cancel("c", reason)).toBe(false);
  });
});

describe("asking", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("pairs answers with requests", async () => {
    const { connection, receive, sent } = open();
    const first = connection.request("a", { x: 1 });
    const second = connection.request("b", undefined);
    expect(sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 2, method: "b" },
    ]);
    receive({ jsonrpc: "2.0", id: 2, error: { code: 5, message: "no" } });
    receive({ jsonrpc: "2.0", id: "1", result: { wrong: true } });
    receive({ jsonrpc: "2.0", id: 1, result: { right: true } });
    expect(await first).toEqual({ kind: "result", result: { right: true } });
    expect(await second).toEqual({ kind: "error", error: { code: 5, message: "no" } });
    expect(connection.inFlight).toBe(0);
  });

  test("gives up after timeoutMs, tells, and ignores what comes late", async () => {
    const abandoned: unknown[] = [];
    const { connection, receive } = open({ onAbandon: (...args) => abandoned.push(args) });
    const outcome = connection.request("slow", undefined, { timeoutMs: 50 });
    await vi.advanceTimersByTimeAsync(49);
    expect(abandoned).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual({ kind: "timeout", afterMs: 50 });
    expect(abandoned).toEqual([[1, "slow", "No answer in 50 ms", undefined]]);
    receive({ jsonrpc: "2.0", id: 1, result: {} });
    expect(connection.inFlight).toBe(0);
  });

  test("a touch starts the clock anew, but not the hard maximum's", async () => {
    const { connection } = open();
    const outcome = connection.request("slow", undefined, { timeoutMs: 50, maxTimeoutMs: 120 });
    for (let i = 0; i < 2; i++) {
      await vi.advanceTimersByTimeAsync(40);
      connection.touch(1);
    }
    await vi.advanceTimersByTimeAsync(39);
    expect(connection.inFlight).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual({ kind: "timeout", afterMs: 120 });
  });

  test.each([0, Number.POSITIVE_INFINITY])("timeoutMs %d means none", async (timeoutMs) => {
    const { connection } = open();
    void connection.request("slow", undefined, { timeoutMs });
    await vi.advanceTimersByTimeAsync(2 ** 31);
    expect(connection.inFlight).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an abort is its own outcome", async () => {
    const abandoned: unknown[] = [];
    const { connection } = open({ onAbandon: (...args) => abandoned.push(args) });
    const controller = new AbortController();
    const outcome = connection.request("slow", undefined, { signal: controller.signal });
    controller.abort("stop");
    expect(await outcome).toEqual({ kind: "aborted", reason: "stop" });
    expect(abandoned).toEqual([[1, "slow", "stop", undefined]]);
    expect(await connection.request("x", undefined, { signal: controller.signal })).toEqual({
      kind: "aborted",
      reason: "stop",
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an abort after the answer says nothing", async () => {
    const abandoned: unknown[] = [];
    const { connection, receive } = open({ onAbandon: (...args) => abandoned.push(args) });
    const controller = new AbortController();
    const outcome = connection.request("m", undefined, { signal: controller.signal });
    receive({ jsonrpc: "2.0", id: 1, result: {} });
    await outcome;
    controller.abort();
    expect(abandoned).toEqual([]);
  });

  test("params that are no JSON fail at the caller, and leave nothing behind", async () => {
    const { connection } = open();
    expect(await connection.request("m", { n: 1n })).toEqual({ kind: "unsent", cause: expect.any(TypeError) });
    expect(connection.inFlight).toBe(0);
  });

  test("ids are never used again", async () => {
    const { connection, sent } = open();
    for (let i = 0; i < 20; i++) void connection.request("m", undefined, { timeoutMs: 1 });
    await vi.advanceTimersByTimeAsync(5);
    for (let i = 0; i < 20; i++) void connection.request("m", undefined);
    expect(new Set(sent.map((message) => message.id)).size).toBe(40);
  });
});

describe("closing", () => {
  test("answers what is open, gives up on what we asked, aborts handlers", async () => {
    let signal: AbortSignal | undefined;
    const closes: unknown[] = [];
    const { connection, receive, sent } = open({
      onRequest: (_, exchange) => {
        signal = exchange.signal;
        return new Promise(() => {});
      },
      onClose: (cause) => closes.push(cause),
    });
    receive(request(9));
    const ours = connection.request("m", undefined);
    connection.close("bye");
    expect(sent.at(-1)).toEqual({ jsonrpc: "2.0", id: 9, error: { code: -32603, message: "bye" } });
    expect(await ours).toEqual({ kind: "lost", cause: undefined });
    expect(signal?.aborted).toBe(true);
    expect(closes).toEqual([undefined]);
    connection.close();
    connection.notify("n");
    expect(await connection.request("m", undefined)).toEqual({ kind: "lost", cause: undefined });
    expect(sent).toHaveLength(2);
  });

  test("a lost wire is told with its cause, and nothing more is sent", async () => {
    const { connection, receive, sent, lose } = open({
      onRequest: async () => {
        await turn();
        return { result: {} };
      },
    });
    receive(request(1));
    const ours = connection.request("m", undefined);
    const cause = new Error("EPIPE");
    lose(cause);
    expect(await ours).toEqual({ kind: "lost", cause });
    await turn();
    expect(sent).toHaveLength(1);
  });
});

describe("batches", () => {
  test("an answer in one that is refused is no answer, and nobody waits for another", async () => {
    const problems: unknown[] = [];
    const { connection, receive } = open({ onInvalid: (invalid) => problems.push(invalid) });
    const asked = [connection.request("a", {}), connection.request("b", {}), connection.request("c", {})];
    receive([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, error: "no" },
      { jsonrpc: "2.0", error: { code: 1, message: "nobody's" } },
    ]);
    expect(await Promise.all(asked.slice(0, 2))).toEqual([{ kind: "broken" }, { kind: "broken" }]);
    expect(problems).toHaveLength(1);
    expect(connection.inFlight).toBe(1);
  });

  const accept = { refuseBatch: () => undefined };

  test("are refused unless spoken here", () => {
    const { receive, sent } = open();
    receive([request(1)]);
    expect(sent).toMatchObject([{ error: { code: -32600 } }]);
  });

  test("one array back, one response per request, bad members included", async () => {
    const { receive, sent } = open({
      ...accept,
      onRequest: async () => {
        await turn();
        return { result: {} };
      },
    });
    receive([1, request("a"), { jsonrpc: "2.0", method: "n" }, request("b")]);
    await turn();
    await turn();
    expect(sent).toHaveLength(1);
    const answers = sent[0] as unknown as { id?: string; error?: { code: number } }[];
    expect(answers.map((answer) => answer.id ?? answer.error?.code).sort()).toEqual([-32600, "a", "b"]);
  });

  test("notifications alone get no answer, and an array of responses none either", async () => {
    const { receive, sent, connection } = open(accept);
    receive([
      { jsonrpc: "2.0", method: "n" },
      { jsonrpc: "2.0", method: "n" },
    ]);
    const outcome = connection.request("m", undefined);
    receive([{ jsonrpc: "2.0", id: 1, result: { ok: true } }]);
    expect(await outcome).toEqual({ kind: "result", result: { ok: true } });
    expect(sent).toHaveLength(1);
  });

  test("requests and responses do not mix", () => {
    const { receive, sent } = open(accept);
    receive([request(1), { jsonrpc: "2.0", id: 5, result: {} }]);
    expect(sent).toMatchObject([{ error: { code: -32600 } }]);
  });

  test("a cancelled member does not hold up the others", async () => {
    const { receive, sent, connection } = open({
      ...accept,
      onRequest: (message) => (message.method === "hang" ? new Promise<Answer>(() => {}) : { result: {} }),
    });
    receive([request(1, "hang"), request(2)]);
    connection.cancel(1, "x");
    await turn();
    expect(sent).toEqual([[{ jsonrpc: "2.0", id: 2, result: {} }]]);
  });
});

describe("holding the clocks", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("no request runs out of time while they are held, and each has its whole time after", async () => {
    const { connection } = open();
    const outcome = connection.request("slow", undefined, { timeoutMs: 50 });
    await vi.advanceTimersByTimeAsync(40);
    const release = connection.hold();
    await vi.advanceTimersByTimeAsync(1000);
    expect(connection.inFlight).toBe(1);
    release();
    await vi.advanceTimersByTimeAsync(49);
    expect(connection.inFlight).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual({ kind: "timeout", afterMs: 50 });
  });

  test("a request that is sent meanwhile has its clock: the answer may wait for it", async () => {
    const { connection } = open();
    const release = connection.hold();
    void connection.request("slow", undefined, { timeoutMs: 50 });
    await vi.advanceTimersByTimeAsync(49);
    expect(connection.inFlight).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(connection.inFlight).toBe(0);
    release();
  });

  test("the hard maximum runs on", async () => {
    const { connection } = open();
    const outcome = connection.request("slow", undefined, { timeoutMs: 50, maxTimeoutMs: 200 });
    connection.hold();
    await vi.advanceTimersByTimeAsync(199);
    expect(connection.inFlight).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual({ kind: "timeout", afterMs: 200 });
  });

  test("they are held as long as anybody holds them, and letting go twice counts once", async () => {
    const { connection } = open();
    void connection.request("slow", undefined, { timeoutMs: 50 });
    const first = connection.hold();
    const second = connection.hold();
    first();
    first();
    await vi.advanceTimersByTimeAsync(200);
    expect(connection.inFlight).toBe(1);
    second();
    await vi.advanceTimersByTimeAsync(40);
    first();
    second();
    await vi.advanceTimersByTimeAsync(10);
    expect(connection.inFlight).toBe(0);
  });

  test("what has no clock gets none", async () => {
    const { connection } = open();
    void connection.request("slow", undefined, { timeoutMs: 0 });
    connection.hold()();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("dropping", () => {
  test("ends a request of ours as aborted without a word to the peer", async () => {
    const abandoned: unknown[] = [];
    const { connection, receive, sent } = open({ onAbandon: (...args) => abandoned.push(args) });
    const outcome = connection.request("m", undefined);
    connection.drop(1, "over");
    expect(await outcome).toEqual({ kind: "aborted", reason: "over" });
    connection.drop(1);
    connection.drop("unknown");
    receive({ jsonrpc: "2.0", id: 1, result: {} });
    expect([abandoned, sent.length, connection.inFlight]).toEqual([[], 1, 0]);
  });
});

describe("what is no message", () => {
  test.each([
    ["no result at all", { jsonrpc: "2.0", id: 1, result: 5 }],
    ["a list", { jsonrpc: "2.0", id: 1, result: [] }],
    ["null", { jsonrpc: "2.0", id: 1, result: null }],
    ["a result and an error", { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } }],
    ["an error without a code", { jsonrpc: "2.0", id: 1, error: { message: "x" } }],
    ["an error that is text", { jsonrpc: "2.0", id: 1, error: "x" }],
    ["another JSON-RPC", { jsonrpc: "1.0", id: 1, result: {} }],
  ])("an answer with %s ends its request as broken, and gets no answer", async (_, response) => {
    const { connection, receive, sent } = open();
    const outcome = connection.request("m", undefined);
    receive(response);
    expect(await outcome).toEqual({ kind: "broken" });
    expect([sent.length, connection.inFlight]).toEqual([1, 0]);
  });

  test("an answer that is too deep ends its request, and says why", async () => {
    const { connection, receive } = open({ onInvalid: () => {} });
    const outcome = connection.request("m", undefined);
    receive(`{"jsonrpc":"2.0","id":1,"result":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`);
    expect(await outcome).toEqual({ kind: "broken", why: "JSON nested deeper than 128 levels" });
  });

  test("a request that is too deep is answered, also where what is no message is told instead", () => {
    const { receive, sent } = open({ onInvalid: () => {} });
    const params = `${'{"a":'.repeat(200)}1${"}".repeat(200)}`;
    receive(`{"jsonrpc":"2.0","method":"m","params":${params}}`);
    expect(sent).toEqual([]);
    receive(`{"jsonrpc":"2.0","id":"a","method":"m","params":${params}}`);
    expect(sent).toMatchObject([{ id: "a", error: { code: -32600 } }]);
  });

  test("a broken answer to nothing is dropped", () => {
    const { receive, sent } = open();
    receive({ jsonrpc: "2.0", id: 1, result: 5 });
    receive({ jsonrpc: "2.0", id: "__proto__", result: 5 });
    expect(sent).toEqual([]);
  });

  test("a request that is wrong does not end one of ours that has its id", async () => {
    const { connection, receive, sent } = open();
    void connection.request("m", undefined);
    receive({ jsonrpc: "2.0", id: 1, method: 5 });
    expect(connection.inFlight).toBe(1);
    expect(sent.at(-1)).toMatchObject({ id: 1, error: { code: -32600 } });
    connection.close();
  });

  test("onInvalid takes the place of the answer", () => {
    const told: unknown[] = [];
    const { receive, sent } = open({ onInvalid: ({ answer, text }) => told.push([answer?.error.code, text]) });
    for (const one of ["no json", "[]", 5, { jsonrpc: "2.0", id: 1 }, [request(1)]]) receive(one);
    receive({ jsonrpc: "2.0", id: 1, result: 5 });
    expect(told).toEqual([
      [-32700, "no json"],
      [-32600, undefined],
      [-32600, undefined],
      [-32600, undefined],
      [-32600, undefined],
      [undefined, undefined],
    ]);
    expect(sent).toEqual([]);
  });
});

describe("results in their turn", () => {
  test("finish is told before what comes behind it is read, and the request resolves with what it returns", async () => {
    const order: string[] = [];
    const { connection, receive } = open({ onNotification: ({ method }) => order.push(method) });
    const outcome = connection.request("m", undefined, {
      finish({ kind }) {
        order.push(kind);
        return "made of it";
      },
    });
    receive({ jsonrpc: "2.0", id: 1, result: {} });
    receive({ jsonrpc: "2.0", method: "n" });
    expect(order).toEqual(["result", "n"]);
    expect(await outcome).toBe("made of it");
  });

  test("the request rejects with what finish throws, and finish hears of every end", async () => {
    const { connection, receive } = open();
    const failed = connection.request("m", undefined, {
      finish() {
        throw new Error("not that one");
      },
    });
    const finish = ({ kind }: { kind: string }): string => kind;
    const refused = connection.request("m", undefined, { finish });
    const lost = connection.request("m", undefined, { finish });
    receive({ jsonrpc: "2.0", id: 1, result: {} });
    receive({ jsonrpc: "2.0", id: 2, error: { code: 1, message: "no" } });
    await expect(failed).rejects.toThrow("not that one");
    expect(await refused).toBe("error");
    connection.close();
    expect(await lost).toBe("lost");
    expect(await connection.request("m", undefined, { finish })).toBe("lost");
  });

  test("a request for which there is no answer gets none, and its id is free again", () => {
    const seen: unknown[] = [];
    const { connection, receive, sent } = open({
      onRequest: ({ id }) => {
        seen.push(id);
        return undefined;
      },
    });
    receive(request(1));
    receive(request(1));
    expect([seen, sent, connection.inFlight]).toEqual([[1, 1], [], 0]);
  });
});
