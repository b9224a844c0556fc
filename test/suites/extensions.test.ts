// Extensions of 2026-07-28: named in full, off until asked for, and their data trusted no more than any other.
import { createServer, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

test("none is offered by default", async () => {
  covers("extension-off-by-default");
  const { server } = createQuietServer();
  server.tool("t", {}, () => "");
  const peer = await openPeer(server, modern, {
    capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
  });
  expect((await peer.call("server/discover")).capabilities).not.toHaveProperty("extensions");
});

test("one that is offered is announced with its settings", async () => {
  covers("extension-id");
  const extensions = { "com.example/search": { depth: 3 }, "io.modelcontextprotocol/ui": {} };
  const peer = await openPeer(createServer({ name: "s", version: "1", extensions }), modern);
  expect((await peer.call("server/discover")).capabilities).toEqual({ logging: {}, extensions });
});

test.each(["tasks", "", "/x", "com..example/x", "com.example/", "com.example/_x", "1com/x"])(
  "one called %j is refused when it is registered",
  (id) => {
    covers("extension-id");
    expect(() => createServer({ name: "s", version: "1", extensions: { [id]: {} } })).toThrow(/^extension "/);
  },
);

test("what a client says of its own is readable in the call that says it", async () => {
  const { server } = createQuietServer();
  server.tool("seen", {}, (_, ctx) => JSON.stringify(ctx.client.capabilities.extensions ?? null));
  const peer = await openPeer(server, modern);
  const extensions = { "com.example/search": { depth: 3 } };
  const seen = async (declared: Obj) =>
    JSON.parse(textOf(await peer.call("tools/call", { name: "seen", _meta: { [capabilitiesKey]: declared } })));
  expect(await seen({ extensions })).toEqual(extensions);
  expect(await seen({})).toBeNull();
});

test.each([
  ["a list", []],
  ["text", "com.example/search"],
  ["settings that are no object", { "com.example/search": true }],
  ["settings that are null", { "com.example/search": null }],
])("declared as %s they are -32602", async (_, extensions) => {
  covers("extension-data-untrusted");
  const { server } = createQuietServer();
  const ran: string[] = [];
  server.tool("t", {}, () => void ran.push("ran"));
  const peer = await openPeer(server, modern);
  const { code, message } = await peer.fail("tools/call", { name: "t", _meta: { [capabilitiesKey]: { extensions } } });
  expect(code).toBe(-32602);
  expect(message).toContain("extensions");
  expect(ran).toEqual([]);
});

describe.each(revisions.filter((revision) => revision !== modern))("in %s", (revision) => {
  test("there are none to announce", async () => {
    const server = createServer({ name: "s", version: "1", extensions: { "com.example/search": {} } });
    const peer = await openPeer(server, revision);
    expect(peer.opening.capabilities).toEqual({ logging: {} });
  });
});
