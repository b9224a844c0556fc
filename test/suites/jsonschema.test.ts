// JSON Schema as tools use it: the dialect a schema declares or does not, references, and bounds on what a schema or a
// value may cost. What a dialect means in detail is tested with the official suite, in test/json-schema.
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createServer, jsonSchema, revisions, type Server } from "plenum";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer, type Peer } from "./peer.ts";
import { callTool, createQuietServer, listTools } from "./tool-peer.ts";

const draft07 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";

function serverOf(input: Obj, output?: Obj): Server {
  const { server } = createQuietServer();
  const schemas = { input: jsonSchema<Obj>(input), ...(output && { output: jsonSchema<unknown>(output) }) };
  server.tool("try", schemas as { input: typeof schemas.input }, (args) => (output ? args.give : "fine"));
  return server;
}

async function accepts(peer: Peer, args: Obj): Promise<boolean> {
  const { error, result } = await peer.request("tools/call", { name: "try", arguments: args });
  return error === undefined && result?.isError !== true;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(revisions)("JSON Schema in %s", (revision) => {
  test("a schema that declares no dialect is 2020-12", async () => {
    covers(["jsonschema-default-2020-12", "jsonschema-validate-by-dialect"], revision);
    const input = {
      type: "object",
      properties: {
        pair: { type: "array", prefixItems: [{ type: "string" }, { $ref: "#/$defs/n" }], items: false },
        a: { type: "integer" },
      },
      dependentRequired: { a: ["pair"] },
      unevaluatedProperties: false,
      $defs: { n: { type: "number" } },
    };
    const peer = await openPeer(serverOf(input), revision);
    expect((await listTools(peer))[0]?.inputSchema).toMatchObject({ $defs: input.$defs, unevaluatedProperties: false });
    expect(await accepts(peer, { pair: ["a", 1] })).toBe(true);
    expect(await accepts(peer, { pair: ["a", 1], a: 2 })).toBe(true);
    for (const wrong of [{ pair: [1, "a"] }, { pair: ["a", 1, 2] }, { a: 2 }, { b: 1 }]) {
      expect(await accepts(peer, wrong)).toBe(false);
    }
  });

  test("a dialect that is declared decides what the words mean", async () => {
    covers(["jsonschema-explicit-dialect", "jsonschema-validate-by-dialect"], revision);
    const properties = {
      list: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
    };
    const input = { $schema: draft07, type: "object", properties, dependencies: { a: ["list"] } };
    const peer = await openPeer(serverOf(input), revision);
    expect((await listTools(peer))[0]?.inputSchema).toEqual(input);
    expect(await accepts(peer, { list: ["a", 1] })).toBe(true);
    expect(await accepts(peer, { list: ["a", 1, 2] })).toBe(false);
    expect(await accepts(peer, { list: [1] })).toBe(false);
    expect(await accepts(peer, { a: 1 })).toBe(false);
    // In 2020-12 a list of items is no schema at all.
    expect(() => serverOf({ type: "object", properties })).toThrow(/tool "try": input is not usable: .*items/);
    expect(() => serverOf({ $schema: draft2020, type: "object", properties })).toThrow(/input is not usable/);
    // And what only 2020-12 has is no word in draft-07.
    const words = { $schema: draft07, type: "object", properties: { list: { prefixItems: [{ type: "string" }] } } };
    expect(await accepts(await openPeer(serverOf(words), revision), { list: [1] })).toBe(true);
  });

  test("the default dialect need not be declared: it is where the author wrote it", async () => {
    covers(["jsonschema-explicit-dialect", "jsonschema-prefer-2020-12"], revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("declared", { input: { $schema: draft2020, type: "object" } }, () => 1);
    server.tool("zod", { input: z.object({ pair: z.tuple([z.string(), z.number()]) }) }, () => 1);
    const peer = await openPeer(server, revision);
    const [declared, fromZod] = (await listTools(peer)).map(({ inputSchema }) => inputSchema);
    expect(declared).toEqual({ $schema: draft2020, type: "object" });
    expect(fromZod).toMatchObject({ properties: { pair: { prefixItems: [{ type: "string" }, { type: "number" }] } } });
    expect(fromZod).not.toHaveProperty("$schema");
  });

  test("a dialect that is not understood is refused by name", async () => {
    covers("jsonschema-unsupported-dialect", revision);
    for (const $schema of ["https://example.com/unknown", "http://json-schema.org/draft-04/schema#", 7, ""]) {
      const said = `the dialect ${JSON.stringify($schema)} is not supported; use 2020-12`;
      expect(() => serverOf({ $schema, type: "object" })).toThrow(said);
      expect(() => serverOf({ type: "object" }, { $schema, type: "object" })).toThrow(said);
    }
    const nested = { type: "object", properties: { a: { $id: "x:y", $schema: "https://example.com/unknown" } } };
    expect(() => serverOf(nested)).toThrow(/"https:\/\/example\.com\/unknown" is not supported/);
    const peer = await openPeer(serverOf({ type: "object" }), revision);
    expect(await accepts(peer, {})).toBe(true);
  });

  test("what is listed is valid in its dialect", async () => {
    covers("jsonschema-valid", revision);
    const server = createServer({ name: "s", version: "1" });
    const Tree = z.object({
      name: z.string().regex(/^\p{L}+$/u),
      get kids() {
        return z.array(Tree).max(3).optional();
      },
    });
    server.tool("tree", { input: Tree, output: z.union([Tree, z.literal("none")]) }, () => "none" as const);
    server.tool(
      "many",
      { input: z.object({ a: z.enum(["x", "y"]), b: z.record(z.string(), z.int()).nullable() }) },
      () => 1,
    );
    server.tool("old", { input: { $schema: draft07, type: "object", definitions: { a: { type: "null" } } } }, () => 1);
    server.tool("none", {}, () => 1);
    const peer = await openPeer(server, revision);
    for (const { name, inputSchema, outputSchema } of await listTools(peer)) {
      const ajv = name === "old" ? new Ajv({ strict: false }) : new Ajv2020({ strict: false, unicodeRegExp: true });
      for (const schema of [inputSchema, outputSchema]) {
        if (schema === undefined) continue;
        expect(ajv.validateSchema(schema as Obj), `${name}: ${ajv.errorsText()}`).toBe(true);
        ajv.compile(schema as Obj);
      }
    }
    const invalid = [
      { type: "object", properties: { a: { type: "strin" } } },
      { type: "object", required: "a" },
      { type: "object", properties: { a: { minimum: "1" } } },
      { type: "object", properties: { a: { pattern: "(" } } },
      { type: "object", properties: { a: { enum: "x" } } },
      { type: "object", properties: [] },
      { type: "object", anyOf: {} },
      { type: "object", properties: { a: 1 } },
    ];
    for (const schema of invalid) expect(() => serverOf(schema), JSON.stringify(schema)).toThrow(/^tool "try": input/);
  });

  test("references are followed inside the schema only; nothing is ever fetched", async () => {
    covers(
      ["jsonschema-ref-no-network", "jsonschema-ref-opt-in-default-off", "jsonschema-ref-unresolved-rejected"],
      revision,
    );
    const fetched: unknown[] = [];
    vi.stubGlobal("fetch", async (url: unknown) => {
      fetched.push(url);
      return new Response("{}");
    });
    const outside = [
      "https://example.com/schema.json",
      "http://127.0.0.1:9/a#/$defs/b",
      "file:///etc/passwd",
      "other.json",
      "#/$defs/none",
      "#none",
    ];
    for (const $ref of outside) {
      const why = $ref.startsWith("#")
        ? "leads nowhere"
        : "leads outside this schema, and remote schemas are never fetched";
      expect(() => serverOf({ type: "object", properties: { a: { $ref } } })).toThrow(why);
      expect(() => serverOf({ type: "object" }, { type: "array", items: { $ref } })).toThrow(why);
    }
    // A reference to what the schema itself holds under that URI is none to the network.
    const inside = {
      type: "object",
      properties: { a: { $ref: "https://example.com/part" } },
      $defs: { part: { $id: "https://example.com/part", type: "integer" } },
    };
    const peer = await openPeer(serverOf(inside), revision);
    expect(await accepts(peer, { a: 1 })).toBe(true);
    expect(await accepts(peer, { a: "1" })).toBe(false);
    expect(fetched).toEqual([]);
  });

  test("a schema that is too deep or too large is refused when it is registered, one in circles ends in a refusal", async () => {
    covers("jsonschema-bounds", revision);
    let deep: Obj = { type: "string" };
    for (let i = 0; i < 1000; i++) deep = { properties: { a: deep } };
    expect(() => serverOf({ type: "object", ...deep })).toThrow(/nested deeper than 256 levels/);
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: "null" }]));
    expect(() => serverOf({ type: "object", properties: many })).toThrow(/more than 10000 subschemas/);
    const round = await openPeer(serverOf({ type: "object", allOf: [{ $ref: "#" }] }), revision);
    const { error, result } = await round.request("tools/call", { name: "try", arguments: {} });
    expect(JSON.stringify(error ?? result)).toContain("is too large or too deep to check");
    const peer = await openPeer(serverOf({ type: "object", properties: { self: { $ref: "#" } } }), revision);
    expect(await accepts(peer, { self: { self: {} } })).toBe(true);
    expect(await accepts(peer, { self: 1 })).toBe(false);
  });

  test("a value that would cost too much to check is refused, and the server lives on", async () => {
    covers("jsonschema-bounds", revision);
    // Each level doubles the work: 2^60 steps without a bound.
    const twice = { anyOf: [{ $ref: "#/$defs/n" }, { allOf: [{ $ref: "#/$defs/n" }, false] }] };
    const levels = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `l${i}`,
        i === 59 ? false : { anyOf: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] },
      ]),
    );
    const input = {
      type: "object",
      properties: { a: { $ref: "#/$defs/l0" }, b: twice },
      $defs: { ...levels, n: { type: "number" } },
    };
    const peer = await openPeer(serverOf(input), revision);
    expect(await accepts(peer, { a: 1 })).toBe(false);
    expect(await accepts(peer, { b: 1 })).toBe(true);
  });

  test("a pattern cannot be made to run for ever", async () => {
    covers("jsonschema-bounds", revision);
    const input = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const peer = await openPeer(serverOf(input), revision);
    expect(await accepts(peer, { a: "aaaa" })).toBe(true);
    expect(await accepts(peer, { a: `${"a".repeat(50_000)}!` })).toBe(false);
  });

  test("output is checked in its dialect too", async () => {
    covers(["jsonschema-validate-by-dialect", "jsonschema-default-2020-12"], revision);
    const { server } = createQuietServer();
    let give: unknown;
    const old = { $schema: draft07, type: "object", properties: { l: { items: [{ type: "string" }] } } };
    const young = { type: "object", properties: { l: { prefixItems: [{ type: "string" }] } } };
    server.tool("old", { output: jsonSchema<unknown>(old) }, () => give as never);
    server.tool("young", { output: jsonSchema<unknown>(young) }, () => give as never);
    const peer = await openPeer(server, revision);
    for (const name of ["old", "young"]) {
      give = { l: ["a", 1] };
      expect((await callTool(peer, name)).isError).toBeUndefined();
      give = { l: [1] };
      expect((await callTool(peer, name)).isError).toBe(true);
    }
  });
});
