// Plain values are copied as JSON would carry them; of all others nothing is said.
import { expect, test } from "vitest";
import { isFixed, toFixed } from "./fixed.ts";
import { copyPlain } from "./json-copy.ts";

const depth = 10;

test("what is plain comes out as JSON would have it, and shares nothing", () => {
  const values: unknown[] = [
    null,
    true,
    "größe \ud800",
    -0,
    1.5,
    [],
    {},
    [1, [2, { a: [] }]],
    { b: 1, a: { c: undefined, d: "x" }, 2: "two", 1: "one" },
    { "": 0, "a.b": null },
    Object.assign(Object.create({ inherited: 1 }), { own: 2 }),
  ];
  for (const value of values) {
    const copy = copyPlain(value, depth);
    const read = JSON.parse(JSON.stringify(value));
    expect(copy).toStrictEqual(read);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(read));
    if (typeof value === "object" && value) expect(copy).not.toBe(value);
  }
  const inner = { a: 1 };
  expect((copyPlain({ inner }, depth) as { inner: unknown }).inner).not.toBe(inner);
});

test("what JSON would make something else of, or nothing, is left to it", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const values: unknown[] = [
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    Symbol("s"),
    () => {},
    new Date(0),
    new Map(),
    Object.create(null),
    { constructor: 1 },
    Object.create({ toJSON: () => 1 }),
    { toJSON: () => 1 },
    Object.assign([1], { toJSON: () => 1 }),
    new (class Items extends Array {})(),
    JSON.parse('{"__proto__":{"a":1}}'),
    new Array(2),
    [undefined],
    circle,
    new (class A {})(),
    new String("boxed"),
  ];
  for (const value of values) {
    expect(copyPlain(value, depth)).toBeUndefined();
    expect(copyPlain({ a: [value] }, depth)).toBeUndefined();
  }
  expect(copyPlain([[[]]], 2)).toBeUndefined();
  expect(copyPlain([[1]], 3)).toEqual([[1]]);
});

test("an array that says it copies itself is copied all the same", () => {
  const inner = {};
  const array = Object.assign([inner], {
    slice() {
      return this;
    },
  });
  const copy = copyPlain(array, depth) as unknown[];
  expect(copy).toEqual([{}]);
  expect(copy).not.toBe(array);
  expect(array[0]).toBe(inner);
});

test("what all objects inherit is not copied", () => {
  Object.defineProperty(Object.prototype, "everywhere", { value: 1, enumerable: true, configurable: true });
  let copy: unknown;
  try {
    copy = copyPlain({ a: 1 }, depth);
  } finally {
    delete (Object.prototype as { everywhere?: unknown }).everywhere;
  }
  expect(copy).toEqual({ a: 1 });
});

test("what is fixed cannot change, and stays itself where others are copied", () => {
  const given = { a: [{ b: 1 }], at: new Date(0), none: undefined };
  const made = toFixed(given);
  expect(made).toStrictEqual({ a: [{ b: 1 }], at: "1970-01-01T00:00:00.000Z" });
  for (const one of [made, made.a, made.a[0] as object]) {
    expect(Object.isFrozen(one)).toBe(true);
    expect(isFixed(one)).toBe(true);
  }
  expect(copyPlain({ made }, depth)).toStrictEqual({ made });
  expect((copyPlain({ made }, depth) as { made: unknown }).made).toBe(made);
  // What somebody else has frozen may hold what can still be changed.
  const frozen = Object.freeze({ a: [{ b: 1 }] });
  expect(isFixed(frozen)).toBe(false);
  expect(copyPlain(frozen, depth)).not.toBe(frozen);
  expect(isFixed(given)).toBe(false);
  expect(() => toFixed({ a: 1n })).toThrow(TypeError);
});
