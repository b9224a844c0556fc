// What a handler's arguments, result and variables are inferred to be. Checked by the compiler (`npm run types`): the
// assertions inside handlers are about types, and a wrong one does not compile.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Context, createServer, jsonSchema, toolResult } from "../index.ts";
import type { InferOutput } from "../schema/infer.ts";
import type { AnySchema } from "../schema/standard.ts";

const server = () => createServer({ name: "types", version: "1.0.0" });

test("arguments and results from zod", () => {
  server().tool(
    "forecast",
    {
      input: z.object({
        city: z.string(),
        days: z.number().int().max(7).default(3),
        unit: z.enum(["c", "f"]).optional(),
      }),
      output: z.object({ summary: z.string(), celsius: z.array(z.number()) }),
    },
    (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; unit?: "c" | "f" | undefined }>();
      expectTypeOf(ctx).toEqualTypeOf<Context<undefined>>();
      return { summary: args.city, celsius: [args.days] };
    },
  );
  const output = z.object({ n: z.number() });
  // @ts-expect-error the result lacks n
  server().tool("lacks", { output }, () => ({}));
  // @ts-expect-error n is a number
  server().tool("wrong", { output }, async () => ({ n: "1" }));
  server().tool("whole", { output }, () => toolResult({ structured: { n: 1 }, content: [] }));
  // @ts-expect-error there is no such argument
  server().tool("none", { input: z.object({ a: z.string() }) }, ({ b }) => b);
});

test("arguments and results from valibot", () => {
  const input = toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) }));
  const output = toStandardJsonSchema(v.object({ ok: v.boolean() }));
  server().tool("v", { input, output }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
    return { ok: true };
  });
  // @ts-expect-error ok is a boolean
  server().tool("w", { output }, () => ({ ok: 1 }));
});

test("arguments and results from arktype", () => {
  server().tool(
    "a",
    { input: type({ city: "string", "days?": "number" }), output: type({ ok: "boolean" }) },
    (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number }>();
      return { ok: args.days === 1 };
    },
  );
  // @ts-expect-error ok is a boolean
  server().tool("b", { output: type({ ok: "boolean" }) }, () => ({ ok: "yes" }));
});

test("arguments and results from JSON Schema, in place, as const and generic", () => {
  server().tool(
    "in-place",
    {
      input: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" }, unit: { enum: ["c", "f"] } },
        required: ["city"],
      },
      output: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    },
    (args) => {
      expectTypeOf(args.city).toEqualTypeOf<string>();
      expectTypeOf(args.days).toEqualTypeOf<number | undefined>();
      expectTypeOf(args.unit).toEqualTypeOf<"c" | "f" | undefined>();
      return { ok: true };
    },
  );
  const input = {
    type: "object",
    properties: { tags: { type: "array", items: { type: "string" } } },
    required: ["tags"],
  } as const;
  server().tool("as-const", { input }, (args) => {
    expectTypeOf(args.tags).toEqualTypeOf<string[]>();
  });
  server().tool("generic", { input: jsonSchema<{ id: number }>({ type: "object" }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ id: number }>();
  });
});

test("a schema that a function of one's own is given", () => {
  const add = <const S extends AnySchema>(name: string, input: S, run: (args: InferOutput<S>) => unknown) => {
    const one = server();
    one.tool(`${name}.run`, { input }, run);
    one.tool(`${name}.call`, { input }, (args) => run(args));
    one.tool(`${name}.echo`, { input }, (args) => args);
  };
  add("zod", z.object({ a: z.string().optional() }), (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a?: string | undefined }>();
  });
  add("json", { type: "object", properties: { a: { type: "string" } } }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a?: string }>();
  });
  const either = z.object({ a: z.string() }) as z.ZodObject<{ a: z.ZodString }> | z.ZodObject<{ b: z.ZodNumber }>;
  server().tool("either", { input: either }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a: string } | { b: number }>();
  });
  const json = { type: "object", properties: { b: { type: "number" } }, required: ["b"] } as const;
  server().tool("mixed", { input: json as z.ZodObject<{ a: z.ZodString }> | typeof json }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a: string } | { b: number }>();
  });
});

test("what is no schema, and arguments of another type", () => {
  // @ts-expect-error text is no schema
  expect(() => server().tool("text", { input: "object" }, () => "")).toThrow("is no schema");
  // @ts-expect-error a list is no schema
  expect(() => server().tool("list", { input: [{ type: "object" }] }, () => "")).toThrow();
  // @ts-expect-error a date is no schema
  expect(() => server().tool("date", { input: new Date() }, () => "")).toThrow();
  // @ts-expect-error a is text
  server().tool("zod", { input: z.object({ a: z.string() }) }, (args: { a: number }) => args.a);
  const input = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
  // @ts-expect-error a is text
  server().tool("json", { input }, (args: { a: number }) => args.a);
});

test("no input: no arguments; no output: anything goes", () => {
  server().tool("ping", {}, (args) => {
    expectTypeOf<keyof typeof args>().toExtend<string | number>();
    return [1, "two", { three: 3 }];
  });
});

test("variables from the template literal", () => {
  server().resource("weather://{city}/now", { complete: { city: () => [] } }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ city: string }>();
  });
  server().resource("repo://{owner}/{name}{/path*}{?ref,limit}", {}, (args) => {
    expectTypeOf(args.owner).toEqualTypeOf<string>();
    expectTypeOf(args.name).toEqualTypeOf<string>();
    expectTypeOf(args.path).toEqualTypeOf<string[]>();
    expectTypeOf(args.ref).toEqualTypeOf<string | undefined>();
  });
  // @ts-expect-error no variable of that name
  expect(() => server().resource("a://{b}", { complete: { c: () => [] } }, () => "")).toThrow('"c"');
  // @ts-expect-error no variable of that name
  server().resource("a://{b}", {}, ({ c }) => c);
});

test("prompt arguments, the lifespan in every context, forms", async () => {
  const withDb = createServer({ name: "db", version: "1", lifespan: async () => ({ db: new Map<string, number>() }) });
  withDb.tool(
    "get",
    { input: z.object({ key: z.string() }), visible: (ctx) => ctx.lifespan.db.size > 0 },
    async ({ key }, ctx) => {
      expectTypeOf(ctx.lifespan.db).toEqualTypeOf<Map<string, number>>();
      const answer = await ctx.elicit("Which?", z.object({ confirm: z.boolean() }));
      expectTypeOf(answer).toEqualTypeOf<
        | { readonly action: "accept"; readonly content: { confirm: boolean } }
        | { readonly action: "decline" }
        | { readonly action: "cancel" }
      >();
      const step = await ctx.step("now", async () => ({
        at: new Date(),
        list: [1n, "a"] as const,
        n: 1 as number | null,
      }));
      expectTypeOf(step).toEqualTypeOf<{ at: string; list: readonly [never, "a"]; n: number | null }>();
      expectTypeOf(await ctx.step("nothing", () => {})).toEqualTypeOf<void>();
      return ctx.lifespan.db.get(key);
    },
  );
  withDb.prompt(
    "p",
    {
      arguments: z.object({ n: z.coerce.number() }),
      complete: { n: (typed, ctx) => [typed, ...ctx.lifespan.db.keys()] },
    },
    (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ n: number }>();
      return String(ctx.lifespan.db.get(String(args.n)));
    },
  );
  withDb.resource(
    "db://{key}",
    { list: (ctx) => [...ctx.lifespan.db.keys()].map((key) => ({ uri: `db://${key}`, name: key })) },
    ({ key }, ctx) => ctx.lifespan.db.get(key),
  );
  // @ts-expect-error a prompt returns text, content or messages
  withDb.prompt("bad", {}, () => 1);
  await withDb.close();
});
