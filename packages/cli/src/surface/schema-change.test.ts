// Schemas compared: each rule by an example, and all of them against the validator, which knows what a schema allows.
import fc from "fast-check";
import { compileJsonSchema, type JsonSchema } from "plenum/schema";
import { describe, expect, test } from "vitest";
import { compareSchemas } from "./schema-change.ts";

const object = (properties: object, required: readonly string[] = [], more: object = {}): object => ({
  type: "object",
  properties,
  required,
  ...more,
});
const text = { type: "string" };

/** `path: effect` of each change. */
const effects = (before: unknown, after: unknown): string[] =>
  compareSchemas(before, after).map(({ path, effect }) => `${path}: ${effect}`);

const rules: readonly (readonly [name: string, before: unknown, after: unknown, ...expected: string[]])[] = [
  ["a required property is new", object({}), object({ a: text }, ["a"]), "a: narrows"],
  ["an optional property is new", object({}), object({ a: text }), "a: adds"],
  ["a property is gone", object({ a: text }), object({}), "a: breaks"],
  ["a property becomes required", object({ a: text }), object({ a: text }, ["a"]), "a: narrows"],
  ["a property becomes optional", object({ a: text }, ["a"]), object({ a: text }), "a: widens"],
  ["the order of what is required", object({ a: text, b: text }, ["a", "b"]), object({ b: text, a: text }, ["b", "a"])],
  ["members beyond the named are refused", object({}), object({}, [], { additionalProperties: false }), ": narrows"],
  ["members beyond the named are allowed", object({}, [], { additionalProperties: false }), object({}), ": widens"],
  ["open in two ways", object({}, [], { additionalProperties: true }), object({}, [], { additionalProperties: {} })],
  [
    "the type of further members",
    object({}, [], { additionalProperties: text }),
    object({}, [], { additionalProperties: { type: "number" } }),
    "{}: breaks",
  ],
  ["integer to number", { type: "integer" }, { type: "number" }, ": widens"],
  ["number to integer", { type: "number" }, { type: "integer" }, ": narrows"],
  ["string to number", text, { type: "number" }, ": breaks"],
  ["an array to an object", { type: "array", items: text }, object({ a: text }), ": breaks"],
  ["anything to string", {}, text, ": narrows"],
  ["null is allowed", text, { type: ["string", "null"] }, ": widens"],
  ["null is allowed, by anyOf", text, { anyOf: [text, { type: "null" }] }, ": widens"],
  ["null is allowed, in OpenAPI's words", text, { type: "string", nullable: true }, ": widens"],
  ["two ways to write the same", { type: ["string", "null"] }, { anyOf: [text, { type: "null" }] }],
  ["an enum value is gone", { enum: ["a", "b"] }, { enum: ["a"] }, ": narrows"],
  ["an enum value is new", { enum: ["a"] }, { enum: ["b", "a"] }, ": widens"],
  ["an enum in another order", { enum: ["a", "b"] }, { enum: ["b", "a"] }],
  ["free text becomes an enum", text, { type: "string", enum: ["a"] }, ": narrows"],
  ["another constant", { const: 1 }, { const: 2 }, ": narrows", ": widens"],
  ["maxLength is lowered", { maxLength: 5 }, { maxLength: 4 }, ": narrows"],
  ["maxLength is gone", { maxLength: 5 }, {}, ": widens"],
  ["minimum is new", { type: "number" }, { type: "number", minimum: 0 }, ": narrows"],
  ["minItems that means nothing", { type: "array" }, { type: "array", minItems: 0 }],
  ["a pattern is new", text, { ...text, pattern: "^a" }, ": narrows"],
  ["a pattern is another", { ...text, pattern: "^b" }, { ...text, pattern: "^a" }, ": breaks"],
  ["a format is gone", { ...text, format: "uri" }, text, ": widens"],
  ["multipleOf 4 to 2", { multipleOf: 4 }, { multipleOf: 2 }, ": widens"],
  ["multipleOf 2 to 3", { multipleOf: 2 }, { multipleOf: 3 }, ": breaks"],
  ["a default is another", { ...text, default: "a" }, { ...text, default: "b" }, ": redefaults"],
  ["a default is new", text, { ...text, default: "b" }, ": defaults"],
  ["a default beside a union", { anyOf: [text], default: 1 }, { anyOf: [text], default: 2 }, ": redefaults"],
  ["items are other", { type: "array", items: text }, { type: "array", items: { type: "number" } }, "[]: breaks"],
  [
    "a description deep inside",
    object({ a: object({ b: text }) }),
    object({ a: object({ b: { ...text, description: "x" } }) }),
    "a.b: words",
  ],
  ["a property called description", object({ description: text }), object({}), "description: breaks"],
  ["an unknown keyword", text, { ...text, shape: "round" }, ": breaks"],
  ["a keyword of one's own that only describes", text, { ...text, "x-order": 1 }, ": words"],
  ["a keyword that clients must obey", text, { ...text, "x-mcp-header": "A" }, ": breaks"],
  ["if, described otherwise", { if: { description: "a", minLength: 1 } }, { if: { minLength: 1 } }, ": words"],
  ["if is another", { if: { minLength: 1 } }, { if: { minLength: 2 } }, ": breaks"],
  ["one more schema must fit", { allOf: [text] }, { allOf: [text, { minLength: 1 }] }, ": narrows"],
  ["a branch is new", { oneOf: [text] }, { oneOf: [text, object({})] }, ": widens"],
  [
    "a branch is another",
    { oneOf: [text, object({ a: text })] },
    { oneOf: [text, object({ a: { type: "number" } })] },
    "a: breaks",
  ],
  [
    "a branch is described otherwise",
    { anyOf: [text, object({})] },
    { anyOf: [{ ...text, title: "T" }, object({})] },
    ": words",
  ],
  ["everything is refused", {}, false, ": breaks"],
];

test.each(rules)("%s", (_, before, after, ...expected) => {
  expect(effects(before, after).sort()).toEqual([...expected].sort());
});

describe("references", () => {
  const withDefs = (defs: object, at: object = { $ref: "#/$defs/place" }): object => ({
    ...object({ at }),
    $defs: defs,
  });

  test("are looked through: what they lead to counts, not how it is called", () => {
    expect(effects(object({ at: text }), withDefs({ place: text }))).toEqual([]);
    expect(effects(withDefs({ place: text }), withDefs({ place: { type: "number" } }))).toEqual(["at: breaks"]);
  });

  test("in branches that read the same lead to what has changed", () => {
    const at = { anyOf: [{ $ref: "#/$defs/place" }, { type: "null" }] };
    expect(effects(withDefs({ place: { enum: ["a", "b"] } }, at), withDefs({ place: { enum: ["a"] } }, at))).toEqual([
      "at: narrows",
    ]);
  });

  test("what stands beside them holds too", () => {
    const at = { $ref: "#/$defs/place", maxLength: 3 };
    expect(effects(withDefs({ place: text }), withDefs({ place: text }, at))).toEqual(["at: narrows"]);
  });

  test("may go in circles, with words beside them", () => {
    const tree = (name: object): object => ({
      ...object({ name, kids: { type: "array", items: { $ref: "#", description: "below" } } }),
    });
    expect(effects(tree(text), tree(text))).toEqual([]);
    expect(effects(tree(text), tree({ type: "number" }))).toEqual(["name: breaks"]);
    const loop = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    expect(effects(loop, { ...loop, title: "x" })).toEqual([]);
    expect(effects(loop, text)).toEqual([": narrows"]);
  });

  test("that lead nowhere, or away, are compared as they are", () => {
    expect(effects({ $ref: "https://a" }, { $ref: "https://b" })).toEqual([": breaks"]);
    expect(effects({ $ref: "#/a/__proto__" }, { $ref: "#/b" })).toEqual([": breaks"]);
  });

  test("that unfold to billions of schemas are compared in no time", () => {
    const laughs = (leaf: object): object => {
      const defs: { [name: string]: object } = { d0: leaf };
      for (let at = 1; at <= 60; at++) {
        const ref = { $ref: `#/$defs/d${at - 1}`, title: `t${at}` };
        defs[`d${at}`] = {
          anyOf: [
            { ...ref, minLength: 1 },
            { ...ref, minLength: 2 },
          ],
        };
      }
      return { $ref: "#/$defs/d60", $defs: defs };
    };
    expect(effects(laughs(text), laughs({ type: "number" })).length).toBeGreaterThan(0);
  });
});

/** Schemas of a small world, so that two of them are often close. Objects are closed, as their values are then known. */
const schemas: fc.Arbitrary<JsonSchema> = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { weight: 3, arbitrary: tie("leaf") },
    { weight: 2, arbitrary: tie("object") },
    { weight: 1, arbitrary: tie("array") },
    { weight: 1, arbitrary: tie("union") },
    { weight: 1, arbitrary: tie("nested") },
  ),
  leaf: fc.oneof(
    fc.record({ type: fc.constant("string"), minLength: fc.nat(2), maxLength: fc.nat(2) }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constantFrom("number", "integer"), minimum: fc.nat(2) }, { requiredKeys: ["type"] }),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom("", "a", "bb", 1, null), { minLength: 1 }) }),
    fc.record({ type: fc.constantFrom(["string", "null"], ["integer", "boolean"], "null") }),
    fc.constantFrom({}, { const: 1 }, { type: "boolean", description: "yes or no" }),
  ),
  object: fc
    .record({
      properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 }),
      isRequired: fc.boolean(),
    })
    .map(({ properties, isRequired }) => ({
      type: "object",
      properties,
      required: isRequired ? Object.keys(properties) : [],
      additionalProperties: false,
    })),
  array: fc.record(
    { type: fc.constant("array"), items: tie("schema"), maxItems: fc.nat(2) },
    { requiredKeys: ["type"] },
  ),
  union: fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
  nested: fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
})).schema as fc.Arbitrary<JsonSchema>;

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { weight: 4, arbitrary: fc.constantFrom("", "a", "bb", "ccc", 0, 1, 2, 0.5, -1, null, true) },
    { weight: 2, arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 2 }) },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
  ),
})).value;

const allows = (schema: JsonSchema): ((value: unknown) => boolean) => {
  const validator = compileJsonSchema(schema);
  return (value) => validator(value) === undefined;
};

test("what is said to break nobody breaks nobody: the validator agrees", () => {
  const hits = { callers: 0, readers: 0 };
  fc.assert(
    fc.property(schemas, schemas, fc.array(values, { minLength: 20, maxLength: 40 }), (before, after, some) => {
      const changes = compareSchemas(before, after);
      const found = new Set(changes.map(({ effect }) => effect));
      const hasNew = changes.some(({ reason }) => reason.startsWith("it is new"));
      const [old, now] = [allows(before), allows(after)];
      if (!found.has("narrows") && !found.has("breaks")) {
        hits.callers++;
        for (const value of some) if (old(value)) expect(now(value), JSON.stringify(value)).toBe(true);
      }
      // Readers are meant to leave out properties that are new.
      if (!found.has("widens") && !found.has("breaks") && !hasNew) {
        hits.readers++;
        for (const value of some) if (now(value)) expect(old(value), JSON.stringify(value)).toBe(true);
      }
    }),
    { seed: 20260728, numRuns: 1500 },
  );
  // The property says something only where it is not always excused.
  expect(Math.min(hits.callers, hits.readers)).toBeGreaterThan(50);
});

test("a schema does not differ from itself, nor from itself with its members in another order", () => {
  const turn = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(turn)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, one]) => [key, turn(one)]),
          )
        : value;
  fc.assert(
    fc.property(schemas, (schema) => {
      expect(compareSchemas(schema, structuredClone(schema))).toEqual([]);
      expect(compareSchemas(schema, turn(schema))).toEqual([]);
    }),
    { seed: 20260728, numRuns: 300 },
  );
});
