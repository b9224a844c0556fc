// A form that a server wants filled in, as its client sees it: what its schema gives by default, and whether an answer
// fits. Schemas come from strangers; the validator bounds what they cost. Specification: client/elicitation.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Revision } from "../protocol/revisions.ts";
import { addAsking } from "../protocol/wire/asking.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { formats } from "../schema/format.ts";
import { compileJsonSchema, type Validator } from "../schema/json-schema.ts";
import { formatIssues } from "../schema/standard.ts";

export interface Form {
  /** Of those fields whose default fits the field itself. */
  readonly defaults: JsonObject;
  /** An answer with the defaults of the fields that it leaves out. */
  fill(content: JsonObject): JsonObject;
  /**
   * What keeps an answer from being sent: it breaks the schema, or holds what the revision has no answers for.
   * Undefined when nothing does. Names fields, and never what was filled in.
   */
  check(content: JsonObject, revision: Revision): string | undefined;
}

/** Reads a `requestedSchema`. Throws a TypeError when it cannot be used: see `compileJsonSchema`. */
export function toForm(schema: JsonObject): Form {
  addAsking();
  const validate = compileJsonSchema(schema, { formats });
  const defaults = toDefaults(schema);
  return {
    defaults,
    // Members that are undefined are absent on the wire.
    fill: (content) => ({
      ...defaults,
      ...Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined)),
    }),
    check(content, revision) {
      const issues = validate(content);
      // What no schema says: which kinds of values an answer may hold at all.
      return issues ? formatIssues(issues) : wireOf(revision).check("ElicitResult", { action: "accept", content });
    },
  };
}

function toDefaults(schema: JsonObject): JsonObject {
  const fields = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const given = fields.flatMap(([name, field]): [string, unknown][] =>
    isObject(field) && Object.hasOwn(field, "default") ? [[name, field.default]] : [],
  );
  if (given.length === 0) return {};
  // All in one go, so that a thousand costly fields have one budget between them. Whatever else the form wants, such as
  // the fields that have no default, is not asked here.
  const validate: Validator = compileJsonSchema(
    { ...schema, required: undefined },
    { formats, maxErrors: Number.POSITIVE_INFINITY },
  );
  const wrong = new Set(validate(Object.fromEntries(given))?.map(({ path }) => path[0]));
  const right = Object.fromEntries(given.filter(([name]) => !wrong.has(name)));
  // Still wrong where the budget is used up.
  return validate(right) ? {} : right;
}
