// Finds what a `$ref` means: a schema is walked once for its `$id`s and anchors, its size and depth are held against
// the limits on the way, and references are looked up in what was found. Nothing is ever fetched.
// JSON Schema 2020-12 core, sections 8.2 and 9; draft-07 core, section 8.

import { isObject, type JsonSchema } from "./check.ts";
import { type Dialect, dialects, schemaKeywords, schemaMapKeywords, toDialect } from "./dialect.ts";

/** A schema with its own URI: a document, or a part of one that has an `$id`. */
export interface Resource {
  readonly uri: string;
  readonly root: unknown;
  readonly dialect: Dialect;
  readonly anchors: Map<string, JsonSchema>;
  readonly dynamic: Map<string, JsonSchema>;
}

export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
  /** For messages: where the schema stands. */
  readonly at: string;
}

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

function toAbsolute(uri: string, base: string): string {
  if (uri === "") return base;
  try {
    return new URL(uri, base).href;
  } catch {
    return uri;
  }
}

function split(ref: string, base: string): [uri: string, fragment: string] {
  const hash = ref.indexOf("#");
  if (hash < 0) return [toAbsolute(ref, base), ""];
  let fragment = ref.slice(hash + 1);
  try {
    fragment = decodeURIComponent(fragment);
  } catch {
    // A stray percent sign stands for itself.
  }
  return [toAbsolute(ref.slice(0, hash), base), fragment];
}

/** Walks a schema. Throws a TypeError when it is too deep, has too many subschemas or an unknown dialect. */
export function indexResources(schema: unknown, options: ResourceOptions): Resources {
  const byUri = new Map<string, Resource>();
  const byPlace = new Map<object, Resource>();
  const dynamic: Target[] = [];
  let count = 0;

  const add = (uri: string, root: unknown, dialect: Dialect): Resource => {
    const resource = { uri, root, dialect, anchors: new Map(), dynamic: new Map() };
    byUri.set(uri, resource);
    return resource;
  };

  const walk = (schema: unknown, resource: Resource, depth: number): void => {
    if (!isObject(schema)) return;
    if (depth > options.maxDepth) throw new TypeError(`JSON Schema: nested deeper than ${options.maxDepth} levels.`);
    if (++count > options.maxSubschemas)
      throw new TypeError(`JSON Schema: has more than ${options.maxSubschemas} subschemas.`);
    const own = (key: string) => (Object.hasOwn(schema, key) ? schema[key] : undefined);
    const text = (key: string) => (typeof own(key) === "string" ? (own(key) as string) : undefined);
    const id = text("$id");
    const isRoot = schema === resource.root;
    if (id !== undefined && !(resource.dialect.legacy && text("$ref") !== undefined)) {
      const [uri, fragment] = split(id, resource.uri);
      if (!id.startsWith("#")) {
        const dialect = own("$schema") === undefined ? resource.dialect : toDialect(own("$schema"));
        if (isRoot && uri !== resource.uri) byUri.set(uri, resource);
        resource = isRoot ? Object.assign(resource, { uri }) : add(uri, schema, dialect);
      }
      if (fragment && resource.dialect.legacy) resource.anchors.set(fragment, schema);
    }
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
      const value = own(key);
      if (Array.isArray(value)) for (const item of value) walk(item, resource, depth + 1);
      else walk(value, resource, depth + 1);
    }
    for (const key of schemaMapKeywords) {
      const value = own(key);
      if (isObject(value)) for (const name of Object.keys(value)) walk(value[name], resource, depth + 1);
    }
  };

  const enter = (uri: string, root: unknown): Resource => {
    const declared = isObject(root) && Object.hasOwn(root, "$schema") ? root.$schema : undefined;
    const dialect = declared === undefined ? dialects[options.defaultDialect] : toDialect(declared);
    const resource = add(uri, root, dialect);
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
