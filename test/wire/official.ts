// The official JSON schemas as judges. They are not the project's: without their folder there is nothing to compare.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { methods } from "../../packages/plenum/src/protocol/methods.ts";
import type { Revision } from "../../packages/plenum/src/protocol/revisions.ts";

const folder = join(import.meta.dirname, "../../../shared/spec/schema");

export const isOfficialHere: boolean = existsSync(folder);

export interface Definition {
  $ref?: string;
  type?: string | string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Definition>;
  required?: string[];
  items?: Definition;
  anyOf?: Definition[];
  additionalProperties?: Definition | boolean;
  propertyNames?: { not: { pattern: string } };
}

export type Definitions = Record<string, Definition>;

const read = new Map<Revision, Definitions>();

/** The definitions of a revision, with the two slips of their generator mended. */
export function definitionsOf(revision: Revision): Definitions {
  let definitions = read.get(revision);
  if (!definitions) {
    const file = JSON.parse(readFileSync(join(folder, `${revision}.json`), "utf8"));
    definitions = (file.definitions ?? file.$defs) as Definitions;
    // A JSON value may be null or a fraction; the generator knows neither.
    if (definitions.JSONValue) definitions.JSONValue = {};
    // A form has fields of type number, whose values may be fractions; the generator writes integer.
    const value = definitions.ElicitResult?.properties?.content?.additionalProperties;
    if (typeof value === "object") mendNumbers(value);
    read.set(revision, definitions);
  }
  return definitions;
}

function mendNumbers(value: Definition): void {
  if (Array.isArray(value.type)) value.type = value.type.map((type) => (type === "integer" ? "number" : type));
  for (const inner of value.anyOf ?? []) mendNumbers(inner);
}

/** The definition behind a reference. */
export function resolve(revision: Revision, definition: Definition | undefined): Definition | undefined {
  const name = definition?.$ref?.split("/").pop();
  return name === undefined ? definition : resolve(revision, definitionsOf(revision)[name]);
}

/**
 * The definitions with every object that names members closed to others, free-form ones and tool schemas apart, and
 * with `_meta` closed to the keys that the newest revision reserves. For all but the newest.
 */
function close(definitions: Definitions): Definitions {
  const copy = structuredClone(definitions);
  for (const definition of Object.values(copy)) closeOne(definition);
  return copy;
}

function closeOne(definition: Definition): void {
  for (const [name, inner] of Object.entries(definition.properties ?? {})) {
    if (name === "params" && inner.properties) inner.properties._meta ??= {};
    if (name === "_meta") inner.propertyNames = { not: { pattern: "^io\\.modelcontextprotocol/" } };
    else if (name !== "inputSchema" && name !== "outputSchema") closeOne(inner);
  }
  for (const inner of definition.anyOf ?? []) closeOne(inner);
  if (definition.items) closeOne(definition.items);
  if (definition.properties) definition.additionalProperties ??= false;
}

const judges = new Map<string, { getSchema(ref: string): ValidateFunction | undefined }>();

/** Why the official definition refuses the value; undefined when it accepts it. */
export function judge(revision: Revision, name: string, value: unknown, closed = false): string | undefined {
  const id = `${revision} ${closed}`;
  let ajv = judges.get(id);
  if (!ajv) {
    const made = revision < "2025-11-25" ? new Ajv({ strict: false }) : new Ajv2020({ strict: false });
    formats.default(made);
    const word = revision < "2025-11-25" ? "definitions" : "$defs";
    const definitions = definitionsOf(revision);
    made.addSchema({ $id: "mcp", [word]: closed ? close(definitions) : definitions });
    judges.set(id, made);
    ajv = made;
  }
  const validate = ajv.getSchema(`mcp#/${revision < "2025-11-25" ? "definitions" : "$defs"}/${name}`);
  if (!validate) throw new Error(`${revision} has no ${name}`);
  return validate(value) ? undefined : JSON.stringify(validate.errors?.slice(0, 3));
}

/** A params or result shape with the official definition that judges it. */
export interface Pair {
  readonly revision: Revision;
  readonly shape: string;
  refuse(value: unknown, closed?: boolean): string | undefined;
}

/** The pairs of every method that a revision has, and of the three requests inside the newest one's results. */
export function pairsOf(revision: Revision): readonly Pair[] {
  return methods.flatMap((method): readonly Pair[] => {
    const { stem, name, kind } = method;
    const suffix = kind === "request" ? "Request" : "Notification";
    const definitions = definitionsOf(revision);
    if (!definitions[stem + suffix]) return [];
    const base = revision < "2025-11-25" ? suffix : undefined;
    const asked = !(revision === "2026-07-28" && method.from === "server" && kind === "request");
    const envelope = { jsonrpc: "2.0", ...(kind === "request" && asked ? { id: 1 } : {}), method: name };
    const params: Pair = {
      revision,
      shape: `${stem}Params`,
      refuse(value, closed) {
        const message = asked ? { ...envelope, params: value } : { method: name, params: value };
        // The oldest schemas say what `_meta` may hold on the general request only.
        const general = base ? judge(revision, base, message) : undefined;
        const exact = closed && revision < "2025-11-25" ? { method: name, params: value } : message;
        return judge(revision, stem + suffix, exact, closed) ?? general;
      },
    };
    if (kind === "notification") return [params];
    const result: Pair = {
      revision,
      shape: `${stem}Result`,
      refuse(value, closed) {
        const asks = (value as { resultType?: unknown } | null)?.resultType === "input_required";
        const whole = definitions[`${stem}Result`] ? `${stem}Result` : "EmptyResult";
        return judge(revision, asks ? "InputRequiredResult" : whole, value, closed);
      },
    };
    return [params, result];
  });
}
