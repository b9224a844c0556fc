import { describe, expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { type HeaderParam, readHeaderParams, toHeaderValues } from "./header-params.ts";
import type { Tool } from "./model.ts";

function read(inputSchema: JsonObject) {
  return readHeaderParams({ name: "t", inputSchema: { type: "object", ...inputSchema } } satisfies Tool);
}

function paramsOf(inputSchema: JsonObject): readonly HeaderParam[] {
  const found = read(inputSchema);
  if ("problem" in found) throw new Error(found.problem);
  return found.params;
}

function problemOf(inputSchema: JsonObject): string | undefined {
  const found = read(inputSchema);
  return "problem" in found ? found.problem : undefined;
}

/** A property that is marked well. */
const marked = { type: "string", "x-mcp-header": "Region" };

describe("marked parameters", () => {
  test("are found at every depth of properties, with their paths and types", () => {
    const params = paramsOf({
      properties: {
        region: marked,
        order: {
          type: "object",
          properties: {
            qty: { type: "integer", "x-mcp-header": "Qty" },
            express: { type: "boolean", "x-mcp-header": "Express" },
          },
        },
        note: { type: "string" },
      },
      required: ["region"],
    });
    expect(params).toEqual([
      { header: "Region", path: ["region"], type: "string" },
      { header: "Qty", path: ["order", "qty"], type: "integer" },
      { header: "Express", path: ["order", "express"], type: "boolean" },
    ]);
  });

  test("may be none", () => {
    expect(paramsOf({})).toEqual([]);
    expect(paramsOf({ properties: { a: true, b: { type: "string" } }, additionalProperties: false })).toEqual([]);
  });

  test.each(["!#$%&'*+-.^_`|~", "a", "0", "__proto__", "constructor"])(
    "may have any token for a name: %s",
    (header) => {
      expect(paramsOf({ properties: { a: { type: "string", "x-mcp-header": header } } })[0]?.header).toBe(header);
    },
  );

  test.each([[["string"]], [["string", "null"]], [["null", "string"]]])("may be null too: %j", (type) => {
    expect(paramsOf({ properties: { a: { ...marked, type } } })[0]?.type).toBe("string");
  });

  test("may be named like keywords, or like what objects inherit", () => {
    const names = ["properties", "items", "$defs", "x-mcp-header", "enum", "__proto__", "constructor"];
    const properties = names.map((name, i) => `${JSON.stringify(name)}:{"type":"string","x-mcp-header":"H${i}"}`);
    const params = paramsOf(JSON.parse(`{"properties":{${properties}}}`));
    expect(params.map(({ path }) => path)).toEqual(names.map((name) => [name]));
  });

  test("are not what only reads like it", () => {
    expect(
      paramsOf({
        properties: {
          "x-mcp-header": { type: "object" },
          a: { const: marked, enum: [marked], default: marked, examples: [marked] },
        },
        default: { "x-mcp-header": "Region" },
      }),
    ).toEqual([]);
  });
});

describe("a tool is not valid", () => {
  test.each(["", " ", "Bad Header", "a:b", "a\r\nb", "a\nb", "größe", "a\0", "(a)", "a/b", '"a"'])(
    "with the name %j",
    (header) => {
      expect(problemOf({ properties: { a: { type: "string", "x-mcp-header": header } } })).toBe(
        `x-mcp-header ${JSON.stringify(header)} at "a" is no name that a header can have`,
      );
    },
  );

  test.each([1, null, true, {}, ["Region"]])("with a name that is no text: %j", (header) => {
    expect(problemOf({ properties: { a: { type: "string", "x-mcp-header": header } } })).toBe(
      "an x-mcp-header is no text",
    );
  });

  test.each(["Region", "region", "REGION"])("with a name that is used twice, whatever the case: %s", (header) => {
    const properties = { a: marked, b: { properties: { c: { type: "string", "x-mcp-header": header } } } };
    expect(problemOf({ properties })).toContain(`"${header}" at "b.c" is used twice`);
  });

  test.each([
    ["number"],
    ["object"],
    ["array"],
    ["null"],
    [undefined],
    [[]],
    [["null"]],
    [["string", "integer"]],
    [["string", "number"]],
    ["String"],
    [7],
    ["constructor"],
  ])("with a parameter of the type %j", (type) => {
    const property = { "x-mcp-header": "Region", ...(type !== undefined && { type }) };
    expect(problemOf({ properties: { a: property } })).toContain("type is not string, integer, boolean");
  });

  const inside = { properties: { b: marked } };
  test.each([
    ["the root", { "x-mcp-header": "Region" }],
    ["items", { properties: { a: { type: "array", items: marked } } }],
    ["items that are objects", { properties: { a: { type: "array", items: inside } } }],
    ["prefixItems", { properties: { a: { prefixItems: [marked] } } }],
    ["contains", { properties: { a: { contains: marked } } }],
    ["unevaluatedItems", { properties: { a: { unevaluatedItems: marked } } }],
    ["oneOf", { oneOf: [inside] }],
    ["anyOf", { anyOf: [inside] }],
    ["anyOf of a property", { properties: { a: { anyOf: [marked, { type: "null" }] } } }],
    ["allOf", { allOf: [{}, inside] }],
    ["not", { not: inside }],
    ["if", { if: inside }],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ["then", { if: {}, then: inside }],
    ["else", { if: {}, else: inside }],
    ["$defs", { $defs: { region: marked }, properties: { a: { $ref: "#/$defs/region" } } }],
    ["definitions", { definitions: { region: inside } }],
    ["patternProperties", { patternProperties: { "^a": marked } }],
    ["additionalProperties", { additionalProperties: marked }],
    ["unevaluatedProperties", { unevaluatedProperties: marked }],
    ["propertyNames", { propertyNames: marked }],
    ["dependentSchemas", { dependentSchemas: { a: inside } }],
    ["dependencies", { dependencies: { a: inside, b: ["a"] } }],
    ["contentSchema", { properties: { a: { contentSchema: marked } } }],
    ["an unknown keyword", { "x-more": [[{ deep: marked }]] }],
    ["below a property of a property of items", { properties: { a: { items: { properties: { b: inside } } } } }],
  ])("with a mark in %s", (_, schema) => {
    expect(problemOf(schema)).toBe('x-mcp-header "Region" is not on a property that "properties" alone lead to');
  });

  test("for one bad mark among good ones", () => {
    expect(problemOf({ properties: { a: marked, b: { type: "number", "x-mcp-header": "B" } } })).toBeDefined();
  });

  test("and the reason is one short line, whatever the names", () => {
    const name = `a\nb${"x".repeat(10_000)}`;
    const reason = problemOf({ properties: { [name]: { type: "number", "x-mcp-header": name } } }) ?? "";
    expect(reason).not.toContain("\n");
    expect(reason.length).toBeLessThan(400);
  });
});

describe("hostile schemas", () => {
  test.each([
    ["properties", (inner: JsonObject) => ({ properties: { a: inner } })],
    ["lists", (inner: JsonObject) => ({ allOf: [[inner]] })],
  ])("of %s nested deeper than any stack are read or refused", (_, nest) => {
    let schema: JsonObject = {};
    for (let i = 0; i < 15_000; i++) schema = nest(schema);
    expect(problemOf(schema)).toBeUndefined();
    for (let i = 0; i < 50_000; i++) schema = nest(schema);
    expect(problemOf(schema)).toBe("its input schema has more than 50000 parts");
  });

  test("with a mark at a great depth give its path", () => {
    let schema: JsonObject = marked;
    for (let i = 0; i < 20_000; i++) schema = { properties: { a: schema } };
    const params = paramsOf(schema);
    expect(params[0]?.path).toHaveLength(20_000);
    expect(toHeaderValues(params, { a: { a: 1 } })).toEqual({});
  });

  test("that are very wide are refused", () => {
    const properties = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`p${i}`, {}]));
    expect(problemOf({ properties })).toContain("more than 50000 parts");
  });

  test("that contain themselves end", () => {
    const schema: { [key: string]: unknown } = { type: "object" };
    schema.properties = { a: schema };
    expect(problemOf(schema)).toContain("more than 50000 parts");
  });
});

describe("headers", () => {
  const param = (header: string, ...path: string[]): HeaderParam => ({ header, path, type: "string" });

  test("say what the arguments say", () => {
    covers("header-param-string-form");
    const params = [param("S", "s"), param("I", "i"), param("N", "n"), param("Yes", "yes"), param("No", "no")];
    expect(toHeaderValues(params, { s: "us-west1", i: 42, n: -7, yes: true, no: false })).toEqual({
      "Mcp-Param-S": "us-west1",
      "Mcp-Param-I": "42",
      "Mcp-Param-N": "-7",
      "Mcp-Param-Yes": "true",
      "Mcp-Param-No": "false",
    });
  });

  test("encode what is not safe", () => {
    const params = [param("A", "a"), param("B", "b")];
    expect(toHeaderValues(params, { a: "x\r\nHost: evil", b: "Hello, 世界" })).toEqual({
      "Mcp-Param-A": "=?base64?eA0KSG9zdDogZXZpbA==?=",
      "Mcp-Param-B": "=?base64?SGVsbG8sIOS4lueVjA==?=",
    });
  });

  test("are taken from the exact place", () => {
    covers("header-param-path");
    const params = paramsOf({
      properties: {
        region: { type: "string" },
        order: { properties: { region: marked } },
      },
    });
    expect(toHeaderValues(params, { region: "no", order: { region: "yes" } })).toEqual({ "Mcp-Param-Region": "yes" });
    expect(toHeaderValues(params, { region: "no" })).toEqual({});
    expect(toHeaderValues(params, { "order.region": "no", order: "text" })).toEqual({});
  });

  test("are absent for what is null or absent", () => {
    covers("header-param-omit-null");
    const params = [param("A", "a"), param("B", "b"), param("C", "c", "d"), param("D", "e", "length")];
    expect(toHeaderValues(params, { a: null, b: undefined, c: null, e: ["x"] })).toEqual({});
    expect(toHeaderValues(params, { a: "" })).toEqual({ "Mcp-Param-A": "" });
  });

  test("are not taken from what objects inherit", () => {
    const params = [param("A", "constructor", "name"), param("B", "__proto__"), param("C", "toString")];
    expect(toHeaderValues(params, {})).toEqual({});
    expect(toHeaderValues(params, JSON.parse('{"__proto__":"own","constructor":{"name":"x"}}'))).toEqual({
      "Mcp-Param-A": "x",
      "Mcp-Param-B": "own",
    });
  });

  test("may be named like what objects inherit", () => {
    const values = toHeaderValues([param("__proto__", "a"), param("constructor", "a")], { a: "x" });
    expect(Object.entries(values)).toEqual([
      ["Mcp-Param-__proto__", "x"],
      ["Mcp-Param-constructor", "x"],
    ]);
  });

  test("carry integers as far as they are exact", () => {
    covers("header-xmcp-safe-integer");
    const params = [param("A", "a")];
    const most = Number.MAX_SAFE_INTEGER;
    expect(toHeaderValues(params, { a: most })).toEqual({ "Mcp-Param-A": "9007199254740991" });
    expect(toHeaderValues(params, { a: -most })).toEqual({ "Mcp-Param-A": "-9007199254740991" });
    for (const a of [most + 1, -most - 1, 1e21]) {
      expect(() => toHeaderValues(params, { a })).toThrow(expect.objectContaining({ code: "invalid_arguments" }));
    }
    expect(toHeaderValues(params, { a: -0 })).toEqual({ "Mcp-Param-A": "0" });
  });

  test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, {}, [], ["x"], 5n, "\ud800"])("cannot carry %s", (a) => {
    expect(() => toHeaderValues([param("A", "a")], { a })).toThrow(
      expect.objectContaining({ code: "invalid_arguments", message: expect.stringContaining('"a"') }),
    );
  });
});
