// Asking the user: the form on the wire, the answer, and clients that cannot be asked.
import { jsonSchema, McpError } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { createAsking, exchange, openAsking, refusal } from "./asking.ts";
import { hasSession, type Message, modern, type Obj, openPeer, reachable, sessioned } from "./peer.ts";

const able = reachable.filter((revision) => revision >= "2025-06-18");
const unable = sessioned.filter((revision) => revision < "2025-06-18");
const form = z.object({ confirm: z.boolean() });
const elicitation = { elicitation: {} };

const fieldsOf = (request: Message): unknown => (request.params as { requestedSchema: Obj }).requestedSchema.properties;

describe.each(able)("forms in %s", (revision) => {
  const since11 = revision >= "2025-11-25";

  test("the request is exact: a flat form with the keywords of the revision", async () => {
    covers(
      ["elicitation-params", "schema-elicit-request", "elicitation-flat-schema", "elicitation-flat-schema-2025-11"],
      revision,
    );
    covers(["elicitation-string-schema", "elicitation-string-schema-2025-11", "elicitation-number-schema"], revision);
    covers(["elicitation-number-schema-2025-11", "elicitation-boolean-schema", "elicitation-form-types"], revision);
    const schema = z.object({
      name: z
        .string()
        .min(1)
        .max(20)
        .regex(/^[a-z]+$/)
        .default("ada")
        .meta({ title: "Name", description: "Yours" }),
      mail: z.email().optional(),
      page: z.url(),
      day: z.iso.date(),
      time: z.iso.datetime(),
      age: z.number().int().min(0).max(150).default(18),
      ratio: z.number().min(0.5).max(1).default(0.75),
      ok: z.boolean().default(false),
      color: z.enum(["red", "green"]).default("red"),
      only: z.literal("x"),
    });
    const { request } = await exchange((ctx) => ctx.elicit("Who?", schema), revision, elicitation, {
      action: "cancel",
    });
    const or = (value: unknown): Obj => (since11 ? { default: value } : {});
    expect(request).toEqual({
      jsonrpc: "2.0",
      id: expect.anything(),
      method: "elicitation/create",
      params: {
        ...(since11 && { mode: "form" }),
        message: "Who?",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string", title: "Name", description: "Yours", minLength: 1, maxLength: 20, ...or("ada") },
            mail: { type: "string", format: "email" },
            page: { type: "string", format: "uri" },
            day: { type: "string", format: "date" },
            time: { type: "string", format: "date-time" },
            age: { type: "integer", minimum: 0, maximum: 150, ...or(18) },
            ratio: { type: "number", minimum: 0.5, maximum: 1, ...or(0.75) },
            ok: { type: "boolean", default: false },
            color: { type: "string", enum: ["red", "green"], ...or("red") },
            only: { type: "string" },
          },
          required: ["page", "day", "time", "only"],
        },
      },
    });
  });

  test("titled choices are sent as the revision writes them", async () => {
    covers(["elicitation-enum-names", "elicitation-enum-single"], revision);
    const schema = jsonSchema({
      type: "object",
      properties: {
        named: { type: "string", enum: ["r"], enumNames: ["Red"] },
        titled: { type: "string", title: "Color", oneOf: [{ const: "r", title: "Red" }] },
      },
    });
    const { request } = await exchange((ctx) => ctx.elicit("Which?", schema), revision, elicitation, {
      action: "cancel",
    });
    expect(fieldsOf(request)).toEqual({
      named: { type: "string", enum: ["r"], enumNames: ["Red"] },
      titled: since11
        ? { type: "string", title: "Color", oneOf: [{ const: "r", title: "Red" }] }
        : { type: "string", title: "Color", enum: ["r"], enumNames: ["Red"] },
    });
  });

  test("several choices, where the revision has them", async () => {
    covers(["elicitation-enum-multi", "elicitation-flat-schema"], revision);
    const properties = {
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2, default: ["a"] },
      kinds: { type: "array", items: { anyOf: [{ const: "k", title: "Kind" }] } },
    };
    const ask = jsonSchema({ type: "object", properties } as const);
    if (!since11) {
      expect(await refusal((ctx) => ctx.elicit("Which?", ask), revision, elicitation)).toBeInstanceOf(TypeError);
      return;
    }
    const content = { tags: ["a", "b"], kinds: ["k"] };
    const answer = { action: "accept", content };
    const { request, outcome } = await exchange((ctx) => ctx.elicit("Which?", ask), revision, elicitation, answer);
    expect(fieldsOf(request)).toEqual(properties);
    expect(outcome.value).toEqual(answer);
  });

  test.each<[what: string, field: Obj]>([
    ["a nested object", { type: "object", properties: { a: { type: "string" } } }],
    ["a list of anything", { type: "array", items: { type: "string" } }],
    ["a list of objects", { type: "array", items: { type: "object" } }],
    ["a reference", { $ref: "#/$defs/a" }],
    ["no type", { enum: ["a"] }],
    ["several types", { type: ["string", "null"] }],
    ["null", { type: "null" }],
    ["an unknown format", { type: "string", format: "ipv4" }],
    ["numbers to choose from", { type: "string", enum: [1, 2] }],
    ["a default of another type", { type: "boolean", default: "yes" }],
    ["choices without a value", { type: "string", oneOf: [{ title: "Red" }] }],
  ])("a field that is %s is refused before anything is sent", async (_, field) => {
    covers(["elicitation-flat-schema", "elicitation-flat-schema-2025-11", "elicitation-form-types"], revision);
    covers(["elicitation-string-schema", "elicitation-string-schema-2025-11", "elicitation-boolean-schema"], revision);
    covers(["elicitation-enum-names", "elicitation-enum-single", "schema-elicit-request"], revision);
    const schema = { type: "object", properties: { field }, $defs: { a: { type: "string" } } };
    const error = await refusal((ctx) => ctx.elicit("?", schema as never), revision, elicitation);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain("elicitation/create is not valid");
    expect((error as Error).message).toContain("requestedSchema.properties.field");
  });

  test("a message is needed", async () => {
    covers(["elicitation-params", "schema-elicit-request"], revision);
    const error = await refusal((ctx) => ctx.elicit(undefined as never, form), revision, elicitation);
    expect((error as Error).message).toBe(
      `elicitation/create is not valid in ${revision}: params.message must be a string`,
    );
  });

  test("an accepted form is checked, with the schema's defaults and transforms", async () => {
    covers(["elicitation-server-handles-actions", "elicitation-validate-server"], revision);
    const schema = z.object({
      n: z.number(),
      s: z
        .string()
        .default("x")
        .transform((s) => s.toUpperCase()),
    });
    const answer = { action: "accept", content: { n: 1.5 } };
    const { outcome } = await exchange((ctx) => ctx.elicit("?", schema), revision, elicitation, answer);
    expect(outcome).toEqual({ value: { action: "accept", content: { n: 1.5, s: "X" } } });
  });

  test.each(["decline", "cancel"])("%s is an answer, and what comes with it is not looked at", async (action) => {
    covers(["elicitation-server-handles-actions", "elicitation-action-decline-cancel"], revision);
    covers(["elicitation-server-handles-actions-2026", "elicitation-not-assumed"], revision);
    const answer = { action, content: { confirm: "nonsense" } };
    const { outcome } = await exchange((ctx) => ctx.elicit("?", form), revision, elicitation, answer);
    expect(outcome).toEqual({ value: { action } });
  });

  test.each<[what: string, answer: Obj]>([
    ["another type", { action: "accept", content: { confirm: "yes" } }],
    ["nothing", { action: "accept" }],
    ["an unknown action", { action: "maybe" }],
    ["no action", { content: { confirm: true } }],
    ["content that is no object", { action: "accept", content: [true] }],
    ["null in a field", { action: "accept", content: { confirm: null } }],
    ["an object in a field", { action: "accept", content: { confirm: {} } }],
  ])("%s as an answer is an error to the handler", async (_, answer) => {
    covers(["elicitation-validate-server", "schema-elicit-result", "elicitation-content-values"], revision);
    covers("elicitation-content-values-2025-11", revision);
    const { outcome } = await exchange((ctx) => ctx.elicit("?", form), revision, elicitation, answer);
    expect(outcome.error).toBeInstanceOf(McpError);
    expect(outcome.error).toMatchObject({ code: "invalid_result" });
  });

  test("an unhandled bad answer is masked", async () => {
    const { server } = createAsking((ctx) => ctx.elicit("?", form));
    const peer = await openPeer(server, revision, { capabilities: elicitation });
    const bad = { action: "accept", content: { confirm: "secret" } };
    const result = peer.call("tools/call", { name: "blind" });
    if (revision !== modern) peer.answer(await peer.asked(), bad);
    const { requestState, inputRequests = {} } = await result;
    const inputResponses = Object.fromEntries(Object.keys(inputRequests as Obj).map((key) => [key, bad]));
    const last =
      requestState === undefined ? result : peer.call("tools/call", { name: "blind", requestState, inputResponses });
    expect(await last).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Internal error \(/) }],
    });
  });

  test("a client that did not declare elicitation is not asked", async () => {
    covers(["elicitation-needs-capability", "elicitation-mode-supported"], revision);
    for (const capabilities of [{}, { sampling: {} }]) {
      expect(await refusal((ctx) => ctx.elicit("?", form), revision, capabilities)).toMatchObject({
        code: "missing_capability",
        message: "elicitation/create needs the client capability elicitation.form",
      });
    }
  });

  test("which modes a client declared decides", async () => {
    covers(["elicitation-empty-is-form", "elicitation-mode-supported"], revision);
    for (const modes of [{}, { form: {} }, { form: {}, url: {} }, ...(since11 ? [] : [{ url: {} }])]) {
      const answer = { action: "decline" };
      const { outcome } = await exchange((ctx) => ctx.elicit("?", form), revision, { elicitation: modes }, answer);
      expect(outcome).toEqual({ value: answer });
    }
    if (!since11) return;
    const error = await refusal((ctx) => ctx.elicit("?", form), revision, { elicitation: { url: {} } });
    expect(error).toMatchObject({ code: "missing_capability" });
  });
});

describe.each(unable)("in %s", (revision) => {
  test("there is no elicitation, whatever the client declares", async () => {
    covers("schema-server-requests", revision);
    for (const ask of ["elicit", "elicitUrl"] as const) {
      const error = await refusal(
        (ctx) => (ask === "elicit" ? ctx.elicit("?", form) : ctx.elicitUrl("?", "https://example.com")),
        revision,
        { elicitation: { form: {}, url: {} } },
      );
      expect(error).toBeInstanceOf(McpError);
      expect(error).toMatchObject({
        code: "missing_capability",
        message: `${revision} has no elicitation/create`,
      });
    }
  });

  test("a tool that asks nevertheless tells the model why it failed", async () => {
    const { server } = createAsking((ctx) => ctx.elicit("?", form));
    const peer = await openPeer(server, revision);
    const text = `${revision} has no elicitation/create`;
    expect(await peer.call("tools/call", { name: "blind" })).toEqual({
      content: [{ type: "text", text }],
      isError: true,
    });
  });
});

const paged = reachable.filter((revision) => revision >= "2025-11-25");

describe.each(paged)("pages in %s", (revision) => {
  const url = "https://example.com/connect?t=1";
  const both = { elicitation: { form: {}, url: {} } };

  test.each(["accept", "decline", "cancel"])("%s, with an exact request", async (action) => {
    covers(["elicitation-url-params", "elicitation-params", "elicitation-server-handles-actions"], revision);
    covers(["elicitation-url-params-2026", "elicitation-server-handles-actions-2026"], revision);
    covers("elicitation-no-completion-2026", revision);
    const ids = new Set<unknown>();
    for (let i = 0; i < 2; i++) {
      const { request, outcome } = await exchange((ctx) => ctx.elicitUrl("Sign in", url), revision, both, { action });
      const { elicitationId, ...params } = request.params as Obj;
      expect(request.method).toBe("elicitation/create");
      expect(params).toEqual({ mode: "url", message: "Sign in", url });
      if (revision === modern) expect(elicitationId).toBeUndefined();
      else expect(elicitationId).toMatch(/^[0-9a-f-]{36}$/);
      ids.add(elicitationId);
      expect(outcome).toEqual({ value: { action } });
    }
    if (revision !== modern) expect(ids.size).toBe(2);
  });

  test.each([{}, { elicitation: {} }, { elicitation: { form: {} } }])(
    "are not asked for with %j declared",
    async (caps) => {
      covers(["elicitation-mode-supported", "elicitation-empty-is-form", "elicitation-needs-capability"], revision);
      const error = await refusal((ctx) => ctx.elicitUrl("Sign in", url), revision, caps);
      expect(error).toMatchObject({
        code: "missing_capability",
        message: "elicitation/create needs the client capability elicitation.url",
      });
    },
  );

  test.each(["not a url", "", "/connect", "javascript:alert(1)", "file:///etc/passwd"])(
    "%j is no page",
    async (bad) => {
      covers("elicitation-url-valid", revision);
      expect(await refusal((ctx) => ctx.elicitUrl("Sign in", bad), revision, both)).toBeInstanceOf(TypeError);
    },
  );

  test.each(["http://example.com/a", "http://10.0.0.1/", "http://localhost.example.com/", "http://127.0.0.1.nip.io/"])(
    "%s is refused: it is not https",
    async (bad) => {
      covers("elicitation-url-https", revision);
      const error = await refusal((ctx) => ctx.elicitUrl("Sign in", bad), revision, both);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toContain("A page to visit is https, or http on this machine");
    },
  );

  test.each(["http://localhost:3000/a", "http://127.0.0.1/", "http://[::1]:80/", "http://app.localhost/"])(
    "%s is on this machine",
    async (near) => {
      const answer = { action: "accept" };
      const { request } = await exchange((ctx) => ctx.elicitUrl("Sign in", near), revision, both, answer);
      expect(request.params?.url).toBe(near);
    },
  );
});

test("pages do not exist in 2025-06-18, whatever the client declares", async () => {
  const capabilities = { elicitation: { form: {}, url: {} } };
  const error = await refusal((ctx) => ctx.elicitUrl("Sign in", "https://example.com"), "2025-06-18", capabilities);
  expect(error).toMatchObject({
    code: "missing_capability",
    message: "elicitation/create needs the client capability elicitation.url",
  });
});

test.runIf(hasSession("2025-11-25"))(
  "a client that answers with another revision's leftovers is understood",
  async () => {
    const asking = createAsking((ctx) => ctx.elicit("?", form));
    const peer = await openAsking(asking, "2025-11-25", elicitation);
    peer.answer(await peer.asked(), { action: "accept", content: { confirm: true }, extra: 1, _meta: { a: 1 } });
    await peer.settle();
    expect(asking.outcome).toEqual({ value: { action: "accept", content: { confirm: true } } });
  },
);
