import { expect, test } from "vitest";
import type { Sender } from "./endpoint.ts";
import { McpError } from "./errors.ts";
import { assertMirrored } from "./header-match.ts";

/** A sender whose method needs its object. */
class Headers implements Sender {
  readonly #values: { readonly [name: string]: string };
  constructor(values: { readonly [name: string]: string }) {
    this.#values = values;
  }
  header(name: string): string | undefined {
    return this.#values[name];
  }
}

/** What is said of a header "A" and its argument; undefined when they agree. */
function problemOf(sender: Sender, a: unknown): string | undefined {
  try {
    assertMirrored([{ header: "A", path: ["a"], type: "string" }], { a }, sender);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(McpError);
    expect((error as McpError).code).toBe("header_mismatch");
    return (error as McpError).message;
  }
}

test.each([
  ["text", "a b", "a b"],
  ["empty text", "", ""],
  ["encoded text", "=?base64?w6k=?=", "é"],
  ["an integer", "7.0", 7],
  ["a boolean", "true", true],
])("%s says the same", (_, sent, value) => {
  expect(problemOf(new Headers({ "mcp-param-a": sent }), value)).toBeUndefined();
});

test.each([
  ["text for a boolean", "true", "True"],
  ["a boolean for text", "yes", true],
  ["an integer for a list", "1", [1]],
  ["text for an object", "[object Object]", {}],
  ["a fraction", "1.5", 1.5],
  ["what is no base64", "=?base64?*?=", "*"],
])("%s does not", (_, sent, value) => {
  expect(problemOf(new Headers({ "mcp-param-a": sent }), value)).toBe(
    "Header mismatch: Mcp-Param-A does not say what the arguments say",
  );
});

test.each([undefined, null])("%s has no header", (value) => {
  expect(problemOf(new Headers({}), value)).toBeUndefined();
  expect(problemOf(new Headers({ "mcp-param-a": "" }), value)).toContain("Mcp-Param-A is there");
});

test("every argument is looked at, where it stands", () => {
  const params = [
    { header: "A", path: ["a"], type: "string" },
    { header: "B", path: ["b", "c"], type: "integer" },
  ] as const;
  const sender = new Headers({ "mcp-param-a": "x", "mcp-param-b": "2" });
  expect(() => assertMirrored(params, { a: "x", b: { c: 2 } }, sender)).not.toThrow();
  expect(() => assertMirrored(params, { a: "x", b: { c: 3 } }, sender)).toThrow("Mcp-Param-B");
  expect(() => assertMirrored(params, { a: "x", "b.c": 2 }, sender)).toThrow("Mcp-Param-B");
});

test("a value has one, also where a transport has no headers at all", () => {
  expect(problemOf(new Headers({ "mcp-param-b": "x" }), "x")).toContain("Mcp-Param-A is missing");
  expect(problemOf({}, 0)).toContain("Mcp-Param-A is missing");
});
