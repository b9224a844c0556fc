// Who may see and call a tool: `visible` by what the authorization layer established, and limits on the rate of calls.
import { type AuthInfo, createServer, rateLimit, revisions } from "plenum";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, openPeer } from "./peer.ts";
import { callTool, contentOf, createQuietServer, namesOf, textOf } from "./tool-peer.ts";

const auth = (subject: string, ...scopes: string[]): { sender: { auth: AuthInfo } } => ({
  sender: { auth: { subject, clientId: `client-of-${subject}`, scopes } },
});

describe.each(revisions)("visibility of tools in %s", (revision) => {
  test("one server shows each caller its own tools, and the others do not exist for it", async () => {
    covers(["tool-access-control", "tool-list-by-authorization", "cache-access-control"], revision);
    const server = createServer({ name: "s", version: "1", cache: { ttlMs: 1000, scope: "public" } });
    let ran = 0;
    server.tool("read", {}, () => "read");
    server.tool("drop", { visible: (ctx) => ctx.auth?.scopes.includes("admin") }, () => `dropped ${++ran}`);
    server.tool("later", { visible: async (ctx) => ctx.auth?.subject === "ada" }, () => "later");
    const nobody = await openPeer(server, revision);
    const user = await openPeer(server, revision, auth("ada", "user"));
    const admin = await openPeer(server, revision, auth("bob", "user", "admin"));

    expect(await namesOf(nobody)).toEqual(["read"]);
    expect(await namesOf(admin)).toEqual(["read", "drop"]);
    expect(await namesOf(user)).toEqual(["read", "later"]);
    expect(await namesOf(nobody)).toEqual(["read"]);

    const unknown = await user.fail("tools/call", { name: "nothing" });
    const hidden = await user.fail("tools/call", { name: "drop" });
    expect(hidden).toEqual({ ...unknown, message: unknown.message.replace("nothing", "drop") });
    expect((await nobody.fail("tools/call", { name: "drop" })).code).toBe(-32602);
    expect(ran).toBe(0);
    expect(textOf(await callTool(admin, "drop"))).toBe("dropped 1");
    expect(textOf(await callTool(user, "later"))).toBe("later");
  });

  test("visibility is asked anew for every list and call", async () => {
    covers("tool-access-control", revision);
    const server = createServer({ name: "s", version: "1" });
    let open = false;
    server.tool("moody", { visible: () => open }, () => "here");
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual([]);
    expect((await peer.fail("tools/call", { name: "moody" })).code).toBe(-32602);
    open = true;
    expect(await namesOf(peer)).toEqual(["moody"]);
    expect(await contentOf(peer, "moody")).toEqual([{ type: "text", text: "here" }]);
    open = false;
    expect(await namesOf(peer)).toEqual([]);
    expect((await peer.fail("tools/call", { name: "moody" })).code).toBe(-32602);
  });

  test("a caller who may not see a tool learns nothing from its schema", async () => {
    covers("tool-access-control", revision);
    const server = createServer({ name: "s", version: "1" });
    const input = {
      type: "object",
      properties: { secretArgument: { type: "string" } },
      required: ["secretArgument"],
    } as const;
    server.tool("hidden", { input, visible: () => false }, () => "no");
    const peer = await openPeer(server, revision);
    expect(await peer.fail("tools/call", { name: "hidden", arguments: {} })).toEqual({
      code: -32602,
      message: 'Unknown tool: "hidden"',
    });
  });

  test("a visibility that throws hides nothing by accident: the request fails", async () => {
    covers("tool-access-control", revision);
    const { server, errors } = createQuietServer();
    server.tool("open", {}, () => "1");
    server.tool(
      "broken",
      {
        visible: () => {
          throw new Error("directory is down: ldap://secret");
        },
      },
      () => "no",
    );
    const peer = await openPeer(server, revision);
    for (const [method, params] of [["tools/list"], ["tools/call", { name: "broken" }]] as const) {
      const error = await peer.fail(method, params);
      expect(error.code).toBe(-32603);
      expect(error.message).toMatch(/^Internal error \([0-9a-f-]{36}\)$/);
    }
    expect(errors).toHaveLength(2);
    expect(await contentOf(peer, "open")).toEqual([{ type: "text", text: "1" }]);
  });

  test("a middleware sees the caller and can refuse a tool", async () => {
    covers("tool-access-control", revision);
    const server = createServer({ name: "s", version: "1" });
    const seen: unknown[] = [];
    server.tool("one", {}, () => "1");
    server.use((call, next) => {
      if (call.method !== "tools/call") return next(call);
      seen.push([call.params.name, call.auth]);
      return call.auth?.subject === "ada"
        ? next(call)
        : { content: [{ type: "text", text: "Ask Ada." }], isError: true };
    });
    const ada = await openPeer(server, revision, auth("ada"));
    const bob = await openPeer(server, revision, auth("bob"));
    expect(textOf(await callTool(ada, "one"))).toBe("1");
    expect((await callTool(bob, "one")).isError).toBe(true);
    expect(seen).toEqual([
      ["one", { subject: "ada", clientId: "client-of-ada", scopes: [] }],
      ["one", { subject: "bob", clientId: "client-of-bob", scopes: [] }],
    ]);
  });
});

describe.each(revisions)("the rate of calls in %s", (revision) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("what exceeds the limit gets an error and does not run; time gives new tokens", async () => {
    covers("tool-rate-limit", revision);
    const server = createServer({ name: "s", version: "1" });
    let ran = 0;
    server.tool("one", {}, () => void ran++);
    server.use(rateLimit({ perSecond: 2, burst: 3 }));
    const peer = await openPeer(server, revision);
    for (let i = 0; i < 3; i++) await callTool(peer, "one");
    const error = await peer.fail("tools/call", { name: "one" });
    expect(error).toEqual({ code: -32603, message: "Too many calls of tools/call; try again later" });
    expect(ran).toBe(3);
    // Other methods are not limited.
    for (let i = 0; i < 10; i++) await peer.call("tools/list");
    vi.advanceTimersByTime(500);
    await callTool(peer, "one");
    expect((await peer.fail("tools/call", { name: "one" })).code).toBe(-32603);
    vi.advanceTimersByTime(60_000);
    for (let i = 0; i < 3; i++) await callTool(peer, "one");
    expect((await peer.fail("tools/call", { name: "one" })).code).toBe(-32603);
    expect(ran).toBe(7);
  });

  test("each authenticated caller has a limit of its own, on all its connections", async () => {
    covers("tool-rate-limit", revision);
    const server = createServer({ name: "s", version: "1" });
    server.tool("one", {}, () => "1");
    server.use(rateLimit({ perSecond: 1 }));
    const ada = await openPeer(server, revision, auth("ada"));
    const again = await openPeer(server, revision, auth("ada"));
    const bob = await openPeer(server, revision, auth("bob"));
    const nobody = await openPeer(server, revision);
    const stranger = await openPeer(server, revision);
    await callTool(ada, "one");
    expect((await again.fail("tools/call", { name: "one" })).code).toBe(-32603);
    await callTool(bob, "one");
    await callTool(nobody, "one");
    expect((await stranger.fail("tools/call", { name: "one" })).code).toBe(-32603);
  });

  test("methods and key can be chosen", async () => {
    covers("tool-rate-limit", revision);
    const server = createServer({ name: "s", version: "1" });
    for (const name of ["a", "b"]) server.tool(name, {}, () => name);
    server.use(rateLimit({ perSecond: 1, methods: ["tools/list"] }));
    server.use(rateLimit({ perSecond: 1, methods: ["tools/call"], key: (call) => String(call.params.name) }));
    const peer = await openPeer(server, revision);
    await peer.call("tools/list");
    expect((await peer.fail("tools/list")).message).toBe("Too many calls of tools/list; try again later");
    await callTool(peer, "a");
    await callTool(peer, "b");
    expect((await peer.fail("tools/call", { name: "a" })).code).toBe(-32603);
  });
});

test("limits that allow nothing are refused at once", () => {
  for (const options of [{ perSecond: 0 }, { perSecond: -1 }, { perSecond: Number.NaN }, { perSecond: 1, burst: 0 }]) {
    expect(() => rateLimit(options)).toThrow(RangeError);
  }
});

test("a list that depends on the caller is private, whatever the server says of its lists", async () => {
  covers(["cache-public-aware", "cache-access-control"]);
  const server = createServer({ name: "s", version: "1", cache: { ttlMs: 5000, scope: "public" } });
  server.tool("open", {}, () => "1");
  const peer = await openPeer(server, modern, auth("ada"));
  expect(await peer.call("tools/list")).toMatchObject({ ttlMs: 5000, cacheScope: "public" });
  const guarded = server.tool("guarded", { visible: (ctx) => ctx.auth?.subject === "ada" }, () => "2");
  expect(await peer.call("tools/list")).toMatchObject({ ttlMs: 5000, cacheScope: "private" });
  // A tool that was listed to somebody is not thereby open to everybody.
  const other = await openPeer(server, modern, auth("bob"));
  expect((await other.fail("tools/call", { name: "guarded" })).code).toBe(-32602);
  guarded.remove();
  expect(await peer.call("tools/list")).toMatchObject({ cacheScope: "public" });
});
