// Hostile and malformed URIs: refused for reading, watching and completing before a handler sees them.
import { createServer, revisions, type Server } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { isStreamable, modern, openPeer } from "./peer.ts";

function createFiles(): { server: Server; handler: ReturnType<typeof vi.fn> } {
  const handler = vi.fn(() => "secret");
  const server = createServer({ name: "files", version: "1.0.0", onError: () => {} });
  server.resource("file:///srv/{+path}", {}, handler);
  server.resource("doc:{+path}", {}, handler);
  server.resource("part:///x-{name}", {}, handler);
  server.resource("ext:///{name}-x", {}, handler);
  server.resource("find:///all{?q}", {}, handler);
  return { server, handler };
}

const methods = (revision: string): string[] =>
  revision === modern ? ["resources/read"] : ["resources/read", "resources/subscribe", "resources/unsubscribe"];

const climbing = [
  "file:///srv/../etc/passwd",
  "file:///srv/a/..",
  "file:///srv/%2e%2e/etc/passwd",
  "file:///srv/%2E./etc/passwd",
  "file:///srv/..%2fetc%2Fpasswd",
  "file:///srv/..%5cetc%5Cpasswd",
  "file:///srv/a%3F/../../etc/passwd",
  "file:///srv/a%23/../../etc/passwd",
  "file:///srv/a/../b?x=1",
  "doc:..",
  "doc:../secret",
  "doc:%2e%2e%2fsecret",
];

describe.each(revisions)("in %s", (revision) => {
  test.each(climbing)("%s is refused", async (uri) => {
    covers(["resource-validate-uris", "resource-path-traversal"], revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    for (const method of methods(revision)) {
      expect(await peer.fail(method, { uri }), method).toEqual({
        code: -32602,
        message: 'Invalid params: the URI must not contain ".." segments',
        data: { uri },
      });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test.each(["part:///x-..%2fsecret", "ext:///a%2f..-x"])("%s, whose variable climbs, is refused", async (uri) => {
    covers(["resource-validate-uris", "resource-path-traversal"], revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    for (const method of methods(revision).slice(0, 2)) {
      expect(await peer.fail(method, { uri }), method).toMatchObject({ code: -32602, data: { uri } });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    ["file:///srv/a%00.txt", "the URI must not contain NUL"],
    ["find:///all?q=%00", "the URI must not contain NUL"],
    ["file:///srv/%zz", "the URI has malformed percent-encoding"],
    ["file:///srv/%", "the URI has malformed percent-encoding"],
    ["file:///srv/%ff%fe", "the URI has malformed percent-encoding"],
    ["file:///srv/%c0%ae%c0%ae/x", "the URI has malformed percent-encoding"],
  ])("%s is refused: %s", async (uri, problem) => {
    covers("resource-validate-uris", revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    for (const method of methods(revision)) {
      const error = { code: -32602, message: `Invalid params: ${problem}`, data: { uri } };
      expect(await peer.fail(method, { uri }), method).toEqual(error);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    ["relative", "srv/a"],
    ["empty", ""],
    ["without a scheme", "//host/a"],
    ["with a space", "file:///srv/a b"],
    ["with a raw NUL", "file:///srv/a\0b"],
    ["with a line break", "file:///srv/a\nb"],
    ["no string", 5],
    ["missing", undefined],
  ])("a URI that is %s is invalid params", async (_, uri) => {
    covers(["schema-read-params", "resource-validate-uris"], revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    for (const method of methods(revision)) {
      const error = await peer.fail(method, uri === undefined ? {} : { uri });
      expect(error).toEqual({
        code: -32602,
        message: `Invalid params for ${method}: params.uri must be an absolute URI`,
      });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test("foreign schemes, hosts and near misses are not found", async () => {
    covers("resource-validate-uris", revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    const code = revision === modern ? -32602 : -32002;
    for (const uri of [
      "http://169.254.169.254/latest",
      "file://evil/srv/a",
      "file:///etc/passwd",
      "javascript:alert(1)",
    ]) {
      for (const method of methods(revision).slice(0, 2)) {
        expect(await peer.fail(method, { uri }), method).toMatchObject({ code, data: { uri } });
      }
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test("a URI of 100 kB is refused, and not sent back in full", async () => {
    covers("resource-validate-uris", revision);
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    // A header repeats it in 2026-07-28, and Node takes no more than 16 kB of those.
    const length = isStreamable(revision) && revision === modern ? 10_000 : 100_000;
    for (const method of methods(revision)) {
      const error = await peer.fail(method, { uri: `file:///srv/${"a".repeat(length)}` });
      expect(error).toMatchObject({ code: -32602, message: "Invalid params: the URI is longer than 8192 characters" });
      expect(JSON.stringify(error).length).toBeLessThan(9000);
    }
    expect(handler).not.toHaveBeenCalled();
    const longest = `file:///srv/${"a".repeat(8192 - 12)}`;
    await peer.call("resources/read", { uri: longest });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("dots that climb nowhere are read", async () => {
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    const uris = [
      "file:///srv/a..b",
      "file:///srv/...",
      "file:///srv/.hidden",
      "file:///srv/wait..",
      "find:///all?q=../a",
    ];
    for (const uri of uris) await peer.call("resources/read", { uri });
    expect(handler.mock.calls.map(([variables]: unknown[]) => variables)).toEqual([
      { path: "a..b" },
      { path: "..." },
      { path: ".hidden" },
      { path: "wait.." },
      { q: "../a" },
    ]);
  });

  test("double encoding is decoded once", async () => {
    const { server, handler } = createFiles();
    const peer = await openPeer(server, revision);
    await peer.call("resources/read", { uri: "file:///srv/%252e%252e" });
    expect(handler.mock.calls[0]?.[0 as never]).toEqual({ path: "%2e%2e" });
  });
});
