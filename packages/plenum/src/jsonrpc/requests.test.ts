import { expect, test } from "vitest";
import type { Channel, Receiver } from "./channel.ts";
import { createConnection } from "./connection.ts";
import { formatMessage, type JsonObject, parseMessage } from "./message.ts";

/** A connection that has not sent a request yet, and whose far end is the test. */
function open() {
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
  const connection = createConnection(channel, { onRequest: () => ({ result: {} }), onNotification: () => {} });
  connection.open();
  const receive = (value: unknown) => receiver?.receive(parseMessage(JSON.stringify(value)));
  return { connection, sent, receive };
}

test("what sends requests is loaded by the first, and they go out in order", async () => {
  const { connection, sent, receive } = open();
  const outcomes = Promise.all(["a", "b"].map((method) => connection.request(method, undefined)));
  expect(sent).toEqual([]);
  await expect.poll(() => sent.length).toBe(2);
  expect(sent.map(({ id, method }) => [id, method])).toEqual([
    [1, "a"],
    [2, "b"],
  ]);
  expect(connection.inFlight).toBe(2);
  receive({ jsonrpc: "2.0", id: 2, result: { n: 2 } });
  receive({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } });
  expect(await outcomes).toEqual([
    { kind: "error", error: { code: 1, message: "no" } },
    { kind: "result", result: { n: 2 } },
  ]);
  expect(connection.inFlight).toBe(0);
});

test("what ends while it is loaded sends nothing", async () => {
  const closing = open();
  const lost = closing.connection.request("a", undefined);
  closing.connection.close();
  expect(await lost).toEqual({ kind: "lost", cause: undefined });
  expect(closing.sent).toEqual([]);

  const aborting = open();
  const controller = new AbortController();
  const aborted = aborting.connection.request("a", undefined, { signal: controller.signal });
  controller.abort("enough");
  expect(await aborted).toEqual({ kind: "aborted", reason: "enough" });
  expect(aborting.sent).toEqual([]);
  expect(await aborting.connection.request("b", { n: 1n })).toMatchObject({ kind: "unsent" });
});

test("before there are any, responses and clocks concern nobody", () => {
  const { connection, receive, sent } = open();
  receive({ jsonrpc: "2.0", id: 1, result: {} });
  expect(connection.touch(1)).toBe(false);
  connection.drop(1);
  connection.hold()();
  expect(connection.inFlight).toBe(0);
  expect(sent).toEqual([]);
});
