// Attacks on resources: paths that climb past the check, hidden things read through templates, lookups that keep the
// server from everything else.
import { createServer, revisions } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { modern, type Obj, openPeer } from "../suites/peer.ts";

const create = () => createServer({ name: "target", version: "1.0.0", onError: () => {} });

describe.each(revisions)("in %s", (revision) => {
  test.each([
    "file:///a?/../../../etc/passwd",
    "file:///a#/../../../etc/passwd",
    "file:///a?%2f..%2f..%2fetc/passwd",
    "file:///a#x?\\..\\..\\etc",
    "file:///?/%2e%2e/etc/passwd",
    "doc:///x?p=../../etc/passwd",
    "tag:///x;p=..%2fetc",
    "both:///..%2fa?p=..%2fa",
  ])("%s: no variable climbs but in a query", async (uri) => {
    const server = create();
    const handler = vi.fn(() => "secret");
    server.resource("file:///{+path}", {}, handler);
    server.resource("doc:///x?p={+p}", {}, handler);
    server.resource("tag:///x{;p}", {}, handler);
    server.resource("both:///{p}{?p}", {}, handler);
    server.resource("find:///{name}{?path,more*}{&last}", {}, handler);
    const peer = await openPeer(server, revision);
    expect((await peer.fail("resources/read", { uri })).message).toBe(
      'Invalid params: the URI must not contain ".." segments',
    );
    expect(handler).not.toHaveBeenCalled();
    await peer.call("resources/read", { uri: "find:///a?path=../a&more=..&more=../b" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  describe.each([
    ["a://secret", ["a://secret", "a://%73ecret", "a://%73%65%63%72%65%74"]],
    ["a://%7Eb%c3%a9", ["a://~b%C3%A9", "a://~bé", "a://%7eb%c3%A9"]],
    ["a://%7Bx%7D", ["a://{x}", "a://%7bx%7d"]],
  ])("the resource %s", (hidden, spellings) => {
    test.each(["hidden", "disabled"])(
      "that is %s is not served or listed by a template, however it is spelt",
      async (how) => {
        const server = create();
        const handler = vi.fn(() => "through the template");
        const list = () => [...spellings, "a://other"].map((uri) => ({ uri, name: uri }));
        server.resource("a://{id}", { list }, handler);
        const exact = server.resource(hidden, { visible: () => how !== "hidden" }, () => "it");
        if (how === "disabled") exact.disable();
        const peer = await openPeer(server, revision);
        const code = revision === modern ? -32602 : -32002;
        for (const uri of spellings) {
          expect((await peer.fail("resources/read", { uri })).code, uri).toBe(code);
          if (revision !== modern) expect((await peer.fail("resources/subscribe", { uri })).code, uri).toBe(code);
        }
        expect(handler).not.toHaveBeenCalled();
        const { resources } = await peer.call("resources/list");
        expect((resources as Obj[]).map(({ uri }) => uri)).toEqual(["a://other"]);
        // Removed is not hidden: then it is the template's.
        exact.remove();
        await peer.call("resources/read", { uri: spellings.at(-1) });
        expect(handler).toHaveBeenCalledTimes(1);
      },
    );

    test("is one resource in all its spellings", async () => {
      const server = create();
      server.resource(hidden, {}, () => "it");
      expect(() => server.resource(spellings.at(-1) as string, {}, () => "it")).toThrow(/registered already/);
      const peer = await openPeer(server, revision);
      for (const uri of spellings.filter((spelling) => /^[!-z~]*$/.test(spelling)))
        expect((await peer.call("resources/read", { uri })).contents).toMatchObject([{ uri, text: "it" }]);
    });
  });

  test("what a tool reads goes through the middleware, and by hand where reading is done by hand", async () => {
    const server = create();
    server.resource("a://secret", {}, () => "secret");
    server.use((call, next) => {
      if (call.method === "resources/read" && call.params.uri === "a://secret") return { contents: [] };
      return next({ ...call, auth: { subject: "changed", scopes: [] } });
    });
    server.tool("read", {}, async (_, { readResource, progress }) => {
      progress(5);
      const texts = [await readResource("a://secret"), await readResource("a://mine")].map(({ contents }) => contents);
      progress(7);
      return JSON.stringify(texts);
    });
    server.handle("resources/read", ({ uri }, ctx) => {
      for (const value of [1, 6]) ctx.progress(value);
      return { contents: [{ uri, text: `by hand for ${ctx.auth?.subject}` }] };
    });
    const peer = await openPeer(server, revision);
    const { content } = await peer.call("tools/call", { name: "read", _meta: { progressToken: "t" } });
    expect(content).toEqual([{ type: "text", text: '[[],[{"uri":"a://mine","text":"by hand for changed"}]]' }]);
    expect(peer.notifications("notifications/progress").map(({ params }) => params?.progress)).toEqual([5, 6, 7]);
  });
});

test("a thousand long URIs to listen to let others have their turn, and end with their caller", async () => {
  const server = create();
  for (let i = 0; i < 5; i++) server.resource(`a://{x}/{y}${i}{/z*}{?q*}`, {}, () => "");
  const peer = await openPeer(server, modern);
  const resourceSubscriptions = Array.from({ length: 1000 }, (_, i) => `a://${i}/${"b".repeat(8100)}`);
  const acknowledged = () => peer.notifications("notifications/subscriptions/acknowledged").length;
  peer.start("subscriptions/listen", { notifications: { resourceSubscriptions } }, "long");
  // A timer comes first: the lookups do not keep the event loop to themselves.
  await new Promise((resolve) => setTimeout(resolve));
  expect(acknowledged()).toBe(0);
  peer.notify("notifications/cancelled", { requestId: "long" });
  await peer.settle();
  expect(acknowledged()).toBe(0);
});
