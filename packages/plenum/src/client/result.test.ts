import { expect, test } from "vitest";
import { toToolResult } from "./result.ts";

test("the parts of a result", () => {
  const content = [
    { type: "text", text: "one" },
    { type: "image", data: "AA==", mimeType: "image/png" },
    { type: "text", text: "" },
    { type: "resource", resource: { uri: "file:///a", text: "not this" } },
    { type: "text", text: "two\nthree" },
  ];
  const result = toToolResult({ content, structuredContent: { a: 1 }, isError: true, _meta: { k: 1 } });
  expect(result).toEqual({ content, structured: { a: 1 }, isError: true, text: "one\n\ntwo\nthree", meta: { k: 1 } });
});

test("what is absent", () => {
  expect(toToolResult({ content: [] })).toEqual({
    content: [],
    structured: undefined,
    isError: false,
    text: "",
    meta: {},
  });
  expect(toToolResult({})).toMatchObject({ content: [], text: "" });
});

test.each([null, false, 0, "", []])("structured content may be any value: %j", (structuredContent) => {
  expect(toToolResult({ content: [], structuredContent }).structured).toBe(structuredContent);
});

test("texts are put together when they are looked at, once", () => {
  let looks = 0;
  const block = {
    type: "text",
    get text() {
      looks++;
      return "a";
    },
  };
  const result = toToolResult({ content: [block, block] });
  expect(looks).toBe(0);
  expect(result.text + result.text).toBe("a\naa\na");
  expect(looks).toBe(2);
});

test("a member that objects inherit is none of the result's", () => {
  expect(toToolResult(JSON.parse('{"content":[],"__proto__":{"isError":true,"structuredContent":1}}'))).toMatchObject({
    isError: false,
    structured: undefined,
  });
});
