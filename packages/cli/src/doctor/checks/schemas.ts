// The schemas of tools: whether they are JSON Schema at all, and what in them the APIs of the large models refuse or ignore.
import type { JsonObject } from "plenum";
import { compileJsonSchema } from "plenum/schema";
import type { Check, Finding } from "../check.ts";
import { findRecursion, type SchemaNode, walkSchema } from "../schema-walk.ts";
import { isObject, reasonOf, toObject } from "../visit.ts";
import { countOf } from "../words.ts";
import { eachTool, overTools, whereOf } from "./tools.ts";

type Fault = Omit<Finding, "where">;

/** Looks into inputSchema; what is no object is told by another check. */
function eachInput(look: (nodes: readonly SchemaNode[], root: JsonObject) => Fault | undefined): Check["run"] {
  return eachTool(({ inputSchema }) =>
    isObject(inputSchema) ? look(walkSchema(inputSchema), inputSchema) : undefined,
  );
}

/** One finding a tool, with the first places. */
function places(nodes: readonly SchemaNode[], message: string): Fault | undefined {
  if (nodes.length === 0) return undefined;
  const shown = nodes.slice(0, 3).map(({ path }) => path);
  const more = nodes.length > 3 ? ` and ${nodes.length - 3} more` : "";
  return { message: `${message} At ${shown.join(", ")}${more}.` };
}

function typesOf({ schema }: SchemaNode): readonly unknown[] {
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

/** Why a schema cannot be compiled; undefined where it can. */
function findFault(schema: JsonObject): string | undefined {
  try {
    compileJsonSchema(schema);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

const combinators = ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"];

const geminiFormats = new Set(["enum", "date-time", "float", "double", "int32", "int64", "date", "time"]);

/** Keywords that the function declarations of Gemini have not always had, at a place of a schema. */
function strangeToGemini({ schema, path }: SchemaNode): string[] {
  const names = ["const", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "patternProperties"];
  const also = ["propertyNames", "if", "not", "contains", "dependentRequired", "dependentSchemas"];
  const format =
    typeof schema.format === "string" && !geminiFormats.has(schema.format) ? [`format: ${schema.format}`] : [];
  const plain = [...names, ...also, ...(path === "#" ? [] : ["$schema"])].filter((key) => schema[key] !== undefined);
  return [
    ...plain,
    ...format,
    ...(schema.default === undefined ? [] : ["default"]),
    ...(schema.pattern === undefined ? [] : ["pattern"]),
  ];
}

const input = { appliesTo: "any", looksAt: "inputSchema of every tool" } as const;

const validity: readonly Check[] = [
  {
    ...input,
    id: "schemas/input",
    title: "inputSchema is a valid JSON Schema of an object",
    severity: "error",
    remedy: 'Make it a JSON Schema (2020-12 or draft-07) with "type": "object" at its root.',
    run: eachTool(({ inputSchema }) => {
      if (!isObject(inputSchema)) return { message: "It has no inputSchema." };
      if (inputSchema.type !== "object")
        return {
          message: `The type at the root of inputSchema is ${JSON.stringify(inputSchema.type) ?? "missing"}, and not "object".`,
        };
      const fault = findFault(inputSchema);
      if (fault !== undefined) return { message: `inputSchema is not valid: ${fault}.` };
      const { required, properties } = inputSchema;
      const unknown = Array.isArray(required)
        ? required.filter((name) => !Object.hasOwn(toObject(properties), String(name)))
        : [];
      if (unknown.length === 0 || inputSchema.additionalProperties === true) return undefined;
      return { message: `It requires ${unknown.join(", ")}, which properties does not have.`, severity: "warning" };
    }),
  },
  {
    id: "schemas/output",
    title: "outputSchema is a valid JSON Schema",
    looksAt: "outputSchema of every tool",
    appliesTo: "any",
    severity: "error",
    remedy: 'Make it a JSON Schema, with "type": "object" at its root for clients up to 2025-11-25.',
    run: overTools((tools, { main }) =>
      tools.flatMap((tool): Finding[] => {
        const { outputSchema } = tool;
        if (outputSchema === undefined) return [];
        const where = whereOf(tool);
        if (!isObject(outputSchema)) return [{ message: "Its outputSchema is no object.", where }];
        const fault = findFault(outputSchema);
        if (fault !== undefined) return [{ message: `outputSchema is not valid: ${fault}.`, where }];
        if (outputSchema.type === "object" || main.isStateless) return [];
        return [
          {
            message: `The type at the root of outputSchema is ${JSON.stringify(outputSchema.type) ?? "missing"}, and not "object".`,
            where,
          },
        ];
      }),
    ),
  },
  {
    ...input,
    id: "schemas/references",
    title: "References lead to what is in the schema",
    severity: "error",
    remedy: "Put what is referred to into $defs of the same schema. No client fetches it.",
    run: eachInput((nodes) =>
      places(
        nodes.filter(({ schema }) => typeof schema.$ref === "string" && !schema.$ref.startsWith("#")),
        "A $ref leads out of the schema.",
      ),
    ),
  },
];

/** What an API of a model refuses or ignores; each says which. */
const models: readonly Check[] = [
  {
    ...input,
    id: "schemas/root",
    title: "The root of inputSchema is a plain object",
    severity: "error",
    remedy:
      "Move the choice into a property, or make a tool for each case. Say in the description which parameters go together.",
    run: eachInput((_, root) => {
      const [bad] = combinators.filter((key) => root[key] !== undefined);
      if (bad === undefined) return undefined;
      return {
        message: `${bad} stands at the root of inputSchema. OpenAI, Anthropic and Gemini refuse every request that carries such a tool.`,
      };
    }),
  },
  {
    ...input,
    id: "schemas/property-names",
    title: "Names of properties are plain",
    severity: "error",
    remedy: "Use only A-Z, a-z, 0-9, _, . and -, and at most 64 characters.",
    run: eachInput((nodes) => {
      const names = nodes.flatMap(({ schema }) => Object.keys(toObject(schema.properties)));
      const bad = names.find((name) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name));
      if (bad === undefined) return undefined;
      return { message: `The property ${JSON.stringify(bad)} has a name that Anthropic's API refuses.` };
    }),
  },
  {
    ...input,
    id: "schemas/array-items",
    title: "Arrays say what they hold",
    severity: "error",
    remedy: 'Give every array "items", such as { "type": "string" }.',
    run: eachInput((nodes) =>
      places(
        nodes.filter((node) => typesOf(node).includes("array") && node.schema.items === undefined),
        "An array has no items: the APIs of OpenAI and Gemini refuse it.",
      ),
    ),
  },
  {
    ...input,
    id: "schemas/object-properties",
    title: "Objects say what they hold",
    severity: "warning",
    remedy: "List the properties. For free text, take a string; for a map, take an array of pairs.",
    run: eachInput((nodes, root) => {
      if (root.properties === undefined)
        return {
          message: 'inputSchema has no properties: OpenAI\'s API refuses it. An empty "properties": {} will do.',
          remedy: 'Add "properties": {}.',
        };
      return places(
        nodes.filter(
          (node) =>
            node.path !== "#" &&
            typesOf(node).includes("object") &&
            Object.keys(toObject(node.schema.properties)).length === 0,
        ),
        "An object has no properties: older versions of Gemini's API refuse it, and OpenAI's strict mode lets it hold nothing.",
      );
    }),
  },
  {
    ...input,
    id: "schemas/types",
    title: "Every property has one type",
    severity: "warning",
    remedy:
      "Give each one type. For what may be left out, leave it out of required; for a choice, take anyOf below the root.",
    run: eachInput((nodes) => {
      const lists = nodes.filter(({ schema }) => Array.isArray(schema.type));
      const bare = nodes.filter(
        ({ path, schema }) =>
          path !== "#" &&
          isValuePlace(path) &&
          Object.keys(schema).every((key) => key === "description" || key === "title"),
      );
      return (
        places(lists, "A type is a list of types: older versions of Gemini's API refuse it.") ??
        places(bare, "There is no type: Gemini's API and OpenAI's strict mode refuse it.")
      );
    }),
  },
  {
    ...input,
    id: "schemas/boolean-schemas",
    title: "Properties have schemas, not true or false",
    severity: "warning",
    remedy: "Write a schema with a type.",
    run: eachInput((nodes) =>
      places(
        nodes.filter(({ schema }) =>
          [...Object.values(toObject(schema.properties)), schema.items].some((one) => typeof one === "boolean"),
        ),
        "true or false stands for a schema: the APIs of OpenAI, Anthropic and Gemini want an object.",
      ),
    ),
  },
  {
    ...input,
    id: "schemas/enums",
    title: "Choices are of texts, and not empty",
    severity: "warning",
    remedy: "List texts; a number can be given as text, or by minimum and maximum.",
    run: eachInput((nodes) => {
      const lists = nodes.filter(({ schema }) => Array.isArray(schema.enum));
      const empty = lists.filter(({ schema }) => (schema.enum as unknown[]).length === 0);
      const mixed = lists.filter(({ schema }) =>
        (schema.enum as unknown[]).some((one) => typeof one !== "string" || one === ""),
      );
      return (
        places(empty, "A choice has nothing to choose: no value is right.") ??
        places(mixed, "A choice has values that are no text, or empty: Gemini's API refuses it.")
      );
    }),
  },
  {
    ...input,
    id: "schemas/recursion",
    title: "Schemas do not refer to themselves",
    severity: "warning",
    remedy: "Unfold it to the depth that is needed, or take the deep part as text of JSON.",
    run: eachInput((_, root) => {
      const path = findRecursion(root);
      return path === undefined
        ? undefined
        : { message: `${path} leads back to itself: Gemini's API and many hosts refuse it, or cut it short.` };
    }),
  },
  {
    ...input,
    id: "schemas/definitions",
    title: "Schemas have no $ref and $defs",
    severity: "note",
    remedy: "Write what is referred to in its place. Many libraries have an option for it.",
    run: eachInput((nodes) =>
      places(
        nodes.filter(({ schema }) => schema.$ref !== undefined),
        "$ref is used: older versions of Gemini's API, agents managed by Anthropic and some hosts do not follow it.",
      ),
    ),
  },
  {
    ...input,
    id: "schemas/size",
    title: "Schemas are small and flat",
    severity: "warning",
    remedy: "Flatten it, or make several tools of it.",
    run: eachInput((nodes) => {
      const count = nodes.reduce((sum, { schema }) => sum + Object.keys(toObject(schema.properties)).length, 0);
      const depth = Math.max(...nodes.map((node) => node.depth));
      if (count > 100)
        return {
          message: `${countOf(count, "property", "properties")}: strict mode of OpenAI's older models takes 100, and models fill in long forms badly.`,
        };
      if (depth > 5)
        return { message: `It is nested ${depth} levels deep: strict mode of OpenAI's older models takes 5.` };
      return undefined;
    }),
  },
  {
    ...input,
    id: "schemas/additional-properties",
    title: "Objects are closed or say nothing of other properties",
    severity: "note",
    remedy: "Take an array of { key, value } in place of a map whose keys are free.",
    run: eachInput((nodes) =>
      places(
        nodes.filter(({ schema }) => isObject(schema.additionalProperties) || schema.additionalProperties === true),
        "additionalProperties lets an object hold what it likes: OpenAI's strict mode refuses it, older versions of Gemini's API too.",
      ),
    ),
  },
  {
    ...input,
    id: "schemas/gemini-keywords",
    title: "Keywords are those that all models know",
    severity: "note",
    remedy: "Say it in the description as well: hosts take these keywords out for Gemini.",
    run: eachInput((nodes) => {
      const names = [...new Set(nodes.flatMap(strangeToGemini))];
      if (names.length === 0) return undefined;
      return { message: `${names.join(", ")}: older versions of Gemini's API ignore or refuse these.` };
    }),
  },
];

/** A place where a value stands, as opposed to one of several schemas for it. */
function isValuePlace(path: string): boolean {
  return /\/(properties\/[^/]*|items)$/.test(path);
}

export const schemasChecks: readonly Check[] = [...validity, ...models];
