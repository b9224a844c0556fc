// Versions: which are spoken, how one is agreed on, and what a peer hears that asks for another.
import { type Revision, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createEchoServer } from "../../examples/echo.ts";
import { covers } from "../requirements/covers.ts";
import { isOneChannel, modern, type Obj, openPeer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const sessioned = revisions.filter((revision) => revision !== modern);
const strange = ["1999-01-01", "2099-01-01", "2024-11-06", "", "latest", "2025-11-25 ", "DRAFT-2025-v2"];
const versionKey = "io.modelcontextprotocol/protocolVersion";

test("the five revisions are the five dates, oldest first", () => {
  covers(["version-latest-constant", "version-format"]);
  expect(revisions).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
  for (const revision of revisions) expect(revision).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

const initialize = (protocolVersion: unknown): Obj => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
});

describe.each(sessioned)("initialize in %s", (revision) => {
  test("is answered in the version that was offered, and the session keeps to it", async () => {
    covers(["version-server-echoes-supported", "version-format", "version-single-per-session"], revision);
    const { server } = createQuietServer();
    server.tool("revision", { title: "Title" }, (_, ctx) => ctx.client.revision);
    const peer = await openPeer(server, revision);
    expect(peer.opening.protocolVersion).toBe(revision);
    for (let round = 0; round < 3; round++) {
      expect(textOf(await peer.call("tools/call", { name: "revision" }))).toBe(revision);
    }
    const [tool] = (await peer.call("tools/list")).tools as Obj[];
    expect(tool && "title" in tool).toBe(revision >= "2025-06-18");
  });

  test("in a version that is not served is answered with the newest that is, never with one that has no handshake", async () => {
    covers(
      ["version-server-counter-offer", "version-server-counter-offer-latest", "lifecycle-handle-version-mismatch"],
      revision,
    );
    const upTo = revisions.filter((one) => one <= revision || one === modern);
    const server = createEchoServer();
    for (const offered of [...strange, modern]) {
      const peer = await openPeer(server, revision, { closed: true, revisions: upTo });
      const { protocolVersion } = await peer.call("initialize", initialize(offered));
      expect(protocolVersion, offered).toBe(revision);
      // What was offered instead is spoken from here on.
      peer.notify("notifications/initialized");
      expect((await peer.call("tools/list")).tools).toHaveLength(1);
    }
  });

  test("with a version that is no text is an error", async () => {
    const peer = await openPeer(createEchoServer(), revision, { closed: true });
    for (const offered of [20251125, null, undefined, [revision]]) {
      const error = await peer.fail("initialize", initialize(offered));
      expect(error).toEqual({
        code: -32602,
        message: "Invalid params for initialize: params.protocolVersion must be a string",
      });
    }
  });
});

test("each version can be served alone, or any of them together", async () => {
  covers("version-multiple-supported");
  const server = createEchoServer();
  const peers = await Promise.all(revisions.map((revision) => openPeer(server, revision)));
  for (const only of sessioned) peers.push(await openPeer(server, only, { revisions: [only] }));
  peers.push(await openPeer(server, modern, { revisions: [modern] }));
  const answers = await Promise.all(
    peers.map((peer) => peer.call("tools/call", { name: "echo", arguments: { message: peer.revision } })),
  );
  expect(answers.map(textOf)).toEqual(peers.map(({ revision }) => `Tool echo: ${revision}`));
});

test("to serve no version at all is a mistake that is told at once", async () => {
  const message = isOneChannel ? "No revision to serve" : '"revisions" is a list of one or more of';
  for (const none of [[], ["2020-01-01" as Revision]])
    await expect(openPeer(createEchoServer(), modern, { revisions: none })).rejects.toThrow(message);
});

describe(`a request that names its version, in ${modern}`, () => {
  test.each(["server/discover", "tools/list", "tools/call", "no/such", "subscriptions/listen"])(
    "%s in a version that is not served is -32022 with both sides of the matter",
    async (method) => {
      covers(["version-unsupported-error", "version-format"], modern);
      const peer = await openPeer(createEchoServer(), modern);
      // No header ends with a space.
      const stated = strange.filter((one) => isOneChannel || one === one.trim());
      for (const requested of [...stated, ...sessioned]) {
        expect(await peer.fail(method, { _meta: { [versionKey]: requested } }), requested).toEqual({
          code: -32022,
          message: "Unsupported protocol version",
          data: { supported: [...revisions].reverse(), requested },
        });
      }
    },
  );

  test("-32022 lists what is served here, not what could be", async () => {
    const some: Revision[] = ["2025-06-18", modern];
    const peer = await openPeer(createEchoServer(), modern, { revisions: some });
    const { data } = await peer.fail("tools/list", { _meta: { [versionKey]: "2099-01-01" } });
    expect(data).toEqual({ supported: [modern, "2025-06-18"], requested: "2099-01-01" });
  });
});
