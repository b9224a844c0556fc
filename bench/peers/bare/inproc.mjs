// The floor in one process: two queues of objects, handed over by microtask; no validation.
import { toResult } from "../common.mjs";

export async function connect() {
  const waiting = new Map();
  let lastId = 0;
  const echo = async ({ text }) => toResult(text);
  const serve = async ({ id, params }) => {
    const result = await echo(params.arguments);
    queueMicrotask(() => {
      waiting.get(id)(result);
      waiting.delete(id);
    });
  };
  const call = (text) =>
    new Promise((resolve) => {
      const params = { name: "echo", arguments: { text } };
      const message = { jsonrpc: "2.0", id: ++lastId, method: "tools/call", params };
      waiting.set(message.id, resolve);
      queueMicrotask(() => void serve(message));
    });
  return { call, close() {} };
}
