// Schemas from zod, valibot, arktype and plain JSON Schema, for input and for output; and arguments that hosts send as
// JSON text.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type } from "arktype";
import { createServer, jsonSchema, revisions } from "plenum";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AnySchema } from "../../packages/plenum/src/schema/standard.ts";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer } from "./peer.ts";
import { callTool, createQuietServer, listTools, textOf } from "./tool-peer.ts";

interface Library {
  readonly name: string;
  /** `{ city: string, days?: integer up to 7 }` */
  readonly input: AnySchema;
  /** `{ celsius: number[] }` */
  readonly output: AnySchema;
}

const libraries: readonly Library[] = [
  {
    name: "zod",
    input: z.object({ city: z.string(), days: z.int().max(7).optional() }),
    output: z.object({ celsius: z.array(z.number()) }),
  },
  {
    name: "valibot",
    input: toStandardJsonSchema(
      v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(7))) }),
    ),
    output: toStandardJsonSchema(v.object({ celsius: v.array(v.number()) })),
  },
  {
    name: "arktype",
    input: type({ city: "string", "days?": "number.integer <= 7" }),
    output: type({ celsius: "number[]" }),
  },
  {
    name: "JSON Schema",
    input: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", maximum: 7 } },
      required: ["city"],
    },
    output: {
      type: "object",
      properties: { celsius: { type: "array", items: { type: "number" } } },
      required: ["celsius"],
    },
  },
];

describe.each(revisions)("schemas in %s", (revision) => {
  test.each(libraries)("$name describes input and output", async ({ input, output }) => {
    covers(
      [
        ...["tool-validate-inputs", "tool-input-schema", "schema-tool-input-root", "jsonschema-valid"],
        ...["tool-output-schema-conform", "jsonschema-prefer-2020-12"],
      ],
      revision,
    );
    const { server, errors } = createQuietServer();
    const seen: unknown[] = [];
    let give: unknown = { celsius: [1.5] };
    server.tool("forecast", { input, output }, (args) => {
      seen.push(args);
      return give as never;
    });
    const peer = await openPeer(server, revision);

    const [tool] = await listTools(peer);
    const listed = tool?.inputSchema as Obj;
    // Nothing says otherwise, so it is 2020-12, and strict ajv knows every keyword.
    expect(listed.$schema).toBeUndefined();
    const isValid = new Ajv2020({ strict: true }).compile(listed);
    expect(isValid({ city: "Oslo", days: 3 })).toBe(true);
    expect(isValid({ city: "Oslo" })).toBe(true);
    for (const wrong of [{}, { city: 1 }, { city: "Oslo", days: 8 }, { city: "Oslo", days: 1.5 }]) {
      expect(isValid(wrong)).toBe(false);
      const { error, result } = await peer.request("tools/call", { name: "forecast", arguments: wrong });
      expect(revision >= "2025-11-25" ? result?.isError : error?.code).toBe(revision >= "2025-11-25" ? true : -32602);
    }
    expect(seen).toEqual([]);

    expect(textOf(await callTool(peer, "forecast", { city: "Oslo", days: 3 }))).toBe('{"celsius":[1.5]}');
    expect(seen).toEqual([{ city: "Oslo", days: 3 }]);
    if (revision >= "2025-06-18") {
      const fits = new Ajv2020({ strict: true }).compile(tool?.outputSchema as Obj);
      expect(fits({ celsius: [1.5] })).toBe(true);
      expect(fits({ celsius: ["1.5"] })).toBe(false);
    }
    give = { celsius: ["1.5"] };
    expect((await callTool(peer, "forecast", { city: "Oslo" })).isError).toBe(true);
    expect(errors).toHaveLength(1);
  });

  test("defaults and transforms of the library apply; the list shows what is accepted", async () => {
    covers("tool-call", revision);
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    const keep = (args: unknown): void => void seen.push(args);
    server.tool(
      "zod",
      { input: z.object({ n: z.number().default(3), day: z.string().transform((text) => text.length) }) },
      keep,
    );
    server.tool(
      "valibot",
      {
        input: toStandardJsonSchema(
          v.object({
            n: v.optional(v.number(), 3),
            day: v.pipe(
              v.string(),
              v.transform((text) => text.length),
            ),
          }),
        ),
      },
      keep,
    );
    server.tool("arktype", { input: type({ n: "number = 3", day: type("string").pipe((text) => text.length) }) }, keep);
    server.tool(
      "plain",
      { input: { type: "object", properties: { n: { type: "number", default: 3 }, day: { type: "string" } } } },
      keep,
    );
    const peer = await openPeer(server, revision);
    for (const { name, inputSchema } of await listTools(peer)) {
      const { properties } = inputSchema as { properties: { n: Obj } };
      expect(properties).toMatchObject({ n: { type: "number" }, day: { type: "string" } });
      // arktype leaves the default out when it writes a schema for the first time.
      if (name !== "arktype") expect(properties.n.default).toBe(3);
    }
    for (const name of ["zod", "valibot", "arktype"]) await callTool(peer, name, { day: "Monday" });
    expect(seen).toEqual(Array(3).fill({ n: 3, day: 6 }));
    // In JSON Schema a default is a remark, not an instruction.
    await callTool(peer, "plain", { day: "Monday" });
    expect(seen.pop()).toEqual({ day: "Monday" });
  });

  test("a library may take its time to check", async () => {
    covers("tool-validate-inputs", revision);
    const { server } = createQuietServer();
    const input = z.object({ user: z.string().refine(async (name) => name !== "nobody", "no such user") });
    server.tool("greet", { input }, ({ user }) => `Hello ${user}`);
    const peer = await openPeer(server, revision);
    expect(textOf(await callTool(peer, "greet", { user: "Ada" }))).toBe("Hello Ada");
    const { error, result } = await peer.request("tools/call", { name: "greet", arguments: { user: "nobody" } });
    expect(error?.message ?? textOf(result ?? {})).toBe('Invalid arguments for tool "greet": user: no such user');
  });

  test("a schema that throws while it checks is a failure of the server, without details", async () => {
    covers("tool-server-error", revision);
    const { server, errors } = createQuietServer();
    const cause = new Error("table users is locked");
    const fail = (): never => {
      throw cause;
    };
    server.tool("in", { input: z.object({ a: z.string().transform(fail) }) }, () => "never");
    server.tool("out", { output: z.string().refine(fail) }, () => "never");
    const peer = await openPeer(server, revision);
    for (const result of [await callTool(peer, "in", { a: "x" }), await callTool(peer, "out")]) {
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^Internal error \([0-9a-f-]{36}\)$/);
    }
    expect(errors.map((one) => one.error)).toEqual([cause, cause]);
  });

  test("what JSON Schema cannot say is refused when it is registered, by tool and field", async () => {
    covers("schema-tool", revision);
    const server = createServer({ name: "s", version: "1" });
    const register = (input: AnySchema, output?: AnySchema) => () =>
      server.tool("bad", output ? { output } : { input }, () => 1 as never);
    expect(register(z.object({ when: z.date() }))).toThrow(
      /^tool "bad": input field "when" cannot be expressed as JSON Schema.*Date/,
    );
    expect(register(type({ when: "Date" }))).toThrow(
      /^tool "bad": input field "when" cannot be expressed as JSON Schema/,
    );
    expect(register(toStandardJsonSchema(v.object({ when: v.date() })))).toThrow(
      /^tool "bad": input field "when" cannot be expressed as JSON Schema.*date/,
    );
    expect(register({}, z.object({ list: z.array(z.bigint()) }))).toThrow(
      /^tool "bad": output field "list\[\]" cannot be expressed as JSON Schema.*BigInt/,
    );
    expect(register(v.object({ a: v.string() }))).toThrow(
      /^tool "bad": input gives no JSON Schema; wrap valibot's with toStandardJsonSchema/,
    );
    expect(register({ a: z.string() } as never)).toThrow(/^tool "bad": input is an object of schemas/);
    expect(register(jsonSchema({ type: "object", properties: { a: { type: "strin" } } }))).toThrow(
      /^tool "bad": input is not usable/,
    );
    server.tool("good", {}, () => 1);
    const peer = await openPeer(server, revision);
    expect(await listTools(peer)).toEqual([{ name: "good", inputSchema: expect.anything() }]);
  });

  test("boolean subschemas, conditions and references are passed on in a form that the revision allows", async () => {
    covers(["schema-tool-input-keywords", "schema-tool-input-keywords-2026", "schema-tool"], revision);
    const server = createServer({ name: "s", version: "1" });
    const input = {
      type: "object",
      properties: {
        any: true,
        none: false,
        kind: { $ref: "#/$defs/kind" },
        list: { type: "array", prefixItems: [{ type: "null" }] },
      },
      oneOf: [{ required: ["kind"] }, { required: ["list"] }],
      if: { required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["any"] },
      $defs: { kind: { enum: ["a", 1, null] } },
      additionalProperties: false,
    };
    server.tool("rich", { input: jsonSchema<Obj>(input) }, () => "ok");
    const peer = await openPeer(server, revision);
    const { inputSchema } = (await listTools(peer))[0] ?? {};
    const { properties, ...rest } = inputSchema as { properties: Obj };
    const { properties: given, ...others } = input;
    expect(rest).toEqual(others);
    expect(properties.kind).toEqual(given.kind);
    expect(properties.list).toEqual(given.list);
    const isValid = new Ajv2020({ strict: false }).compile(inputSchema as Obj);
    for (const [args, good] of [
      [{ kind: "a", any: {} }, true],
      [{ list: [null] }, true],
      [{ kind: "a" }, false],
      [{ kind: "b", any: 1 }, false],
      [{ list: [], none: 1 }, false],
      [{ list: [1] }, false],
    ] as const) {
      expect(isValid(args)).toBe(good);
      const { error, result } = await peer.request("tools/call", { name: "rich", arguments: args });
      expect(error === undefined && !result?.isError).toBe(good);
    }
  });
});

describe.each(revisions)("nested arguments as JSON text in %s", (revision) => {
  const input = z.object({
    place: z.object({ lat: z.number() }).optional(),
    tags: z.array(z.string()).optional(),
    note: z.string().optional(),
  });

  test("are understood where the schema wants an object or an array", async () => {
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    server.tool("keep", { input }, (args) => void seen.push(args));
    const peer = await openPeer(server, revision);
    await callTool(peer, "keep", { place: ' {"lat": 1.5}', tags: '["a","b"]', note: '{"lat":1}' });
    await callTool(peer, "keep", { place: { lat: 2 }, note: "[1]" });
    expect(seen).toEqual([
      { place: { lat: 1.5 }, tags: ["a", "b"], note: '{"lat":1}' },
      { place: { lat: 2 }, note: "[1]" },
    ]);
  });

  test("are checked like all others", async () => {
    covers("tool-validate-inputs", revision);
    const server = createServer({ name: "s", version: "1" });
    let ran = 0;
    server.tool("keep", { input }, () => void ran++);
    const peer = await openPeer(server, revision);
    for (const args of [
      { place: '{"lat":"x"}' },
      { place: "[1]" },
      { tags: "[1]" },
      { tags: "[" },
      { tags: "a,b" },
      { place: "null" },
    ]) {
      const { error, result } = await peer.request("tools/call", { name: "keep", arguments: args });
      expect(error !== undefined || result?.isError === true).toBe(true);
    }
    expect(ran).toBe(0);
  });

  test("are strings and nothing else when the leniency is off", async () => {
    covers("tool-validate-inputs", revision);
    const server = createServer({ name: "s", version: "1", lenientArguments: false });
    let ran = 0;
    server.tool("keep", { input }, () => void ran++);
    const peer = await openPeer(server, revision);
    const { error, result } = await peer.request("tools/call", { name: "keep", arguments: { tags: '["a"]' } });
    expect(error?.message ?? textOf(result ?? {})).toMatch(/tags: .*expected array/);
    expect(ran).toBe(0);
    await callTool(peer, "keep", { tags: ["a"] });
    expect(ran).toBe(1);
  });
});
