// The comparison behind the transcripts must see every difference, or they prove nothing.
import { expect, test } from "vitest";
import { bindings, matches, withBound } from "./placeholder.ts";

const uuid = "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d";

test.each([
  ["a member that is missing", { a: 1 }, { a: 1, b: 2 }],
  ["a member too many", { a: 1, b: 2 }, { a: 1 }],
  ["an undefined-looking null", { a: null }, {}],
  ["an id of another type", { id: "1" }, { id: 1 }],
  ["another order of items", [1, 2], [2, 1]],
  ["an item too many", [1, 2], [1]],
  ["an array for an object", [], {}],
  ["an object for an array", { 0: 1 }, [1]],
  ["text that only begins alike", "abc", "ab"],
  ["text around a placeholder", `(${uuid})!`, "(<uuid>)"],
  ["what is no UUID", "0b1c2d3e", "<uuid>"],
  ["an upper-case UUID", uuid.toUpperCase(), "<uuid>"],
  ["what is no cursor", "NA", "<cursor>"],
  ["null for an object", null, {}],
])("%s is a difference", (_, came, wanted) => {
  expect(matches(came, wanted, bindings())).toBeTypeOf("string");
});

test.each([
  ["members in another order", { a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }],
  ["a UUID inside a text", `Internal error (${uuid})`, "Internal error (<uuid>)"],
  ["characters that patterns use", "a.b*c(d)[e]", "a.b*c(d)[e]"],
])("%s are the same", (_, came, wanted) => {
  expect(matches(came, wanted, bindings())).toBeUndefined();
});

test("a named placeholder stands for one value", () => {
  const bound = bindings();
  expect(() => withBound({ id: "<uuid:a>" }, bound)).toThrow("<uuid:a> is sent before it was received");
  expect(matches(uuid, "<uuid:a>", bound)).toBeUndefined();
  expect(withBound({ ids: ["<uuid:a>x"] }, bound)).toEqual({ ids: [`${uuid}x`] });
  expect(matches(uuid, "<uuid:a>", bound)).toBeUndefined();
  expect(matches(uuid.replace("0b", "1b"), "<uuid:a>", bound)).toBeTypeOf("string");
});
