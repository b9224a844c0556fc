import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatMessage,
  type Invalid,
  isRequestId,
  maxBatchLength,
  maxJsonDepth,
  PreparedJson,
  parseMessage,
  refuseUnread,
} from "./message.ts";

const parse = (value: unknown) => parseMessage(typeof value === "string" ? value : JSON.stringify(value));

describe("parseMessage", () => {
  test.each([
    ["a request", { jsonrpc: "2.0", id: 1, method: "a" }, "request"],
    ["a request with params", { jsonrpc: "2.0", id: "x", method: "a", params: {} }, "request"],
    ["an empty string id", { jsonrpc: "2.0", id: "", method: "a" }, "request"],
    ["a negative id", { jsonrpc: "2.0", id: -5, method: "a" }, "request"],
    ["a notification", { jsonrpc: "2.0", method: "a" }, "notification"],
    ["a result", { jsonrpc: "2.0", id: 1, result: {} }, "response"],
    ["an error", { jsonrpc: "2.0", id: 1, error: { code: 1, message: "m" } }, "response"],
    ["an error without id", { jsonrpc: "2.0", error: { code: 1, message: "m" } }, "response"],
    ["an error with id null", { jsonrpc: "2.0", id: null, error: { code: 1, message: "m" } }, "response"],
  ])("reads %s", (_, value, kind) => {
    expect(parse(value).kind).toBe(kind);
  });

  test.each([
    ["no JSON", "{", -32700, undefined],
    ["an empty text", "", -32700, undefined],
    ["a scalar", "1", -32600, undefined],
    ["null", "null", -32600, undefined],
    ["an empty batch", "[]", -32600, undefined],
    ["another version", { jsonrpc: "1.0", id: 1, method: "a" }, -32600, 1],
    ["no version", { id: "i", method: "a" }, -32600, "i"],
    ["no method", { jsonrpc: "2.0", id: 1 }, -32600, 1],
    ["neither method nor id", { jsonrpc: "2.0" }, -32600, undefined],
    ["a method that is no string", { jsonrpc: "2.0", id: 1, method: 1 }, -32600, 1],
    ["params in an array", { jsonrpc: "2.0", id: 1, method: "a", params: [] }, -32600, 1],
    ["params null", { jsonrpc: "2.0", id: 1, method: "a", params: null }, -32600, 1],
    ["id null", { jsonrpc: "2.0", id: null, method: "a" }, -32600, undefined],
    ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "a" }, -32600, undefined],
    ["an id beyond exact integers", '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}', -32600, undefined],
    ["a boolean id", { jsonrpc: "2.0", id: true, method: "a" }, -32600, undefined],
    ["a request that is a response too", { jsonrpc: "2.0", id: 1, method: "a", result: {} }, -32600, 1],
  ])("answers %s", (_, value, code, id) => {
    const incoming = parse(value);
    expect(incoming).toMatchObject({ kind: "invalid", answer: { jsonrpc: "2.0", error: { code } } });
    const answer = incoming.kind === "invalid" ? incoming.answer : undefined;
    expect(answer?.id).toBe(id);
    // Never null: the schemas know no such id.
    expect(JSON.stringify(answer)).not.toContain("null");
  });

  test.each([
    ["a notification with bad params", { jsonrpc: "2.0", method: "a", params: [] }],
    ["a notification of another version", { jsonrpc: "1.0", method: "a" }],
    ["a notification whose method is a number", { jsonrpc: "2.0", method: 7 }],
    ["a response with result and error", { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } }],
    ["a response with a scalar result", { jsonrpc: "2.0", id: 1, result: 1 }],
    ["a response with an array result", { jsonrpc: "2.0", id: 1, result: [] }],
    ["a result without id", { jsonrpc: "2.0", result: {} }],
    ["an error with a text for a code", { jsonrpc: "2.0", id: 1, error: { code: "1", message: "" } }],
    ["a response of another version", { jsonrpc: "1.0", id: 1, result: {} }],
  ])("says nothing to %s", (_, value) => {
    expect(parse(value)).toMatchObject({ kind: "invalid", answer: undefined });
  });

  test("keeps ids apart", () => {
    for (const id of ["", "0", 0, "null", -0]) {
      expect(parse({ jsonrpc: "2.0", id, method: "a" })).toMatchObject({
        kind: "request",
        message: { id: id === 0 ? 0 : id },
      });
    }
  });

  test("sorts the members of a batch one by one", () => {
    const batch = parse([1, { jsonrpc: "2.0", id: 1, method: "a" }, { jsonrpc: "2.0", method: "b" }]);
    expect(batch.kind === "batch" && batch.members.map((member) => member.kind)).toEqual([
      "invalid",
      "request",
      "notification",
    ]);
    expect(parse(Array.from({ length: maxBatchLength + 1 }, () => 1))).toMatchObject({ kind: "invalid" });
  });

  test("bounds depth, whatever is in strings", () => {
    const nest = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`;
    expect(parse(nest(maxJsonDepth - 1)).kind).toBe("request");
    expect(parse(nest(maxJsonDepth)).kind).toBe("invalid");
    expect(parse(nest(1_000_000))).toMatchObject({ kind: "invalid", answer: { error: { code: -32600 } } });
    const brackets = { jsonrpc: "2.0", id: 1, method: "a", params: { text: '[{"\\'.repeat(5000) } };
    expect(parse(brackets)).toMatchObject({ kind: "request", message: brackets });
  });

  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  const inner = `{"id":7,"method":"inner","a":${deep}}`;
  const ids = (text: string) => {
    const { kind, answer, id, why } = parseMessage(text) as Invalid;
    expect([kind, why]).toEqual(["invalid", "JSON nested deeper than 128 levels"]);
    return answer ? { answered: answer.id } : { broken: id };
  };

  test.each<[string, unknown]>([
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${inner}}`, { answered: 1 }],
    [`{"jsonrpc": "2.0", "id": "a-1", "method": "tools/call", "params": ${inner}}`, { answered: "a-1" }],
    [`{"method":"tools/call","params":${inner},"jsonrpc":"2.0","id":0}`, { answered: 0 }],
    [` {"id":-3,"params":${inner},"method":"a","jsonrpc":"2.0" }\r\n`, { answered: -3 }],
    [`{"jsonrpc":"2.0","id":1,"result":${inner}}`, { broken: 1 }],
    [`{"result":${inner},"jsonrpc":"2.0","id":1}`, { broken: 1 }],
    [`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":${inner}}}`, { broken: 1 }],
  ])("finds whose it is in what is too deep: %s", (text, found) => {
    expect(ids(text)).toEqual(found);
  });

  test.each<[string, string]>([
    ["an id inside", `{"jsonrpc":"2.0","method":"a","params":${inner}}`],
    ["an id inside, at its end", `{"jsonrpc":"2.0","method":"a","params":{"a":${deep},"id":7}}`],
    ["an id behind what may be deep", `{"jsonrpc":"2.0","method":"a","params":${inner},"id":1,"more":[]}`],
    ["an id that is none", `{"jsonrpc":"2.0","id":1.5,"method":"a","params":${inner}}`],
    ["an id that would be rounded", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"a","params":${inner}}`],
    ["an id in a text", `{"jsonrpc":"2.0","method":"a","b":"\\",\\"id\\":7","params":${inner}}`],
    ["a number that JSON does not have", `{"id":007,"method":"a","params":${inner}}`],
    ["a batch", `[{"jsonrpc":"2.0","id":1,"method":"a","params":${inner}}]`],
    ["a long method", `{"jsonrpc":"2.0","method":"${"a".repeat(1000)}","id":1,"params":${inner}}`],
    ["no JSON", deep.slice(0, 300)],
  ])("takes nothing else for the id of what is too deep: %s", (_, text) => {
    expect(ids(text)).toEqual({ answered: undefined });
  });

  test("does not let member names do harm", () => {
    const incoming = parseMessage(
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{"x":1}},"__proto__":{"polluted":1}}',
    );
    expect(incoming.kind).toBe("request");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(parse({ jsonrpc: "2.0", ID: 1, Method: "a" })).toMatchObject({ kind: "invalid" });
  });

  test("never throws, and answers at most once", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((v) => JSON.stringify({ jsonrpc: "2.0", id: v, method: v, params: v })),
        ),
        (text) => {
          const incoming = parseMessage(text);
          if (incoming.kind === "request") expect(isRequestId(incoming.message.id)).toBe(true);
        },
      ),
    );
  });
});

describe("formatMessage", () => {
  test("splices prepared results and batches", () => {
    const prepared = { jsonrpc: "2.0", id: 'a"b', result: new PreparedJson('{"x":1}') } as const;
    expect(JSON.parse(formatMessage(prepared))).toEqual({ jsonrpc: "2.0", id: 'a"b', result: { x: 1 } });
    expect(JSON.parse(formatMessage([prepared, { jsonrpc: "2.0", method: "n" }]))).toHaveLength(2);
  });
});

describe("refuseUnread", () => {
  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"content":[', { answer: undefined, id: 7 }],
    ['{"jsonrpc": "2.0", "id": "a", "error": {"code":', { answer: undefined, id: "a" }],
    ['{"id":7,"jsonrpc":"2.0","method":"tools/call","params":{"x":', { answer: { id: 7 } }],
    ['{"jsonrpc":"2.0","method":"note","params":{"x":', { answer: { id: undefined } }],
    // What is inside is not its own.
    ['{"jsonrpc":"2.0","id":7,"result":{"a":{},"id":8', { answer: undefined, id: 7 }],
    ['{"jsonrpc":"2.0","result":{"a":{},"id":8', { answer: undefined, id: undefined }],
    ['[{"jsonrpc":"2.0","id":7,"result":{', { answer: { id: undefined } }],
    ["xxxx", { answer: { id: undefined } }],
  ])("%s", (head, expected) => {
    expect(refuseUnread(head, "too long")).toMatchObject({ kind: "invalid", why: "too long", ...expected });
  });
});
