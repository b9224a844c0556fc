import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AnySchema, formatIssues, toSchema } from "./standard.ts";

const input = { kind: "tool", name: "forecast", role: "input" };
const output = { ...input, role: "output" };

describe("every kind of schema gives the same JSON Schema and is checked by its own library", () => {
  const json = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  };
  const schemas: Record<string, AnySchema> = {
    zod: z.object({ city: z.string(), days: z.int().min(-9007199254740991).optional() }),
    valibot: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer())) })),
    arktype: type({ city: "string", "days?": "number.integer" }),
    plain: json,
  };
  test.each(Object.entries(schemas))("%s", async (_, schema) => {
    const made = toSchema(schema, input);
    expect(made.json).toMatchObject({ ...json, properties: { city: { type: "string" }, days: { type: "integer" } } });
    expect(made.json).not.toHaveProperty("$schema");
    const valid = made.validate({ city: "Paris" });
    expect(valid).not.toBeInstanceOf(Promise);
    expect(valid).toEqual({ value: { city: "Paris" } });
    const invalid = await made.validate({ city: 7 });
    expect(invalid).toEqual({ issues: [expect.objectContaining({ path: ["city"], message: expect.any(String) })] });
    const issues = "issues" in invalid ? invalid.issues : [];
    expect(Object.getPrototypeOf(issues)).toBe(Array.prototype);
  });
});

test("defaults and transforms of a library apply, those of plain JSON Schema do not", async () => {
  const schema = z.object({
    units: z.string().default("metric"),
    at: z.iso.datetime().transform((text) => new Date(text)),
  });
  const made = toSchema(schema, input);
  expect(made.json.required).toEqual(["at"]);
  expect(await made.validate({ at: "2026-01-01T00:00:00Z" })).toEqual({
    value: { units: "metric", at: new Date("2026-01-01T00:00:00Z") },
  });
  const plain = { type: "object", properties: { units: { type: "string", default: "metric" } } };
  expect(await toSchema(plain, input).validate({})).toEqual({ value: {} });
});

test("input is what a schema accepts, output what it gives", () => {
  const schema = z.object({ units: z.string().default("metric") });
  expect(toSchema(schema, input).json.required).toBeUndefined();
  expect(toSchema(schema, output).json.required).toEqual(["units"]);
});

test("a library that is asynchronous may be", async () => {
  const schema = z.object({ city: z.string().refine(async (city) => city !== "Nowhere", "does not exist") });
  const made = toSchema(schema, input);
  const answer = await made.validate({ city: "Nowhere" });
  expect(answer).toEqual({ issues: [{ path: ["city"], message: "does not exist" }] });
  expect(await made.validate({ city: "Paris" })).toEqual({ value: { city: "Paris" } });
});

test("a thenable is waited for, and an answer that is none is no consent", async () => {
  const inner = z.object({ n: z.number() });
  const standard = inner["~standard"];
  const withValidate = (validate: (value: unknown) => unknown): AnySchema =>
    ({ "~standard": { ...standard, validate } }) as unknown as AnySchema;
  const thenable = toSchema(
    withValidate((value) => {
      const promise = Promise.resolve(standard.validate(value));
      // biome-ignore lint/suspicious/noThenProperty: a promise that is not this realm's
      return { then: promise.then.bind(promise) };
    }),
    { kind: "tool", name: "t", role: "input" },
  );
  expect(await thenable.validate({ n: 1 })).toEqual({ value: { n: 1 } });
  expect(await thenable.validate({ n: "bad" })).toHaveProperty("issues");
  const silent = toSchema(
    withValidate(() => ({})),
    { kind: "tool", name: "t", role: "input" },
  );
  expect(() => silent.validate({})).toThrow("neither a value nor issues");
});

test("issues are few and short, however many mistakes there are", async () => {
  const schema = toSchema(z.object({ xs: z.array(z.string("no ".repeat(1000))) }), {
    kind: "tool",
    name: "t",
    role: "input",
  });
  const result = await schema.validate({ xs: Array.from({ length: 50_000 }, () => 1) });
  const { issues } = result as { issues: readonly { message: string }[] };
  expect(issues).toHaveLength(20);
  expect(Math.max(...issues.map(({ message }) => message.length))).toBe(500);
});

describe("what JSON Schema cannot express is refused by name and field", () => {
  const lacks = "cannot be expressed as JSON Schema; use a type that JSON has.";
  test.each<[string, AnySchema, string]>([
    [
      "zod",
      z.object({ city: z.string(), when: z.date() }),
      `tool "forecast": input field "when" ${lacks} Date cannot be represented in JSON Schema`,
    ],
    ["zod, nested", z.object({ a: z.object({ b: z.bigint() }) }), `field "a.b" ${lacks} BigInt`],
    [
      "zod, in a list",
      z.object({ a: z.array(z.object({ properties: z.date() })) }),
      `field "a[].properties" ${lacks} Date`,
    ],
    [
      "zod, optional",
      z.object({ a: z.union([z.string(), z.map(z.string(), z.string())]).optional() }),
      `field "a" ${lacks} Map`,
    ],
    ["zod, root", z.date(), `input ${lacks} Date`],
    [
      "valibot",
      toStandardJsonSchema(v.object({ n: v.object({ when: v.date() }) })),
      `tool "forecast": input field "n.when" ${lacks} The "date" schema cannot be converted to JSON Schema.`,
    ],
    ["arktype", type({ "n?": { when: "Date" } }), `tool "forecast": input field "n.when" ${lacks}`],
    ["arktype, bigint", type({ a: "bigint" }), `field "a" ${lacks}`],
    [
      "a library that only throws",
      {
        "~standard": {
          version: 1,
          vendor: "other",
          jsonSchema: {
            input: () => {
              throw new Error("Not today.");
            },
            output: () => ({}),
          },
        },
      },
      `input ${lacks} Not today.`,
    ],
  ])("%s", (_, schema, message) => {
    expect(() => toSchema(schema, input)).toThrow(TypeError);
    expect(() => toSchema(schema, input)).toThrow(message);
  });

  test("transforms, in an output", () => {
    const schema = z.object({ a: z.string().transform((text) => text.length) });
    expect(() => toSchema(schema, output)).toThrow('tool "forecast": output field "a" cannot be expressed');
    expect(() => toSchema(schema, input)).not.toThrow();
  });

  test("unless the user has told arktype how to write it", () => {
    const text = { type: "string", format: "date-time" } as const;
    const mine = scope({}, { toJsonSchema: { fallback: { date: () => text } } });
    expect(toSchema(mine.type({ when: "Date" }), input).json.properties).toEqual({ when: text });
  });

  test("what may be anything is no mistake", () => {
    expect(() => toSchema(z.object({ any: z.unknown() }), input)).not.toThrow();
    expect(() => toSchema(type({ any: "unknown" }), input)).not.toThrow();
  });
});

describe("what is no usable schema is refused with the remedy", () => {
  const bare: AnySchema = v.object({ city: v.string() });
  test.each<[AnySchema, string]>([
    [bare, "input gives no JSON Schema; wrap valibot's with toStandardJsonSchema()."],
    [{ city: z.string() }, "input is an object of schemas: wrap it, as in z.object()."],
    [{ "~standard": { version: 1, vendor: "other", validate: () => ({ value: 1 }) } }, "input gives no JSON Schema"],
    [null as unknown as AnySchema, "input is no schema"],
    [
      { type: "object", properties: { a: { type: "strin" } } },
      "input is not usable: JSON Schema: #/properties/a/type must be",
    ],
    [z.string(), 'input must describe an object: "type": "object".'],
    [{}, "input must describe an object"],
    [z.string().min(5), "input must describe an object"],
    [{ type: ["object", "null"] }, "input must describe an object"],
    [z.union([z.object({}), z.string()]), "input must describe an object"],
  ])("%#: %s", (schema, message) => {
    expect(() => toSchema(schema, input)).toThrow(`tool "forecast": ${message}`);
  });
});

describe("an input that is an object says so", () => {
  const object = z.object({ a: z.string() });
  test.each<[string, AnySchema]>([
    ["union", z.union([object, z.object({ b: z.string() })])],
    [
      "discriminated union",
      z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b") })]),
    ],
    ["arktype union", type({ a: "string" }).or({ b: "number" })],
    ["reference", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }],
    ["all of", { allOf: [{ required: ["a"] }, { type: "object" }] }],
    [
      "condition",
      { if: { required: ["a"] }, else: false, allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { type: "object" } } },
    ],
  ])("%s", (_, schema) => expect(toSchema(schema, input).json.type).toBe("object"));

  test("an output may be anything", () => {
    expect(toSchema(z.array(z.string()), output).json).toEqual({ type: "array", items: { type: "string" } });
  });
});

test("$schema is kept where it was written, and not where a library puts the default", async () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  const old = toSchema({ $schema, type: "object", dependencies: { a: ["b"] } }, input);
  expect(old.json.$schema).toBe($schema);
  expect(await old.validate({ a: 1 })).toMatchObject({ issues: [{ keyword: "dependencies" }] });
  const current = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" };
  expect(toSchema(current, input).json).toEqual(current);
  expect(toSchema(z.object({}), input).json).not.toHaveProperty("$schema");
});

test("issues are one readable line", () => {
  const issues = [
    { path: ["city"], message: "must be a string" },
    { path: ["list", 0, "a"], message: "must be at most 7" },
    { path: [], message: "must be brief" },
  ];
  expect(formatIssues(issues)).toBe("city: must be a string; list.0.a: must be at most 7; must be brief");
  expect(formatIssues([{ path: ["a", "b"], message: "a.b must be a string" }])).toBe("a.b must be a string");
});
