import { expect, test } from "vitest";
import { freezeJson, measureJson } from "./json-tree.ts";

/** Arrays in arrays, far deeper than any stack. */
function nest(depth: number): unknown {
  let value: unknown = "core";
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

test.each([
  ["an object of texts", { name: "forecast", description: "Forecast for a city", tags: ["weather", "city"] }],
  ["a list of objects", Array.from({ length: 100 }, (_, i) => ({ uri: `file:///${i}`, size: 1000 + i, ok: true }))],
  ["a long text", "x".repeat(10_000)],
  ["nothing", {}],
  ["null", null],
])("the size of %s is about that of its text", (_, value) => {
  const exact = JSON.stringify(value).length;
  const size = measureJson(value, Number.POSITIVE_INFINITY);
  expect(size).toBeGreaterThan(exact * 0.8 - 4);
  expect(size).toBeLessThan(exact * 1.2 + 4);
});

test("counting stops above the limit", () => {
  expect(measureJson("x".repeat(100), 50)).toBeGreaterThan(50);
  const loop: unknown[] = [];
  loop.push(loop);
  expect(measureJson(loop, 1000)).toBeGreaterThan(1000);
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, i]));
  expect(measureJson(wide, 100)).toBeLessThan(200);
});

test("nesting costs no stack", () => {
  const deep = nest(200_000);
  expect(measureJson(deep, Number.POSITIVE_INFINITY)).toBeGreaterThan(400_000);
  freezeJson(deep);
  expect(Object.isFrozen((deep as unknown[][])[0]?.[0])).toBe(true);
});

test("all is frozen, also below what was frozen before", () => {
  const value = JSON.parse('{"a":[{"b":{"c":1}}],"__proto__":{"d":{}},"n":null}');
  Object.freeze(value.a);
  freezeJson(value);
  const hidden = Object.getOwnPropertyDescriptor(value, "__proto__")?.value;
  for (const node of [value, value.a, value.a[0], value.a[0].b, hidden, hidden.d]) {
    expect(Object.isFrozen(node)).toBe(true);
  }
  expect(Object.isFrozen(Object.prototype)).toBe(false);
});
