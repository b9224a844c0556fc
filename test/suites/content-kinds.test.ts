// The kinds of content in each revision: what is carried as it is, what becomes readable text where a revision lacks
// the kind, what annotations and `_meta` survive, and what is refused.
import { audio, createServer, embedded, image, resourceLink, revisions, type Server, text } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer } from "./peer.ts";
import { contentOf, createQuietServer } from "./tool-peer.ts";

function serverOf(give: () => unknown): Server {
  const server = createServer({ name: "s", version: "1" });
  server.tool("give", {}, give);
  server.prompt("give", {}, () => [give()].flat() as never);
  return server;
}

/** The content of the tool and of the prompt, which have to agree. */
async function give(server: Server, revision: (typeof revisions)[number]): Promise<readonly Obj[]> {
  const peer = await openPeer(server, revision);
  const content = await contentOf(peer, "give");
  const { messages } = await peer.call("prompts/get", { name: "give" });
  expect((messages as { content: Obj }[]).map((message) => message.content)).toEqual(content);
  return content;
}

const sound = new Uint8Array([82, 73, 70, 70, 0]);

describe.each(revisions)("content in %s", (revision) => {
  const union = ["schema-content-union", "schema-content-union-2025-03", "schema-content-union-2025-06"];

  test("text", async () => {
    covers(["schema-text-content", ...union], revision);
    expect(
      await give(
        serverOf(() => [text(""), text("a\nb")]),
        revision,
      ),
    ).toEqual([
      { type: "text", text: "" },
      { type: "text", text: "a\nb" },
    ]);
  });

  test("images", async () => {
    covers(["schema-image-content", "schema-blob-base64", ...union], revision);
    const blocks = [image({ data: sound, format: "jpg" }), image({ data: "UklGRgA=", mimeType: "image/svg+xml" })];
    expect(
      await give(
        serverOf(() => blocks),
        revision,
      ),
    ).toEqual([
      { type: "image", data: "UklGRgA=", mimeType: "image/jpeg" },
      { type: "image", data: "UklGRgA=", mimeType: "image/svg+xml" },
    ]);
  });

  test("audio is carried from 2025-03-26 on, and told of before", async () => {
    covers(["schema-audio-content", "schema-blob-base64", ...union], revision);
    const blocks = await give(
      serverOf(() => [audio({ data: sound, format: "mp3", annotations: { audience: ["user"] } })]),
      revision,
    );
    expect(blocks).toEqual([
      revision >= "2025-03-26"
        ? { type: "audio", data: "UklGRgA=", mimeType: "audio/mpeg", annotations: { audience: ["user"] } }
        : {
            type: "text",
            text: "[audio/mpeg, 5 bytes: this protocol revision has no audio]",
            annotations: { audience: ["user"] },
          },
    ]);
  });

  test("embedded resources, text and blob", async () => {
    covers(["schema-embedded-resource", "tool-embedded-resource", "schema-blob-base64", ...union], revision);
    const blocks = [
      embedded({ uri: "note:///1", mimeType: "text/markdown", text: "# One" }),
      embedded({ uri: "note:///2", mimeType: "application/pdf", blob: sound }),
    ];
    expect(
      await give(
        serverOf(() => blocks),
        revision,
      ),
    ).toEqual([
      { type: "resource", resource: { uri: "note:///1", mimeType: "text/markdown", text: "# One" } },
      { type: "resource", resource: { uri: "note:///2", mimeType: "application/pdf", blob: "UklGRgA=" } },
    ]);
  });

  test("resource links are carried from 2025-06-18 on, and told of before", async () => {
    covers(
      ["schema-resource-link", "tool-resource-link", "tool-resource-link-unlisted", "schema-title-members", ...union],
      revision,
    );
    const link = {
      uri: "note:///1",
      name: "one",
      title: "Note one",
      description: "The first",
      mimeType: "text/plain",
      size: 12,
      annotations: { priority: 0.5 },
      _meta: { "com.example/a": 1 },
    };
    const icons = [{ src: "https://example.com/i.png" }];
    const blocks = await give(
      serverOf(() => [resourceLink({ ...link, icons }), resourceLink({ uri: "note:///2", name: "two" })]),
      revision,
    );
    expect(blocks).toEqual(
      revision >= "2025-06-18"
        ? [
            { type: "resource_link", ...link, ...(revision >= "2025-11-25" && { icons }) },
            { type: "resource_link", uri: "note:///2", name: "two" },
          ]
        : [
            { type: "text", text: "Note one - note:///1 - The first", annotations: { priority: 0.5 } },
            { type: "text", text: "two - note:///2" },
          ],
    );
  });

  test("annotations on every kind; lastModified from 2025-06-18 on", async () => {
    covers(["schema-annotations", "schema-role"], revision);
    const annotations = { audience: ["user", "assistant"] as const, priority: 1, lastModified: "2026-01-02T03:04:05Z" };
    const blocks = await give(
      serverOf(() => [
        text("a", { annotations }),
        image({ data: sound, annotations }),
        embedded({ uri: "a:b", mimeType: "text/plain", text: "x", annotations }),
        text("b", { annotations: { priority: 0 } }),
        text("c", { annotations: { audience: [] } }),
      ]),
      revision,
    );
    const { lastModified, ...older } = annotations;
    const known = revision >= "2025-06-18" ? { ...older, lastModified } : older;
    expect(blocks.map((block) => block.annotations)).toEqual([known, known, known, { priority: 0 }, { audience: [] }]);
  });

  test("_meta on every kind from 2025-06-18 on", async () => {
    covers("schema-meta-members", revision);
    const _meta = { "com.example/a": { b: [null] }, plain: 1 };
    const blocks = await give(
      serverOf(() => [
        { ...text("a"), _meta },
        { ...image({ data: sound }), _meta },
        { ...audio({ data: sound }), _meta },
        { type: "resource", resource: { uri: "a:b", mimeType: "text/plain", text: "x", _meta }, _meta },
        { type: "resource", resource: { uri: "a:b", mimeType: "text/plain", blob: "", _meta } },
      ]),
      revision,
    );
    const kept = revision >= "2025-06-18" ? _meta : undefined;
    expect(blocks.map((block) => block._meta)).toEqual([kept, kept, kept, kept, undefined]);
    expect(blocks.map((block) => (block.resource as Obj | undefined)?._meta)).toEqual([
      undefined,
      undefined,
      undefined,
      kept,
      kept,
    ]);
  });

  const broken: readonly [what: string, requirement: string, block: unknown][] = [
    ["text that is no string", "schema-text-content", { content: [{ type: "text", text: 1 }] }],
    ["text without text", "schema-text-content", { content: [{ type: "text" }] }],
    ["an image without a type", "schema-image-content", { content: [{ type: "image", data: "AAAA" }] }],
    ["audio without a type", "schema-audio-content", { content: [{ type: "audio", data: "AAAA" }] }],
    ["a link without a name", "schema-resource-link", { content: [{ type: "resource_link", uri: "a:b" }] }],
    [
      "an embedded resource without a uri",
      "schema-embedded-resource",
      { content: [{ type: "resource", resource: { text: "x" } }] },
    ],
    [
      "an embedded resource without contents",
      "schema-embedded-resource",
      { content: [{ type: "resource", resource: { uri: "a:b" } }] },
    ],
    [
      "an image that is not base64",
      "schema-blob-base64",
      { content: [{ type: "image", data: "%%%", mimeType: "image/png" }] },
    ],
    [
      "a blob that is not base64",
      "schema-blob-base64",
      { content: [{ type: "resource", resource: { uri: "a:b", blob: "%" } }] },
    ],
    [
      "a priority above 1",
      "schema-annotations",
      { content: [{ type: "text", text: "", annotations: { priority: 1.5 } }] },
    ],
    [
      "a stranger as audience",
      "schema-role",
      { content: [{ type: "text", text: "", annotations: { audience: ["system"] } }] },
    ],
    ["content that is no array", "schema-call-tool-result", { content: { type: "text", text: "" } }],
    ["no content", "schema-call-tool-result", {}],
    ["isError that is no boolean", "schema-call-tool-result", { content: [], isError: "no" }],
    [
      "a kind that nobody knows",
      "schema-content-union",
      { content: [{ type: "video", data: "", mimeType: "video/mp4" }] },
    ],
    [
      "a kind that nobody knows",
      "schema-content-union-2025-03",
      { content: [{ type: "video", data: "", mimeType: "video/mp4" }] },
    ],
    [
      "a kind that nobody knows",
      "schema-content-union-2025-06",
      { content: [{ type: "video", data: "", mimeType: "video/mp4" }] },
    ],
  ];
  test.each(broken)("%s is refused before it is sent (%s)", async (_, requirement, result) => {
    covers(requirement, revision);
    const { server, errors } = createQuietServer();
    server.handle("tools/call", () => result as Obj);
    const peer = await openPeer(server, revision);
    const { error } = await peer.request("tools/call", { name: "any" });
    expect(error?.code).toBe(-32603);
    expect(errors).toHaveLength(1);
    expect(String(errors[0]?.error)).toMatch(`The result of tools/call is not valid in ${revision}`);
  });
});
