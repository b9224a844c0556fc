// Questions to a model.
import { describe, expect, test, vi } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import type { JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import type { SampleRequest, SampleResult } from "../protocol/model.ts";
import { type Revision, revisions } from "../protocol/revisions.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { createListener } from "./answer.ts";
import type { ClientOptions } from "./options.ts";

const able: readonly Revision[] = revisions.filter((revision) => revision >= "2025-11-25");
const older: readonly Revision[] = revisions.filter((revision) => revision < "2025-11-25");
const never = new AbortController().signal;

const text = { type: "text", text: "hi" };
const image = { type: "image", data: "AAAA", mimeType: "image/png" };
const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
const use = { type: "tool_use", id: "u1", name: "t", input: { a: 1 }, _meta: { cache: "k1" } };
const toolResult = { type: "tool_result", toolUseId: "u1", content: [text], _meta: { cache: "k2" } };
const question = { messages: [{ role: "user", content: text }], maxTokens: 10 };
const answer: SampleResult = { role: "assistant", content: text, model: "m" };

function listen(options: ClientOptions = {}) {
  const warnings: string[] = [];
  const onSample = vi.fn((_: SampleRequest): SampleResult | Promise<SampleResult> => answer);
  const listener = createListener(
    { onSample, onWarning: (problem) => warnings.push(problem), ...options },
    { heard: () => {} },
  );
  const ask = (params: JsonObject, revision: Revision) =>
    listener.answer({ method: "sampling/createMessage", params }, revision, never);
  return { ask, warnings, onSample };
}

/** Asks, and gives this as what the model said. */
const give = (given: unknown, revision: Revision) => listen({ onSample: () => given as never }).ask(question, revision);

async function refusal(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(error).toBeInstanceOf(McpError);
  return error as McpError;
}

describe.each(revisions)("sampling in %s", (revision) => {
  test("messages and options reach the handler as they are, and its answer the server", async () => {
    covers(["sampling-create", "sampling-max-tokens"], revision);
    const params = {
      messages: [
        { role: "user", content: text },
        { role: "assistant", content: image },
        { role: "user", content: { type: "text", text: "and now?" } },
      ],
      maxTokens: 77,
      systemPrompt: "Be brief.",
      temperature: 0.3,
      stopSequences: ["\n"],
      metadata: { provider: { deep: [1] } },
      modelPreferences: { hints: [{ name: "small" }], costPriority: 1 },
      includeContext: "none",
    };
    const { ask, onSample } = listen();
    onSample.mockReturnValueOnce({ ...answer, stopReason: "endTurn" });
    const result = await ask(structuredClone(params), revision);
    expect(onSample.mock.calls).toEqual([[params, { signal: never, revision }]]);
    expect(result).toEqual({ role: "assistant", content: text, model: "m", stopReason: "endTurn" });
  });

  test("what is about the message rather than the question is left out", async () => {
    const { ask, onSample } = listen();
    await ask({ ...question, _meta: { progressToken: 1 }, task: { ttl: 1 } }, revision);
    expect(onSample.mock.calls[0]?.[0]).toStrictEqual(question);
  });

  test("every question is the handler's to allow, and none remembers another", async () => {
    covers(["sampling-approval", "sampling-messages-not-retained"], revision);
    const { ask, onSample } = listen();
    const second = { messages: [{ role: "user", content: image }], maxTokens: 1 };
    await ask(question, revision);
    await ask(second, revision);
    expect(onSample.mock.calls.map(([request]) => request)).toEqual([question, second]);
  });

  test.each(["endTurn", "stopSequence", "maxTokens", "toolUse", "a reason of its own", ""])(
    "stopReason %j is let pass",
    async (stopReason) => {
      covers("sampling-stop-reason-open", revision);
      expect(await give({ ...answer, stopReason }, revision)).toEqual({ ...answer, stopReason });
    },
  );

  test("text and image are answers; audio from 2025-03-26 on, and told as text before", async () => {
    covers("sampling-content-audio", revision);
    expect(await give({ ...answer, content: image }, revision)).toEqual({ ...answer, content: image });
    const { content } = await give({ ...answer, content: audio }, revision);
    if (revision === "2024-11-05") expect(content).toMatchObject({ type: "text" });
    else expect(content).toEqual(audio);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "hi"],
    ["a list", [answer]],
    ["no role", { content: text, model: "m" }],
    ["another role", { ...answer, role: "system" }],
    ["no model", { role: "assistant", content: text }],
    ["a model that is no text", { ...answer, model: 1 }],
    ["no content", { role: "assistant", model: "m" }],
    ["content that is a text", { ...answer, content: "secret" }],
    ["content of no kind", { ...answer, content: { text: "secret" } }],
    ["content of an unknown kind", { ...answer, content: { type: "video", data: "secret" } }],
    ["text without text", { ...answer, content: { type: "text" } }],
    ["an image that is not base64", { ...answer, content: { ...image, data: "secret!" } }],
    ["an embedded resource", { ...answer, content: { type: "resource", resource: { uri: "a://b", text: "secret" } } }],
    ["a stopReason that is no text", { ...answer, stopReason: 1 }],
    ["a BigInt", { ...answer, content: { ...text, extra: 1n } }],
    ["a function", () => answer],
  ])("%s is no answer: the application is told, the server learns nothing", async (_, given) => {
    const { ask, warnings } = listen({ onSample: () => given as never });
    const error = await refusal(ask(question, revision));
    expect(error).toMatchObject({ code: "internal_error", rpcCode: -32603, data: undefined });
    expect(error.message).toBe("The client failed to answer sampling/createMessage");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^onSample failed to answer sampling\/createMessage: the answer/);
    expect(warnings[0]).not.toContain("secret");
  });

  test("a cycle is no answer", async () => {
    const given: { [key: string]: unknown } = { ...answer };
    given.content = { ...text, given };
    expect((await refusal(give(given, revision))).code).toBe("internal_error");
  });

  test("what a model library says beside the answer stays here", async () => {
    const given = { ...answer, id: "msg_1", usage: { account: "secret" }, stop_reason: "x" };
    const result = await give(given, revision);
    expect(result).toStrictEqual(answer);
  });

  test("the answer is of the revision's shape", async () => {
    const given = { ...answer, content: { ...text, _meta: { a: 1 } }, stopReason: undefined };
    const result = await give(given, revision);
    expect(wireOf(revision).check("CreateMessageResult", result)).toBeUndefined();
    expect("_meta" in (result.content as object)).toBe(revision >= "2025-06-18");
    expect("stopReason" in result).toBe(false);
  });

  test("a list of one block is an answer everywhere", async () => {
    const { content } = await give({ ...answer, content: [text] }, revision);
    expect(content).toEqual(revision >= "2025-11-25" ? [text] : text);
  });

  test("includeContext is honoured only where the application said so", async () => {
    const shy = listen();
    const open = listen({ sampleContext: true });
    for (const includeContext of ["none", "thisServer", "allServers"]) {
      await shy.ask({ ...question, includeContext }, revision);
      await open.ask({ ...question, includeContext }, revision);
      expect(shy.onSample.mock.lastCall?.[0].includeContext).toBe("none");
      expect(open.onSample.mock.lastCall?.[0].includeContext).toBe(includeContext);
    }
    await shy.ask(question, revision);
    expect("includeContext" in (shy.onSample.mock.lastCall?.[0] ?? {})).toBe(false);
  });
});

describe.each(older)("before tools, in %s", (revision) => {
  test("several blocks are no answer", async () => {
    covers("sampling-content-single", revision);
    expect((await refusal(give({ ...answer, content: [text, text] }, revision))).code).toBe("internal_error");
    expect((await refusal(give({ ...answer, content: [] }, revision))).code).toBe("internal_error");
  });

  test("tools are not of the revision: the handler does not see them", async () => {
    for (const sampleTools of [false, true]) {
      const { ask, onSample } = listen({ sampleTools });
      await ask({ ...question, tools: [], toolChoice: { mode: "auto" } }, revision);
      expect(onSample.mock.calls[0]?.[0]).toStrictEqual(question);
    }
  });
});

describe.each(able)("tools in %s", (revision) => {
  const tools = [{ name: "t", inputSchema: { type: "object" } }];

  test.each<[string, JsonObject]>([
    ["tools", { tools }],
    ["no tools in a list", { tools: [] }],
    ["toolChoice", { toolChoice: { mode: "none" } }],
    ["both", { tools, toolChoice: {} }],
  ])("undeclared, %s are refused", async (_, extra) => {
    covers("sampling-tools-undeclared-error", revision);
    const { ask, onSample, warnings } = listen();
    const error = await refusal(ask({ ...question, ...extra }, revision));
    expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602 });
    expect(error.message).toContain("sampling.tools");
    expect(onSample).not.toHaveBeenCalled();
    expect(warnings).toHaveLength(1);
  });

  test.each(["auto", "required", "none", undefined])(
    "declared, they reach the handler, with the mode %s",
    async (mode) => {
      covers("sampling-tool-choice", revision);
      const { ask, onSample } = listen({ sampleTools: true });
      const toolChoice = mode ? { mode } : {};
      await ask({ ...question, tools, toolChoice }, revision);
      expect(onSample.mock.calls[0]?.[0]).toStrictEqual({ ...question, tools, toolChoice });
    },
  );

  test("uses and results keep their _meta", async () => {
    covers("sampling-meta-preserved", revision);
    const { ask, onSample } = listen({ sampleTools: true });
    const messages = [
      { role: "assistant", content: [text, use] },
      { role: "user", content: [toolResult] },
    ];
    onSample.mockReturnValueOnce({ ...answer, content: [text, use], stopReason: "toolUse" });
    const result = await ask({ messages: structuredClone(messages), maxTokens: 1, tools }, revision);
    expect(onSample.mock.calls[0]?.[0].messages).toEqual(messages);
    expect(result).toEqual({ ...answer, content: [text, use], stopReason: "toolUse" });
  });

  test("content is one block or several", async () => {
    covers("sampling-content-array", revision);
    const { ask, onSample } = listen();
    for (const content of [text, [text], [text, image, audio], []]) {
      await ask({ messages: [{ role: "user", content }], maxTokens: 1 }, revision);
      expect(onSample.mock.lastCall?.[0].messages).toEqual([{ role: "user", content }]);
      expect((await give({ ...answer, content }, revision)).content).toEqual(content);
    }
  });

  test.each([
    ["a use without its result", [{ role: "assistant", content: use }]],
    [
      "a use and no result behind it",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: text },
      ],
    ],
    [
      "a result mixed with text",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: [toolResult, text] },
      ],
    ],
    [
      "a result of nothing",
      [
        { role: "assistant", content: text },
        { role: "user", content: [toolResult] },
      ],
    ],
  ])("%s is refused", async (_, messages) => {
    covers("sampling-invalid-tools", revision);
    const { ask, onSample, warnings } = listen({ sampleTools: true });
    const error = await refusal(ask({ messages, maxTokens: 1, tools }, revision));
    expect(error).toMatchObject({ code: "invalid_params", rpcCode: -32602 });
    expect(error.message).toMatch(/^params\.messages/);
    expect(onSample).not.toHaveBeenCalled();
    expect(warnings).toHaveLength(1);
  });
});
