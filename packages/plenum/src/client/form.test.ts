import { describe, expect, test } from "vitest";
import type { JsonObject } from "../jsonrpc/message.ts";
import { type Revision, revisions } from "../protocol/revisions.ts";
import { toForm } from "./form.ts";

const able: readonly Revision[] = revisions.filter((revision) => revision >= "2025-06-18");
const modern = "2026-07-28";

const formOf = (properties: JsonObject, required?: readonly string[]) =>
  toForm({ type: "object", properties, ...(required && { required }) });

/** Whether a form of one field takes the value. */
const takes = (field: JsonObject, value: unknown, revision: Revision = modern): boolean =>
  formOf({ f: field }).check({ f: value }, revision) === undefined;

describe("fields", () => {
  const titled = [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ];
  const kinds: readonly (readonly [string, JsonObject, readonly unknown[], readonly unknown[]])[] = [
    ["string", { type: "string" }, ["", "x"], [1, true, null, ["x"], {}]],
    ["lengths", { type: "string", minLength: 2, maxLength: 3 }, ["ab", "abc", "💧💧💧"], ["a", "abcd", "💧"]],
    ["email", { type: "string", format: "email" }, ["a@b.example"], ["a", "@b", "a b@c.example", ""]],
    ["uri", { type: "string", format: "uri" }, ["https://a.example/b?c"], ["a", "/b", "https://a b"]],
    ["date", { type: "string", format: "date" }, ["2024-02-29"], ["2023-02-29", "2024-2-9", "2024-02-29T00:00:00Z"]],
    [
      "date-time",
      { type: "string", format: "date-time" },
      ["2024-02-29T10:00:00Z"],
      ["2024-02-29", "2024-02-29 10:00"],
    ],
    ["number", { type: "number" }, [0, -1.5, 1e300], ["1", true, null, Number.NaN, Number.POSITIVE_INFINITY, 1n]],
    ["integer", { type: "integer" }, [0, -7, 2], [1.5, "1"]],
    ["bounds", { type: "number", minimum: 0.5, maximum: 2 }, [0.5, 2], [0.4, 2.1]],
    ["integer bounds", { type: "integer", minimum: 1, maximum: 3 }, [1, 3], [0, 4, 1.5]],
    ["boolean", { type: "boolean" }, [true, false], ["true", 0, null]],
    ["enum", { type: "string", enum: ["r", "g"] }, ["r", "g"], ["b", "", 0, ["r"]]],
    ["enum with names", { type: "string", enum: ["r"], enumNames: ["Red"] }, ["r"], ["Red"]],
    ["titled choices", { type: "string", oneOf: titled }, ["r", "g"], ["Red", "b", ["r"]]],
  ];
  const lists: typeof kinds = [
    ["several", { type: "array", items: { type: "string", enum: ["r", "g"] } }, [[], ["r"], ["g", "r"]], ["r", ["b"]]],
    ["several titled", { type: "array", items: { anyOf: titled } }, [[], ["g"], ["r", "g"]], [["Red"], ["r", 1]]],
    [
      "so many",
      { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["r", "g", "b"] } },
      [["r"], ["r", "g"]],
      [[], ["r", "g", "b"]],
    ],
  ];

  describe.each(able)("in %s", (revision) => {
    test.each(kinds)("%s", (_, field, good, bad) => {
      for (const value of good) expect(takes(field, value, revision), JSON.stringify(value)).toBe(true);
      for (const value of bad) expect(takes(field, value, revision), String(value)).toBe(false);
    });

    test.each(lists)("%s: not before 2025-11-25", (_, field, good, bad) => {
      for (const value of good)
        expect(takes(field, value, revision), JSON.stringify(value)).toBe(revision >= "2025-11-25");
      for (const value of bad) expect(takes(field, value, revision), JSON.stringify(value)).toBe(false);
    });

    // A schema that says nothing of a field does not make every value an answer.
    test.each([
      ["null", null],
      ["an object", { a: 1 }],
      ["a list of numbers", [1]],
      ["a list of lists", [["a"]]],
      ["NaN", Number.NaN],
      ["a function", () => {}],
      ["a BigInt", 1n],
      ["a date", new Date()],
    ])("%s is no answer, whatever the schema says", (_, value) => {
      const problem = formOf({}).check({ f: value }, revision);
      expect(problem).toMatch(/^content\.f(\[0\])? must be/);
    });

    test.each([["text"], [1.5], [false]])("%j beside the fields is let pass", (value) => {
      expect(formOf({}).check({ extra: value }, revision)).toBeUndefined();
    });
  });

  test("required fields are missed by name", () => {
    const form = formOf({ a: { type: "string" }, b: { type: "string" } }, ["a"]);
    expect(form.check({ b: "x" }, modern)).toBe('must have property "a"');
    expect(form.check({ a: "x" }, modern)).toBeUndefined();
  });

  test("what was typed is not in the message, the field is", () => {
    const form = formOf({ pin: { type: "string", maxLength: 4 }, mail: { type: "string", format: "email" } });
    const problem = form.check({ pin: "hunter2-hunter2", mail: "s3cret" }, modern) ?? "";
    expect(problem).toContain("pin: ");
    expect(problem).toContain("mail: ");
    expect(problem).not.toMatch(/hunter2|s3cret/);
  });
});

describe("defaults", () => {
  test("of every kind", () => {
    const properties = {
      text: { type: "string", default: "ada" },
      empty: { type: "string", default: "" },
      day: { type: "string", format: "date", default: "2026-07-28" },
      ratio: { type: "number", minimum: 0.5, default: 0.75 },
      zero: { type: "integer", default: 0 },
      no: { type: "boolean", default: false },
      one: { type: "string", enum: ["r", "g"], default: "g" },
      named: { type: "string", enum: ["r"], enumNames: ["Red"], default: "r" },
      titled: { type: "string", oneOf: [{ const: "r", title: "Red" }], default: "r" },
      many: { type: "array", items: { type: "string", enum: ["r", "g"] }, default: ["g"] },
      none: { type: "array", items: { anyOf: [{ const: "r", title: "Red" }] }, default: [] },
      without: { type: "string" },
    };
    expect(formOf(properties, ["without", "text"]).defaults).toEqual({
      text: "ada",
      empty: "",
      day: "2026-07-28",
      ratio: 0.75,
      zero: 0,
      no: false,
      one: "g",
      named: "r",
      titled: "r",
      many: ["g"],
      none: [],
    });
  });

  test.each([
    ["another type", { type: "string", default: 1 }],
    ["null", { type: "string", default: null }],
    ["an object", { type: "string", default: {} }],
    ["too short", { type: "string", minLength: 2, default: "a" }],
    ["too long", { type: "string", maxLength: 0, default: "a" }],
    ["not of the format", { type: "string", format: "email", default: "a" }],
    ["too small", { type: "number", minimum: 1, default: 0 }],
    ["too large", { type: "number", maximum: 1, default: 2 }],
    ["a fraction", { type: "integer", default: 1.5 }],
    ["text for a boolean", { type: "boolean", default: "true" }],
    ["no such choice", { type: "string", enum: ["r"], default: "g" }],
    ["a choice's title", { type: "string", oneOf: [{ const: "r", title: "Red" }], default: "Red" }],
    ["one of a list is no choice", { type: "array", items: { type: "string", enum: ["r"] }, default: ["r", "g"] }],
    ["no list", { type: "array", items: { type: "string", enum: ["r"] }, default: "r" }],
    ["too few", { type: "array", minItems: 1, items: { type: "string", enum: ["r"] }, default: [] }],
    ["too many", { type: "array", maxItems: 0, items: { anyOf: [{ const: "r", title: "R" }] }, default: ["r"] }],
  ])("one that does not fit its own field is none: %s", (_, field) => {
    expect(formOf({ bad: field, good: { type: "string", default: "x" } }, ["bad"]).defaults).toEqual({ good: "x" });
  });

  test("hundreds that do not fit hide none that do", () => {
    const bad = Array.from({ length: 500 }, (_, index) => [`bad${index}`, { type: "string", default: index }]);
    const form = formOf({ ...Object.fromEntries(bad), good: { type: "string", default: "x" } });
    expect(form.defaults).toEqual({ good: "x" });
  });

  test("names like those of objects are names", () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string","default":"a"},"constructor":{"type":"string","default":"b"},"toString":{"type":"string"}}',
    );
    const form = formOf(properties);
    expect(Object.entries(form.defaults)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
    const filled = form.fill(JSON.parse('{"__proto__":"c"}'));
    expect(JSON.stringify(filled)).toBe('{"__proto__":"c","constructor":"b"}');
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(form.check(filled, modern)).toBeUndefined();
  });

  test("they stand in for what is left out, and for that alone", () => {
    const form = formOf({ a: { type: "string", default: "A" }, b: { type: "boolean", default: true }, c: {} });
    expect(form.fill({})).toEqual({ a: "A", b: true });
    expect(form.fill({ a: "", b: false, c: 1 })).toEqual({ a: "", b: false, c: 1 });
    expect(form.fill({ a: undefined, b: undefined, c: undefined })).toStrictEqual({ a: "A", b: true });
    expect(form.fill({ a: null })).toEqual({ a: null, b: true });
  });
});

describe("hostile schemas", () => {
  test.each([
    ["an unknown dialect", { $schema: "https://example.com/mine" }, "dialect"],
    ["a remote reference", { properties: { a: { type: "string", $ref: "https://example.com/x" } } }, "never fetched"],
    ["a reference to nowhere", { properties: { a: { type: "string", $ref: "#/nope" } } }, "nowhere"],
    ["an unknown type", { properties: { a: { type: "secret" } } }, "type"],
    ["half a length", { properties: { a: { type: "string", minLength: 1.5 } } }, "whole number"],
    ["a length below zero", { properties: { a: { type: "string", maxLength: -1 } } }, "whole number"],
    ["a broken pattern", { properties: { a: { type: "string", pattern: "(" } } }, "regular expression"],
    ["required is no list", { required: "a" }, "list"],
    ["a field that is none", { properties: { a: 1 } }, "a schema"],
    ["properties that are none", { properties: [] }, "an object"],
  ])("%s is refused", (_, schema, why) => {
    expect(() => toForm({ type: "object", properties: {}, ...schema })).toThrow(TypeError);
    expect(() => toForm({ type: "object", properties: {}, ...schema })).toThrow(why);
  });

  test("no schema at all is refused", () => {
    for (const schema of [undefined, null, 1, "x", []]) expect(() => toForm(schema as never)).toThrow(TypeError);
  });

  test("too many fields are refused", () => {
    const fields = Array.from({ length: 10_001 }, (_, index) => [`f${index}`, { type: "string" }]);
    expect(() => formOf(Object.fromEntries(fields))).toThrow("10000 subschemas");
  });

  test("a field that refers to itself is given up, not followed for ever", () => {
    const field = { type: "string", default: "x", $ref: "#/properties/f" };
    const form = formOf({ f: field, g: { type: "string", default: "y" } });
    expect(form.defaults.f).toBeUndefined();
    expect(form.check({ f: "x" }, modern)).toBeDefined();
  });

  test("costly fields share one budget", () => {
    // Each level doubles the work of the one below.
    const levels = Array.from({ length: 25 }, (_, index) => [
      `l${index}`,
      index === 0
        ? { type: "string" }
        : { allOf: [{ $ref: `#/$defs/l${index - 1}` }, { $ref: `#/$defs/l${index - 1}` }] },
    ]);
    const field = { type: "string", default: "x", $ref: "#/$defs/l24" };
    const fields = Array.from({ length: 1000 }, (_, index) => [`f${index}`, field]);
    const form = toForm({
      type: "object",
      properties: Object.fromEntries(fields),
      $defs: Object.fromEntries(levels),
    });
    expect(form.defaults).toEqual({});
    expect(form.check({ f0: "x" }, modern)).toContain("too large or too deep");
  });

  test("a pattern that others take for ever over", () => {
    const form = formOf({ f: { type: "string", pattern: "^(a+)+$" } });
    expect(form.check({ f: `${"a".repeat(50_000)}!` }, modern)).toBeDefined();
  });

  test("a million characters", () => {
    expect(takes({ type: "string", format: "email" }, "a".repeat(1_000_000))).toBe(false);
    expect(takes({ type: "string", format: "uri" }, `https://${"a".repeat(1_000_000)}`)).toBeTypeOf("boolean");
  });
});
