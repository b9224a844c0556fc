// No secret is left in a message, and what the protocol needs is.
import { expect, test } from "vitest";
import { type Message, PreparedJson } from "../jsonrpc/message.ts";
import { redact, redactJson } from "./redact.ts";

const call = (args: unknown): Message => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "login", arguments: args, _meta: { progressToken: 7 } },
});

const argumentsOf = (message: Message): unknown =>
  (message as unknown as { params: { arguments: unknown } }).params.arguments;

test("values of telling names go, whatever they are, and the given message stays as it is", () => {
  const given = call({
    password: "hunter2",
    pin: 1234,
    credentials: { user: "bob", list: ["x"] },
    user: "bob",
    token: null,
  });
  const copy = structuredClone(given);
  const shown = redact(given);
  expect(argumentsOf(shown)).toEqual({
    password: "[redacted]",
    pin: "[redacted]",
    credentials: { user: "[redacted]", list: ["[redacted]"] },
    user: "bob",
    token: null,
  });
  expect(shown).toMatchObject({ id: 7, method: "tools/call", params: { _meta: { progressToken: 7 } } });
  expect(given).toEqual(copy);
});

test("pairs of a name and a value, and secrets inside texts", () => {
  expect(argumentsOf(redact(call({ name: "api_key", value: "abc" })))).toEqual({
    name: "api_key",
    value: "[redacted]",
  });
  const result = { content: [{ type: "text", text: '{"token":"abc"}' }] };
  expect(redact({ jsonrpc: "2.0", id: 1, result })).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: '{"token":"[redacted]"}' }] },
  });
});

test("what was made ahead as text is looked at too", () => {
  const made = redact({ jsonrpc: "2.0", id: 1, result: new PreparedJson('{"secret":"abc","tools":[]}') });
  expect(made).toEqual({ jsonrpc: "2.0", id: 1, result: { secret: "[redacted]", tools: [] } });
});

test("schemas stay schemas, but for their defaults", () => {
  const inputSchema = {
    type: "object",
    properties: {
      password: { type: "string", default: "hunter2", minLength: 1 },
      token: true,
      name: { default: "bob" },
    },
    required: ["password"],
  };
  const shown = redact({ jsonrpc: "2.0", id: 1, result: { tools: [{ name: "login", inputSchema }] } });
  expect(shown).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: {
      tools: [
        {
          name: "login",
          inputSchema: {
            ...inputSchema,
            properties: {
              ...inputSchema.properties,
              password: { type: "string", default: "[redacted]", minLength: 1 },
            },
          },
        },
      ],
    },
  });
  // Elsewhere the same names are anything.
  expect(argumentsOf(redact(call({ properties: { password: { type: "hunter2" } } })))).toEqual({
    properties: { password: { type: "[redacted]" } },
  });
});

test("answers by name, extensions, and the state of a call", () => {
  const inputResponses = { password: { action: "accept", content: { password: "hunter2" } } };
  const params = { name: "x", inputResponses, requestState: "sealed" };
  const shown = redact({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { markState: () => "[state 1]" });
  expect(shown).toMatchObject({
    params: {
      inputResponses: { password: { action: "accept", content: { password: "[redacted]" } } },
      requestState: "[state 1]",
    },
  });
  const capabilities = { extensions: { "io.modelcontextprotocol/oauth-client-credentials": {} } };
  const init: Message = { jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities } };
  expect(redact(init)).toEqual(init);
});

test("what the caller adds: names, places, values, a function", () => {
  const given = call({ iban: "DE1", deep: [{ ssn: "1" }, { ssn: "2" }], note: "my swordfish", city: "Bern" });
  const shown = redact(given, {
    keys: ["IBAN"],
    paths: ["/params/arguments/deep/*/ssn"],
    secrets: ["swordfish"],
    replace: (value, path) => (path === "/params/arguments/city" ? "somewhere" : value),
  });
  expect(argumentsOf(shown)).toEqual({
    iban: "[redacted]",
    deep: [{ ssn: "[redacted]" }, { ssn: "[redacted]" }],
    note: "my [redacted]",
    city: "somewhere",
  });
});

test("batches, errors, and JSON that is no message", () => {
  const error: Message = {
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32603, message: "no: password=abc", data: { token: "x" } },
  };
  expect(redact([error, call({})])).toEqual([
    {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "no: password=[redacted]", data: { token: "[redacted]" } },
    },
    call({}),
  ]);
  expect(redactJson([{ token: "x" }, "Bearer abc123"])).toEqual([{ token: "[redacted]" }, "Bearer [redacted]"]);
});

test("a member of any name stays a member", () => {
  const shown = argumentsOf(redact(call(JSON.parse('{"__proto__":{"token":"x"}}'))));
  expect(JSON.stringify(shown)).toBe('{"__proto__":{"token":"[redacted]"}}');
});
