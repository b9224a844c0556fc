// The TypeScript type that a schema describes: from a Standard Schema library, or read off a JSON Schema literal.
// What cannot be read off (references, conditions, a schema that is not a literal) is `unknown`.

import type { StandardTypedV1 } from "@standard-schema/spec";
import type { JsonSchema } from "./json-schema.ts";

declare const described: unique symbol;

/** A JSON Schema together with the type it describes; see `jsonSchema`. */
export type TypedJsonSchema<T> = JsonSchema & { readonly [described]: T };

// zod's schemas come first: there the same types stand in a member of their own, which costs the compiler two thirds of the
// way through `~standard`.

/** What a schema accepts. */
export type InferInput<S> = S extends { readonly _zod: { readonly input: unknown } }
  ? S["_zod"]["input"]
  : S extends StandardTypedV1
    ? StandardTypedV1.InferInput<S>
    : FromJsonSchema<S, []>;

/** What a schema gives: with defaults and transforms applied where its library has them. A JSON Schema gives what it accepts. */
export type InferOutput<S> = S extends { readonly _zod: { readonly output: unknown } }
  ? S["_zod"]["output"]
  : S extends StandardTypedV1
    ? StandardTypedV1.InferOutput<S>
    : FromJsonSchema<S, []>;

/** `Depth` grows by one on each level: deeper than 12 is `unknown`, so that the compiler always comes to an end. */
type FromJsonSchema<S, Depth extends readonly unknown[]> = S extends { readonly [described]: infer T }
  ? T
  : S extends false
    ? never
    : Depth["length"] extends 12
      ? unknown
      : OfType<S, Depth> &
          OfValues<S> &
          OfBranches<S, "anyOf", Depth> &
          OfBranches<S, "oneOf", Depth> &
          OfAll<S, Depth>;

type Deeper<Depth extends readonly unknown[]> = readonly [...Depth, 0];

type OfValues<S> = (S extends { readonly const: infer Value } ? Value : unknown) &
  (S extends { readonly enum: readonly (infer Value)[] } ? Value : unknown);

type OfBranches<S, Key extends string, Depth extends readonly unknown[]> = S extends {
  readonly [K in Key]: infer Branches extends readonly unknown[];
}
  ? { [I in keyof Branches]: FromJsonSchema<Branches[I], Deeper<Depth>> }[number]
  : unknown;

type OfAll<S, Depth extends readonly unknown[]> = S extends {
  readonly allOf: readonly [infer First, ...infer Rest];
}
  ? FromJsonSchema<First, Deeper<Depth>> & OfAll<{ readonly allOf: Rest }, Deeper<Depth>>
  : unknown;

type OfType<S, Depth extends readonly unknown[]> = S extends { readonly type: infer Type }
  ? Type extends readonly (infer One)[]
    ? OfOneType<S, One, Depth>
    : OfOneType<S, Type, Depth>
  : unknown;

// Distributes over a union of types.
type OfOneType<S, Type, Depth extends readonly unknown[]> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? OfArray<S, Depth>
          : Type extends "object"
            ? OfObject<S, Depth>
            : unknown;

type OfArray<S, Depth extends readonly unknown[]> = S extends {
  readonly prefixItems: infer Prefix extends readonly unknown[];
}
  ? [...OfPrefix<S, { -readonly [I in keyof Prefix]: FromJsonSchema<Prefix[I], Deeper<Depth>> }>, ...OfRest<S, Depth>]
  : OfRest<S, Depth>;

/** Leading items may be missing, unless `minItems` is exactly their number. */
type OfPrefix<S, Items extends readonly unknown[]> = S extends { readonly minItems: Items["length"] }
  ? Items
  : Partial<Items>;

type OfRest<S, Depth extends readonly unknown[]> = S extends { readonly items: infer Item }
  ? Item extends false
    ? []
    : FromJsonSchema<Item, Deeper<Depth>>[]
  : unknown[];

type Required<S> = S extends { readonly required: readonly (infer Name extends string)[] } ? Name : never;

type OfObject<S, Depth extends readonly unknown[]> = S extends { readonly properties: infer Properties }
  ? Flat<
      {
        -readonly [K in keyof Properties as K extends Required<S> ? K : never]: FromJsonSchema<
          Properties[K],
          Deeper<Depth>
        >;
      } & {
        -readonly [K in keyof Properties as K extends Required<S> ? never : K]?: FromJsonSchema<
          Properties[K],
          Deeper<Depth>
        >;
      } & { [K in Exclude<Required<S>, keyof Properties>]: unknown }
    >
  : S extends { readonly additionalProperties: infer Additional }
    ? Record<string, FromJsonSchema<Additional, Deeper<Depth>>>
    : Record<string, unknown>;

type Flat<T> = { [K in keyof T]: T[K] };

/** Says which type a JSON Schema describes, where it cannot be read off: `jsonSchema<Tree>({ $ref: "#/$defs/tree", … })`. */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema as TypedJsonSchema<T>;
}
