// Messages of others, checked from outside.
import { expect, test } from "vitest";
import { checkMessage } from "./check-message.ts";

const text = { type: "text", text: "hello" };

test("right messages have no fault", () => {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add" } } as const;
  expect(checkMessage("2025-11-25", "client", call)).toBeUndefined();
  const result = { jsonrpc: "2.0", id: 1, result: { content: [text] } } as const;
  expect(checkMessage("2025-11-25", "server", result, "tools/call")).toBeUndefined();
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" } as const;
  expect(checkMessage("2024-11-05", "server", changed)).toBeUndefined();
});

test("a result is judged by the revision, and by what it answers", () => {
  const result = { jsonrpc: "2.0", id: 1, result: { content: [text] } } as const;
  expect(checkMessage("2026-07-28", "server", result, "tools/call")).toEqual({
    kind: "shape",
    message: expect.stringContaining("resultType"),
  });
  expect(checkMessage("2025-11-25", "server", result, "tools/list")).toEqual({
    kind: "shape",
    message: "result.tools must be an array",
  });
  expect(checkMessage("2025-11-25", "server", result, "my/own")).toBeUndefined();
  expect(checkMessage("2025-11-25", "server", result)).toBeUndefined();
});

test("what a server asks is looked into", () => {
  const ask = { jsonrpc: "2.0", id: 1, method: "sampling/createMessage", params: { messages: [] } } as const;
  expect(checkMessage("2025-11-25", "server", ask)).toEqual({
    kind: "shape",
    message: "params.maxTokens must be an integer",
  });
});

test("what a side does not send in a revision", () => {
  const own = { jsonrpc: "2.0", method: "notifications/mine" } as const;
  expect(checkMessage("2025-11-25", "server", own)?.kind).toBe("unknown_method");
  const elicit = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} } as const;
  expect(checkMessage("2025-03-26", "server", elicit)?.kind).toBe("unknown_method");
  expect(checkMessage("2025-11-25", "client", elicit)?.kind).toBe("unknown_method");
  const numbered = { jsonrpc: "2.0", id: 1, method: "notifications/initialized" } as const;
  expect(checkMessage("2025-11-25", "client", numbered)).toEqual({
    kind: "shape",
    message: "notifications/initialized is a notification, without an id",
  });
});
