import { expect, test } from "vitest";
import { Exchange } from "../../jsonrpc/exchange.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import { assertFew, type Filter, listen, type Told, type Watch } from "./watch.ts";

const _meta = { key: "L" };
const all: Filter = { toolsListChanged: true, resourceSubscriptions: ["x:a", "x:a"] };

function open(options: Partial<Watch> = {}) {
  const told: [string, JsonObject][] = [];
  const exchange = new Exchange(
    { notify: (method, params) => void told.push([method, params]), answer() {} },
    { id: "L", method: "subscriptions/listen" },
    undefined,
  );
  const watch: Watch = {
    subscriptions: new Set(),
    oneStream: true,
    maxSubscriptions: 10,
    isDeclared: () => true,
    isClosing: false,
    ...options,
  };
  const start = (missed: readonly Told[] = []) => listen(watch, exchange, all, _meta, missed);
  return { told, exchange, watch, start, methods: () => told.map(([method]) => method) };
}

test("it is acknowledged and registered in one turn", () => {
  const { watch, start, told } = open();
  void start();
  expect(told).toEqual([
    [
      "notifications/subscriptions/acknowledged",
      { _meta, notifications: { toolsListChanged: true, resourceSubscriptions: ["x:a"] } },
    ],
  ]);
  expect([...watch.subscriptions].map(({ size }) => size)).toEqual([1]);
});

test("what was missed is told after the acknowledgement, as far as it was asked for", () => {
  const { start, methods } = open();
  void start([{ kind: "tools" }, { kind: "prompts" }, { kind: "resource", uri: "x:b" }]);
  expect(methods()).toEqual(["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
});

test("one that was cancelled before is not begun", async () => {
  const { exchange, watch, start, told } = open();
  exchange.end("cancelled");
  expect(await start()).toEqual({});
  expect(told).toEqual([]);
  expect(watch.subscriptions.size).toBe(0);
});

test("one that is cancelled later ends without a word, and is let go of", async () => {
  const { exchange, watch, start, methods } = open();
  const result = start();
  exchange.end("cancelled");
  await result;
  expect(watch.subscriptions.size).toBe(0);
  expect(methods()).toEqual(["notifications/subscriptions/acknowledged"]);
});

test.each([true, false])(
  "one that comes while the era closes is answered at once (one stream: %s)",
  async (oneStream) => {
    const { watch, start, methods } = open({ isClosing: true, oneStream });
    expect(await start()).toEqual({ _meta });
    expect(methods()).toEqual([
      "notifications/subscriptions/acknowledged",
      ...(oneStream ? ["notifications/cancelled"] : []),
    ]);
    expect(watch.subscriptions.size).toBe(0);
  },
);

test("the limit counts what the peer watches already, where all is one peer's", () => {
  const { watch, start } = open({ maxSubscriptions: 2 });
  void start();
  const two: Filter = { resourceSubscriptions: ["x:b", "x:c"] };
  expect(() => assertFew(two, watch)).toThrow("At most 2 resources can be watched");
  expect(() => assertFew(two, { ...watch, oneStream: false })).not.toThrow();
});
