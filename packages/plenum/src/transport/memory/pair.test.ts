// What passes between two ends in memory is what a wire would carry, whichever way it takes.
import { expect, test } from "vitest";
import { formatMessage, type Message, PreparedJson, parseMessage } from "../../jsonrpc/message.ts";
import { createMemoryPair } from "./pair.ts";

/** What arrives for what is sent, in order. */
async function pass(...messages: unknown[]): Promise<unknown[]> {
  const [near, far] = createMemoryPair();
  const got: unknown[] = [];
  far.open({ receive: (incoming) => got.push(incoming), closed() {} });
  for (const message of messages) near.send(message as Message);
  await new Promise((resolve) => setTimeout(resolve));
  return got;
}

const params = { name: "echo", arguments: { text: "x", none: undefined }, _meta: {} };
const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
const response = { jsonrpc: "2.0", id: "a", result: { content: [{ type: "text", text: "x" }] } };
const error = { code: -32603, message: "no" };

test.each<[string, object]>([
  ["a request", request],
  ["a request with text for its id", { ...request, id: "" }],
  ["a request without params", { jsonrpc: "2.0", id: 1, method: "ping" }],
  ["a request whose params are none", { ...request, params: [1] }],
  ["a request whose id is none", { ...request, id: 1.5 }],
  ["a request of another version", { ...request, jsonrpc: "1.0" }],
  ["a request that is a response as well", { ...request, result: {} }],
  ["a request that is an error as well", { ...request, error }],
  ["a response", response],
  ["a response that is an error as well", { ...response, error }],
  ["a response without an id", { jsonrpc: "2.0", result: {} }],
  ["a result that is none", { ...response, result: [] }],
  ["a result that was made ahead", { ...response, result: new PreparedJson('{"content":[]}') }],
  ["a result with a date", { ...response, result: { at: new Date(0) } }],
  ["an error", { jsonrpc: "2.0", id: 1, error }],
  ["a notification", { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }],
  ["a batch", [request, { ...request, id: 2 }]],
  ["nothing known", { jsonrpc: "2.0" }],
])("%s arrives as what its text would be read as", async (_, message) => {
  const read = parseMessage(formatMessage(message as Message));
  expect(await pass(message)).toStrictEqual([read]);
});

test("nothing is shared, and what is sent is what it was then", async () => {
  const sent = structuredClone(request);
  const arriving = pass(sent, response);
  sent.params.name = "changed";
  const [first, second] = (await arriving) as { message: Partial<typeof request & typeof response> }[];
  expect(first?.message.params?.name).toBe("echo");
  expect(first?.message.params?.arguments).not.toBe(sent.params.arguments);
  expect(second?.message.result?.content).not.toBe(response.result.content);
});

test("what cannot be written is refused where it is sent", () => {
  const [near] = createMemoryPair();
  expect(() => near.send({ jsonrpc: "2.0", id: 1, method: "x", params: { a: 1n } })).toThrow(TypeError);
  expect(() => near.send({ jsonrpc: "2.0", id: 1, result: { a: 1n } })).toThrow(TypeError);
});

test("a receiver that throws has the rest all the same", async () => {
  const [near, far] = createMemoryPair();
  const got: unknown[] = [];
  const strays: unknown[] = [];
  const onStray = (error: unknown): unknown => strays.push(error);
  process.once("unhandledRejection", onStray);
  far.open({
    receive({ kind, ...incoming }) {
      const { id } = (incoming as { message: { id: number } }).message;
      got.push(id);
      if (id === 2) throw new Error("not this one");
    },
    closed() {},
  });
  for (const id of [1, 2, 3, 4]) near.send({ jsonrpc: "2.0", id, method: "ping" });
  await new Promise((resolve) => setTimeout(resolve));
  expect(got).toEqual([1, 2, 3, 4]);
  expect(strays).toHaveLength(1);
});

test("who listens to an end whose other end has gone hears so, once", async () => {
  const [near, far] = createMemoryPair();
  far.close();
  await new Promise((resolve) => setTimeout(resolve));
  let ends = 0;
  near.open({ receive() {}, closed: () => ends++ });
  await new Promise((resolve) => setTimeout(resolve));
  expect(ends).toBe(1);
  near.close();
  await new Promise((resolve) => setTimeout(resolve));
  expect(ends).toBe(1);
});
