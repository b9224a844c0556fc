// Output schemas with references, in the revisions that carry only objects: the schema that is listed for the wrapped
// value means the same as the one that was given. Judged by ajv.
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createServer, jsonSchema, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "./peer.ts";
import { callTool, createQuietServer, listTools } from "./tool-peer.ts";

interface Case {
  readonly what: string;
  readonly schema: Obj;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const node = { type: "object", required: ["name"], additionalProperties: false };

const cases: readonly Case[] = [
  {
    what: "a reference into $defs",
    schema: { type: "array", items: { $ref: "#/$defs/item" }, $defs: { item: { type: "integer" } } },
    good: [[1, 2]],
    bad: [["1"], {}],
  },
  {
    what: "a reference to the root",
    schema: { type: "array", items: { $ref: "#" } },
    good: [[], [[], [[]]]],
    bad: [[1], [{}]],
  },
  {
    what: "a root that is a reference",
    schema: {
      $ref: "#/$defs/tree",
      $defs: {
        tree: {
          ...node,
          properties: { name: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
        },
      },
    },
    good: [{ name: "a", kids: [{ name: "b" }] }],
    bad: [{ name: "a", kids: [{}] }, []],
  },
  {
    what: "pointers with escapes",
    schema: { type: "array", items: { $ref: "#/$defs/a~1b%25~0c" }, $defs: { "a/b%~c": { type: "null" } } },
    good: [[null]],
    bad: [[1]],
  },
  {
    what: "properties that have the names of keywords",
    schema: {
      anyOf: [
        {
          type: "object",
          properties: {
            default: { $ref: "#/$defs/n" },
            const: { $ref: "#/$defs/n" },
            enum: { $ref: "#/$defs/n" },
            examples: { items: { $ref: "#/$defs/n" } },
            properties: { properties: { default: { $ref: "#/$defs/n" } } },
            $ref: { $ref: "#/$defs/n" },
          },
        },
      ],
      $defs: { n: { type: "number" }, default: { $ref: "#/$defs/n" } },
    },
    good: [{ default: 1, const: 2, enum: 3, examples: [4], properties: { default: 5 }, $ref: 6 }],
    bad: [
      { default: "1" },
      { const: "1" },
      { enum: "1" },
      { examples: ["4"] },
      { properties: { default: "5" } },
      { $ref: "#" },
    ],
  },
  {
    what: "data that looks like a reference",
    schema: {
      type: ["array", "object"],
      enum: [{ $ref: "#/$defs/none" }, [{ $ref: "#" }]],
      default: { $ref: "#/$defs/none" },
      examples: [{ $ref: "#/nowhere" }],
    },
    good: [{ $ref: "#/$defs/none" }, [{ $ref: "#" }]],
    bad: [{ $ref: "#/properties/result/$defs/none" }, []],
  },
  {
    what: "a root with its own $id",
    schema: {
      $id: "https://example.com/list",
      type: "array",
      items: { $ref: "#/$defs/item" },
      $defs: { item: { anyOf: [{ type: "string" }, { $ref: "https://example.com/list" }] } },
    },
    good: [["a", ["b"]]],
    bad: [[1], [[2]]],
  },
  {
    what: "a part with its own $id",
    schema: {
      type: "array",
      items: { $ref: "urn:example:part" },
      $defs: {
        part: {
          $id: "urn:example:part",
          type: "object",
          properties: { deep: { $ref: "#/$defs/inner" }, self: { $ref: "#" } },
          additionalProperties: false,
          $defs: { inner: { type: "boolean" } },
        },
      },
    },
    good: [[{ deep: true, self: { deep: false } }]],
    bad: [[{ deep: 1 }], [{ self: 1 }]],
  },
  {
    what: "anchors",
    schema: { type: "array", items: { $ref: "#item" }, $defs: { item: { $anchor: "item", type: "string" } } },
    good: [["a"]],
    bad: [[1]],
  },
  {
    what: "draft-07",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ $ref: "#/definitions/n" }, { type: "string" }],
      additionalItems: false,
      definitions: { n: { type: "number" } },
    },
    good: [[1, "a"], [1]],
    bad: [["a"], [1, "a", 2]],
  },
];

function validatorOf(schema: Obj): (value: unknown) => boolean {
  const draft07 = String(schema.$schema).includes("draft-07");
  const ajv = draft07 ? new Ajv({ strict: false }) : new Ajv2020({ strict: false });
  const validate = ajv.compile(schema);
  return (value) => validate(value) as boolean;
}

describe.each(revisions.filter((revision) => revision >= "2025-06-18"))(
  "output schemas with references in %s",
  (revision) => {
    test.each(cases)("$what", async ({ schema, good, bad }) => {
      covers(["schema-tool-output-schema", "schema-tool-output-schema-2026", "tool-output-schema-conform"], revision);
      const { server, errors } = createQuietServer();
      let give: unknown;
      server.tool("give", { output: jsonSchema<unknown>(schema) }, () => give as never);
      const peer = await openPeer(server, revision);
      const [tool] = await listTools(peer);
      const listed = tool?.outputSchema as Obj;
      const isValid = validatorOf(listed);
      const wrap = (value: unknown): unknown => (revision === modern ? value : { result: value });
      if (revision === modern) expect(listed).toEqual(schema);
      else expect(listed.type).toBe("object");
      for (const value of good) {
        give = value;
        const result = await callTool(peer, "give");
        expect(result.structuredContent).toEqual(wrap(value));
        expect(isValid(result.structuredContent)).toBe(true);
      }
      expect(errors).toEqual([]);
      for (const value of bad) {
        // Listed and enforced are the same schema.
        expect(isValid(wrap(value))).toBe(false);
        give = value;
        expect((await callTool(peer, "give")).isError).toBe(true);
      }
      if (revision !== modern) expect(isValid(good[0])).toBe(false);
    });

    test("schemas of a library that refer to themselves", async () => {
      covers(["schema-tool-output-schema", "schema-tool-output-schema-2026"], revision);
      const server = createServer({ name: "s", version: "1" });
      const Tree = z.object({
        name: z.string(),
        get kids() {
          return z.array(Tree).optional();
        },
      });
      const value = [{ name: "a", kids: [{ name: "b" }] }];
      server.tool("forest", { output: z.array(Tree) }, () => value);
      const peer = await openPeer(server, revision);
      const [tool] = await listTools(peer);
      const isValid = validatorOf(tool?.outputSchema as Obj);
      const { structuredContent } = await callTool(peer, "forest");
      expect(structuredContent).toEqual(revision === modern ? value : { result: value });
      expect(isValid(structuredContent)).toBe(true);
      expect(isValid(JSON.parse(JSON.stringify(structuredContent).replace('"b"', "1")))).toBe(false);
    });

    test("an object schema is listed as it was given", async () => {
      covers(["schema-tool-output-schema", "schema-tool-output-schema-2026", "schema-tool-input-keywords"], revision);
      const server = createServer({ name: "s", version: "1" });
      const output = {
        type: "object",
        properties: { a: { $ref: "#/$defs/a" } },
        required: ["a"],
        $defs: { a: { enum: [1, "x", null] } },
        additionalProperties: false,
      };
      server.tool("give", { output: jsonSchema<{ a: 1 }>(output) }, () => ({ a: 1 as const }));
      const peer = await openPeer(server, revision);
      expect((await listTools(peer))[0]?.outputSchema).toEqual(output);
      expect((await callTool(peer, "give")).structuredContent).toEqual({ a: 1 });
    });
  },
);
