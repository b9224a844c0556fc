// Faults that were put into tools are found, each with arguments as simple as they can be, and the same ones for the same seed.
import { createServer, jsonSchema, ToolError } from "plenum";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { fuzzTools } from "./fuzz.ts";
import { createMaker } from "./made-values.ts";
import { createRandom } from "./random.ts";

const person = z.object({
  name: z.string().min(1).max(20),
  age: z.number().int().min(0).max(150),
  tags: z.array(z.string()).optional(),
});

function create() {
  return createServer({ name: "subject", version: "1.0.0" });
}

const options = { seed: 7, runs: 60 };

test("sound tools have no failures, whatever they are like", async () => {
  const server = create();
  server.tool("none", {}, () => "ok");
  server.tool("person", { input: person, output: person }, (given) => given);
  server.tool("moody", { input: person }, ({ age }) => {
    if (age > 75) throw new ToolError("Too old for this.");
    return "ok";
  });
  server.tool("asks", { input: z.object({ n: z.number() }) }, async ({ n }, ctx) => {
    const answer = await ctx.elicit("Sure?", z.object({ yes: z.boolean(), size: z.enum(["s", "m"]) }));
    return `${n} ${answer.action}`;
  });
  const report = await fuzzTools(server, options);
  expect(report.format()).toBe(`${report.calls} calls with seed 7: no failures.`);
  expect(report.calls).toBeGreaterThan(150);
});

test("an error that nobody meant, with the simplest arguments and what was thrown", async () => {
  const server = create();
  server.tool(
    "last",
    { input: z.object({ list: z.array(z.object({ id: z.number() })), note: z.string().optional() }) },
    ({ list }) => {
      return `${(list.at(-1) as { id: number }).id.toFixed(2)}`;
    },
  );
  const { failures } = await fuzzTools(server, options);
  expect(failures).toMatchObject([
    {
      kind: "internal_error",
      tool: "last",
      arguments: { list: [] },
      seed: 7,
      message: expect.stringContaining("TypeError"),
    },
  ]);
  expect(failures[0]?.cause).toBeInstanceOf(TypeError);
  expect(failures[0]?.times).toBeGreaterThan(1);
});

test("arguments are made simpler as long as the same goes wrong", async () => {
  const server = create();
  const input = z.object({ text: z.string().min(2), n: z.number().int(), notes: z.array(z.string()).optional() });
  server.tool("long", { input }, ({ text }) => {
    if (text.length >= 5) throw new RangeError("too long");
    return "ok";
  });
  const [failure, ...more] = (await fuzzTools(server, options)).failures;
  expect(more).toEqual([]);
  expect(failure?.arguments).toEqual({ text: expect.stringMatching(/^.{5}$/s), n: 0 });
});

test("a result that breaks its schema", async () => {
  const server = create();
  server.tool(
    "half",
    { input: z.object({ n: z.number().int() }), output: z.object({ half: z.number().int() }) },
    ({ n }) => ({ half: n / 2 }),
  );
  const { failures } = await fuzzTools(server, options);
  expect(failures).toMatchObject([{ kind: "invalid_output", tool: "half" }]);
  const { n } = { n: 0, ...failures[0]?.arguments };
  expect(Math.abs(n) % 2).toBe(1);
});

test("arguments that a schema allows and a check behind it does not, and the other way round", async () => {
  const server = create();
  server.tool(
    "even",
    {
      input: z.object({
        n: z
          .number()
          .int()
          .refine((n) => n % 2 === 0, "must be even"),
      }),
    },
    () => "ok",
  );
  // Published as one thing, and checked as another.
  const lax = z.object({ text: z.any() });
  const input = {
    "~standard": {
      ...lax["~standard"],
      jsonSchema: { input: () => strict, output: () => strict },
    },
  };
  const strict = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  server.tool("lax", { input: input as never }, () => "ok");
  const { failures } = await fuzzTools(server, options);
  expect(failures.map(({ kind, tool }) => [tool, kind])).toEqual([
    ["even", "valid_refused"],
    ["lax", "invalid_accepted"],
  ]);
  expect(await fuzzTools(server, { ...options, isExpected: ({ kind }) => kind.includes("_") })).toMatchObject({
    failures: [],
  });
});

test("silence, and promises that nobody waits for", async () => {
  const server = create();
  const hang = z.object({ isSlow: z.boolean() });
  server.tool("hang", { input: hang }, ({ isSlow }, ctx) =>
    isSlow ? new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))) : "ok",
  );
  server.tool("stray", { input: z.object({ n: z.number() }) }, () => {
    void Promise.reject(new RangeError("nobody waits"));
    return "ok";
  });
  const others = vi.fn();
  process.on("unhandledRejection", others);
  onTestFinished(() => void process.off("unhandledRejection", others));
  const before = process.listeners("unhandledRejection");
  const { failures } = await fuzzTools(server, { seed: 7, runs: 6, timeoutMs: 50 });
  expect(others).not.toHaveBeenCalled();
  expect(process.listeners("unhandledRejection")).toEqual(before);
  expect(failures).toMatchObject([
    { kind: "hang", tool: "hang", arguments: { isSlow: true } },
    { kind: "unhandled_rejection", tool: "stray", message: "nobody waits" },
  ]);
});

test("the same seed makes the same, another another", async () => {
  const given: string[] = [];
  const server = create();
  server.tool("note", { input: person }, (args) => {
    given.push(JSON.stringify(args));
    return "";
  });
  const run = async (seed: number): Promise<string[]> => {
    given.length = 0;
    await fuzzTools(server, { seed, runs: 20, tools: ["note"] });
    return [...given];
  };
  const first = await run(1);
  expect(await run(1)).toEqual(first);
  expect(await run(2)).not.toEqual(first);
  expect((await fuzzTools(server, { tools: ["nothing"] })).failures).toMatchObject([
    { tool: "nothing", message: "There is no such tool" },
  ]);
});

test.each<[string, object]>([
  ["a pattern", { type: "string", pattern: "^[A-Z]{2,3}-\\d{4}(?:x|y)?$" }],
  ["a format", { type: "string", format: "date-time" }],
  ["an email", { type: "string", format: "email" }],
  ["lengths", { type: "string", minLength: 3, maxLength: 5 }],
  ["bounds", { type: "integer", exclusiveMinimum: 3, maximum: 7 }],
  ["steps", { type: "number", multipleOf: 0.25, minimum: -1, maximum: 1 }],
  ["a list", { type: "array", items: { type: "integer" }, minItems: 2, uniqueItems: true, contains: { const: 5 } }],
  ["a tuple", { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 }],
  ["one of many", { oneOf: [{ type: "string", minLength: 3 }, { type: "null" }] }],
  ["all of them", { allOf: [{ minimum: 2 }, { type: "integer" }, { maximum: 4 }] }],
  ["an enum", { enum: ["a", 1, null] }],
  ["a constant", { const: { a: [1] } }],
  ["many types", { type: ["string", "null"] }],
  ["itself", { $ref: "#/$defs/tree" }],
  ["a map", { type: "object", additionalProperties: { type: "integer" }, minProperties: 2 }],
  [
    "names by pattern",
    {
      type: "object",
      patternProperties: { "^x-[a-z]+$": { type: "boolean" } },
      additionalProperties: false,
      minProperties: 1,
    },
  ],
  [
    "what needs another",
    { type: "object", properties: { a: {}, b: { type: "string" } }, dependentRequired: { a: ["b"] } },
  ],
  ["not that", { type: "integer", not: { const: 0 } }],
])("values are made for %s", (_, schema) => {
  const tree = {
    type: "object",
    properties: { next: { anyOf: [{ $ref: "#/$defs/tree" }, { type: "null" }] } },
    required: ["next"],
  };
  const whole = jsonSchema({ type: "object", properties: { value: schema }, required: ["value"], $defs: { tree } });
  const maker = createMaker(whole);
  const valid = Array.from({ length: 30 }, (_, run) => maker.makeValid(createRandom(run)));
  const invalid = Array.from({ length: 30 }, (_, run) => maker.makeInvalid(createRandom(run)));
  expect(valid.every((made) => made && maker.isValid(made.value))).toBe(true);
  expect(invalid.every((made) => made && !maker.isValid(made.value))).toBe(true);
  expect(new Set(invalid.map((made) => JSON.stringify(made))).size).toBeGreaterThan(1);
});
