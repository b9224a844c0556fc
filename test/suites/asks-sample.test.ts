// Asking the client's model and for roots: the request on the wire, the answer, the capability.
import { McpError, type Revision, type SampleRequest } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { createAsking, exchange, refusal } from "./asking.ts";
import { modern, type Obj, openPeer, Peer, reachable } from "./peer.ts";

const sampling = { sampling: {} };
const tooled = { sampling: { tools: {} } };
const text = { type: "text", text: "Hi" };
const image = { type: "image", data: "AQI=", mimeType: "image/png" };
const audio = { type: "audio", data: "AQI=", mimeType: "audio/wav" };
const answer = { role: "assistant", content: { type: "text", text: "Ho" }, model: "m-1" };
const simple: SampleRequest = { messages: [{ role: "user", content: text }], maxTokens: 10 };
const tool = { name: "t", inputSchema: { type: "object" } };

const sample = (request: unknown, revision: Revision, capabilities: Obj = sampling, result: Obj = answer) =>
  exchange((ctx) => ctx.sample(request as SampleRequest), revision, capabilities, result);
const refused = (request: unknown, revision: Revision, capabilities: Obj = sampling) =>
  refusal((ctx) => ctx.sample(request as SampleRequest), revision, capabilities);

describe.each(reachable)("sampling in %s", (revision) => {
  const since11 = revision >= "2025-11-25";

  test("the request is exact, and metadata and preferences pass through", async () => {
    covers(["schema-create-message-request", "schema-model-hint", "sampling-metadata"], revision);
    covers(["sampling-priorities-range", "sampling-content-single"], revision);
    const request: SampleRequest = {
      messages: [
        { role: "user", content: text },
        { role: "assistant", content: image },
      ],
      maxTokens: 100,
      systemPrompt: "Be brief",
      temperature: 0.5,
      stopSequences: ["END"],
      includeContext: "none",
      metadata: { provider: { deep: [1, null] } },
      modelPreferences: {
        hints: [{ name: "sonnet" }, {}],
        costPriority: 0,
        speedPriority: 0.25,
        intelligencePriority: 1,
      },
    };
    const { request: sent } = await sample(request, revision);
    expect(sent).toEqual({
      jsonrpc: "2.0",
      id: expect.anything(),
      method: "sampling/createMessage",
      params: request,
    });
  });

  test("what is not given is not sent", async () => {
    covers("sampling-context-avoided", revision);
    const { request } = await sample(simple, revision);
    expect(request.params).toEqual({ messages: [{ role: "user", content: text }], maxTokens: 10 });
  });

  test("a hint may have other keys", async () => {
    covers("schema-model-hint", revision);
    const hints = [{ name: "a", family: "b" }, { vendor: "c" }];
    const { server } = createAsking((ctx) => ctx.sample({ ...simple, modelPreferences: { hints } }));
    // By hand: the harness allows only the keys that the schema names.
    const peer = new Peer(server, revision, { capabilities: sampling });
    await peer.open();
    if (revision === modern) {
      const { inputRequests } = await peer.call("tools/call", { name: "ask" });
      expect(inputRequests).toMatchObject({ "ask-1": { params: { modelPreferences: { hints } } } });
    } else {
      peer.start("tools/call", { name: "ask" });
      expect((await peer.asked()).params?.modelPreferences).toEqual({ hints });
    }
    peer.raw.close();
  });

  test("the handler gets the answer, whatever the model and the reason to stop", async () => {
    covers(["sampling-stop-reason-open", "sampling-preferences-advisory", "sampling-fewer-tokens"], revision);
    const result = { ...answer, content: image, stopReason: "tired" };
    expect((await sample(simple, revision, sampling, result)).outcome).toEqual({ value: result });
  });

  test.each<[what: string, result: Obj]>([
    ["no model", { role: "assistant", content: text }],
    ["no role", { content: text, model: "m" }],
    ["no content", { role: "assistant", model: "m" }],
    ["an unknown role", { ...answer, role: "system" }],
    ["content of an unknown kind", { ...answer, content: { type: "video" } }],
    ["an embedded resource", { ...answer, content: { type: "resource", resource: { uri: "a:x", text: "" } } }],
    ["image data that is not base64", { ...answer, content: { ...image, data: "!" } }],
    ["a reason that is no string", { ...answer, stopReason: 5 }],
    ["text that is no string", { ...answer, content: { type: "text", text: 5 } }],
  ])("an answer with %s is an error to the handler", async (_, result) => {
    covers(
      ["schema-create-message-result", "sampling-validate-content", "schema-role", "schema-blob-base64"],
      revision,
    );
    const { outcome } = await sample(simple, revision, sampling, result);
    expect(outcome.error).toBeInstanceOf(McpError);
    expect(outcome.error).toMatchObject({ code: "invalid_result" });
  });

  test("audio and several contents are answered where the revision has them", async () => {
    covers(["sampling-content-audio", "sampling-content-array", "sampling-content-single"], revision);
    const heard = await sample(simple, revision, sampling, { ...answer, content: audio });
    if (revision === "2024-11-05") expect(heard.outcome.error).toMatchObject({ code: "invalid_result" });
    else expect(heard.outcome.value).toMatchObject({ content: audio });
    const several = await sample(simple, revision, sampling, { ...answer, content: [text, image] });
    if (since11) expect(several.outcome.value).toMatchObject({ content: [text, image] });
    else expect(several.outcome.error).toMatchObject({ code: "invalid_result" });
  });

  test("audio and several contents are asked as the revision can carry them", async () => {
    covers(["sampling-content-audio", "sampling-content-array", "sampling-content-single"], revision);
    const messages = [
      { role: "user", content: audio },
      { role: "user", content: [text, image] },
    ];
    const { request } = await sample({ messages, maxTokens: 1 }, revision);
    const words = {
      type: "text",
      text: expect.stringMatching(/^\[audio\/wav, .*: this protocol revision/),
    };
    const first = { role: "user", content: revision === "2024-11-05" ? words : audio };
    const split = [
      { role: "user", content: text },
      { role: "user", content: image },
    ];
    expect(request.params?.messages).toEqual(since11 ? messages : [first, ...split]);
  });

  test.each<[what: string, request: Obj]>([
    ["no messages", { maxTokens: 1 }],
    ["no maxTokens", { messages: [] }],
    ["half a token", { ...simple, maxTokens: 0.5 }],
    ["an unknown role", { messages: [{ role: "system", content: text }], maxTokens: 1 }],
    ["a message without content", { messages: [{ role: "user" }], maxTokens: 1 }],
    [
      "an embedded resource",
      { messages: [{ role: "user", content: { type: "resource", resource: { uri: "a:x", text: "" } } }], maxTokens: 1 },
    ],
    ["image data that is not base64", { messages: [{ role: "user", content: { ...image, data: "!" } }], maxTokens: 1 }],
    ["a temperature in words", { ...simple, temperature: "hot" }],
    ["numbers to stop at", { ...simple, stopSequences: [1] }],
    ["an unknown context", { ...simple, includeContext: "everything" }],
    ["too high a priority", { ...simple, modelPreferences: { costPriority: 1.1 } }],
    ["too low a priority", { ...simple, modelPreferences: { speedPriority: -0.1 } }],
    ["no number for a priority", { ...simple, modelPreferences: { intelligencePriority: "high" } }],
    ["a hint that is no object", { ...simple, modelPreferences: { hints: ["sonnet"] } }],
    ["metadata that is no object", { ...simple, metadata: "x" }],
  ])("%s is refused before anything is sent", async (_, request) => {
    covers(["schema-create-message-request", "sampling-priorities-range", "sampling-validate-content"], revision);
    covers(["schema-role", "sampling-content-single", "sampling-metadata", "sampling-include-context"], revision);
    const error = await refused(request, revision);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(`sampling/createMessage is not valid in ${revision}: params.`);
  });

  test("a client that did not declare sampling is not asked", async () => {
    covers("sampling-needs-capability", revision);
    for (const capabilities of [{}, { roots: {} }]) {
      expect(await refused(simple, revision, capabilities)).toMatchObject({
        code: "missing_capability",
        message: "sampling/createMessage needs the client capability sampling",
      });
    }
  });

  test.each(["thisServer", "allServers"])("the context of %s needs a client that offers it", async (includeContext) => {
    covers("sampling-context-undeclared", revision);
    const request = { ...simple, includeContext };
    const offering = since11 ? { sampling: { context: {} } } : sampling;
    expect((await sample(request, revision, offering)).request.params).toEqual(request);
    if (!since11) return;
    expect(await refused(request, revision)).toMatchObject({
      code: "missing_capability",
      message: "sampling/createMessage needs the client capability sampling.context",
    });
  });

  test("tools need a client and a revision that know them", async () => {
    covers(["sampling-tools-undeclared"], revision);
    const requests = [
      { ...simple, tools: [tool] },
      { ...simple, toolChoice: { mode: "auto" } },
    ];
    for (const request of requests) {
      for (const capabilities of since11 ? [sampling] : [sampling, tooled]) {
        expect(await refused(request, revision, capabilities)).toMatchObject({
          code: "missing_capability",
          message: "sampling/createMessage needs the client capability sampling.tools",
        });
      }
    }
  });
});

describe.each(reachable.filter((revision) => revision >= "2025-11-25"))("tools in sampling of %s", (revision) => {
  const use = { type: "tool_use", id: "u1", name: "t", input: { a: 1 }, _meta: { k: 1 } };
  const used = { type: "tool_result", toolUseId: "u1", content: [text], structuredContent: { b: 2 }, isError: false };
  const dialogue = (result: Obj): Obj => ({
    messages: [
      { role: "user", content: text },
      { role: "assistant", content: [use] },
      { role: "user", content: [result] },
    ],
    maxTokens: 10,
    tools: [tool],
    toolChoice: { mode: "required" },
  });

  test("the request and the answer are exact", async () => {
    covers(["schema-tool-result", "schema-tool-use", "sampling-content-array"], revision);
    const request = dialogue(used);
    const result = { ...answer, content: [use, text], stopReason: "toolUse" };
    const { request: sent, outcome } = await sample(request, revision, tooled, result);
    expect(sent.params).toEqual(request);
    expect(outcome).toEqual({ value: result });
  });

  test.each<[what: string, result: Obj]>([
    ["no toolUseId", { type: "tool_result", content: [] }],
    ["no content", { type: "tool_result", toolUseId: "u1" }],
    ["content that is no list", { ...used, content: text }],
    ["an error that is no boolean", { ...used, isError: "yes" }],
  ])("a tool result with %s is refused", async (_, result) => {
    covers("schema-tool-result", revision);
    expect(await refused(dialogue(result), revision, tooled)).toBeInstanceOf(TypeError);
  });

  test("structured content of another kind is left out where the revision does not have it", async () => {
    const request = dialogue({ ...used, structuredContent: [1] });
    const { request: sent } = await sample(request, revision, tooled);
    const { structuredContent: _, ...rest } = used;
    expect(sent.params).toEqual(revision === modern ? request : dialogue(rest));
  });

  test.each<[what: string, id: string, messages: Obj[], problem: string]>([
    [
      "text beside a result",
      "sampling-tool-result-alone",
      [
        { role: "assistant", content: [use] },
        { role: "user", content: [used, text] },
      ],
      "messages[1] holds other content beside its tool results",
    ],
    [
      "no result",
      "sampling-tool-balance",
      [
        { role: "assistant", content: [use, { ...use, id: "u2" }] },
        { role: "user", content: [used] },
      ],
      'messages[1] lacks the result of tool use "u2"',
    ],
    [
      "a result of nothing",
      "sampling-tool-result-matches",
      [{ role: "user", content: [used] }],
      'messages[0] has a result of tool use "u1", which the message before has not',
    ],
  ])("messages with %s are refused before anything is sent", async (_, id, messages, problem) => {
    covers(id, revision);
    const error = await refused({ messages, maxTokens: 1, tools: [tool] }, revision, tooled);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toBe(`sampling/createMessage: ${problem}`);
  });

  test.each<[what: string, block: Obj]>([
    ["no id", { type: "tool_use", name: "t", input: {} }],
    ["a list as input", { ...use, input: [1] }],
    ["no name", { type: "tool_use", id: "u1", input: {} }],
  ])("a tool use with %s is an error to the handler", async (_, block) => {
    covers("schema-tool-use", revision);
    const { outcome } = await sample(simple, revision, tooled, { ...answer, content: block });
    expect(outcome.error).toMatchObject({ code: "invalid_result" });
  });
});

describe.each(reachable)("roots in %s", (revision) => {
  const roots = { roots: { listChanged: true } };
  const list = (result: Obj) => exchange((ctx) => ctx.roots(), revision, roots, result);

  test("are asked for without params, and given as they come", async () => {
    covers(["schema-list-roots-result", "schema-meta-members"], revision);
    const given = [{ uri: "file:///home/ada", name: "home", _meta: { a: 1 } }, { uri: "file:///srv" }];
    const { request, outcome } = await list({ roots: given });
    expect(request).toEqual({ jsonrpc: "2.0", id: expect.anything(), method: "roots/list" });
    expect(outcome).toEqual({ value: given });
    expect((await list({ roots: [] })).outcome).toEqual({ value: [] });
  });

  test.each<[what: string, result: Obj]>([
    ["none", {}],
    ["no list", { roots: {} }],
    ["one without a URI", { roots: [{ name: "home" }] }],
    ["one with a relative URI", { roots: [{ uri: "/home" }] }],
    ["one with a name that is no string", { roots: [{ uri: "file:///a", name: 5 }] }],
    ["one that is no file", { roots: [{ uri: "file:///a" }, { uri: "http://example.com" }] }],
  ])("%s as an answer is an error to the handler", async (_, result) => {
    covers(["schema-list-roots-result", "root-file-uri", "root-unavailable"], revision);
    const { outcome } = await list(result);
    expect(outcome.error).toBeInstanceOf(McpError);
    expect(outcome.error).toMatchObject({ code: "invalid_result" });
  });

  test("are not asked of a client that did not declare them", async () => {
    covers("root-check-capability", revision);
    expect(await refusal((ctx) => ctx.roots(), revision, { sampling: {} })).toMatchObject({
      code: "missing_capability",
      message: "roots/list needs the client capability roots",
    });
  });

  test.skipIf(revision === modern)("that change during a call do no harm", async () => {
    covers(["root-handle-changes"], revision);
    const { server, outcome } = createAsking((ctx) => ctx.roots());
    const peer = await openPeer(server, revision, { capabilities: roots });
    peer.start("tools/call", { name: "ask" });
    const request = await peer.asked();
    peer.notify("notifications/roots/list_changed");
    peer.answer(request, { roots: [{ uri: "file:///new" }] });
    await peer.settle();
    expect(outcome).toEqual({ value: [{ uri: "file:///new" }] });
  });
});
