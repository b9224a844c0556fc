// The TypeScript type that a schema describes: from a Standard Schema library, or read off a JSON Schema literal.
// What cannot be read off (references, conditions, a schema that is not a literal) is `unknown`.

import type { StandardTypedV1 } from "@standard-schema/spec";
import type { JsonSchema } from "./json-schema.ts";

declare const described: unique symbol;

/** A JSON Schema together with the type it describes; see `jsonSchema`. */
export type TypedJsonSchema<T> = JsonSchema & { readonly [described]: T };

// zod's schemas come first: there the same types stand in a member of their own, which costs the compiler two thirds of the
// way through `~standard`. The interfaces have names since what is written in place is gone through for each schema.

interface ZodInput {
  readonly _zod: { readonly input: unknown };
}

export interface ZodOutput {
  readonly _zod: { readonly output: unknown };
}

/** What a schema accepts. */
export type InferInput<S> = S extends ZodInput
  ? S["_zod"]["input"]
  : S extends StandardTypedV1
    ? StandardTypedV1.InferInput<S>
    : FromJson<S>[Key<S>];

/** What a schema gives: with defaults and transforms applied where its library has them. A JSON Schema gives what it accepts. */
export type InferOutput<S> = S extends ZodOutput ? S["_zod"]["output"] : InferOtherOutput<S>;

/** The same for schemas that are not zod's. */
export type InferOtherOutput<S> = S extends StandardTypedV1 ? StandardTypedV1.InferOutput<S> : FromJson<S>[Key<S>];

/**
 * Looked up by a key that hangs on the schema (`FromJson<S>[Key<S>]`): into a type behind such a key the compiler does not
 * infer, and so it does not go through all that follows to learn of a schema from a handler's arguments.
 */
interface FromJson<S> {
  readonly type: FromJsonSchema<S, 12>;
}
type Key<S> = S extends unknown ? "type" : never;

/** What is below a level. Beyond the twelfth all is `unknown`, so that the compiler always comes to an end. */
type Below = [never, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/**
 * What says more than `type` does. Most schemas have none of it, and then the compiler need not look for each. What `jsonSchema`
 * gives may have any member, and so these.
 */
type Special = "const" | "enum" | "anyOf" | "oneOf" | "allOf";

type FromJsonSchema<S, Level extends number> = S extends false
  ? never
  : keyof S & Special extends never
    ? OfType<S, Level>
    : S extends { readonly [described]: infer T }
      ? T
      : Level extends 0
        ? unknown
        : OfType<S, Level> &
            OfValues<S> &
            OfBranches<S, "anyOf", Below[Level]> &
            OfBranches<S, "oneOf", Below[Level]> &
            OfAll<S, Below[Level]>;

type OfValues<S> = (S extends { readonly const: infer Value } ? Value : unknown) &
  (S extends { readonly enum: readonly (infer Value)[] } ? Value : unknown);

type OfBranches<S, Key extends string, Level extends number> = S extends {
  readonly [K in Key]: infer Branches extends readonly unknown[];
}
  ? { [I in keyof Branches]: FromJsonSchema<Branches[I], Level> }[number]
  : unknown;

type OfAll<S, Level extends number> = S extends {
  readonly allOf: readonly [infer First, ...infer Rest];
}
  ? FromJsonSchema<First, Level> & OfAll<{ readonly allOf: Rest }, Level>
  : unknown;

interface Simple {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type OfType<S, Level extends number> = S extends { readonly type: infer Type }
  ? OfOneType<S, Type extends readonly (infer One)[] ? One : Type, Level>
  : unknown;

// Distributes over a union of types.
type OfOneType<S, Type, Level extends number> = Type extends keyof Simple
  ? Simple[Type]
  : Level extends 0
    ? unknown
    : Type extends "object"
      ? OfObject<S, Below[Level]>
      : Type extends "array"
        ? OfArray<S, Below[Level]>
        : unknown;

type OfArray<S, Level extends number> = S extends { readonly prefixItems: infer Prefix extends readonly unknown[] }
  ? [...OfPrefix<S, { -readonly [I in keyof Prefix]: FromJsonSchema<Prefix[I], Level> }>, ...OfRest<S, Level>]
  : OfRest<S, Level>;

/** Leading items may be missing, unless `minItems` is exactly their number. */
type OfPrefix<S, Items extends readonly unknown[]> = S extends { readonly minItems: Items["length"] }
  ? Items
  : Partial<Items>;

type OfRest<S, Level extends number> = S extends { readonly items: infer Item }
  ? Item extends false
    ? []
    : FromJsonSchema<Item, Level>[]
  : unknown[];

type OfObject<S, Level extends number> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Name extends string)[] }
    ? OfProperties<Properties, Name, Level>
    : { -readonly [K in keyof Properties]?: FromJsonSchema<Properties[K], Level> }
  : S extends { readonly additionalProperties: infer Additional }
    ? Record<string, FromJsonSchema<Additional, Level>>
    : Record<string, unknown>;

type OfProperties<Properties, Name extends string, Level extends number> = Flat<
  { [K in keyof Properties & Name]: FromJsonSchema<Properties[K], Level> } & {
    [K in Exclude<keyof Properties, Name>]?: FromJsonSchema<Properties[K], Level>;
  } & { [K in Exclude<Name, keyof Properties>]: unknown }
>;

/** The empty object has the compiler show what is in it. */
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** Says which type a JSON Schema describes, where it cannot be read off: `jsonSchema<Tree>({ $ref: "#/$defs/tree", … })`. */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema as TypedJsonSchema<T>;
}
