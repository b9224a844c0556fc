// The channel over streams: in memory, over broken and stuck ones, and over real sockets.
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer as createListener, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { createDeferred } from "../../../../../test/deferred.ts";
import type { Channel, Receiver } from "../../jsonrpc/channel.ts";
import type { Incoming, Message } from "../../jsonrpc/message.ts";
import { serve } from "../../protocol/negotiate.ts";
import { createServer } from "../../server/server.ts";
import { createStreamChannel, type StreamChannelOptions } from "./channel.ts";

const note = (method: string, params = {}): Message => ({ jsonrpc: "2.0", method, params });
const answer = (id: number, result = {}): Message => ({ jsonrpc: "2.0", id, result });
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

class Recorder implements Receiver {
  readonly received: Incoming[] = [];
  readonly causes: unknown[] = [];
  readonly #closed = createDeferred<unknown>();
  readonly done: Promise<unknown> = this.#closed.promise;
  onReceive: (incoming: Incoming) => void = () => {};

  receive(incoming: Incoming): void {
    expect(this.causes).toEqual([]);
    this.received.push(incoming);
    this.onReceive(incoming);
  }

  closed(cause?: unknown): void {
    this.causes.push(cause);
    this.#closed.resolve(cause);
  }

  get methods(): unknown[] {
    return this.received.map((one) => (one.kind === "notification" ? one.message.method : one.kind));
  }
}

/** A channel whose far ends are in hand. */
function open(options: Partial<StreamChannelOptions> = {}): {
  channel: Channel;
  recorder: Recorder;
  input: PassThrough;
  output: PassThrough;
  written: () => string;
} {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 2 ** 26 });
  const channel = createStreamChannel({ input, output, ...options });
  const recorder = new Recorder();
  channel.open(recorder);
  return { channel, recorder, input, output, written: () => String(output.read() ?? "") };
}

/** Takes texts, and calls back only when told to. */
class StuckWritable extends Writable {
  readonly taken: string[] = [];
  #callbacks: ((error?: Error) => void)[] = [];
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.taken.push(String(chunk));
    this.#callbacks.push(done);
  }
  release(error?: Error): void {
    for (const done of this.#callbacks.splice(0)) done(error);
  }
}

describe("receiving", () => {
  test("what came before open is not lost, and nothing is read before", async () => {
    const input = new PassThrough();
    input.write(`${JSON.stringify(note("a"))}\n`);
    const channel = createStreamChannel({ input, output: new PassThrough() });
    await turn();
    input.write(`${JSON.stringify(note("b"))}\n`);
    const recorder = new Recorder();
    channel.open(recorder);
    await turn();
    expect(recorder.methods).toEqual(["a", "b"]);
  });

  test("text streams are read as well", async () => {
    const input = Readable.from([`${JSON.stringify(note("é"))}\n`]).setEncoding("utf8");
    const { recorder } = open({ input });
    expect(await recorder.done).toBeUndefined();
    expect(recorder.methods).toEqual(["é"]);
  });

  test("a line that is too long is answered, and the next one served", async () => {
    const { recorder, input } = open({ maxBytes: 100 });
    input.write(`"${"x".repeat(60)}`);
    input.write(`${"x".repeat(60)}"\n${JSON.stringify(note("good"))}\n`);
    await turn();
    expect(recorder.received).toEqual([
      {
        kind: "invalid",
        why: "a message larger than 100 bytes",
        answer: {
          jsonrpc: "2.0",
          error: { code: -32600, message: "Invalid request: a message larger than 100 bytes" },
        },
      },
      { kind: "notification", message: note("good") },
    ]);
  });

  test.each([1, 7, 1000])(
    "of an answer that is too long, in pieces of %i bytes, it tells whose it is",
    async (size) => {
      const { recorder, input } = open({ maxBytes: 100 });
      const line = `${JSON.stringify({ jsonrpc: "2.0", id: 7, result: { text: "x".repeat(200) } })}\n`;
      for (let at = 0; at < line.length; at += size) input.write(line.slice(at, at + size));
      await turn();
      expect(recorder.received).toEqual([
        { kind: "invalid", why: "a message larger than 100 bytes", answer: undefined, id: 7 },
      ]);
    },
  );

  test("a limit that is none is refused", () => {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    for (const maxBytes of [0, -1, Number.NaN]) {
      expect(() => createStreamChannel({ ...streams, maxBytes })).toThrow(TypeError);
      expect(() => createStreamChannel({ ...streams, maxQueuedBytes: maxBytes })).toThrow(TypeError);
    }
  });

  test("after close nothing is delivered, not even of the same chunk", async () => {
    const { channel, recorder, input } = open();
    recorder.onReceive = () => channel.close();
    input.write(`${JSON.stringify(note("a"))}\n${JSON.stringify(note("b"))}\n`);
    await recorder.done;
    await turn();
    expect(recorder.methods).toEqual(["a"]);
    expect(recorder.causes).toEqual([undefined]);
  });
});

describe("the end of the input", () => {
  test("is told once, after a last line without a newline", async () => {
    const { channel, recorder, input, output } = open();
    input.end(JSON.stringify(note("last")));
    expect(await recorder.done).toBeUndefined();
    expect(recorder.methods).toEqual(["last"]);
    channel.close();
    await turn();
    expect(recorder.causes).toEqual([undefined]);
    expect(output.writableEnded).toBe(true);
  });

  test("waits for its cause; until then messages are sent", async () => {
    const cause = createDeferred<unknown>();
    const { channel, recorder, input, written } = open({ endCause: () => cause.promise });
    input.end();
    await turn();
    channel.send(note("late"));
    await turn();
    expect(written()).toBe(`${JSON.stringify(note("late"))}\n`);
    expect(recorder.causes).toEqual([]);
    channel.send(note("at last"));
    cause.resolve("exit code 3");
    expect(await recorder.done).toBe("exit code 3");
    expect(written()).toBe(`${JSON.stringify(note("at last"))}\n`);
  });

  test("has what its cause throws for a cause", async () => {
    const failure = new Error("no cause");
    const { recorder, input } = open({ endCause: () => Promise.reject(failure) });
    input.end();
    expect(await recorder.done).toBe(failure);
  });

  test("by an error has the error for a cause, and half a line is no line", async () => {
    const { recorder, input } = open();
    input.write('{"jsonrpc":"2.0","me');
    await turn();
    const failure = new Error("EIO");
    input.destroy(failure);
    expect(await recorder.done).toBe(failure);
    expect(recorder.received).toEqual([]);
  });

  test("before open is told at open", async () => {
    const failure = new Error("gone");
    for (const error of [failure, undefined]) {
      const input = new PassThrough();
      input.on("error", () => {});
      input.destroy(error);
      await turn();
      for (const channel of [
        createStreamChannel({ input, output: new PassThrough() }),
        await (async () => {
          const early = createStreamChannel({ input, output: new PassThrough() });
          await turn();
          return early;
        })(),
      ]) {
        const recorder = new Recorder();
        channel.open(recorder);
        expect(await recorder.done).toBe(error);
      }
    }
  });

  test("by a close without an end is no orderly end", async () => {
    const { recorder, input } = open();
    input.destroy();
    expect(await recorder.done).toBeInstanceOf(Error);
  });
});

describe("sending", () => {
  test("what one turn produced is one write, one line a message", async () => {
    const texts: string[] = [];
    const output = new Writable({
      decodeStrings: false,
      write(text, _, done) {
        texts.push(text);
        done();
      },
    });
    const { channel } = open({ output });
    const messages = Array.from({ length: 20 }, (_, i) => note("n", { i, text: "a\nb\r\nc\u2028d" }));
    // At different depths of the same turn's microtasks.
    await Promise.all(
      messages.map(async (message, i) => {
        for (let hop = 0; hop < i; hop++) await undefined;
        channel.send(message);
      }),
    );
    await turn();
    expect(texts).toHaveLength(1);
    expect(
      texts[0]
        ?.trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(messages);
  });

  test("what cannot be written as JSON throws, and nothing else does", async () => {
    const { channel, recorder, written } = open();
    expect(() => channel.send(note("n", { big: 1n }))).toThrow(TypeError);
    channel.send(note("fine"));
    channel.close();
    channel.send(note("too late"));
    await recorder.done;
    expect(written()).toBe(`${JSON.stringify(note("fine"))}\n`);
  });

  test("close writes what is queued first, even while the output is blocked", async () => {
    const output = new StuckWritable({ highWaterMark: 1 });
    const { channel, recorder } = open({ output });
    channel.send(note("a"));
    await turn();
    channel.send(note("b"));
    channel.send(note("c"));
    await turn();
    expect(output.taken).toHaveLength(1);
    channel.close();
    channel.close();
    await recorder.done;
    const finished = new Promise((resolve) => output.once("finish", resolve));
    for (let i = 0; i < 3; i++) {
      output.release();
      await turn();
    }
    await finished;
    expect(
      output.taken
        .join("")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).method),
    ).toEqual(["a", "b", "c"]);
    expect(recorder.causes).toEqual([undefined]);
  });

  test("close leaves the streams to who asked for that, with everything written", async () => {
    const seen: string[] = [];
    const streams = open({
      onClose: () => seen.push(String(streams.output.read())),
    });
    streams.channel.send(note("a"));
    streams.channel.close();
    streams.channel.close();
    await streams.recorder.done;
    expect(seen).toEqual([`${JSON.stringify(note("a"))}\n`]);
    expect(streams.input.destroyed).toBe(false);
    expect(streams.output.writableEnded).toBe(false);
  });

  test("close before open is told at open", async () => {
    const channel = createStreamChannel({ input: new PassThrough(), output: new PassThrough() });
    channel.close();
    await turn();
    const recorder = new Recorder();
    channel.open(recorder);
    expect(await recorder.done).toBeUndefined();
  });
});

describe("a peer that does not read", () => {
  const mebibyte = "x".repeat(1024 * 1024);

  test("is not read from either, until it has taken its answers", async () => {
    const output = new StuckWritable();
    const input = new PassThrough({ highWaterMark: 1024 });
    const { channel, recorder } = open({ input, output });
    recorder.onReceive = () => channel.send(answer(1, { mebibyte }));
    const line = `${JSON.stringify(note("more", { padding: "x".repeat(20_000) }))}\n`;
    let sent = 0;
    while (sent < 1000 && input.write(line)) {
      sent++;
      // Each in a chunk of its own.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const read = recorder.received.length;
    expect(read).toBeGreaterThan(10);
    expect(read).toBeLessThan(25);
    expect(input.isPaused()).toBe(true);
    // Some of it is read ahead.
    expect(sent).toBeLessThan(100);
    while (recorder.received.length <= sent) {
      output.release();
      await turn();
    }
    expect(recorder.received).toHaveLength(sent + 1);
  });

  test("ends the channel when more waits for it than may, and what waits is dropped", async () => {
    const output = new StuckWritable();
    const { channel, recorder } = open({ output, maxQueuedBytes: 5_000_000 });
    for (let id = 0; id < 40; id++) {
      channel.send(answer(id, { mebibyte }));
      await turn();
    }
    const cause = (await recorder.done) as Error;
    expect(cause.message).toMatch(/^The peer does not read: \d{7} bytes are waiting for it$/);
    expect(output.destroyed).toBe(true);
    expect(output.taken).toHaveLength(1);
    expect(recorder.causes).toEqual([cause]);
  });

  test("may be sent one message that is larger than that, and much in one turn", async () => {
    const output = new PassThrough();
    const { channel, recorder } = open({ maxQueuedBytes: 1000, output });
    let taken = 0;
    output.on("data", (chunk) => {
      taken += chunk.length;
    });
    for (let id = 0; id < 20; id++) channel.send(answer(id, { mebibyte }));
    await expect.poll(() => taken).toBeGreaterThan(20 * mebibyte.length);
    expect(recorder.causes).toEqual([]);
  });

  test("and has ended its side is given up", async () => {
    const output = new StuckWritable();
    const { channel, recorder, input } = open({ output });
    recorder.onReceive = () => channel.send(answer(1, { mebibyte }));
    for (let i = 0; i < 30; i++) {
      input.write(`${JSON.stringify(note("more"))}\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    input.end(JSON.stringify(note("last")));
    expect(((await recorder.done) as Error).message).toMatch(/^The peer does not read/);
    expect(output.destroyed).toBe(true);
  });

  test("and has ended its side is served to the end when it takes its answers after all", async () => {
    const output = new StuckWritable();
    const { channel, recorder, input } = open({ output });
    recorder.onReceive = () => channel.send(answer(1, { mebibyte }));
    for (let i = 0; i < 30; i++) {
      input.write(`${JSON.stringify(note("more"))}\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    input.end(JSON.stringify(note("last")));
    await turn();
    expect(recorder.received.length).toBeLessThan(25);
    const releasing = setInterval(() => output.release(), 1);
    expect(await recorder.done).toBeUndefined();
    clearInterval(releasing);
    expect(recorder.received).toHaveLength(31);
  });

  test("is read from while only our own requests wait for it", async () => {
    const output = new StuckWritable();
    const { channel, recorder, input } = open({ output });
    for (let id = 0; id < 40; id++) channel.send({ jsonrpc: "2.0", id, method: "big", params: { mebibyte } });
    await turn();
    channel.send({ jsonrpc: "2.0", id: 41, method: "one more" });
    input.write(`${JSON.stringify(note("heard"))}\n`);
    await turn();
    expect(recorder.methods).toEqual(["heard"]);
  });

  test("two peers that send each other a lot at once come to an end", async () => {
    const [left, right] = [new PassThrough(), new PassThrough()];
    const a = createStreamChannel({ input: left, output: right });
    const b = createStreamChannel({ input: right, output: left });
    const [atA, atB] = [new Recorder(), new Recorder()];
    const count = 24;
    const all = createDeferred();
    atB.onReceive = (incoming) => {
      if (incoming.kind === "request") b.send(answer(incoming.message.id as number, { mebibyte }));
    };
    atA.onReceive = () => {
      if (atA.received.length === count) all.resolve();
    };
    a.open(atA);
    b.open(atB);
    for (let id = 0; id < count; id++) a.send({ jsonrpc: "2.0", id, method: "echo", params: { mebibyte } });
    await all.promise;
    expect(atA.received.every((incoming) => incoming.kind === "response")).toBe(true);
  });
});

describe("an output that breaks", () => {
  const epipe = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const broken = (): Writable => new Writable({ write: (_, __, done) => done(epipe) });

  test("ends the channel, once", async () => {
    const { channel, recorder, input } = open({ output: broken() });
    channel.send(note("a"));
    expect(await recorder.done).toBe(epipe);
    channel.send(note("b"));
    channel.close();
    await turn();
    expect(recorder.causes).toEqual([epipe]);
    expect(input.destroyed).toBe(true);
  });

  test("lets what the peer said last be read", async () => {
    const { channel, recorder, input } = open({ output: broken(), endCause: () => undefined });
    channel.send(note("a"));
    await turn();
    input.end(`${JSON.stringify(note("last words"))}\n`);
    expect(await recorder.done).toBe(epipe);
    expect(recorder.methods).toEqual(["last words"]);
  });

  test("by being destroyed, before open or after, is no uncaught error", async () => {
    const first = open();
    first.output.destroy();
    first.channel.send(note("a"));
    const output = new PassThrough();
    output.destroy();
    const second = open({ output });
    second.channel.send(note("a"));
    expect(await first.recorder.done).toBeInstanceOf(Error);
    expect(await second.recorder.done).toBeInstanceOf(Error);
  });
});

describe("sockets", () => {
  const cleanups: (() => void)[] = [];
  afterEach(() => {
    for (const cleanup of cleanups.splice(0)) cleanup();
  });

  async function listen(where: "tcp" | "unix", onSocket: (socket: Socket) => void): Promise<Socket> {
    const listener = createListener({ allowHalfOpen: true }, onSocket);
    const folder = mkdtempSync(join(tmpdir(), "plenum-"));
    const path = process.platform === "win32" ? `\\\\.\\pipe\\${folder}` : join(folder, "socket");
    await new Promise<void>((resolve) => {
      if (where === "tcp") listener.listen(0, "127.0.0.1", resolve);
      else listener.listen(path, resolve);
    });
    cleanups.push(() => listener.close(() => rmSync(folder, { recursive: true, force: true })));
    const address = listener.address();
    const socket =
      typeof address === "object" && address ? connect(address.port, "127.0.0.1") : connect(String(address));
    cleanups.push(() => socket.destroy());
    return socket;
  }

  test.each(["tcp", "unix"] as const)("both eras are served on one connection over %s", async (where) => {
    const server = createServer({ name: "s", version: "1" });
    server.tool("echo", { input: { type: "object", properties: { text: { type: "string" } } } }, (input) =>
      String((input as { text: string }).text),
    );
    const gone = createDeferred();
    const socket = await listen(where, (far) => {
      serve(server, createStreamChannel({ input: far, output: far })).closed.then(gone.resolve);
    });
    const channel = createStreamChannel({ input: socket, output: socket });
    const recorder = new Recorder();
    const all = createDeferred();
    recorder.onReceive = () => {
      if (recorder.received.length === 5) all.resolve();
    };
    channel.open(recorder);
    const text = "é☃🧊".repeat(100_000);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const send = (id: number, method: string, params: Record<string, unknown>): void =>
      channel.send({ jsonrpc: "2.0", id, method, params });
    send(1, "tools/call", { name: "echo", arguments: { text }, _meta });
    const clientInfo = { name: "c", version: "1" };
    send(2, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    await turn();
    channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    send(3, "tools/call", { name: "echo", arguments: { text } });
    send(4, "tools/call", { name: "echo", arguments: { text }, _meta });
    send(5, "ping", {});
    await all.promise;
    const results = new Map(
      recorder.received.map((one) => {
        if (one.kind !== "response" || !("result" in one.message)) throw new Error(JSON.stringify(one));
        return [one.message.id, one.message.result as Record<string, unknown>];
      }),
    );
    expect(results.get(2)?.protocolVersion).toBe("2025-06-18");
    for (const id of [1, 3, 4]) expect(results.get(id)?.content).toEqual([{ type: "text", text }]);
    for (const id of [1, 4]) expect(results.get(id)?.resultType).toBe("complete");
    expect(results.get(3)).not.toHaveProperty("resultType");
    channel.close();
    expect(await recorder.done).toBeUndefined();
    await gone.promise;
  });

  test("what was sent before close arrives whole", async () => {
    const text = "x".repeat(5_000_000);
    const chunks: Buffer[] = [];
    const ended = createDeferred();
    const socket = await listen("tcp", (far) => {
      far.on("data", (chunk) => chunks.push(chunk));
      far.on("end", () => far.end());
      far.on("close", () => ended.resolve());
    });
    const channel = createStreamChannel({ input: socket, output: socket });
    channel.open(new Recorder());
    channel.send(note("big", { text }));
    channel.close();
    await ended.promise;
    expect(JSON.parse(String(Buffer.concat(chunks)))).toEqual(note("big", { text }));
  });

  test("a connection that is cut is told with its cause", async () => {
    const socket = await listen("tcp", (far) => far.resetAndDestroy());
    const recorder = new Recorder();
    const channel = createStreamChannel({ input: socket, output: socket });
    channel.open(recorder);
    channel.send(note("a"));
    expect(await recorder.done).toMatchObject({ code: "ECONNRESET" });
  });
});

test("a malformed line is answered with -32700, and a good one after it served", async () => {
  const { input, output } = { input: new PassThrough(), output: new PassThrough() };
  const serving = serve(createServer({ name: "s", version: "1" }), createStreamChannel({ input, output }));
  const lines: unknown[] = [];
  const both = createDeferred();
  output.on("data", (chunk) => {
    for (const line of String(chunk).trim().split("\n")) lines.push(JSON.parse(line));
    if (lines.length === 2) both.resolve();
  });
  input.write('{"jsonrpc":"2.0","id":1,\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
  await both.promise;
  expect(lines).toEqual([
    { jsonrpc: "2.0", error: { code: -32700, message: "Parse error: the message is not valid JSON" } },
    { jsonrpc: "2.0", id: 2, result: {} },
  ]);
  serving.close();
  await serving.closed;
});
