// The tap: it reports what passes, and is not felt by it.
import { expect, test } from "vitest";
import type { Channel, Receiver, Target } from "../jsonrpc/channel.ts";
import type { Incoming, Message, RequestId } from "../jsonrpc/message.ts";
import { createServer } from "../server/server.ts";
import { createMemoryPair, memoryTarget } from "./memory/index.ts";
import { type TapEvent, tapChannel, tapTarget } from "./tap.ts";

const ping: Message = { jsonrpc: "2.0", id: 1, method: "ping" };
const pong: Message = { jsonrpc: "2.0", id: 1, result: {} };

/** A channel that keeps what it is told, and what it was given to tell it. */
function createStub(): Channel & { sent: [unknown, RequestId | undefined][]; receiver: Receiver | undefined } {
  return {
    oneStream: false,
    sent: [],
    receiver: undefined,
    open(receiver) {
      this.receiver = receiver;
    },
    send(message, about) {
      JSON.stringify(message);
      this.sent.push([message, about]);
    },
    close() {
      this.receiver?.closed();
    },
  };
}

const strip = (events: readonly TapEvent[]): unknown[] => events.map(({ at: _, ...event }) => event);

test("reports both directions and the end, in order", () => {
  const stub = createStub();
  const events: TapEvent[] = [];
  const got: unknown[] = [];
  const before = Date.now();
  const channel = tapChannel(stub, (event) => events.push(event));
  expect(channel.oneStream).toBe(false);
  channel.open({
    receive: (incoming, sender) => got.push([incoming, sender]),
    closed: (cause) => got.push(cause),
  });
  const incoming: Incoming = { kind: "request", message: ping as Message & { id: number; method: string } };
  stub.receiver?.receive(incoming, "sender");
  channel.send(pong, 1);
  channel.send([pong, pong]);
  stub.receiver?.closed("lost");
  channel.send(pong);

  expect(got).toEqual([[incoming, "sender"], "lost"]);
  expect(stub.sent).toEqual([
    [pong, 1],
    [[pong, pong], undefined],
    [pong, undefined],
  ]);
  expect(strip(events)).toEqual([
    { kind: "received", incoming },
    { kind: "sent", message: pong },
    { kind: "sent", message: [pong, pong] },
    { kind: "closed", cause: "lost" },
  ]);
  for (const { at } of events) expect(at).toBeGreaterThanOrEqual(before);
});

test("a reporter that throws harms nothing", async () => {
  const [near, far] = createMemoryPair();
  const throwing = (): void => {
    throw new Error("no paper");
  };
  const tapped = tapChannel(near, throwing);
  const got: unknown[] = [];
  const closed = new Promise<void>((resolve) => {
    tapped.open({ receive: (incoming) => got.push(incoming), closed: () => resolve() });
  });
  far.open({
    receive: (incoming) => {
      expect(incoming).toEqual({ kind: "request", message: ping });
      far.send(pong);
      queueMicrotask(() => far.close());
    },
    closed: () => {},
  });
  tapped.send(ping);
  await closed;
  expect(got).toEqual([{ kind: "response", message: pong }]);
});

test("what cannot be sent throws and is not reported", () => {
  const events: TapEvent[] = [];
  const channel = tapChannel(createStub(), (event) => events.push(event));
  expect(() => channel.send({ jsonrpc: "2.0", method: "n", params: { big: 1n } })).toThrow(TypeError);
  expect(events).toEqual([]);
});

test("a target is the same, and every channel of it is tapped", async () => {
  const inner = memoryTarget(createServer({ name: "s", version: "1" }));
  const target: Target = { ...inner, key: "k", restarts: true, mirrorsParams: false };
  const events: TapEvent[] = [];
  const tapped = tapTarget(target, (event) => events.push(event));
  expect({ ...tapped, open: undefined }).toEqual({ ...target, open: undefined });
  for (let i = 1; i <= 2; i++) {
    const channel = await tapped.open();
    await new Promise<void>((resolve) => {
      channel.open({ receive: () => resolve(), closed: () => {} });
      channel.send(ping);
    });
    expect(strip(events)).toHaveLength(2 * i);
  }
  expect(strip(events.slice(2))).toEqual([
    { kind: "sent", message: ping },
    { kind: "received", incoming: { kind: "response", message: pong } },
  ]);
  const failing = tapTarget({ ...inner, open: () => Promise.reject(new Error("no such command")) }, () => {});
  await expect(failing.open()).rejects.toThrow("no such command");
});

test("passes on when what is behind the channel is gone", async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const tapped = tapChannel({ ...createStub(), ended }, () => {});
  expect(tapped.ended).toBe(ended);
  end();
  await tapped.ended;
  expect(tapChannel(createStub(), () => {})).not.toHaveProperty("ended");
});

test("a reporter that rejects is dropped as one that throws", async () => {
  const rejections: unknown[] = [];
  const listener = (reason: unknown): unknown => rejections.push(reason);
  process.on("unhandledRejection", listener);
  try {
    const tapped = tapChannel(createStub(), async () => {
      throw new Error("a fault of the reporter");
    });
    tapped.send(ping);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(rejections).toEqual([]);
  } finally {
    process.off("unhandledRejection", listener);
  }
});
