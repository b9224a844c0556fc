// What a prompt's handler returns and what becomes of it in each revision.
import { audio, createServer, embedded, image, McpError, resourceLink, revisions, type Server, text } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { type Message, type Obj, openPeer } from "./peer.ts";

function create(returned: unknown, errors: unknown[] = []): Server {
  const server = createServer({ name: "prompts", version: "1.0.0", onError: (error) => errors.push(error) });
  server.prompt("p", { description: "Described" }, () => {
    if (returned instanceof Error) throw returned;
    return returned as string;
  });
  return server;
}

/** Which requirement a refusal keeps beside the general ones. */
function proves(what: string): string[] {
  if (what.includes("image")) return ["prompt-image", "schema-image-content"];
  if (what.includes("audio")) return ["prompt-audio", "schema-audio-content"];
  if (what.includes("URI")) return ["prompt-embedded-uri", "schema-embedded-resource"];
  if (what.includes("embedded type")) return ["prompt-embedded-mime"];
  if (what.includes("embedded")) return ["prompt-embedded-content", "schema-embedded-resource"];
  if (what.includes("link")) return ["schema-resource-link"];
  if (what.includes("priority")) return ["schema-annotations"];
  return what.includes("role") ? ["schema-role"] : [];
}

const user = (content: Obj): Obj => ({ role: "user", content });
const hi = { type: "text", text: "Hi" };
const annotations = { audience: ["assistant"], priority: 0 } as const;

describe.each(revisions)("in %s", (revision) => {
  const get = async (returned: unknown): Promise<Obj> => {
    const peer = await openPeer(create(returned), revision);
    return peer.call("prompts/get", { name: "p" });
  };
  const fail = async (returned: unknown, errors: unknown[] = []): Promise<NonNullable<Message["error"]>> => {
    const peer = await openPeer(create(returned, errors), revision);
    return peer.fail("prompts/get", { name: "p" });
  };

  test.each<[what: string, returned: unknown, messages: Obj[]]>([
    ["text", "Hi", [user(hi)]],
    ["empty text", "", [user({ type: "text", text: "" })]],
    ["content", text("Hi"), [user(hi)]],
    ["a message", { role: "assistant", content: text("Hi") }, [{ role: "assistant", content: hi }]],
    ["a message of text", { role: "assistant", content: "Hi" }, [{ role: "assistant", content: hi }]],
    ["nothing at all", [], []],
    [
      "a list of all of them, in order",
      ["Hi", { role: "assistant", content: "Hi" }, text("Hi"), { role: "user", content: text("Hi") }],
      [user(hi), { role: "assistant", content: hi }, user(hi), user(hi)],
    ],
  ])("%s", async (_, returned, messages) => {
    covers(["prompt-get", "schema-get-prompt-result", "schema-text-content"], revision);
    expect(await get(returned)).toMatchObject({ description: "Described", messages });
  });

  test("a whole result goes before the prompt's own description", async () => {
    covers("schema-get-prompt-result", revision);
    const _meta = { "com.example/a": 1 };
    const result = await get({ description: "Other", messages: ["Hi"], _meta });
    expect(result).toMatchObject({ description: "Other", messages: [user(hi)], _meta });
    expect(await get({ messages: ["Hi"] })).not.toHaveProperty("description");
  });

  test.each<[what: string, returned: unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["an object of another kind", { answer: 42 }],
    ["an unknown role", { role: "system", content: "Hi" }],
    ["an unknown kind of content", { role: "user", content: { type: "video", data: "AQI=" } }],
    ["text content without text", { type: "text" }],
    ["several contents in one message", { role: "user", content: [hi] }],
    ["one bad message among good ones", ["Hi", { role: "user" }]],
    ["messages that are none", { messages: [5] }],
    ["image data that is not base64", { type: "image", data: "n@t base64", mimeType: "image/png" }],
    ["an image without a type", { type: "image", data: "AQI=" }],
    ["an image with a type that is none", { type: "image", data: "AQI=", mimeType: "png" }],
    ["audio data that is not base64", { type: "audio", data: "AQI", mimeType: "audio/wav" }],
    ["audio with a type that is none", { type: "audio", data: "AQI=", mimeType: "audio/" }],
    ["a link without a name", { type: "resource_link", uri: "a:x" }],
    ["an embedded resource without a URI", { type: "resource", resource: { text: "Hi" } }],
    ["an embedded resource with a relative URI", { type: "resource", resource: { uri: "x", text: "Hi" } }],
    ["an embedded resource without contents", { type: "resource", resource: { uri: "a:x" } }],
    ["an embedded resource with text and blob", { type: "resource", resource: { uri: "a:x", text: "", blob: "" } }],
    ["an embedded blob that is not base64", { type: "resource", resource: { uri: "a:x", blob: "!" } }],
    ["an embedded type that is none", { type: "resource", resource: { uri: "a:x", text: "", mimeType: "text" } }],
    ["too high a priority", { type: "text", text: "Hi", annotations: { priority: 2 } }],
  ])("%s is an internal error that tells nothing", async (what, returned) => {
    covers(["prompt-internal-error", "prompt-security-validation", "schema-get-prompt-result"], revision);
    covers(proves(what), revision);
    const errors: unknown[] = [];
    const { code, message } = await fail(returned, errors);
    expect(code).toBe(-32603);
    expect(message).toMatch(/^Internal error \([0-9a-f-]{36}\)$/);
    expect(errors).toHaveLength(1);
  });

  test("what a handler throws is masked, a McpError told", async () => {
    covers("prompt-internal-error", revision);
    const errors: unknown[] = [];
    const secret = new Error("password is hunter2");
    const { code, message, data } = await fail(secret, errors);
    expect(code).toBe(-32603);
    expect(message).toBe(`Internal error (${(data as { errorId: string }).errorId})`);
    expect(errors).toEqual([secret]);
    const told = await fail(new McpError("invalid_params", "No such city", { data: { city: "Atlantis" } }));
    expect(told).toEqual({ code: -32602, message: "No such city", data: { city: "Atlantis" } });
  });

  test("images", async () => {
    covers(["prompt-image", "schema-image-content", "prompt-content-annotations"], revision);
    const { messages } = await get(image({ data: Uint8Array.of(255, 0), format: "jpg", annotations }));
    expect(messages).toEqual([user({ type: "image", data: "/wA=", mimeType: "image/jpeg", annotations })]);
  });

  test("audio, or words in its place where there is none", async () => {
    covers(["prompt-audio", "schema-audio-content", "prompt-content-annotations"], revision);
    covers(["schema-content-union", "schema-content-union-2025-03"], revision);
    const { messages } = await get(audio({ data: Uint8Array.of(1, 2), annotations }));
    const instead = expect.stringMatching(/^\[audio\/wav, .*: this protocol revision has no audio/);
    expect(messages).toEqual([
      revision === "2024-11-05"
        ? user({ type: "text", text: instead, annotations })
        : user({ type: "audio", data: "AQI=", mimeType: "audio/wav", annotations }),
    ]);
  });

  test("links, or words in their place where there are none", async () => {
    covers(["prompt-resource-links", "schema-resource-link", "prompt-content-annotations"], revision);
    covers(["schema-content-union", "schema-content-union-2025-03", "schema-content-union-2025-06"], revision);
    const { messages } = await get(
      resourceLink({ uri: "a:x", name: "x", title: "X", description: "Of x", annotations }),
    );
    expect(messages).toEqual([
      revision < "2025-06-18"
        ? user({ type: "text", text: "X - a:x - Of x", annotations })
        : user({ type: "resource_link", uri: "a:x", name: "x", title: "X", description: "Of x", annotations }),
    ]);
  });

  test("embedded resources always have a MIME type", async () => {
    covers(["prompt-embedded-uri", "prompt-embedded-mime", "prompt-embedded-content"], revision);
    covers(["schema-embedded-resource", "prompt-content-annotations"], revision);
    const { messages } = await get([
      embedded({ uri: "a:1", text: "one", annotations }),
      embedded({ uri: "a:2", blob: Uint8Array.of(1, 2) }),
      embedded({ uri: "a:3", text: "# three", mimeType: "text/markdown" }),
      { role: "assistant", content: { type: "resource", resource: { uri: "a:4", text: "four" } } },
    ]);
    const resource = (uri: string, mimeType: string, contents: Obj): Obj => ({
      type: "resource",
      resource: { uri, mimeType, ...contents },
    });
    expect(messages).toEqual([
      user({ ...resource("a:1", "text/plain", { text: "one" }), annotations }),
      user(resource("a:2", "application/octet-stream", { blob: "AQI=" })),
      user(resource("a:3", "text/markdown", { text: "# three" })),
      { role: "assistant", content: resource("a:4", "text/plain", { text: "four" }) },
    ]);
  });

  test("annotations and `_meta` of content as the revision has them", async () => {
    covers(["prompt-content-annotations", "schema-meta-members", "schema-annotations"], revision);
    const dated = { ...annotations, lastModified: "2025-01-12T15:00:58Z" };
    const _meta = { "com.example/a": 1 };
    const { messages } = await get([
      { ...hi, annotations: dated, _meta },
      {
        type: "resource",
        resource: { uri: "a:x", mimeType: "text/plain", text: "", _meta },
        annotations: dated,
        _meta,
      },
    ]);
    const since6 = revision >= "2025-06-18";
    const dressed = { annotations: since6 ? dated : annotations, ...(since6 && { _meta }) };
    const contents = { uri: "a:x", mimeType: "text/plain", text: "", ...(since6 && { _meta }) };
    expect(messages).toEqual([user({ ...hi, ...dressed }), user({ type: "resource", resource: contents, ...dressed })]);
  });
});
