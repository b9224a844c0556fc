// Finds what a `$ref` means: a schema is walked once for its `$id`s and anchors, its size and depth are held against
// the limits on the way, and references are looked up in what was found. Nothing is ever fetched.
// JSON Schema 2020-12 core, sections 8.2 and 9; draft-07 core, section 8.

import { isObject } from "./check.ts";
import { type Dialect, dialects, schemaKeywords, schemaMapKeywords, toDialect } from "./dialect.ts";
import type { JsonSchema, Resource, Target } from "./resource.ts";
import { own } from "./site.ts";

export interface Resources {
  readonly main: Resource;
  /** Every schema with a `$dynamicAnchor`, in the order they were found; grows as documents are entered. */
  readonly dynamic: Target[];
  of(schema: object, otherwise: Resource): Resource;
  resolve(ref: string, from: Resource, at: string): Target;
}

export interface ResourceOptions {
  readonly maxDepth: number;
  readonly maxSubschemas: number;
  readonly defaultDialect: Dialect["name"];
  readonly documents: Readonly<Record<string, JsonSchema | boolean>>;
}

const unnamed = "schema:///";

/** What cannot be resolved is left as it is: it will be found nowhere. */
function split(ref: string, base: string): [uri: string, fragment: string] {
  const [uri = "", fragment = ""] = ref.split("#");
  try {
    return [uri ? new URL(uri, base).href : base, decodeURIComponent(fragment)];
  } catch {
    return [uri, fragment];
  }
}

/** Walks a schema. Throws a TypeError when it is too deep, has too many subschemas or an unknown dialect. */
export function indexResources(schema: unknown, options: ResourceOptions): Resources {
  const byUri = new Map<string, Resource>();
  const byPlace = new Map<object, Resource>();
  const dynamic: Target[] = [];
  let count = 0;

  const add = (uri: string, root: unknown, dialect: Dialect): Resource => {
    const declared = isObject(root) ? own(root, "$schema") : undefined;
    const resource = {
      uri,
      root,
      dialect: declared === undefined ? dialect : toDialect(declared),
      anchors: new Map(),
      dynamic: new Map(),
    };
    byUri.set(uri, resource);
    return resource;
  };

  const walk = (schema: unknown, resource: Resource, depth: number): void => {
    if (schema === undefined) return;
    if (depth > options.maxDepth) throw new TypeError(`JSON Schema: nested deeper than ${options.maxDepth} levels.`);
    if (++count > options.maxSubschemas)
      throw new TypeError(`JSON Schema: has more than ${options.maxSubschemas} subschemas.`);
    if (!isObject(schema)) return;
    const text = (key: string) => {
      const value = own(schema, key);
      return typeof value === "string" ? value : "";
    };
    const id = resource.dialect.legacy && text("$ref") ? "" : text("$id");
    const [uri, fragment] = split(id, resource.uri);
    if (id && !id.startsWith("#")) {
      if (schema !== resource.root) resource = add(uri, schema, resource.dialect);
      resource.uri = uri;
      byUri.set(uri, resource);
    }
    if (fragment && resource.dialect.legacy) resource.anchors.set(fragment, schema);
    byPlace.set(schema, resource);
    if (!resource.dialect.legacy) {
      const name = text("$dynamicAnchor");
      for (const anchor of [text("$anchor"), name]) if (anchor) resource.anchors.set(anchor, schema);
      if (name) {
        resource.dynamic.set(name, schema);
        dynamic.push({ schema, resource, at: `${resource.uri}#${name}` });
      }
    }
    for (const key of schemaKeywords) {
      for (const part of [own(schema, key)].flat()) walk(part, resource, depth + 1);
    }
    for (const key of schemaMapKeywords) {
      const map = own(schema, key);
      if (isObject(map)) for (const name of Object.keys(map)) walk(map[name], resource, depth + 1);
    }
  };

  const enter = (uri: string, root: unknown): Resource => {
    const resource = add(uri, root, dialects[options.defaultDialect]);
    walk(root, resource, 0);
    return resource;
  };

  const main = enter(unnamed, schema);
  const documents = new Map(Object.entries(options.documents).map(([uri, root]) => [split(uri, unnamed)[0], root]));

  const resolve = (ref: string, from: Resource, at: string): Target => {
    const [uri, fragment] = split(ref, from.uri);
    const refuse = (why: string): never => {
      throw new TypeError(`JSON Schema: the reference ${JSON.stringify(ref)} at ${at} ${why}.`);
    };
    let resource = byUri.get(uri);
    if (!resource) {
      if (!documents.has(uri)) return refuse("leads outside this schema, and remote schemas are never fetched");
      resource = enter(uri, documents.get(uri));
    }
    let schema = resource.root;
    if (fragment.startsWith("/")) {
      for (const part of fragment.slice(1).split("/")) {
        const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
        if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, key))
          return refuse("leads nowhere");
        schema = (schema as JsonSchema)[key];
        if (typeof schema === "object" && schema !== null) resource = byPlace.get(schema) ?? resource;
      }
    } else if (fragment) {
      schema = resource.anchors.get(fragment) ?? refuse("leads nowhere");
    }
    // A reference may lead to a place that holds no schema by itself, such as below an unknown keyword.
    if (isObject(schema) && !byPlace.has(schema)) walk(schema, resource, 0);
    if (isObject(schema)) resource = byPlace.get(schema) ?? resource;
    return { schema, resource, at: uri === main.uri ? `#${fragment}` : `${uri}#${fragment}` };
  };

  return { main, dynamic, of: (schema, otherwise) => byPlace.get(schema) ?? otherwise, resolve };
}
