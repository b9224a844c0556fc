// What the checks of the revisions say, and that no value makes them throw or dawdle.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject } from "../../jsonrpc/message.ts";
import { toFixed } from "../../util/fixed.ts";
import { type Revision, revisions } from "../revisions.ts";
import { addAsking } from "./asking.ts";
import { sheetOf, wireOf } from "./wire.ts";

addAsking();

const newest = wireOf("2026-07-28");
const oldest = wireOf("2024-11-05");
const protocol = "io.modelcontextprotocol";
const _meta = { [`${protocol}/protocolVersion`]: "2026-07-28", [`${protocol}/clientCapabilities`]: {} };

describe("check", () => {
  it("says nothing about what is right", () => {
    expect(newest.check("CallToolParams", { _meta, name: "x", arguments: { a: 1 } }, "params")).toBeUndefined();
    expect(oldest.check("ListToolsParams", {}, "params")).toBeUndefined();
  });

  it("looks at a `_meta` once only if it cannot change", () => {
    const params = (meta: object) => newest.check("CallToolParams", { _meta: meta, name: "x" }, "params");
    const problem = `params._meta["${protocol}/protocolVersion"] must be a string`;
    const open: { [key: string]: unknown } = { ..._meta };
    const fixed = toFixed(open);
    for (const meta of [fixed, open, fixed, open]) expect(params(meta)).toBeUndefined();
    open[`${protocol}/protocolVersion`] = 5;
    expect(params(open)).toBe(problem);
    expect(params(toFixed(open))).toBe(problem);
    expect(params(fixed)).toBeUndefined();
    expect(newest.fit("CallToolParams", { _meta: fixed, name: "x" })._meta).toBe(fixed);
  });

  it("finds what is wrong in whatever order the members come", () => {
    const params = { name: "x", arguments: {}, _meta };
    const orders = [
      params,
      { _meta, arguments: {}, name: "x" },
      { later: "x", name: "x", _meta },
      { _meta, later: "x", name: "x" },
      { name: "x", ...Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, i])), arguments: {}, _meta },
    ];
    for (const value of [...orders, ...orders].flatMap((order) => [params, order])) {
      expect(newest.check("CallToolParams", value, "params")).toBeUndefined();
      for (const [key, problem] of [
        ["name", "params.name must be a string"],
        ["_meta", "params._meta must be an object"],
      ] as const) {
        expect(newest.check("CallToolParams", { ...value, [key]: 5 }, "params")).toBe(problem);
        const { [key]: _, ...without } = value as { [key: string]: unknown };
        expect(newest.check("CallToolParams", without, "params")).toBe(problem);
      }
    }
  });

  it("leaves objects open", () => {
    expect(oldest.check("CallToolParams", { name: "x", later: 1, title: 5 }, "params")).toBeUndefined();
  });

  it.each([
    ["CallToolParams", { name: 5 }, "params.name must be a string"],
    ["CallToolParams", {}, "params.name must be a string"],
    ["CallToolParams", { name: "x", arguments: [] }, "params.arguments must be an object"],
    ["CallToolParams", null, "params must be an object"],
    [
      "CallToolParams",
      { name: "x", _meta: { progressToken: 1.5 } },
      "params._meta.progressToken must be a string or an integer",
    ],
    ["GetPromptParams", { name: "x", arguments: { "a b": 5 } }, 'params.arguments["a b"] must be a string'],
    [
      "SetLevelParams",
      { level: "loud" },
      'params.level must be "debug" or "info" or "notice" or "warning" or "error" or "critical" or "alert" or "emergency"',
    ],
    ["CompleteParams", { ref: { type: "ref/tool" } }, 'params.ref.type must be "ref/prompt" or "ref/resource"'],
    ["ReadResourceParams", { uri: "no uri" }, "params.uri must be an absolute URI"],
    ["CreateMessageParams", { messages: [], maxTokens: 1.5 }, "params.maxTokens must be an integer"],
  ])("finds what is wrong with %s %j", (name, value, problem) => {
    expect(oldest.check(name, value, "params")).toBe(problem);
  });

  it.each([
    [[{ type: "image", data: "" }], "content[0].mimeType must be a string"],
    [
      [
        { type: "text", text: "" },
        { type: "image", data: "!", mimeType: "" },
      ],
      "content[1].data must be base64",
    ],
    [[{ type: "audio", data: "", mimeType: "" }], 'content[0].type must be "text" or "image" or "resource"'],
    [
      [{ type: "resource", resource: { uri: "a:b" } }],
      "content[0].resource must be TextResourceContents or BlobResourceContents",
    ],
    [[{ type: "resource", resource: { uri: "a:b", blob: 1 } }], "content[0].resource.blob must be base64"],
    [
      [{ type: "text", text: "", annotations: { priority: 2 } }],
      "content[0].annotations.priority must be a number from 0 to 1",
    ],
    ["text", "content must be an array"],
  ])("is about the kind of content that was meant: %j", (content, problem) => {
    expect(oldest.check("CallToolResult", { content })).toBe(problem);
  });

  it("speaks of one block or several", () => {
    const at = wireOf("2025-11-25");
    const message = (content: unknown) => at.check("SamplingMessage", { role: "user", content });
    expect(message([{ type: "text", text: "" }])).toBeUndefined();
    expect(message([{ type: "text" }])).toBe("content[0].text must be a string");
    expect(message({ type: "tool_use", id: "1", name: "x", input: [] })).toBe("content.input must be an object");
    expect(message(5)).toBe("content must be an array");
  });

  it("tells an answer, a question and a result apart", () => {
    const ask = (params: unknown) => newest.check("InputRequest", { method: "elicitation/create", params });
    expect(ask({ message: "", mode: "url", url: "a:b" })).toBeUndefined();
    expect(ask({ message: "", mode: "url" })).toBe("params.url must be an absolute URI");
    expect(ask({ message: "", mode: "voice" })).toBe('params.mode must be "form" or "url"');
    expect(newest.check("InputResponse", {})).toBe("must be CreateMessageResult or ListRootsResult or ElicitResult");
    expect(newest.check("CallToolResult", { resultType: "input_required", requestState: "s" })).toBeUndefined();
    expect(newest.check("CallToolResult", { resultType: "task" }, "result")).toBe(
      'result.resultType must be "complete" or "input_required"',
    );
  });

  it("quotes and cuts the key of a peer", () => {
    const problem = oldest.check("GetPromptParams", { name: "x", arguments: { ["k ".repeat(1000)]: 5 } }, "params");
    expect(problem?.length).toBeLessThan(120);
  });

  it("counts where the revision does", () => {
    const completion = { values: new Array(101).fill("") };
    const result = { completion, resultType: "complete" };
    expect(newest.check("CompleteResult", result)).toBe("completion.values must have at most 100 items");
    expect(oldest.check("CompleteResult", result)).toBeUndefined();
  });

  it("says that a revision lacks a shape", () => {
    expect(oldest.has("DiscoverParams")).toBe(false);
    expect(newest.has("InitializeParams")).toBe(false);
    expect(oldest.has("constructor")).toBe(false);
    expect(oldest.check("DiscoverParams", {}, "params")).toBe("params is not part of revision 2024-11-05");
  });

  it("takes undefined for absent, and numbers that JSON cannot write for wrong", () => {
    expect(oldest.check("CallToolParams", { name: "x", arguments: undefined })).toBeUndefined();
    expect(oldest.check("ProgressParams", { progressToken: 1, progress: Number.NaN })).toBe(
      "progress must be a number",
    );
    expect(oldest.check("ProgressParams", { progressToken: 2 ** 60, progress: 1 })).toBe(
      "progressToken must be a string or an integer",
    );
  });
});

/** All expressions that are reached from the method shapes of a revision. */
function reach(revision: Revision): readonly string[] {
  const { shapes, typeOf } = sheetOf(revision);
  const found = new Set<string>();
  const visit = (expression: string): void => {
    if (found.has(expression)) return;
    found.add(expression);
    const [, forms, inner] = typeOf(expression);
    if (inner) visit(inner);
    for (const [name, parts] of forms) for (const each of [name, ...parts.map(([, of]) => of)]) visit(each);
  };
  const stems = ["CallTool", "ListTools", "CreateMessage", "Elicit", "Initialize", "Discover", "GetPrompt", "Complete"];
  for (const stem of stems) for (const end of ["Params", "Result"]) if (shapes.has(stem + end)) visit(stem + end);
  return [...found];
}

describe.each(revisions)("%s", (revision) => {
  const wire = wireOf(revision);
  const names = reach(revision).filter((name) => wire.has(name));

  it("has no expression that names nothing", () => {
    expect(names.length).toBeGreaterThan(25);
    // What is neither leaf nor shape would be a literal without its quote, and the message would tell.
    for (const expression of reach(revision).filter((each) => !each.includes("'"))) {
      const [check, forms] = sheetOf(revision).typeOf(expression);
      if (forms.length === 0) expect(check(undefined), expression).not.toMatch(/"[^"]*[A-Z{[]/);
    }
  });

  it("throws on no JSON value and changes none", () => {
    const odd = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "toString", "type", "content", "_meta", "messages", "properties"),
      fc.string(),
    );
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, 0, "text", "audio", "resource_link", "tool_use", "tool_result", "string"),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.array(fc.tuple(odd, tie("any")), { maxLength: 4 }).map((list) => JSON.parse(toText(list))),
      ),
    })).any;
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.oneof(value, fc.jsonValue()), (name, given) => {
        const before = JSON.stringify(given);
        wire.check(name, given);
        const fitted = wire.fit(name, given);
        expect(JSON.stringify(given)).toBe(before);
        if (isObject(fitted)) expect(Object.getPrototypeOf(fitted)).toBe(Object.prototype);
        if (wire.check(name, given) === undefined && wire.fit(name, fitted) !== fitted) throw new Error("fits twice");
      }),
      { numRuns: 500 },
    );
  });
});

/** An object as text, so that `__proto__` is a member like any other. */
function toText(members: readonly (readonly [string, unknown])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`;
}
