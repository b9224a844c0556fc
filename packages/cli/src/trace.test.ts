import type { TapEvent } from "plenum/tap";
import { expect, test, vi } from "vitest";
import type { Output } from "./output.ts";
import { secretsOf } from "./target/secrets.ts";
import { createTrace } from "./trace.ts";

/** What is written to stderr for these events. */
function trace(events: readonly TapEvent[], { isJson = false, secrets = [] as readonly string[] } = {}): string[] {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const output = { isJson, paintNote: (_, text) => text, status: () => {} } satisfies Partial<Output>;
    const report = createTrace(output as unknown as Output, secrets);
    for (const event of events) report(event);
    return write.mock.calls.map(([line]) => String(line));
  } finally {
    write.mockRestore();
  }
}

const request = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "add" } } as const;
const response = { jsonrpc: "2.0", id: 3, result: { content: [] } } as const;
const notice = { jsonrpc: "2.0", method: "notifications/progress", params: {} } as const;

test("a request and its result, with the time between them", () => {
  expect(
    trace([
      { kind: "sent", message: request, at: 1000 },
      { kind: "received", incoming: { kind: "response", message: response }, at: 2250 },
    ]),
  ).toEqual([
    '   0.000s → tools/call #3 {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add"}}\n',
    '   1.250s ← result of tools/call #3 {"jsonrpc":"2.0","id":3,"result":{"content":[]}}\n',
  ]);
});

test("a request of the server's with the same number is another", () => {
  const asked = { jsonrpc: "2.0", id: 3, method: "roots/list" } as const;
  const lines = trace([
    { kind: "sent", message: request, at: 0 },
    { kind: "received", incoming: { kind: "request", message: asked }, at: 0 },
    { kind: "sent", message: { jsonrpc: "2.0", id: 3, error: { code: -32601, message: "no" } }, at: 0 },
    { kind: "received", incoming: { kind: "response", message: response }, at: 0 },
  ]);
  expect(lines.slice(2).map((line) => /[→←] (.*?) \{/.exec(line)?.[1])).toEqual([
    "error of roots/list #3",
    "result of tools/call #3",
  ]);
});

test("batches, what is no message, lost answers and the end", () => {
  const members = [
    { kind: "response", message: response },
    { kind: "notification", message: notice },
  ] as const;
  const lines = trace([
    { kind: "sent", message: [request, notice], at: 0 },
    { kind: "received", incoming: { kind: "batch", members }, at: 0 },
    { kind: "received", incoming: { kind: "invalid", answer: undefined, text: "Listening\u001b[2J\non 1" }, at: 0 },
    { kind: "failed", id: 3, cause: new Error("the stream broke"), at: 0 },
    { kind: "closed", cause: undefined, at: 0 },
    { kind: "closed", cause: new Error("exit code 1"), at: 0 },
  ]);
  expect(lines.map((line) => line.slice(10).replace(/ \{.*/, "").trimEnd())).toEqual([
    "→ tools/call #3",
    "→ notifications/progress",
    "← result of tools/call #3",
    "← notifications/progress",
    "? no message Listening\\x1b[2J\\non 1",
    "× no answer to #3 the stream broke",
    "■ closed",
    "■ lost exit code 1",
  ]);
});

test("with --json each line is JSON", () => {
  const lines = trace(
    [
      { kind: "sent", message: request, at: 0 },
      { kind: "closed", cause: undefined, at: 5 },
    ],
    { isJson: true },
  );
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { trace: { kind: "sent", ms: 0, what: "tools/call #3", message: request } },
    { trace: { kind: "closed", ms: 5, what: "closed", text: "" } },
  ]);
});

test("secrets of the settings are taken out wherever they stand", () => {
  const secrets = secretsOf({
    kind: "url",
    name: "",
    url: "http://127.0.0.1/mcp",
    headers: { Authorization: "Bearer planted-one", "X-Api-Key": "planted-two", Accept: "text" },
  });
  const message = { jsonrpc: "2.0", method: "echo", params: { said: "planted-one, planted-two, text" } } as const;
  const text = trace(
    [
      { kind: "sent", message, at: 0 },
      { kind: "received", incoming: { kind: "invalid", answer: undefined, text: "planted-two" }, at: 0 },
      { kind: "closed", cause: new Error("planted-one is no good"), at: 0 },
    ],
    { secrets },
  ).join("");
  expect(text).not.toContain("planted");
  expect(text).toContain("text");
});
