// Questions to the user: forms, and pages to visit.
import { describe, expect, test, vi } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import { type Revision, revisions } from "../protocol/revisions.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { createListener } from "./answer.ts";
import type { AnswerContext, ClientOptions, ElicitForm } from "./options.ts";

const able: readonly Revision[] = revisions.filter((revision) => revision >= "2025-06-18");
const moded: readonly Revision[] = revisions.filter((revision) => revision >= "2025-11-25");
const never = new AbortController().signal;

const nameSchema = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
};

function listen(options: ClientOptions) {
  const warnings: string[] = [];
  const listener = createListener({ onWarning: (problem) => warnings.push(problem), ...options }, { heard: () => {} });
  const ask = (params: JsonObject, revision: Revision) =>
    listener.answer({ method: "elicitation/create", params }, revision, never);
  return { ask, warnings };
}

/** Asks with a form, and answers it so. */
async function fill(requestedSchema: JsonObject, answer: unknown, revision: Revision) {
  const { ask, warnings } = listen({ onElicit: () => answer as never });
  const outcome = await ask({ message: "?", requestedSchema }, revision).then(
    (result) => ({ result, error: undefined }),
    (error) => ({ result: undefined, error }),
  );
  return { ...outcome, warnings };
}

async function refusal(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(error).toBeInstanceOf(McpError);
  return error as McpError;
}

describe.each(able)("forms in %s", (revision) => {
  test("the handler gets message, schema, defaults and where it stands", async () => {
    const seen: [ElicitForm, AnswerContext][] = [];
    const { ask } = listen({
      onElicit: (form, ctx) => {
        seen.push([form, ctx]);
        return { action: "cancel" };
      },
    });
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean", default: true } } };
    await ask({ message: "Sure?\n<b>", requestedSchema, _meta: { a: 1 } }, revision);
    expect(seen).toEqual([
      [
        { message: "Sure?\n<b>", schema: requestedSchema, defaults: { ok: true } },
        { signal: never, revision },
      ],
    ]);
  });

  test.each([["accept"], ["decline"], ["cancel"]])("%s is an answer", async (action) => {
    covers("elicitation-create", revision);
    const { result } = await fill({ type: "object", properties: {} }, { action, content: {} }, revision);
    expect(result).toStrictEqual(action === "accept" ? { action, content: {} } : { action });
    expect(wireOf(revision).check("ElicitResult", result)).toBeUndefined();
  });

  test.each([
    [{ action: "maybe" }],
    [{ action: "Accept" }],
    [{ action: 1 }],
    [{}],
    [{ content: {} }],
    [[]],
    ["accept"],
    [true],
    [null],
    [undefined],
  ])("%j is none: the application is told, the server learns nothing", async (answer) => {
    covers("elicitation-create", revision);
    const { error, warnings } = await fill({ type: "object", properties: {} }, answer, revision);
    expect(error).toMatchObject({ code: "internal_error", message: "The client failed to answer elicitation/create" });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(
      'onElicit failed to answer elicitation/create: the answer must have the action "accept"',
    );
  });

  test.each(["decline", "cancel"])("%s carries no content, whatever the handler gives with it", async (action) => {
    covers("elicitation-action-decline-cancel", revision);
    const answer = { action, content: { name: "secret" } };
    const { result } = await fill(nameSchema, answer, revision);
    expect(result).toStrictEqual({ action });
    expect(Object.keys(result ?? {})).toEqual(["action"]);
  });

  test("content that fits is sent", async () => {
    covers("elicitation-action-accept", revision);
    const { result } = await fill(nameSchema, { action: "accept", content: { name: "Ada", age: 36 } }, revision);
    expect(result).toStrictEqual({ action: "accept", content: { name: "Ada", age: 36 } });
  });

  test.each([
    ["a field is missing", { age: 1 }, 'must have property "name"'],
    ["a field is of another type", { name: 1 }, "name: must be string"],
    ["a field is out of bounds", { name: "x", age: -5 }, "age: must be >= 0"],
    ["a fraction for an integer", { name: "x", age: 1.5 }, "age: must be integer"],
    ["nothing", undefined, 'must have property "name"'],
    ["no object", "x", "must be an object"],
    ["a list", ["x"], "must be an object"],
    ["null", null, "must be an object"],
    ["an object that writes itself otherwise", { name: "x", toJSON: () => ({}) }, "must be object"],
  ])("content that does not fit is not: %s", async (_, content, why) => {
    covers(["elicitation-action-accept", "elicitation-validate-client"], revision);
    const { error, warnings } = await fill(nameSchema, { action: "accept", content }, revision);
    expect(error).toMatchObject({ code: "internal_error", rpcCode: -32603, data: undefined });
    expect(error.message).toBe("The client failed to answer elicitation/create");
    expect(error.cause.message).toContain(why);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(why);
  });

  test.each([
    ["null", null],
    ["an object", { a: 1 }],
    ["a list of numbers", [1]],
    ["NaN", Number.NaN],
    ["a BigInt", 1n],
  ])("content may not hold %s", async (_, extra) => {
    covers(["elicitation-content-values", "elicitation-content-values-2025-11"], revision);
    const { error, warnings } = await fill(nameSchema, { action: "accept", content: { name: "x", extra } }, revision);
    expect(error.code).toBe("internal_error");
    expect(warnings.join()).toContain("content.extra");
  });

  test("lists of texts are content from 2025-11-25 on", async () => {
    covers(["elicitation-content-values", "elicitation-content-values-2025-11"], revision);
    const { result, error } = await fill(
      nameSchema,
      { action: "accept", content: { name: "x", tags: ["a"] } },
      revision,
    );
    if (revision === "2025-06-18") expect(error.code).toBe("internal_error");
    else expect(result).toEqual({ action: "accept", content: { name: "x", tags: ["a"] } });
  });

  test("defaults fill in what the answer leaves out", async () => {
    covers("elicitation-defaults", revision);
    const schema = {
      type: "object",
      properties: {
        color: { type: "string", enum: ["r", "g"], default: "g" },
        count: { type: "integer", default: 3 },
        ok: { type: "boolean", default: false },
        note: { type: "string" },
        bad: { type: "string", default: 5 },
      },
      required: ["color", "count", "ok"],
    };
    const all = { color: "g", count: 3, ok: false };
    expect((await fill(schema, { action: "accept" }, revision)).result).toEqual({ action: "accept", content: all });
    const some = { action: "accept", content: { ok: true, note: "n", count: undefined } };
    expect((await fill(schema, some, revision)).result).toStrictEqual({
      action: "accept",
      content: { color: "g", count: 3, ok: true, note: "n" },
    });
  });

  test("nothing is accepted without the handler's word", async () => {
    covers("elicitation-approval", revision);
    const onElicit = vi.fn(() => ({ action: "decline" }) as const);
    const { ask } = listen({ onElicit });
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean", default: true } } };
    for (let count = 1; count <= 3; count++) {
      expect(await ask({ message: "?", requestedSchema }, revision)).toEqual({ action: "decline" });
      expect(onElicit).toHaveBeenCalledTimes(count);
    }
  });

  test("a schema that cannot be used is refused by name, and nobody is asked", async () => {
    const onElicit = vi.fn();
    const { ask, warnings } = listen({ onElicit });
    const requestedSchema = { type: "object", properties: { a: { type: "string", $ref: "https://evil.example/" } } };
    const error = await refusal(ask({ message: "?", requestedSchema }, revision));
    expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602 });
    expect(error.message).toMatch(/^params\.requestedSchema cannot be used: .*https:\/\/evil\.example/);
    expect(onElicit).not.toHaveBeenCalled();
    expect(warnings).toEqual([`The server's elicitation/create is refused: ${error.message}`]);
    const $schema = `x${"y".repeat(100_000)}`;
    const long = await refusal(ask({ message: "?", requestedSchema: { ...requestedSchema, $schema } }, revision));
    expect(long.message.length).toBeLessThan(600);
  });

  test("a handler that alters what it was given alters nothing of the check", async () => {
    const { ask } = listen({
      onElicit: (form) => {
        const schema = form.schema as { properties: object; required?: unknown };
        schema.properties = {};
        delete schema.required;
        return { action: "accept", content: {} };
      },
    });
    const error = await refusal(ask({ message: "?", requestedSchema: structuredClone(nameSchema) }, revision));
    expect(error.code).toBe("internal_error");
  });
});

test("2025-06-18 knows no modes: every question is a form", async () => {
  const onElicitUrl = vi.fn();
  const { ask } = listen({ onElicit: () => ({ action: "accept", content: { name: "x" } }), onElicitUrl });
  const params = { mode: "url", message: "?", requestedSchema: nameSchema, url: "https://a.example/" };
  expect(await ask(params, "2025-06-18")).toEqual({ action: "accept", content: { name: "x" } });
  expect(onElicitUrl).not.toHaveBeenCalled();
  const pagesOnly = listen({ onElicitUrl });
  const error = await refusal(pagesOnly.ask({ message: "?", requestedSchema: nameSchema }, "2025-06-18"));
  expect(error.rpcCode).toBe(-32602);
  expect(onElicitUrl).not.toHaveBeenCalled();
});

describe.each(moded)("modes in %s", (revision) => {
  const form = { message: "?", requestedSchema: { type: "object", properties: {} } };
  const page = { mode: "url", message: "Sign in", url: "https://a.example/in?t=1", elicitationId: "1" };

  function both() {
    const onElicit = vi.fn(() => ({ action: "accept", content: {} }) as const);
    const onElicitUrl = vi.fn(() => ({ action: "decline" }) as const);
    return { ...listen({ onElicit, onElicitUrl }), onElicit, onElicitUrl };
  }

  test("without a mode it is a form, and with one what it says", async () => {
    covers("elicitation-mode-default", revision);
    const { ask, onElicit, onElicitUrl } = both();
    expect(await ask(form, revision)).toEqual({ action: "accept", content: {} });
    expect(await ask({ ...form, mode: "form" }, revision)).toEqual({ action: "accept", content: {} });
    expect(onElicit).toHaveBeenCalledTimes(2);
    expect(onElicitUrl).not.toHaveBeenCalled();
    expect(await ask(page, revision)).toEqual({ action: "decline" });
    expect(onElicit).toHaveBeenCalledTimes(2);
    expect(onElicitUrl.mock.calls).toEqual([
      [
        { message: "Sign in", url: "https://a.example/in?t=1" },
        { signal: never, revision },
      ],
    ]);
  });

  test.each<[string, ClientOptions, JsonObject]>([
    ["a page of a client of forms", { onElicit: () => ({ action: "cancel" }) }, page],
    ["a form of a client of pages", { onElicitUrl: () => ({ action: "cancel" }) }, form],
    ["a named form of a client of pages", { onElicitUrl: () => ({ action: "cancel" }) }, { ...form, mode: "form" }],
    ["a mode that nobody knows", { onElicit: () => ({ action: "cancel" }) }, { ...form, mode: "voice" }],
  ])("an undeclared mode is refused: %s", async (_, options, params) => {
    covers("elicitation-undeclared-mode-error", revision);
    const { ask, warnings } = listen(options);
    const error = await refusal(ask(params, revision));
    expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602 });
    expect(error.message).toContain(`elicitation mode "${params.mode ?? "form"}"`);
    expect(warnings).toHaveLength(1);
  });

  test.each(["accept", "decline", "cancel"] as const)("a page is answered with %s and nothing else", async (action) => {
    covers("elicitation-content-values-2025-11", revision);
    const answer = { action, content: { a: 1 }, url: "x" };
    const { ask } = listen({ onElicitUrl: () => answer });
    const result = await ask(page, revision);
    expect(result).toStrictEqual({ action });
    expect(wireOf(revision).check("ElicitResult", result)).toBeUndefined();
  });

  test.each([[{ action: "ok" }], [undefined], ["accept"]])("%j is no answer to a page", async (answer) => {
    const { ask, warnings } = listen({ onElicitUrl: () => answer as never });
    expect((await refusal(ask(page, revision))).code).toBe("internal_error");
    expect(warnings.join()).toContain(
      "onElicitUrl failed to answer elicitation/create: the answer must have the action",
    );
  });

  test.each(["", " ", "\n", "../..", "__proto__", "💧", '{"a":1}'])(
    "the id %j means nothing here",
    async (elicitationId) => {
      covers("elicitation-id-opaque", revision);
      const { ask } = listen({ onElicitUrl: () => ({ action: "accept" }) });
      expect(await ask({ ...page, elicitationId }, revision)).toEqual({ action: "accept" });
    },
  );

  test.each([
    ["http://localhost:3000/", "http://localhost:3000/"],
    ["HTTPS://A.Example/Path", "https://a.example/Path"],
    ["https://a.example", "https://a.example/"],
    ["https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"],
    ["https:\\\\a.example\\b", "https://a.example/b"],
    ["https://a.example/?next=https://user:pass@b.example#@", "https://a.example/?next=https://user:pass@b.example#@"],
  ])("%s is shown as a browser would open it", async (url, shown) => {
    const onElicitUrl = vi.fn((_: { url: string }) => ({ action: "accept" }) as const);
    await listen({ onElicitUrl }).ask({ ...page, url }, revision);
    expect(onElicitUrl.mock.calls[0]?.[0].url).toBe(shown);
  });

  test.each([
    ["javascript:alert(1)", '"javascript:"'],
    ["data:text/html,x", '"data:"'],
    ["file:///etc/passwd", '"file:"'],
    ["ftp://a.example/", '"ftp:"'],
    ["vscode://x", '"vscode:"'],
    ["blob:https://a.example/1", '"blob:"'],
    ["not a url", "is no URL"],
    ["//a.example/", "is no URL"],
    ["", "is no URL"],
    ["https://", "is no URL"],
    ["https://user:hunter2@a.example/", "must not have a user name or password"],
    ["https://accounts.example@evil.example/", "must not have a user name or password"],
    ["https://:hunter2@a.example/", "must not have a user name or password"],
  ])("%j is refused, and nobody is asked", async (url, why) => {
    const onElicitUrl = vi.fn();
    const { ask, warnings } = listen({ onElicitUrl });
    const error = await refusal(ask({ ...page, url }, revision));
    expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602 });
    expect(error.message).toContain(why);
    expect(error.message).not.toContain("hunter2");
    expect(warnings).toEqual([`The server's elicitation/create is refused: ${error.message}`]);
    expect(onElicitUrl).not.toHaveBeenCalled();
  });

  test("nothing is fetched", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    try {
      await listen({ onElicitUrl: () => ({ action: "accept" }) }).ask(page, revision);
      expect(fetched).not.toHaveBeenCalled();
    } finally {
      fetched.mockRestore();
    }
  });
});
