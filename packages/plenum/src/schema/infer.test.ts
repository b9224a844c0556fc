// The types are checked by the compiler; running this only shows that the values exist.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type InferInput, type InferOutput, jsonSchema } from "./infer.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { AnySchema } from "./standard.ts";

declare function take<const S extends AnySchema>(schema: S): InferOutput<S>;

describe("Standard Schema", () => {
  test("zod", () => {
    const schema = z.object({ city: z.string(), days: z.number().default(3) });
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ city: string; days: number }>();
  });
  test("valibot", () => {
    const schema = toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) }));
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ city: string; days: number }>();
  });
  test("arktype", () => {
    const schema = type({ city: "string", "days?": "number" });
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{ city: string; days?: number }>();
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ city: string; days?: number }>();
  });
  test("through a function", () => {
    const call = () => take(z.object({ city: z.string() }));
    expectTypeOf<ReturnType<typeof call>>().toEqualTypeOf<{ city: string }>();
  });
});

type Of<S> = InferOutput<S>;

describe("JSON Schema", () => {
  test("objects", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer", minimum: 1 },
        nested: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
      },
      required: ["city", "other"],
      additionalProperties: false,
    } as const;
    expectTypeOf<Of<typeof schema>>().toEqualTypeOf<{
      city: string;
      days?: number;
      nested?: { on: boolean };
      other: unknown;
    }>();
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<Of<typeof schema>>();
  });
  test("through a function, without as const", () => {
    const call = () =>
      take({ type: "object", properties: { unit: { enum: ["c", "f"] }, n: { type: "number" } }, required: ["unit"] });
    expectTypeOf<ReturnType<typeof call>>().toEqualTypeOf<{ unit: "c" | "f"; n?: number }>();
  });
  test("simple types", () => {
    expectTypeOf<Of<{ readonly type: "string" }>>().toEqualTypeOf<string>();
    expectTypeOf<Of<{ readonly type: "null" }>>().toEqualTypeOf<null>();
    expectTypeOf<Of<{ readonly type: readonly ["string", "null"] }>>().toEqualTypeOf<string | null>();
    expectTypeOf<Of<{ readonly const: 3 }>>().toEqualTypeOf<3>();
    expectTypeOf<Of<{ readonly type: "string"; readonly enum: readonly ["a", "b"] }>>().toEqualTypeOf<"a" | "b">();
  });
  test("arrays", () => {
    expectTypeOf<Of<{ readonly type: "array" }>>().toEqualTypeOf<unknown[]>();
    expectTypeOf<Of<{ readonly type: "array"; readonly items: { readonly type: "number" } }>>().toEqualTypeOf<
      number[]
    >();
    const pair = {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: false,
      minItems: 2,
    } as const;
    expectTypeOf<Of<typeof pair>>().toEqualTypeOf<[string, number]>();
    const open = { type: "array", prefixItems: [{ type: "string" }], items: { type: "null" } } as const;
    expectTypeOf<Of<typeof open>>().toEqualTypeOf<[string?, ...null[]]>();
  });
  test("combinations", () => {
    const either = { anyOf: [{ type: "string" }, { type: "object", properties: { a: { const: 1 } } }] } as const;
    expectTypeOf<Of<typeof either>>().toEqualTypeOf<string | { a?: 1 }>();
    const one = { oneOf: [{ const: "a" }, { const: 2 }] } as const;
    expectTypeOf<Of<typeof one>>().toEqualTypeOf<"a" | 2>();
    const both = {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { type: "object", properties: { b: { type: "number" } }, required: ["b"] },
      ],
    } as const;
    expectTypeOf<Of<typeof both>>().toExtend<{ a: string; b: number }>();
    expectTypeOf<{ a: string; b: number }>().toExtend<Of<typeof both>>();
  });
  test("maps", () => {
    const map = { type: "object", additionalProperties: { type: "number" } } as const;
    expectTypeOf<Of<typeof map>>().toEqualTypeOf<Record<string, number>>();
    expectTypeOf<Of<{ readonly type: "object" }>>().toEqualTypeOf<Record<string, unknown>>();
  });
  test("true, false and a type that is said, within an object", () => {
    const id = jsonSchema<`id-${number}`>({ type: "string", pattern: "^id-" });
    expectTypeOf<
      Of<{
        readonly type: "object";
        readonly properties: { readonly id: typeof id; readonly never: false; readonly any: true };
        readonly required: readonly ["id"];
      }>
    >().toEqualTypeOf<{ id: `id-${number}`; never?: never; any?: unknown }>();
  });
  test("nothing required, all required, and a list of names that is no literal", () => {
    const properties = { a: { type: "string" }, b: { enum: [1, 2] } } as const;
    const none = { type: "object", properties } as const;
    expectTypeOf<Of<typeof none>>().toEqualTypeOf<{ a?: string; b?: 1 | 2 }>();
    const all = { type: "object", properties, required: ["a", "b"] } as const;
    expectTypeOf<Of<typeof all>>().toEqualTypeOf<{ a: string; b: 1 | 2 }>();
    expectTypeOf<Of<{ type: "object"; properties: typeof properties; required: string[] }>>().toEqualTypeOf<{
      [name: string]: unknown;
      a: string;
      b: 1 | 2;
    }>();
  });
  test("one of several schemas", () => {
    type Either =
      | { readonly type: "string" }
      | { readonly anyOf: readonly [{ readonly const: 1 }, { readonly const: 2 }] };
    expectTypeOf<Of<Either>>().toEqualTypeOf<string | 1 | 2>();
  });
  test("what cannot be told is unknown", () => {
    expectTypeOf<Of<JsonSchema>>().toEqualTypeOf<unknown>();
    expectTypeOf<Of<AnySchema>>().toEqualTypeOf<unknown>();
    expectTypeOf<Of<{ readonly $ref: "#/$defs/a" }>>().toEqualTypeOf<unknown>();
    expectTypeOf<Of<{ type: string }>>().toEqualTypeOf<unknown>();
    interface Endless {
      readonly type: "array";
      readonly items: Endless;
    }
    expectTypeOf<Of<Endless>>().toExtend<unknown[][][]>();
  });
  test("or is said", () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    const schema = jsonSchema<Tree>({ type: "object", properties: { children: { items: { $ref: "#" } } } });
    expectTypeOf<Of<typeof schema>>().toEqualTypeOf<Tree>();
    expect(schema).toEqual({ type: "object", properties: { children: { items: { $ref: "#" } } } });
    const call = () => take(schema);
    expectTypeOf<ReturnType<typeof call>>().toEqualTypeOf<Tree>();
  });
});
