import { describe, expect, test } from "vitest";
import { checkDialogue } from "./dialogue.ts";

const text = { type: "text", text: "hm" };
const use = (id: string) => ({ type: "tool_use", id, name: "t", input: {} });
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [text] });
const user = (...content: unknown[]) => ({ role: "user", content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });

test.each([
  ["nothing", []],
  ["one question", [user(text)]],
  ["talk", [user(text), assistant(text), user(text, text)]],
  ["two messages of the same side", [user(text), user(text), assistant(text), assistant(text)]],
  ["a use and its result", [user(text), assistant(use("a")), user(result("a"))]],
  ["a use beside text", [assistant(text, use("a"), text), user(result("a")), assistant(text)]],
  ["several uses, answered in any order", [assistant(use("a"), use("b")), user(result("b"), result("a"))]],
  ["an id that comes again later", [assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))]],
  ["rounds", [assistant(use("a")), user(result("a")), assistant(use("b"), use("c")), user(result("c"), result("b"))]],
  [
    "content that is no list",
    [
      { role: "assistant", content: use("a") },
      { role: "user", content: result("a") },
    ],
  ],
  ["empty content", [user(), assistant(), user()]],
  ["ids like names of objects", [assistant(use("__proto__"), use("")), user(result(""), result("__proto__"))]],
])("right: %s", (_, messages) => {
  expect(checkDialogue(messages)).toBeUndefined();
});

describe("wrong", () => {
  test.each([
    ["no result at all", [user(text), assistant(use("a"))], 'messages end without the result of tool use "a"'],
    ["something else follows", [assistant(use("a")), user(text)], 'messages[1] lacks the result of tool use "a"'],
    ["the assistant goes on", [assistant(use("a")), assistant(text)], 'messages[1] lacks the result of tool use "a"'],
    ["one of two", [assistant(use("a"), use("b")), user(result("a"))], 'messages[1] lacks the result of tool use "b"'],
    ["too late", [assistant(use("a")), user(text), user(result("a"))], 'messages[1] lacks the result of tool use "a"'],
    [
      "in two messages",
      [assistant(use("a"), use("b")), user(result("a")), user(result("b"))],
      'messages[1] lacks the result of tool use "b"',
    ],
    ["empty message", [assistant(use("a")), user()], 'messages[1] lacks the result of tool use "a"'],
  ])("missing: %s", (_, messages, problem) => {
    expect(checkDialogue(messages)).toBe(problem);
  });

  test.each([
    ["before", [assistant(use("a")), user(text, result("a"))], 1],
    ["behind", [user(text), assistant(use("a")), user(result("a"), text)], 2],
    ["an image", [assistant(use("a")), user(result("a"), { type: "image", data: "", mimeType: "a/b" })], 1],
  ])("mixed: %s", (_, messages, at) => {
    expect(checkDialogue(messages)).toBe(`messages[${at}] holds other content beside its tool results`);
  });

  test.each([
    ["nothing was used", [user(result("a"))], 0, "a"],
    ["another was used", [assistant(use("a")), user(result("a"), result("b"))], 1, "b"],
    ["answered before", [assistant(use("a")), user(result("a")), user(result("a"))], 2, "a"],
    ["used long ago", [assistant(use("a")), user(result("a")), assistant(text), user(result("a"))], 3, "a"],
  ])("strange: %s", (_, messages, at, id) => {
    expect(checkDialogue(messages)).toBe(
      `messages[${at}] has a result of tool use "${id}", which the message before has not`,
    );
  });

  test.each([
    ["two results", [assistant(use("a")), user(result("a"), result("a"))], "messages[1] has two results"],
    ["two uses", [assistant(use("a"), use("a")), user(result("a"))], "messages[0] has two tool uses"],
    ["the user uses", [user(use("a")), user(result("a"))], "messages[0] is the user's and uses a tool"],
    [
      "the assistant answers",
      [assistant(use("a")), assistant(result("a"))],
      "messages[1] is the assistant's and holds",
    ],
  ])("muddled: %s", (_, messages, problem) => {
    expect(checkDialogue(messages)).toContain(problem);
  });

  test("ids in the message are quoted and cut short", () => {
    const problem = checkDialogue([assistant(use(`\n"${"x".repeat(10_000)}`))]);
    expect(problem).toContain('"\\n\\"xxx');
    expect(problem?.length).toBeLessThan(200);
  });
});

test("what is no message does not make it throw", () => {
  expect(
    checkDialogue([null, 1, "x", [], {}, { role: "user" }, { role: "user", content: [null, [1]] }]),
  ).toBeUndefined();
});

test("its cost is linear", () => {
  const ids = Array.from({ length: 50_000 }, (_, index) => `id${index}`);
  expect(checkDialogue([assistant(...ids.map(use)), user(...ids.map(result).reverse())])).toBeUndefined();
});
