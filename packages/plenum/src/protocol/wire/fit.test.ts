// What a value becomes on its way to a peer of another revision.
import { describe, expect, it } from "vitest";
import { addAsking } from "./asking.ts";
import { addRetelling } from "./retell.ts";
import { wireOf } from "./wire.ts";

addAsking();
addRetelling();

const v2024 = wireOf("2024-11-05");
const v2025March = wireOf("2025-03-26");
const v2025June = wireOf("2025-06-18");
const v2025November = wireOf("2025-11-25");
const v2026 = wireOf("2026-07-28");

const audio = {
  type: "audio",
  data: "aGVsbG8=",
  mimeType: "audio/wav",
  annotations: { priority: 1, lastModified: "x" },
};
const link = { type: "resource_link", uri: "file:///a", name: "a", title: "The A", description: "first" };

describe("fit", () => {
  it("gives the same reference back when nothing changes", () => {
    const result = { content: [{ type: "text", text: "x" }], mine: 1 };
    expect(v2024.fit("CallToolResult", result)).toBe(result);
    const ask = { messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 1 };
    expect(v2024.fit("CreateMessageParams", ask)).toBe(ask);
    const several = { ...ask, messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] };
    expect(v2025November.fit("CreateMessageParams", several)).toBe(several);
    const tools = { tools: [{ name: "x", inputSchema: { type: "object", $schema: "s", properties: {} } }] };
    expect(v2024.fit("ListToolsResult", tools)).toBe(tools);
  });

  it("drops what only other revisions define and keeps what none does", () => {
    const tool = {
      name: "x",
      title: "X",
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [],
      execution: {},
      _meta: {},
      "x-own": 1,
    };
    const keys = (wire: typeof v2024) => Object.keys(wire.fit("Tool", tool)).sort();
    expect(keys(v2024)).toEqual(["inputSchema", "name", "x-own"]);
    expect(keys(v2025March)).toEqual(["annotations", "inputSchema", "name", "x-own"]);
    expect(keys(v2025June)).toEqual(["_meta", "annotations", "inputSchema", "name", "outputSchema", "title", "x-own"]);
    expect(keys(v2025November)).toEqual(Object.keys(tool).sort());
    expect(keys(v2026)).toEqual(
      Object.keys(tool)
        .filter((key) => key !== "execution")
        .sort(),
    );
  });

  it("reaches into capabilities and into _meta", () => {
    const capabilities = { sampling: { tools: {} }, elicitation: { form: {} }, extensions: {}, mine: {} };
    const params = { protocolVersion: "", clientInfo: { name: "", version: "", title: "" }, capabilities };
    expect(v2025June.fit("InitializeParams", params).capabilities).toEqual({ sampling: {}, elicitation: {}, mine: {} });
    expect(v2024.fit("InitializeParams", params)).toEqual({
      protocolVersion: "",
      clientInfo: { name: "", version: "" },
      capabilities: { sampling: {}, mine: {} },
    });
    const _meta = { progressToken: 1, "io.modelcontextprotocol/protocolVersion": "", mine: 1 };
    expect(v2025November.fit("ListToolsParams", { _meta })).toEqual({ _meta: { progressToken: 1, mine: 1 } });
  });

  it("tells of content that the revision lacks", () => {
    const text = "[audio/wav, 5 bytes: this protocol revision has no audio]";
    expect(v2024.fit("CallToolResult", { content: [audio, link] })).toEqual({
      content: [
        { type: "text", text, annotations: { priority: 1 } },
        { type: "text", text: "The A - file:///a - first" },
      ],
    });
    expect(v2025March.fit("CallToolResult", { content: [audio, link] }).content[0]).toMatchObject({ type: "audio" });
    const message = { role: "user", content: { ...link, title: undefined, description: undefined } };
    expect(v2025March.fit("PromptMessage", message).content).toEqual({ type: "text", text: "a - file:///a" });
    const odd = { content: [{ type: "hologram" }] };
    expect(v2024.fit("CallToolResult", odd)).toBe(odd);
  });

  it("gives each block of a sampling message a message", () => {
    const use = { type: "tool_use", id: "1", name: "x", input: { a: 1 } };
    const result = { type: "tool_result", toolUseId: "1", content: [{ type: "text", text: "done" }] };
    const params = {
      messages: [
        { role: "user", content: [audio, result] },
        { role: "assistant", content: use },
      ],
      tools: [],
    };
    expect(v2025June.fit("CreateMessageParams", params)).toEqual({
      messages: [
        { role: "user", content: audio },
        { role: "user", content: { type: "text", text: JSON.stringify(result) } },
        { role: "assistant", content: { type: "text", text: JSON.stringify(use) } },
      ],
    });
  });

  it("leaves a result with several blocks to the check", () => {
    const made = { role: "assistant", model: "m", content: [{ type: "text", text: "a" }] };
    expect(v2025June.fit("CreateMessageResult", made)).toBe(made);
    expect(v2025June.check("CreateMessageResult", made)).toBe("content must be an object");
  });

  it("leaves out structure that is no object before 2026-07-28", () => {
    const result = { content: [], structuredContent: [1] };
    expect(v2025November.fit("CallToolResult", result)).toEqual({ content: [] });
    expect(v2026.fit("CallToolResult", result)).toBe(result);
    const wrong = { content: [], structuredContent: {} };
    expect(v2025November.fit("CallToolResult", wrong)).toBe(wrong);
    const tool = {
      name: "x",
      inputSchema: { type: "object", properties: { a: true, b: false } },
      outputSchema: { type: "array" },
    };
    expect(v2025November.fit("Tool", tool)).toEqual({
      name: "x",
      inputSchema: { type: "object", properties: { a: {}, b: { not: {} } } },
    });
    expect(v2026.fit("Tool", tool)).toBe(tool);
  });

  it("does not hide what is wrong everywhere", () => {
    const tool = { name: "x", inputSchema: { type: "object" }, outputSchema: 5, title: 5 };
    expect(v2025November.fit("Tool", tool)).toBe(tool);
    expect(v2025November.check("Tool", tool)).toBe("title must be a string");
  });

  it("turns titled choices into an enum with names", () => {
    const field = { type: "string", title: "T", oneOf: [{ const: "a", title: "A" }], default: "a" };
    const params = { message: "", requestedSchema: { type: "object", properties: { f: field } }, mode: "form" };
    expect(v2025June.fit("ElicitParams", params)).toEqual({
      message: "",
      requestedSchema: {
        type: "object",
        properties: { f: { type: "string", title: "T", enum: ["a"], enumNames: ["A"] } },
      },
    });
    expect(v2025November.fit("ElicitParams", params)).toBe(params);
  });

  it("keeps members named like parts of Object", () => {
    const given = JSON.parse('{"content":[],"structuredContent":{},"__proto__":{"a":1},"constructor":2}');
    const fitted = v2024.fit("CallToolResult", given);
    expect(JSON.stringify(fitted)).toBe('{"content":[],"__proto__":{"a":1},"constructor":2}');
    expect(Object.getPrototypeOf(fitted)).toBe(Object.prototype);
  });

  it("leaves a shape alone that the revision does not have", () => {
    const value = { a: 1 };
    expect(v2024.fit("DiscoverResult", value)).toBe(value);
  });
});
