import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formats } from "./format.ts";
import { compileJsonSchema, type JsonSchema, type SchemaOptions } from "./json-schema.ts";
import { formatIssues } from "./standard.ts";

const explain = (schema: JsonSchema | boolean, value: unknown, options?: SchemaOptions): string =>
  formatIssues(compileJsonSchema(schema, options)(value) ?? []);

/** A schema in which each level has the one below it twice. */
function doubled(levels: number): JsonSchema {
  let schema: JsonSchema = { type: "null" };
  for (let level = 0; level < levels; level++) schema = { anyOf: [schema, schema] };
  return schema;
}

/** A value nested in arrays, built without recursion. */
function nest(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe("messages help to correct a call", () => {
  const forecast = {
    type: "object",
    properties: {
      city: { type: "string", minLength: 1 },
      days: { type: "integer", minimum: 1, maximum: 7 },
      units: { enum: ["metric", "imperial"] },
      tags: { type: "array", items: { type: "string" }, maxItems: 1 },
    },
    required: ["city"],
    additionalProperties: false,
  };
  test.each([
    [{ city: "Paris", days: 3 }, ""],
    [{}, 'must have property "city"'],
    ["Paris", "must be object"],
    [{ city: 7, days: 9 }, "city: must be string; days: must be <= 7"],
    [{ city: "" }, "city: must have >= 1 characters"],
    [{ city: "x", days: 1.5 }, "days: must be integer"],
    [{ city: "x", units: "kelvin" }, 'units: must be one of ["metric","imperial"]'],
    [{ city: "x", town: "y" }, 'must not have property "town"'],
    [{ city: "x", tags: ["a", 1] }, "tags: must have <= 1 items; tags.1: must be string"],
  ])("%j", (value, message) => expect(explain(forecast, value)).toBe(message));

  test.each([
    [{ type: ["string", "null"] }, 1, "must be string or null"],
    [{ const: { a: 1 } }, { a: 2 }, 'must be {"a":1}'],
    [{ exclusiveMinimum: 0 }, 0, "must be > 0"],
    [{ multipleOf: 0.1 }, 0.35, "must be multiple of 0.1"],
    [{ pattern: "^[A-Z]+$" }, "a", "must match the pattern ^[A-Z]+$"],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "must not have equal items",
    ],
    [{ dependentRequired: { card: ["name"] } }, { card: 1 }, 'must have property "name" when it has "card"'],
    [{ propertyNames: { maxLength: 2 } }, { long: 1 }, 'must not have property "long"'],
    [{ contains: { type: "string" }, minContains: 2 }, ["a"], "must have 2 to Infinity matching items"],
    [{ prefixItems: [true], items: false }, [1, 2], "1: is not allowed"],
    [{ properties: { a: false } }, { a: 1 }, 'must not have property "a"'],
    [{ not: { type: "null" } }, null, "is not allowed"],
    [
      { anyOf: [{ type: "string" }, { type: "number" }] },
      true,
      "must match an alternative; must be string; must be number",
    ],
    [{ oneOf: [{ type: "number" }, { type: "integer" }] }, 1, "must match exactly one alternative"],
    [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1, b: 2 }, 'must not have property "b"'],
  ])("%j with %j", (schema, value, message) => expect(explain(schema, value)).toBe(message));

  test("a wrong type is told alone", () => {
    const schema = { type: "string", enum: ["a"], anyOf: [{ minLength: 1 }, { const: "b" }] };
    expect(explain(schema, 1)).toBe("must be string");
  });

  test("of several shapes, each says first what it lacks, and where", () => {
    const shape = (kind: string, member: string) => ({
      type: "object",
      properties: { kind: { const: kind }, [member]: { type: "string" } },
      required: ["kind"],
    });
    const schema = { properties: { pay: { oneOf: [shape("card", "number"), shape("invoice", "due")] } } };
    expect(explain(schema, { pay: { kind: "invoice", due: 3 } })).toBe(
      'pay: must match exactly one alternative; pay.kind: must be "card"; pay.due: must be string',
    );
    expect(explain({ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {})).toBe(
      'must match an alternative; must have property "a"; must have property "b"',
    );
    const inner = { anyOf: [{ type: "string" }, { type: "number" }] };
    expect(explain({ anyOf: [inner, { type: "null" }] }, true)).toBe(
      "must match an alternative; must match an alternative; must be null",
    );
  });

  test("there are at most maxErrors of them", () => {
    const value = Array.from({ length: 100 }, () => 1);
    expect(compileJsonSchema({ items: { type: "string" } })(value)).toHaveLength(20);
    expect(compileJsonSchema({ items: { type: "string" } }, { maxErrors: 2 })(value)).toHaveLength(2);
  });

  test("nor more when one keyword finds many", () => {
    const value = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`n${index}`, false]));
    expect(compileJsonSchema({ dependentSchemas: value }, { maxErrors: 2 })(value)).toHaveLength(2);
  });

  test("long values of the schema are not echoed", () => {
    const schema = { enum: Array.from({ length: 500 }, (_, index) => `${index}${"x".repeat(200)}`) };
    expect(explain(schema, 1).length).toBeLessThan(1000);
  });
});

describe("what cannot be compiled is refused in one sentence", () => {
  const draft04 = "http://json-schema.org/draft-04/schema#";
  test.each<[JsonSchema, string]>([
    [{ $schema: draft04 }, `JSON Schema: the dialect "${draft04}" is not supported; use 2020-12 or draft-07`],
    [{ $ref: "https://example.com/a.json" }, 'the reference "https://example.com/a.json" at #/$ref leads outside'],
    [{ $ref: "#/$defs/a" }, 'the reference "#/$defs/a" at #/$ref leads nowhere'],
    [{ $ref: "#a" }, 'the reference "#a" at #/$ref leads nowhere'],
    [{ properties: { "a/b": { minimum: "3" } } }, "#/properties/a/b/minimum must be a number"],
    [{ properties: { a: { type: "strin" } } }, "#/properties/a/type must be one or more of string,number"],
    [{ required: "a" }, "#/required must be a list"],
    [{ required: [1] }, "#/required must be a list of strings"],
    [{ allOf: {} }, "#/allOf must be a list"],
    [{ minLength: -1 }, "#/minLength must be a whole number"],
    [{ contains: {}, minContains: "1" }, "#/minContains must be a whole number"],
    [{ properties: { a: "schema:///#" } }, "#/properties/a must be a schema"],
    [{ properties: [] }, "#/properties must be an object"],
    [{ properties: { a: 1 } }, "#/properties/a must be a schema"],
    [{ items: [{}] }, "#/items must be a schema (a list of them is prefixItems)"],
    [{ pattern: "(" }, "#/pattern must be a regular expression (Invalid regular expression"],
    [{ patternProperties: { "[": {} } }, "#/patternProperties/[ must be a regular expression"],
    [{ multipleOf: 0 }, "#/multipleOf must be > 0"],
    [{ pattern: "^((a+)\\2)+$" }, "#/pattern must be a regular expression (lookbehind or backreference too costly)"],
    [{ pattern: 5 }, "#/pattern must be a regular expression"],
    [{ $ref: 5 }, 'the reference "5" at #/$ref leads outside'],
    [{ $defs: { unused: { $ref: "#/nowhere" } } }, 'the reference "#/nowhere" at #/$defs/unused/$ref leads nowhere'],
  ])("%j", (schema, message) => {
    expect(() => compileJsonSchema(schema)).toThrow(TypeError);
    expect(() => compileJsonSchema(schema)).toThrow(message);
  });

  test("too deep, too many", () => {
    let deep: JsonSchema = {};
    for (let level = 0; level < 100_000; level++) deep = { items: deep };
    expect(() => compileJsonSchema(deep)).toThrow("nested deeper than 256 levels");
    expect(() => compileJsonSchema({ const: nest(100_000) })).toThrow("#/const must be smaller");
    const many = { allOf: Array.from({ length: 20 }, () => ({})) };
    expect(() => compileJsonSchema(many, { maxSubschemas: 20 })).toThrow("has more than 20 subschemas");
    const cyclic: Record<string, unknown> = {};
    cyclic.items = cyclic;
    expect(() => compileJsonSchema(cyclic)).toThrow("#/items must be a tree");
  });

  test("a long chain of references is no deep nesting", () => {
    const $defs: Record<string, JsonSchema> = { d4000: { type: "string" } };
    for (let index = 0; index < 4000; index++) $defs[`d${index}`] = { items: { $ref: `#/$defs/d${index + 1}` } };
    expect(compileJsonSchema({ $ref: "#/$defs/d0", $defs })([[[]]])).toBeUndefined();
  });
});

describe("dialects", () => {
  test.each(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"])("%s", ($schema) => {
    const schema = { $schema, items: [{ type: "string" }], additionalItems: false, definitions: {} };
    expect(explain(schema, [1])).toBe("0: must be string");
    expect(explain(schema, ["a", 1])).toBe("1: is not allowed");
    const reference = {
      $schema,
      properties: { a: { $ref: "#/definitions/b", type: "number" } },
      definitions: { b: {} },
    };
    expect(explain(reference, { a: "siblings of $ref are ignored" })).toBe("");
  });

  test("the default can be chosen", () => {
    expect(explain({ items: [{ type: "string" }] }, [1], { defaultDialect: "draft-07" })).toBe("0: must be string");
  });

  test("a part with its own $id may be in the other dialect", () => {
    const old = {
      $id: "http://x.test/old",
      $schema: "http://json-schema.org/draft-07/schema#",
      items: [{ type: "null" }],
    };
    expect(explain({ $ref: "http://x.test/old", $defs: { old } }, [1])).toBe("0: must be null");
  });
});

describe("bounds on checking", () => {
  const tree = { $id: "http://x.test/tree", items: { $ref: "http://x.test/tree" } };
  const limit = [{ path: [], message: "is too large or too deep to check", keyword: "limit" }];

  test("an issue that was found is reported even if looking for more takes too long", () => {
    const schema = { items: { anyOf: [{ type: "string" }, { type: "null" }] } };
    const value = Array.from({ length: 1000 }, () => 1);
    expect(compileJsonSchema(schema, { maxSteps: 50 })(value)?.[0]).toMatchObject({ path: [0], keyword: "anyOf" });
    expect(compileJsonSchema(schema)(value)).toHaveLength(20);
  });

  test("collecting issues ends when there are enough of them", () => {
    const schema = { items: { required: Array.from({ length: 9000 }, (_, index) => `n${index}`) } };
    expect(compileJsonSchema(schema)(Array.from({ length: 100_000 }, () => ({})))).toHaveLength(20);
  });

  test("deep values end in an issue, not in a stack overflow", () => {
    expect(compileJsonSchema(tree)(nest(100))).toBeUndefined();
    for (const schema of [tree, { uniqueItems: true }, { const: [1] }, { enum: [[1], 2] }, { not: tree }]) {
      expect(compileJsonSchema(schema)([nest(100_000), nest(100_000)])).toEqual(limit);
    }
  });

  test("references that run in a circle are ended by the limit", () => {
    const schema = { anyOf: [{ type: "string" }, { $ref: "#" }] };
    expect(compileJsonSchema(schema)("a")).toBeUndefined();
    expect(compileJsonSchema(schema)(1)).toEqual(limit);
    expect(compileJsonSchema({ $ref: "#" })(1)).toEqual(limit);
    expect(compileJsonSchema({ not: { $ref: "#" } })(1)).toEqual(limit);
    const round = { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { oneOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    expect(compileJsonSchema(round)(1)).toEqual(limit);
  });

  test("branches within branches do not run away", () => {
    expect(compileJsonSchema(doubled(60))(1)).toEqual(limit);
    expect(() => compileJsonSchema(JSON.parse(JSON.stringify(doubled(14))))).toThrow("subschemas");
    const $defs: Record<string, JsonSchema> = { d60: { type: "null" } };
    for (let level = 0; level < 60; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { anyOf: [next, next] };
    }
    expect(compileJsonSchema({ $ref: "#/$defs/d0", $defs })(1)).toEqual(limit);
  });

  test("equal items are found without comparing each with each", () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ id: index, name: "x" }));
    expect(compileJsonSchema({ uniqueItems: true })(items)).toBeUndefined();
    expect(compileJsonSchema({ uniqueItems: true }, { maxSteps: 1000 })(items)).toEqual(limit);
  });

  test("work that a schema multiplies is counted, whichever keyword does it", () => {
    const many = 9000;
    const names = Array.from({ length: many }, (_, index) => `n${index}`);
    const copies = (schema: unknown) => ({ allOf: Array.from({ length: many }, () => structuredClone(schema)) });
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`p${index}`, 1]));
    const full = Object.fromEntries(names.map((name) => [name, 1]));
    const long = Array.from({ length: 500_000 }, () => 1);
    const cases: [JsonSchema, unknown][] = [
      [{ items: { allOf: names.map(() => true) } }, long],
      [{ items: { not: { anyOf: names.map(() => false) } } }, long],
      [{ items: { not: { required: [...names, "a"] } } }, long.map(() => full)],
      [{ items: { properties: Object.fromEntries(names.map((name) => [name, true])) } }, long.map(() => ({}))],
      [copies({ minProperties: 1 }), wide],
      [copies({ patternProperties: { "^q": true } }), wide],
      [copies({ propertyNames: true }), wide],
      [copies({ minLength: 1 }), "x".repeat(1_000_000)],
      [copies({ pattern: "x$" }), "x".repeat(1_000_000)],
      [copies({ prefixItems: [true] }), long],
      [copies({ uniqueItems: true }), long.map((_, index) => index)],
      [copies({ contains: { type: "number" }, maxContains: 1e9 }), long],
      [copies({ format: "uri" }), `x:${"x".repeat(1_000_000)}`],
    ];
    for (const [schema, value] of cases) {
      const validate = compileJsonSchema(schema, { maxSubschemas: 100_000, maxSteps: 200_000, formats });
      expect(validate(value), JSON.stringify(schema).slice(0, 60)).toEqual(limit);
    }
  }, 60_000);

  test("what negates cannot turn the limit into a yes", () => {
    const schema = { not: { items: { type: "string" } } };
    expect(compileJsonSchema(schema, { maxSteps: 10 })(Array.from({ length: 100 }, () => "a"))).toEqual(limit);
  });

  test("a hostile pattern is answered", () => {
    expect(explain({ pattern: "^(a+)+$" }, `${"a".repeat(50)}!`)).toBe("must match the pattern ^(a+)+$");
    expect(explain({ pattern: "^(a|aa)+$" }, "a".repeat(5000))).toBe("");
    expect(compileJsonSchema({ pattern: "^(a|aa)+(?=b)$" }, { maxSteps: 1000 })("a".repeat(5000))).toEqual(limit);
    expect(
      compileJsonSchema({ patternProperties: { "^(a+)+$": {} }, additionalProperties: false })({
        [`${"a".repeat(50)}!`]: 1,
      }),
    ).toHaveLength(1);
  });
});

describe("names that objects inherit do no harm", () => {
  test("in values", () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const schema: JsonSchema = { required: [name], properties: JSON.parse(`{"${name}":{"type":"string"}}`) };
      expect(explain(schema, {})).toBe(`must have property "${name}"`);
      expect(explain(schema, JSON.parse(`{"${name}":1}`))).toBe(`${name}: must be string`);
      expect(explain(schema, JSON.parse(`{"${name}":"a"}`))).toBe("");
      expect(explain({ additionalProperties: false }, JSON.parse(`{"${name}":1}`))).toContain(name);
      expect(explain({ enum: [JSON.parse(`{"${name}":1}`)] }, {})).not.toBe("");
    }
  });

  test("in schemas", () => {
    expect(() => compileJsonSchema({ $ref: "#/constructor" })).toThrow("leads nowhere");
    expect(explain(JSON.parse('{"__proto__":{"type":"string"}}'), 1)).toBe("");
    expect(explain({ format: "constructor" }, "x", { formats })).toBe("");
  });
});

test("what JSON would leave out counts as absent, and NaN is no number", () => {
  expect(explain({ required: ["a"] }, { a: undefined })).toBe('must have property "a"');
  expect(explain({ additionalProperties: false }, { a: undefined })).toBe("");
  expect(explain({ type: "number" }, Number.NaN)).toBe("must be number");
});

test("characters are code points", () => {
  expect(explain({ maxLength: 2, minLength: 2 }, "💩💩")).toBe("");
  expect(explain({ minLength: 2 }, "💩")).toBe("must have >= 2 characters");
  expect(explain({ pattern: "^.$" }, "💩")).toBe("");
});

test("format asserts only when asked to", () => {
  expect(explain({ format: "date" }, "yesterday")).toBe("");
  expect(explain({ format: "date" }, "yesterday", { formats })).toBe("must be a valid date");
});

test("documents can be handed over", () => {
  const documents = { "http://x.test/a": { $defs: { b: { $ref: "c" } } }, "http://x.test/c": { type: "string" } };
  expect(explain({ $ref: "http://x.test/a#/$defs/b" }, 1, { documents })).toBe("must be string");
});

describe("whatever it is given", () => {
  const names = fc.constantFrom("a", "b", "__proto__", "constructor");
  const { schema } = fc.letrec<{ schema: JsonSchema | boolean }>((tie) => {
    const schemas = fc.array(tie("schema"), { maxLength: 3 });
    const map = fc.dictionary(names, tie("schema"), { maxKeys: 3 });
    const count = fc.nat(3);
    const members = {
      type: fc.constantFrom("string", "number", "object", "array", "null"),
      properties: map,
      patternProperties: map,
      required: fc.array(names),
      additionalProperties: tie("schema"),
      unevaluatedProperties: tie("schema"),
      unevaluatedItems: tie("schema"),
      prefixItems: schemas,
      items: tie("schema"),
      contains: tie("schema"),
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: tie("schema"),
      if: tie("schema"),
      else: tie("schema"),
      $ref: fc.constantFrom("#", "#/properties/a", "#x"),
      $dynamicRef: fc.constant("#x"),
      $dynamicAnchor: fc.constant("x"),
      minLength: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      enum: fc.array(fc.jsonValue()),
      pattern: fc.constantFrom("(a*)*b", "^a", "(?<!x)y"),
    };
    return {
      schema: fc.oneof({ depthSize: "small", maxDepth: 3 }, fc.boolean(), fc.record(members, { requiredKeys: [] })),
    };
  });

  test("checking never throws, never changes the value and says the same each time", () => {
    let compiled = 0;
    fc.assert(
      fc.property(schema, fc.jsonValue(), (schema, value) => {
        let validate: ReturnType<typeof compileJsonSchema>;
        try {
          validate = compileJsonSchema(schema, { maxSteps: 20_000 });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return;
        }
        compiled++;
        const before = JSON.stringify(value);
        const issues = validate(value);
        expect(JSON.stringify(value)).toBe(before);
        expect(validate(value)).toEqual(issues);
        if (issues) expect(issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 400 },
    );
    expect(compiled).toBeGreaterThan(100);
  });

  test("compiling throws nothing but a TypeError", () => {
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom("type", "properties", "items", "$ref", "allOf", "enum", "$id", "pattern", "a"),
        }),
        (schema) => {
          try {
            compileJsonSchema(schema as JsonSchema);
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test("uniqueItems below itself costs what it copies", () => {
  const validate = compileJsonSchema({ type: ["array", "object"], uniqueItems: true, items: { $ref: "#" } });
  let value: unknown = { ["k".repeat(1_000_000)]: 1 };
  for (let i = 0; i < 100; i++) value = [value, []];
  expect(validate(value)).toMatchObject([{ keyword: "limit" }]);
});

test("a small schema that refers to itself a thousandfold is no more work to prepare than it is long", () => {
  const $defs: Record<string, unknown> = { d8: {} };
  for (let i = 0; i < 8; i++)
    $defs[`d${i}`] = { allOf: Array.from({ length: 10 }, () => ({ $ref: `#/$defs/d${i + 1}` })) };
  const validate = compileJsonSchema({ allOf: [{ $ref: "#/$defs/d0" }], $defs });
  expect(validate({})).toMatchObject([{ keyword: "limit" }]);
});
