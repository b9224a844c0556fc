// Structured output of every kind in every revision: the value, the schema that is listed for it, and the text beside it.
import { Ajv2020 } from "ajv/dist/2020.js";
import { jsonSchema, type Revision, revisions, text, toolResult } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AnySchema } from "../../packages/plenum/src/schema/standard.ts";
import { covers } from "../requirements/covers.ts";
import { modern, openPeer } from "./peer.ts";
import { bare, callTool, createQuietServer, listTools, textOf } from "./tool-peer.ts";

interface Kind {
  readonly what: string;
  readonly output: AnySchema;
  readonly values: readonly unknown[];
  readonly wrong: unknown;
}

const kinds: readonly Kind[] = [
  { what: "object", output: z.object({ sum: z.number() }), values: [{ sum: 3 }], wrong: { sum: "3" } },
  { what: "array", output: z.array(z.number()), values: [[1, 2.5], []], wrong: ["1"] },
  { what: "string", output: z.string(), values: ["hello", ""], wrong: 1 },
  { what: "number", output: z.number(), values: [0, -1.5], wrong: "0" },
  { what: "boolean", output: z.boolean(), values: [false, true], wrong: null },
  { what: "null", output: z.null(), values: [null], wrong: {} },
  {
    what: "union",
    output: z.union([z.object({ found: z.string() }), z.array(z.string()), z.null()]),
    values: [{ found: "x" }, ["a"], null],
    wrong: 7,
  },
  { what: "anything", output: {}, values: [{ a: 1 }, [1], "s", 0, false, null], wrong: undefined },
  {
    what: "several types",
    output: { type: ["object", "integer"] },
    values: [{ result: 1 }, 4],
    wrong: 4.5,
  },
  {
    what: "union of objects",
    output: {
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "object", required: ["b"] },
      ],
    },
    values: [{ a: 1 }, { b: { c: [] } }],
    wrong: { c: 1 },
  },
];

/** Whether the revision carries structured output, and whether it has to be an object. */
const carries = (revision: Revision): boolean => revision >= "2025-06-18";
const wraps = (revision: Revision, what: string): boolean =>
  carries(revision) && revision !== modern && what !== "object";

describe.each(revisions)("structured output in %s", (revision) => {
  test.each(kinds)("a value of kind $what arrives, fits what is listed, and is there as text", async (kind) => {
    covers(
      [
        ...["tool-structured-content", "tool-structured-content-2026", "tool-structured-content-text"],
        ...["tool-output-schema-conform", "schema-tool-output-schema", "schema-tool-output-schema-2026"],
        ...["schema-call-tool-result"],
      ],
      revision,
    );
    const { server, errors } = createQuietServer();
    let give: unknown;
    server.tool("give", { output: kind.output }, () => give as never);
    const peer = await openPeer(server, revision);
    const [tool] = await listTools(peer);
    const schema = tool?.outputSchema as { type?: string; required?: string[] } | undefined;
    if (!carries(revision)) expect(tool).toEqual({ name: "give", inputSchema: expect.anything() });
    else if (revision !== modern) expect(schema?.type).toBe("object");
    if (wraps(revision, kind.what)) expect(schema?.required).toEqual(["result"]);

    for (const value of kind.values) {
      give = value;
      const result = await callTool(peer, "give");
      const structured = wraps(revision, kind.what) ? { result: value } : value;
      expect(bare(result)).toEqual({
        content: [{ type: "text", text: JSON.stringify(value) }],
        ...(carries(revision) && { structuredContent: structured }),
      });
      if (!carries(revision)) continue;
      expect(
        new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).validate(
          schema ?? false,
          result.structuredContent,
        ),
      ).toBe(true);
    }
    expect(errors).toEqual([]);

    give = kind.wrong;
    const failed = await callTool(peer, "give");
    expect(failed.isError).toBe(true);
    expect(failed).not.toHaveProperty("structuredContent");
    expect(textOf(failed)).toMatch(/^Internal error/);
    expect(String(errors.pop()?.error)).toMatch('tool "give" returned ');
  });

  test("a handler that returns nothing where something is promised does not succeed", async () => {
    covers("tool-output-schema-conform", revision);
    const { server, errors } = createQuietServer();
    const output = z.object({ sum: z.number() });
    server.tool("nothing", { output }, () => undefined as never);
    server.tool("content-only", { output }, () => toolResult({ content: [text("3")] }));
    server.tool("wrong", { output }, () => toolResult({ content: [text("3")], structured: { sum: "3" } }));
    server.tool("text", { output }, () => text("3") as never);
    const peer = await openPeer(server, revision);
    for (const name of ["nothing", "content-only", "wrong", "text"]) {
      const result = await callTool(peer, name);
      expect(result.isError).toBe(true);
      expect(result).not.toHaveProperty("structuredContent");
    }
    expect(errors).toHaveLength(4);
  });

  test("a value whose JSON would break the schema does not succeed", async () => {
    covers("tool-output-schema-conform", revision);
    const { server, errors } = createQuietServer();
    const give = (name: string, properties: object, value: unknown): void => {
      const output = { type: "object", properties, required: Object.keys(properties) };
      server.tool(name, { output: jsonSchema<unknown>(output) }, () => value as never);
    };
    give("nan", { n: { type: "number" } }, { n: Number.NaN });
    give("date", { when: { type: "object" } }, { when: new Date(0) });
    give("gone", { a: {} }, { a: undefined });
    give("function", { a: {} }, { a: () => 1 });
    give("inherited", { a: {} }, Object.create({ a: 1 }));
    const names = ["nan", "date", "gone", "function", "inherited"];
    const peer = await openPeer(server, revision);
    for (const name of names) expect((await callTool(peer, name)).isError, name).toBe(true);
    expect(errors).toHaveLength(names.length);
  });

  test("a handler writes its own text beside the structure", async () => {
    covers(["tool-structured-content", "tool-structured-content-2026"], revision);
    const { server } = createQuietServer();
    const output = z.object({ sum: z.number() });
    server.tool("own", { output }, () => toolResult({ content: [text("It is three.")], structured: { sum: 3 } }));
    const peer = await openPeer(server, revision);
    expect(bare(await callTool(peer, "own"))).toEqual({
      content: [{ type: "text", text: "It is three." }],
      ...(carries(revision) && { structuredContent: { sum: 3 } }),
    });
  });

  test("without an output schema structured content is carried as the revision can", async () => {
    covers(["tool-structured-content", "tool-structured-content-2026", "tool-structured-content-text"], revision);
    const { server } = createQuietServer();
    server.tool("list", {}, () => toolResult({ structured: [1, 2] }));
    server.tool("object", {}, () => toolResult({ structured: { a: 1 } }));
    const peer = await openPeer(server, revision);
    const list = carries(revision) ? { structuredContent: revision === modern ? [1, 2] : { result: [1, 2] } } : {};
    expect(bare(await callTool(peer, "list"))).toEqual({ content: [{ type: "text", text: "[1,2]" }], ...list });
    expect(bare(await callTool(peer, "object"))).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
      ...(carries(revision) && { structuredContent: { a: 1 } }),
    });
  });

  test("what the schema's library makes of the value is what is sent", async () => {
    covers(["tool-structured-content", "tool-structured-content-2026", "tool-structured-content-text"], revision);
    const { server } = createQuietServer();
    const output = z.object({
      n: z.number().default(7),
      when: z
        .string()
        .transform((day) => `${day}T00:00:00Z`)
        .pipe(z.string()),
    });
    server.tool("give", { output }, () => ({ when: "2026-01-02", extra: "left out" }));
    const peer = await openPeer(server, revision);
    const value = { n: 7, when: "2026-01-02T00:00:00Z" };
    expect(bare(await callTool(peer, "give"))).toEqual({
      content: [{ type: "text", text: JSON.stringify(value) }],
      ...(carries(revision) && { structuredContent: value }),
    });
  });

  test("a middleware that spreads the result does not undo the wrapping", async () => {
    covers(["tool-structured-content", "tool-output-schema-conform"], revision);
    const { server } = createQuietServer();
    server.tool("give", { output: z.union([z.object({ a: z.number() }), z.null()]) }, () => ({ a: 1 }));
    server.use(async (call, next) => ({
      ...(await next(call)),
      ...(call.method === "tools/call" && { _meta: { "com.example/x": 1 } }),
    }));
    const peer = await openPeer(server, revision);
    const value = wraps(revision, "union") ? { result: { a: 1 } } : { a: 1 };
    expect(bare(await callTool(peer, "give"))).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
      ...(carries(revision) && { structuredContent: value }),
      _meta: { "com.example/x": 1 },
    });
  });
});
