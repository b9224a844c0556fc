import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Json } from "../jsonrpc/message.ts";
import type { CallToolResult, Tool } from "../protocol/model.ts";
import { createOutputs, type OutputsOptions } from "./output.ts";

type Output = NonNullable<Tool["outputSchema"]>;

function tool(name: string, outputSchema?: Output): Tool {
  return { name, inputSchema: { type: "object" }, ...(outputSchema && { outputSchema }) };
}

function result(structuredContent?: Json): CallToolResult {
  return { content: [], ...(structuredContent !== undefined && { structuredContent }) };
}

function setup(options: Partial<OutputsOptions> = {}) {
  const warn = vi.fn<(problem: string) => void>();
  return { warn, outputs: createOutputs({ warn, ...options }) };
}

/** The problem with one result of a tool that has this schema. */
function problemOf(schema: Output, value: Json | undefined): string | undefined {
  const { outputs } = setup();
  outputs.learn([tool("t", schema)]);
  return outputs.check("t", result(value)) as string | undefined;
}

const weather: Output = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] };

// The first one waits for what reads schemas; from then on nobody does.
beforeAll(async () => {
  const { outputs } = setup();
  outputs.learn([tool("t", weather)]);
  const first = outputs.check("t", result({}));
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toContain("celsius");
});

describe("a result", () => {
  test("is held against the tool's output schema", () => {
    expect(problemOf(weather, { celsius: 21 })).toBeUndefined();
    expect(problemOf(weather, { celsius: "21" })).toBe(
      'The structured content of tool "t" breaks its output schema: celsius: must be number',
    );
    expect(problemOf(weather, {})).toContain("celsius");
  });

  test("needs structured content", () => {
    expect(problemOf(weather, undefined)).toBe(
      'The result of tool "t" has no structured content, which its output schema asks for',
    );
  });

  test("that is an error is not checked", () => {
    const { outputs } = setup();
    outputs.learn([tool("t", weather)]);
    expect(outputs.check("t", { ...result(), isError: true })).toBeUndefined();
    expect(outputs.check("t", { ...result({ celsius: "x" }), isError: true })).toBeUndefined();
    expect(outputs.check("t", { ...result(), isError: false })).toBeDefined();
  });

  test("of a tool without schema, or of an unknown one, is not checked", () => {
    const { outputs } = setup();
    outputs.learn([tool("t")]);
    expect(outputs.check("t", result({ any: "thing" }))).toBeUndefined();
    expect(outputs.check("other", result())).toBeUndefined();
  });

  test.each([
    ["an array", { type: "array", items: { type: "integer" } }, [1, 2], ["a"]],
    ["a text", { type: "string" }, "", 1],
    ["a number", { type: "number" }, 0, "0"],
    ["a boolean", { type: "boolean" }, false, null],
    ["null", { type: "null" }, null, false],
    ["one of several", { anyOf: [{ type: "string" }, { type: "null" }] }, null, 1],
    ["anything", {}, null, undefined],
  ] as [string, Output, Json, Json | undefined][])("may be %s, where the schema says so", (_, schema, right, wrong) => {
    expect(problemOf(schema, right)).toBeUndefined();
    expect(problemOf(schema, wrong)).toBeDefined();
  });

  test("is told of in one line of bounded length", () => {
    const schema = { additionalProperties: { type: "number" } };
    const value = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}\nforged ${"x".repeat(1000)}`, "no"]));
    const problem = problemOf(schema, value) ?? "";
    expect(problem).toMatch(/^The structured content .* breaks/);
    expect(problem).not.toContain("\n");
    expect(problem.length).toBeLessThan(700);
  });
});

describe("a schema", () => {
  test("without $schema is one of 2020-12, and another dialect is honoured", () => {
    const tuple = { type: "array", prefixItems: [{ type: "string" }] };
    expect(problemOf(tuple, [1])).toBeDefined();
    expect(problemOf({ $schema: "http://json-schema.org/draft-07/schema#", ...tuple }, [1])).toBeUndefined();
    const legacy = { type: "array", items: [{ type: "string" }] };
    expect(problemOf({ $schema: "http://json-schema.org/draft-07/schema#", ...legacy }, [1])).toBeDefined();
  });

  test.each([
    ["its dialect is unknown", { $schema: "https://example.com/unknown" }, "dialect"],
    ["it refers to the network", { $ref: "https://example.com/schema.json" }, "never fetched"],
    ["it leads nowhere", { $ref: "#/$defs/lost" }, "leads nowhere"],
    ["it is none", { type: "text" }, "type"],
    ["a pattern could take forever", { pattern: "(a+)+\\1$" }, "pattern"],
  ] as [string, Output, string][])("that cannot be used lets nothing pass: %s", (_, schema, why) => {
    const problem = problemOf(schema, { celsius: 1 });
    expect(problem).toMatch(/^The output schema of tool "t" cannot be used to check its result: /);
    expect(problem).toContain(why);
  });

  test("is never fetched", () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("fetched"));
    try {
      expect(problemOf({ $ref: "http://127.0.0.1/schema" }, {})).toContain("cannot be used");
      expect(fetch).not.toHaveBeenCalled();
    } finally {
      fetch.mockRestore();
    }
  });

  test.each([100, 1000, 100_000])("%d levels deep is checked or refused, and breaks nothing", (depth) => {
    let schema: Output = { type: "number" };
    for (let i = 0; i < depth; i++) schema = { type: "array", items: schema };
    const problem = problemOf(schema, "no");
    expect(problem).toContain(depth > 256 ? "cannot be used" : "must be array");
  });

  test("with too many parts is refused", () => {
    const anyOf = Array.from({ length: 20_000 }, (_, i) => ({ minimum: i }));
    expect(problemOf({ anyOf }, 1)).toContain("more than 10000 subschemas");
  });

  test("that takes too long to hold against a result is given up", () => {
    const $defs: Record<string, Output> = { "0": { type: "string" } };
    for (let i = 1; i <= 30; i++) $defs[i] = { anyOf: [{ $ref: `#/$defs/${i - 1}` }, { $ref: `#/$defs/${i - 1}` }] };
    expect(problemOf({ $defs, $ref: "#/$defs/30" }, 1)).toContain("too large or too deep to check");
  });

  test("is compiled once, and again only when it is another", () => {
    const { outputs } = setup();
    const looked = vi.fn();
    // Compiling looks at the keyword; checking does not.
    const schema = (type: string): Output => ({
      get type() {
        looked();
        return type;
      },
    });
    const looks = (definition?: Tool) => {
      if (definition) outputs.learn([definition]);
      looked.mockClear();
      outputs.check("t", result("x"));
      return looked.mock.calls.length;
    };
    const compiling = looks(tool("t", schema("string")));
    expect(looks()).toBe(0);
    // Listed again: its text is looked at once, to see that it is the same.
    expect(looks(tool("t", schema("string")))).toBe(1);
    expect(looks()).toBe(0);
    expect(looks(tool("t", schema("number")))).toBe(compiling);
    expect(outputs.check("t", result("x"))).toContain("must be number");
  });

  test("is not compiled before it is needed", () => {
    const { outputs } = setup();
    expect(() => outputs.learn([tool("t", { $ref: "https://example.com" })])).not.toThrow();
    expect(outputs.knows("t")).toBe(true);
  });
});

describe("definitions", () => {
  test("are known by name, and replaced by newer ones", () => {
    const { outputs } = setup();
    const [older, newer] = [tool("t", weather), tool("t", { type: "string" })];
    outputs.learn([older]);
    expect(outputs.definition("t")).toBe(older);
    expect(outputs.check("t", result({ celsius: 1 }))).toBeUndefined();
    outputs.learn([newer]);
    expect(outputs.definition("t")).toBe(newer);
    expect(outputs.check("t", result({ celsius: 1 }))).toContain("must be string");
    outputs.learn([tool("t")]);
    expect(outputs.check("t", result({ celsius: 1 }))).toBeUndefined();
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "", "10"])("may have any name: %j", (name) => {
    const { outputs } = setup();
    expect(outputs.knows(name)).toBe(false);
    expect(outputs.definition(name)).toBeUndefined();
    expect(outputs.check(name, result())).toBeUndefined();
    outputs.learn([tool(name, weather)]);
    expect(outputs.definition(name)?.name).toBe(name);
    expect(outputs.check(name, result())).toContain("no structured content");
  });

  test("may have members of any name", () => {
    const schema: Output = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"number"}},"required":["__proto__"]}',
    );
    expect(problemOf(schema, {})).toContain("__proto__");
    expect(problemOf(schema, JSON.parse('{"__proto__":1}'))).toBeUndefined();
    expect(problemOf(schema, JSON.parse('{"__proto__":"x"}'))).toContain("must be number");
  });

  test("are forgotten when the list has changed", () => {
    const { outputs } = setup();
    outputs.learn([tool("t", weather)]);
    outputs.forget();
    expect(outputs.knows("t")).toBe(false);
    expect(outputs.check("t", result())).toBeUndefined();
  });

  test("of a page that was asked for before that are not learnt", () => {
    const { outputs } = setup();
    const before = outputs.generation;
    outputs.forget();
    outputs.learn([tool("old")], before);
    expect(outputs.knows("old")).toBe(false);
    outputs.learn([tool("new")], outputs.generation);
    expect(outputs.knows("new")).toBe(true);
  });

  test("of a page that was kept are learnt once", () => {
    const { outputs } = setup();
    let looks = 0;
    const kept = {
      ...tool("t", weather),
      get description() {
        looks++;
        return "";
      },
    };
    outputs.learn([kept]);
    const once = looks;
    outputs.learn([kept]);
    expect(looks).toBe(once);
    expect(outputs.check("t", result())).toBeDefined();
  });

  test("are bounded in number, and a warning is given once", () => {
    const { outputs, warn } = setup({ maxTools: 3 });
    outputs.learn(["a", "b", "c"].map((name) => tool(name, weather)));
    expect(warn).not.toHaveBeenCalled();
    outputs.check("a", result());
    outputs.learn(["d", "e"].map((name) => tool(name)));
    outputs.learn([tool("f")]);
    expect(["a", "b", "c", "d", "e", "f"].filter((name) => outputs.knows(name))).toEqual(["d", "e", "f"]);
    expect(warn).toHaveBeenCalledTimes(1);
    outputs.forget();
    outputs.learn(["a", "b", "c", "d"].map((name) => tool(name)));
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test("that are used stay longer", () => {
    const { outputs } = setup({ maxTools: 2 });
    outputs.learn([tool("a", weather), tool("b")]);
    outputs.check("a", result());
    outputs.learn([tool("c")]);
    expect(["a", "b", "c"].filter((name) => outputs.knows(name))).toEqual(["a", "c"]);
  });

  test("a thousand are remembered by default", () => {
    const { outputs, warn } = setup();
    outputs.learn(Array.from({ length: 1000 }, (_, i) => tool(`${i}`)));
    expect(warn).not.toHaveBeenCalled();
    outputs.learn([tool("one more")]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(outputs.knows("0")).toBe(false);
  });

  test("are bounded in size", () => {
    const { outputs, warn } = setup({ maxChars: 1000 });
    outputs.learn([tool("a"), { ...tool("large"), description: "x".repeat(5000) }, tool("b")]);
    expect(["a", "large", "b"].filter((name) => outputs.knows(name))).toEqual(["b"]);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
