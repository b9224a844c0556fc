import { expect, test } from "vitest";
import { addMembers } from "./members.ts";

test("members are copied as a spread does it, but for one", () => {
  const from = { a: 1, b: undefined, _meta: { c: 2 } };
  expect(Object.keys(addMembers({ first: 0 }, from))).toEqual(["first", "a", "b", "_meta"]);
  expect(addMembers({}, from, "_meta")).toEqual({ a: 1, b: undefined });
});

test("one that is called __proto__ is a member like any other, and what is inherited is none", () => {
  const hostile = JSON.parse('{"__proto__":{"isAdmin":true},"a":1}') as { [key: string]: unknown };
  const copy = addMembers({}, hostile);
  expect(Object.keys(copy)).toEqual(["__proto__", "a"]);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect((copy as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  expect(addMembers({}, Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }))).toEqual({ own: 2 });
});
