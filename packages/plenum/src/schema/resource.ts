// What a schema is made of when it is looked at from outside: documents, and places in them.

import type { Dialect } from "./dialect.ts";

/** A JSON Schema in its object form. Subschemas inside it may be booleans. */
export type JsonSchema = { readonly [key: string]: unknown };

/** A schema with its own URI: a document, or a part of one that has an `$id`. */
export interface Resource {
  uri: string;
  readonly root: unknown;
  readonly dialect: Dialect;
  readonly anchors: Map<string, JsonSchema>;
  readonly dynamic: Map<string, JsonSchema>;
}

/** Where a reference leads to. */
export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
  /** For messages: where the schema stands. */
  readonly at: string;
}
