import { describe, expect, test } from "vitest";
import { accepts, eventHeaders, headerNames, isJsonType, jsonHeaders } from "./headers.ts";

describe("isJsonType", () => {
  test.each([
    ...["application/json", "Application/JSON", " application/json\t", "application/json;", "application/json; "],
    ...["application/json;charset=utf-8", "application/json; charset=UTF-8", 'application/json ; Charset="utf-8"'],
    ...["application/json; version=1; charset=utf-8", 'application/json; profile="https://a.example/x y"'],
  ])("is %j", (type) => {
    expect(isJsonType(type)).toBe(true);
  });

  test.each([
    ...[undefined, "", " ", ";", "json", "text/json", "text/plain", "application/jsonx", "application/json-rpc"],
    ...["application/problem+json", "application/json+x", "xapplication/json", "application /json", "*/*"],
    ...["application/json, text/plain", "text/plain, application/json", "application/json, application/json"],
    ...["text/plain; application/json", "text/plain;a=application/json", "application/json;x=y, text/plain"],
    ...["application/json; charset=utf-16", "application/json; charset=utf8", "application/json; charset=latin1"],
    ...["application/json; charset=utf-8; charset=utf-16", "application/json; charset=utf-8; charset=utf-8"],
    ...["application/json; charset", "application/json; charset=", 'application/json; charset="utf-8'],
    ...["application/json; =utf-8", "application/json; a=b=c", "application/json; charset = utf-8"],
    ...['application/json; x="a, text/plain"', "application/json\u00a0", "\u2003application/json", "application/ʝson"],
    ...["application/json\0", "application/json\r\nx: y", "multipart/form-data; boundary=application/json"],
  ])("is not %j", (type) => {
    expect(isJsonType(type)).toBe(false);
  });
});

test("a content type that is far too long is none", () => {
  expect(isJsonType(`application/json${";".repeat(8000)}`)).toBe(true);
  expect(isJsonType(`application/json${";".repeat(1_000_000)}`)).toBe(false);
  expect(isJsonType(`application/json; a=${"b".repeat(1_000_000)}`)).toBe(false);
});

describe("accepts", () => {
  const both = "application/json, text/event-stream";
  test.each<[string | undefined, boolean, boolean]>([
    [undefined, true, true],
    ["", false, false],
    [both, true, true],
    ["Text/Event-Stream,APPLICATION/json", true, true],
    ["application/json", true, false],
    ["text/event-stream", false, true],
    ["*/*", true, true],
    ["application/*", true, false],
    ["text/*", false, true],
    ["text/html", false, false],
    ["text/html, */*;q=0.1", true, true],
    ["application/json;q=0, */*", false, true],
    ["*/*, application/json;q=0", false, true],
    ["*/*;q=0, application/json", true, false],
    ["application/*;q=0, application/json", true, false],
    ["application/json, application/*;q=0", true, false],
    ["application/json;q=0, application/json", true, false],
    ["application/json, application/json;q=0", true, false],
    ["application/json; q=0.000", false, false],
    ["application/json; q=0.001", true, false],
    ["application/json; charset=utf-8; q=1.0", true, false],
    ["application/json; Q=0", false, false],
    ["application/json; q=nan", false, false],
    ["application/json; q=2", false, false],
    ["application/json; q=-1", false, false],
    ["application/json; q=1e9", false, false],
    ["application/json; q=", false, false],
    ["application/jsonx, text/event-streams", false, false],
    ["application/json text/event-stream", false, false],
    ["*", false, false],
    ["json", false, false],
    [", ,, application/json,,", true, false],
    ["\u00a0application/json", false, false],
    [`${both}, ${both}`, true, true],
  ])("%j", (accept, json, events) => {
    expect(accepts(accept, "application/json")).toBe(json);
    expect(accepts(accept, "text/event-stream")).toBe(events);
  });

  test("what is far too long is not read", () => {
    expect(accepts(`${"a/b,".repeat(2000)}*/*`, "application/json")).toBe(true);
    expect(accepts(`${"a/b,".repeat(1_000_000)}*/*`, "application/json")).toBe(false);
    expect(accepts(`*/*${";".repeat(1_000_000)}`, "application/json")).toBe(false);
  });
});

test("answers are not kept, held back or taken for a page", () => {
  expect(eventHeaders).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
  expect(eventHeaders["cache-control"]?.split(", ")).toEqual(
    expect.arrayContaining(["no-store", "no-cache", "no-transform"]),
  );
  expect(jsonHeaders).toEqual({
    ...{ "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });
});

test("names of headers are in lower case, as they are looked up", () => {
  for (const name of Object.values(headerNames)) expect(name).toMatch(/^[a-z-]+$/);
});
