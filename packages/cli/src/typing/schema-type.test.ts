// Types of schemas, by examples; that they compile, and that nothing escapes into code, is shown in test/cli/types.test.ts.
import { describe, expect, test } from "vitest";
import { createNames, toPascal } from "./names.ts";
import { toDoc, toLine, toLiteral, toMemberName } from "./safe-text.ts";
import { createTypeWriter } from "./schema-type.ts";

/** The declarations of a schema, the first of which is called T. */
function declare(schema: unknown): string {
  const writer = createTypeWriter(createNames(["T"]));
  writer.declare("T", schema, []);
  return writer.text.trim();
}
const typeOf = (schema: unknown): string =>
  declare(schema).replace(/^(?:\/\*\*.*\*\/\n)?export type T = ([\s\S]*);$/, "$1");

test.each([
  ["string", { type: "string" }],
  ["number", { type: "number" }],
  ["boolean", { type: "boolean" }],
  ["null", { type: "null" }],
  ["unknown", {}],
  ["unknown", true],
  ["never", false],
  ["unknown", { type: "strange" }],
  ["string | null", { type: ["string", "null"] }],
  ["string | null", { type: "string", nullable: true }],
  ['"a" | 1 | -1 | null | true', { enum: ["a", 1, -1, null, true] }],
  ["never", { enum: [] }],
  ['"a"', { const: "a", type: "string" }],
  ['{ a: [1, "b"] }', { const: { a: [1, "b"] } }],
  ["string[]", { type: "array", items: { type: "string" } }],
  ["unknown[]", { type: "array" }],
  ["(string | number)[]", { type: "array", items: { type: ["string", "number"] } }],
  ["string[][]", { type: "array", items: { type: "array", items: { type: "string" } } }],
  [
    "[string, number]",
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 },
  ],
  [
    "[string, (number | null)?, ...boolean[]]",
    {
      type: "array",
      prefixItems: [{ type: "string" }, { type: ["number", "null"] }],
      items: { type: "boolean" },
      minItems: 1,
    },
  ],
  ["[string?, ...unknown[]]", { type: "array", items: [{ type: "string" }] }],
  ["string | number", { anyOf: [{ type: "string" }, { type: "number" }] }],
  ["string | number", { oneOf: [{ type: "string" }, { type: "number" }, { type: "integer" }] }],
  ["unknown", { anyOf: [{ type: "string" }, {}] }],
  ["string & (1 | 2)", { allOf: [{ type: "string" }, { enum: [1, 2] }] }],
  ["unknown", { $ref: "https://example.com/other.json" }],
  ["unknown", { $ref: "#/$defs/nothing" }],
  ["unknown", { $ref: "#" }],
  ["unknown", { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { allOf: [{ $ref: "#" }] } } }],
])("%s", (expected, schema) => {
  expect(typeOf(schema)).toBe(expected);
});

describe("objects", () => {
  test("are interfaces with docs, optional members and quotes where they are needed", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", description: "Where", minLength: 1 },
        "zip-code": { type: "integer", default: 1 },
        when: { type: "string", format: "date-time", deprecated: true },
      },
      required: ["city", "extra"],
    };
    expect(declare(schema)).toBe(`export interface T {
  /**
   * Where
   * @minLength 1
   */
  city: string;
  /**
   * An integer.
   * @default 1
   */
  "zip-code"?: number;
  /**
   * @format date-time
   * @deprecated
   */
  when?: string;
  extra: unknown;
}`);
  });

  test("without named members are records, or nothing at all", () => {
    expect(declare({ type: "object" })).toBe("export interface T {\n  [key: string]: unknown;\n}");
    expect(declare({ type: "object", additionalProperties: { type: "number" } })).toContain("[key: string]: number;");
    expect(typeOf({ type: "object", additionalProperties: false })).toBe("{ [key: string]: never }");
    expect(declare({ type: "object", properties: { a: {} }, additionalProperties: { type: "number" } })).toContain(
      "[key: string]: unknown;",
    );
  });

  test("that refer to themselves, and to what is defined beside them", () => {
    const schema = {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#" } }, at: { $ref: "#/$defs/my%20place" } },
      $defs: { "my place": { type: "object", properties: { next: { $ref: "#/$defs/my%20place" } } } },
    };
    const text = declare(schema);
    expect(text).toContain("kids?: T[];");
    expect(text).toContain("at?: TMyPlace;");
    expect(text).toContain("export interface TMyPlace {\n  next?: TMyPlace;\n}");
  });
});

test("depth and size are bounded", () => {
  let deep: object = { type: "string" };
  for (let at = 0; at < 500; at++) deep = { type: "array", items: deep };
  expect(typeOf(deep)).toMatch(/^unknown(\[\])+$/);
  const wide = { anyOf: Array.from({ length: 30_000 }, (_, at) => ({ const: at })) };
  expect(typeOf(wide)).toBe("unknown");
});

test("names become identifiers, each once", () => {
  expect(
    ["get-weather", "getWeather", "HTTP_get", "9lives", "日本", "a".repeat(200)].map((one) => toPascal(one, "Tool")),
  ).toEqual(["GetWeather", "GetWeather", "HTTPGet", "Tool9lives", "Tool", `A${"a".repeat(79)}`]);
  const names = createNames(["A"]);
  expect(["A", "A", "B", "A2"].map(names.claim)).toEqual(["A2", "A3", "B", "A22"]);
});

test("texts stay where they are put", () => {
  expect(toLiteral('"; evil(); "\u2028\n\u202e')).toBe('"\\"; evil(); \\"\\u2028\\n\\u202e"');
  expect(JSON.parse(toLiteral("\u{e0041}\ud800\u0000"))).toBe("\u{e0041}\ud800\u0000");
  expect(toMemberName("a; evil()")).toBe('"a; evil()"');
  expect(toLine("a\nb\u2028c\r\nd")).toBe("a b c d");
  expect(toDoc(["a */ evil() /*"], "")).toBe("/** a *\\/ evil() /* */\n");
  expect(toDoc(["*", "/ evil()"], "")).toBe("/**\n * *\n * / evil()\n */\n");
  expect(toDoc(["@ts-ignore"], "")).toBe("/** @ ts-ignore */\n");
  expect(toDoc([" ", undefined], "")).toBe("");
});
