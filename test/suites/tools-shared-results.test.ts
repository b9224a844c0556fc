// What a handler returns is its own: it may be the same each time, hold promises, or be a promise of another making.
import { createServer, image, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { openPeer } from "./peer.ts";
import { callTool, contentOf, createQuietServer } from "./tool-peer.ts";

describe.each(revisions)("what a handler returns in %s", (revision) => {
  test("may be one object for all calls, whatever middleware does to results", async () => {
    const shared = Object.freeze({ content: Object.freeze([{ type: "text", text: "always" }]) });
    const server = createServer({ name: "s", version: "1" });
    server.tool("constant", {}, () => shared);
    server.use(async (call, next) => {
      if (call.method !== "tools/call") return next(call);
      const result = (await next(call)) as { content?: unknown[]; _meta?: object };
      result.content?.push({ type: "text", text: "and more" });
      result._meta ??= { seen: true };
      return result;
    });
    const peer = await openPeer(server, revision);
    for (let i = 0; i < 3; i++)
      expect(await contentOf(peer, "constant")).toEqual([
        { type: "text", text: "always" },
        { type: "text", text: "and more" },
      ]);
    expect(shared).toEqual({ content: [{ type: "text", text: "always" }] });
  });

  test("may hold a promise that fails, also where a schema says what comes out", async () => {
    const { server } = createQuietServer();
    const output = { type: "object", properties: { size: { type: "number" } } } as const;
    server.tool(
      "measured",
      { output },
      () => ({ content: [image({ path: "/nowhere/at/all.png" })], size: 1 }) as never,
    );
    server.tool("plain", {}, () => ({ content: [image({ path: "/nowhere/at/all.png" })] }));
    const peer = await openPeer(server, revision);
    for (const name of ["measured", "plain"]) expect((await callTool(peer, name)).isError, name).toBe(true);
  });

  test("may be a promise that is a function", async () => {
    const server = createServer({ name: "s", version: "1" });
    // biome-ignore lint/suspicious/noThenProperty: as libraries for remote calls make them
    const stub = Object.assign(() => {}, { then: (resolve: (value: string) => void) => resolve("from afar") });
    server.tool("remote", {}, () => stub);
    const peer = await openPeer(server, revision);
    expect(await contentOf(peer, "remote")).toEqual([{ type: "text", text: "from afar" }]);
  });
});
