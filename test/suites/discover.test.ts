// server/discover: what a server of 2026-07-28 says about itself.
import { createServer, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createNotesServer } from "../../examples/notes.ts";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, isStreamable, modern, type Obj, openPeer } from "./peer.ts";
import { createQuietServer } from "./tool-peer.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const infoKey = "io.modelcontextprotocol/serverInfo";

test("a bare server answers it in full", async () => {
  covers(["discover-implemented", "discover-result-shape"]);
  const peer = await openPeer(createServer({ name: "bare", version: "0.1.0" }), modern);
  expect(await peer.call("server/discover")).toEqual({
    resultType: "complete",
    supportedVersions: [...revisions].reverse(),
    capabilities: { logging: {} },
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [infoKey]: { name: "bare", version: "0.1.0" } },
  });
});

test("instructions and all that the server says of itself are there", async () => {
  covers(["discover-instructions", "discover-result-shape"]);
  const icons = [{ src: "https://example.com/a.png", theme: "dark" as const }];
  const info = { name: "n", version: "1", title: "T", description: "D", websiteUrl: "https://example.com/", icons };
  const server = createServer({ ...info, instructions: "Look first.", cache: { ttlMs: 9000, scope: "public" } });
  const result = await (await openPeer(server, modern)).call("server/discover");
  expect(result.instructions).toBe("Look first.");
  expect([result.ttlMs, result.cacheScope]).toEqual([9000, "public"]);
  expect((result._meta as Obj)[infoKey]).toEqual(info);
});

test("the versions it lists are those that are accepted: the modern one here, the others by initialize", async () => {
  covers("discover-lists-requested-version");
  const { server } = createQuietServer();
  server.tool("t", {}, () => "");
  for (const served of [revisions, [modern], ["2025-03-26", modern]] as const) {
    const peer = await openPeer(server, modern, { revisions: served });
    const { supportedVersions } = await peer.call("server/discover");
    expect(supportedVersions).toEqual([...served].reverse());
    for (const version of [...revisions, "2099-01-01"]) {
      const { error } = await peer.request("tools/list", { _meta: { [versionKey]: version } });
      expect(error?.code, version).toBe(version === modern ? undefined : -32022);
    }
    for (const revision of revisions.filter((one) => one !== modern)) {
      const old = await openPeer(server, revision, { revisions: served, closed: true });
      const opening = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "c", version: "1" } };
      const { result } = await old.request("initialize", opening);
      expect(result?.protocolVersion === revision, revision).toBe((served as readonly string[]).includes(revision));
    }
  }
});

describe("capabilities", () => {
  test("name every feature that is there, and none that is not", async () => {
    covers("discover-capabilities-advertised");
    const discover = async (server: Parameters<typeof openPeer>[0]): Promise<Obj> =>
      (await (await openPeer(server, modern)).call("server/discover")).capabilities as Obj;
    expect(await discover(createQuietServer({ logging: false }).server)).toEqual({});

    const { server } = createQuietServer({ logging: false });
    server.tool("t", {}, () => "");
    expect(await discover(server)).toEqual({ tools: { listChanged: true } });
    server.prompt("p", {}, () => "");
    expect(await discover(server)).toEqual({ tools: { listChanged: true }, prompts: { listChanged: true } });
    server.resource("x://{a}", { complete: { a: () => [] } }, () => "");
    expect(await discover(server)).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
    });
    const { server: byHand } = createQuietServer();
    byHand.handle("completion/complete", () => ({ completion: { values: [] } }));
    byHand.handle("com.example/own", () => ({}));
    expect(await discover(byHand)).toEqual({ logging: {}, completions: {} });
  });

  test("may be declared by hand, to say less or more", async () => {
    covers(["lifecycle-experimental-capability"], modern);
    const experimental = { "com.example/x": { a: 1 } };
    const { server } = createQuietServer({ capabilities: { tools: {}, experimental }, logging: false });
    server.tool("t", {}, () => "");
    const peer = await openPeer(server, modern);
    expect((await peer.call("server/discover")).capabilities).toEqual({ tools: {}, experimental });
  });
});

test("nobody has to discover first", async () => {
  covers("discover-client-optional");
  const peer = await openPeer(createNotesServer(), modern);
  expect((await peer.call("tools/list")).tools).toHaveLength(1);
});

test.each(revisions.filter((revision) => revision !== modern))(
  "there is no server/discover in %s",
  async (revision) => {
    const peer = await openPeer(createNotesServer(), revision);
    const { code, message } = await peer.fail("server/discover");
    // Streamable HTTP misses the headers first; HTTP+SSE has nothing that it could be taken for.
    expect(code).toBe(isOneChannel ? -32602 : isStreamable(revision) ? -32020 : -32601);
    if (isOneChannel)
      expect(message).toBe(
        'Invalid params: params._meta["io.modelcontextprotocol/protocolVersion"] must be a string such as 2026-07-28',
      );
    const only = await openPeer(createNotesServer(), revision, { revisions: [revision] });
    expect((await only.fail("server/discover")).code).toBe(-32601);
  },
);
