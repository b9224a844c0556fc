// What a handler learns of the request that called it: `ctx.sender`.
import { createServer, type Sender } from "plenum";
import { expect, test } from "vitest";
import { modern, openPeer } from "../suites/peer.ts";
import { callTool, textOf } from "../suites/tool-peer.ts";

function createTelling() {
  const server = createServer({ name: "s", version: "1" });
  server.tool("tell", {}, (_, { sender }) => {
    sender?.disconnect?.(50);
    return { language: sender?.header?.("accept-language"), known: sender !== undefined };
  });
  return server;
}

test.each(["2025-11-25", modern] as const)("a handler of %s reads headers and ends connections", async (revision) => {
  const retries: unknown[] = [];
  const sender: Sender = {
    header: (name) => (name === "accept-language" ? "nb" : undefined),
    disconnect: (retryMs) => retries.push(retryMs),
  };
  const peer = await openPeer(createTelling(), revision, { sender });
  expect(JSON.parse(textOf(await callTool(peer, "tell")))).toEqual({ language: "nb", known: true });
  expect(retries).toEqual([50]);
});

test("where a transport tells nothing there is no sender", async () => {
  const peer = await openPeer(createTelling(), modern);
  expect(JSON.parse(textOf(await callTool(peer, "tell")))).toEqual({ known: false });
});
