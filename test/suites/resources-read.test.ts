// Reading resources: what a handler returns and what is on the wire, what is not there, and templates of every kind.
import { createServer, McpError, type Revision, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { expandUriTemplate } from "../../packages/plenum/src/util/uri-template-expand.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "./peer.ts";

const notFound = (revision: Revision): number => (revision === modern ? -32602 : -32002);

function create(errors: unknown[] = []): Server {
  return createServer({ name: "library", version: "1.0.0", onError: (error) => errors.push(error) });
}

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

describe.each(revisions)("reading in %s", (revision) => {
  test.each<[what: string, returned: unknown, options: Obj, contents: Obj[]]>([
    ["text", "Grüße ✓", {}, [{ uri: "a:x", mimeType: "text/plain", text: "Grüße ✓" }]],
    ["empty text", "", {}, [{ uri: "a:x", mimeType: "text/plain", text: "" }]],
    ["typed text", "# A", { mimeType: "text/markdown" }, [{ uri: "a:x", mimeType: "text/markdown", text: "# A" }]],
    ["an object", { n: 1, s: ["a"] }, {}, [{ uri: "a:x", mimeType: "application/json", text: '{"n":1,"s":["a"]}' }]],
    ["a list", [1, null], {}, [{ uri: "a:x", mimeType: "application/json", text: "[1,null]" }]],
    ["false", false, {}, [{ uri: "a:x", mimeType: "application/json", text: "false" }]],
    ["zero", 0, { mimeType: "text/x-n" }, [{ uri: "a:x", mimeType: "text/x-n", text: "0" }]],
    ["no bytes", new Uint8Array(), {}, [{ uri: "a:x", mimeType: "application/octet-stream", blob: "" }]],
    ["XDG types", "", { mimeType: "inode/directory" }, [{ uri: "a:x", mimeType: "inode/directory", text: "" }]],
    [
      "data with a member called contents",
      { contents: ["chapter 1"] },
      {},
      [{ uri: "a:x", mimeType: "application/json", text: '{"contents":["chapter 1"]}' }],
    ],
    [
      "several contents",
      {
        contents: [
          { uri: "a:x/1", text: "one" },
          { uri: "a:x/2", mimeType: "image/png", blob: "AQI=" },
        ],
      },
      { mimeType: "text/ignored" },
      [
        { uri: "a:x/1", text: "one" },
        { uri: "a:x/2", mimeType: "image/png", blob: "AQI=" },
      ],
    ],
  ])("%s", async (_, returned, options, contents) => {
    covers(["resource-read", "schema-read-result", "resource-multiple-contents", "resource-file-xdg-mime"], revision);
    const server = create();
    server.resource("a:x", options, () => returned);
    const peer = await openPeer(server, revision);
    const result = await peer.call("resources/read", { uri: "a:x" });
    expect(result.contents).toEqual(contents);
  });

  test("all byte values come back equal, and bytes that are no UTF-8 are never sent as text", async () => {
    covers(["resource-binary-encoded", "resource-text-only-if-text", "schema-blob-base64"], revision);
    const server = create();
    server.resource("a:bytes", { mimeType: "text/plain" }, () => allBytes);
    const peer = await openPeer(server, revision);
    const { contents } = (await peer.call("resources/read", { uri: "a:bytes" })) as { contents: Obj[] };
    expect(contents).toHaveLength(1);
    expect(contents[0]).not.toHaveProperty("text");
    expect(contents[0]?.mimeType).toBe("text/plain");
    expect(Uint8Array.from(Buffer.from(contents[0]?.blob as string, "base64"))).toEqual(allBytes);
  });

  test("`_meta` of contents is sent where the revision has it, that of the result always", async () => {
    const server = create();
    const _meta = { "com.example/etag": "7" };
    server.resource("a:x", {}, () => ({ contents: [{ uri: "a:x", text: "", _meta }], _meta }));
    const peer = await openPeer(server, revision);
    const result = await peer.call("resources/read", { uri: "a:x" });
    expect(result._meta).toMatchObject(_meta);
    expect(result.contents).toEqual([{ uri: "a:x", text: "", ...(revision >= "2025-06-18" && { _meta }) }]);
  });

  test.each([
    ["an unknown URI", "a:unknown"],
    ["a handler that finds nothing", "a:undefined"],
    ["a handler that gives null", "a:null"],
    ["a handler that gives empty contents", "a:empty"],
  ])("%s is not found, and never gives empty contents", async (_, uri) => {
    covers(["resource-not-found", "resource-not-found-2026", "resource-no-empty-contents"], revision);
    const server = create();
    server.resource("a:undefined", {}, () => undefined);
    server.resource("a:null", {}, () => null);
    server.resource("a:empty", {}, () => ({ contents: [] }));
    const peer = await openPeer(server, revision);
    expect(await peer.fail("resources/read", { uri })).toEqual({
      code: notFound(revision),
      message: `Resource not found: "${uri}"`,
      data: { uri },
    });
  });

  test("a failing handler is an internal error that tells nothing", async () => {
    covers("resource-internal-error", revision);
    const errors: unknown[] = [];
    const server = create(errors);
    const secret = new Error("password is hunter2");
    server.resource("a:x", {}, () => Promise.reject(secret));
    const peer = await openPeer(server, revision);
    const error = await peer.fail("resources/read", { uri: "a:x" });
    const { errorId } = error.data as { errorId: string };
    expect(error).toEqual({ code: -32603, message: `Internal error (${errorId})`, data: { errorId } });
    expect(errors).toEqual([secret]);
  });

  test("a McpError of the handler's goes to the peer as it is", async () => {
    const server = create();
    server.resource("a:x", {}, () => {
      throw new McpError("application", "Locked", { rpcCode: 423, data: { by: "Ada" } });
    });
    const peer = await openPeer(server, revision);
    const error = await peer.fail("resources/read", { uri: "a:x" });
    expect(error).toEqual({ code: 423, message: "Locked", data: { by: "Ada" } });
  });

  test.each<[what: string, contents: Obj[]]>([
    ["neither text nor blob", [{ uri: "a:x", text: "good" }, { uri: "a:y" }]],
    ["both text and blob", [{ uri: "a:x", text: "a", blob: "AQI=" }]],
    ["text that is no string", [{ uri: "a:x", text: 5 }]],
    ["a blob that is not base64", [{ uri: "a:x", blob: "not base64!" }]],
    ["a relative URI", [{ uri: "x", text: "a" }]],
  ])("contents with %s are refused", async (_, contents) => {
    covers(["schema-read-result", "schema-blob-base64"], revision);
    const errors: unknown[] = [];
    const server = create(errors);
    server.resource("a:x", {}, () => ({ contents }));
    const peer = await openPeer(server, revision);
    expect((await peer.fail("resources/read", { uri: "a:x" })).code).toBe(-32603);
    expect(errors).toHaveLength(1);
  });

  test("what a caller may not see is not answered by a template either", async () => {
    const server = create();
    let ran = 0;
    server.resource("a:secret", { visible: () => false }, () => "secret");
    server.resource("a:{id}", {}, ({ id }) => {
      ran++;
      return id;
    });
    const peer = await openPeer(server, revision);
    expect((await peer.fail("resources/read", { uri: "a:secret" })).data).toEqual({ uri: "a:secret" });
    expect(ran).toBe(0);
    expect((await peer.call("resources/read", { uri: "a:other" })).contents).toMatchObject([{ text: "other" }]);
  });

  test("a handler reads another resource as its caller would", async () => {
    const server = create();
    server.resource("a:hidden", { visible: (ctx) => ctx.auth?.subject === "ada" }, () => "for Ada");
    server.resource("a:x", {}, async (_, ctx) => ctx.readResource("a:hidden"));
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    const contents = [{ uri: "a:hidden", mimeType: "text/plain", text: "for Ada" }];
    expect((await ada.call("resources/read", { uri: "a:x" })).contents).toEqual(contents);
    const bob = await openPeer(server, revision, { sender: { auth: { subject: "bob", scopes: [] } } });
    expect((await bob.fail("resources/read", { uri: "a:x" })).data).toEqual({ uri: "a:hidden" });
  });
});

// RFC 6570: one template an operator and level, with values that need encoding.
const expansions: [template: string, values: Record<string, string | string[]>, uri: string][] = [
  ["t1://{id}", { id: "ä b/c" }, "t1://%C3%A4%20b%2Fc"],
  ["t2://h/{+path}", { path: "a/b;c" }, "t2://h/a/b;c"],
  ["t3://h/a{#part}", { part: "s/1" }, "t3://h/a#s/1"],
  ["t4://{a,b}", { a: "1", b: "2 3" }, "t4://1,2%203"],
  ["t5://h/a{.ext}", { ext: "txt" }, "t5://h/a.txt"],
  ["t6://h{/a,b}", { a: "x", b: "y z" }, "t6://h/x/y%20z"],
  ["t7://h/a{;v,w}", { v: "1", w: "2" }, "t7://h/a;v=1;w=2"],
  ["t8://h/a{?q,n}", { q: "a&b=c", n: "5" }, "t8://h/a?q=a%26b%3Dc&n=5"],
  ["t9://h/a?x=1{&q}", { q: "é" }, "t9://h/a?x=1&q=%C3%A9"],
  ["t10://h{/list*}", { list: ["a", "b c"] }, "t10://h/a/b%20c"],
  ["t11://h/a{?tags*}", { tags: ["x", "y"] }, "t11://h/a?tags=x&tags=y"],
  ["t12://{id:3}", { id: "abc" }, "t12://abc"],
];

describe.each(revisions)("templates in %s", (revision) => {
  test("URIs expanded from every operator are read with decoded variables", async () => {
    covers(["resource-template-rfc6570", "resource-read"], revision);
    const server = create();
    for (const [template] of expansions) server.resource(template, {}, (variables) => ({ template, variables }));
    const peer = await openPeer(server, revision);
    for (const [template, values, uri] of expansions) {
      expect(expandUriTemplate(template, values)).toBe(uri);
      const { contents } = (await peer.call("resources/read", { uri })) as {
        contents: [{ uri: string; text: string }];
      };
      expect(JSON.parse(contents[0].text)).toEqual({ template, variables: values });
      expect(contents[0].uri).toBe(uri);
    }
  });

  test("a resource goes before a template, whichever was registered first, and templates in their order", async () => {
    const server = create();
    server.resource("n:///{id}", {}, () => "by the first template");
    server.resource("n:///{+all}", {}, () => "by the second template");
    server.resource("n:///special", {}, () => "by itself");
    const peer = await openPeer(server, revision);
    const read = async (uri: string) => ((await peer.call("resources/read", { uri })).contents as Obj[])[0]?.text;
    expect(await read("n:///special")).toBe("by itself");
    expect(await read("n:///other")).toBe("by the first template");
    expect(await read("n:///a/b")).toBe("by the second template");
  });

  test("a template text itself is no resource", async () => {
    const server = create();
    server.resource("n:///{id}", {}, ({ id }) => id);
    const peer = await openPeer(server, revision);
    expect((await peer.fail("resources/read", { uri: "n:///{id}/x" })).code).toBe(notFound(revision));
  });

  test("a template whose handler finds nothing is not found", async () => {
    covers(["resource-not-found", "resource-not-found-2026", "resource-no-empty-contents"], revision);
    const server = create();
    server.resource("n:///{id}", {}, ({ id }) => (id === "1" ? "one" : undefined));
    const peer = await openPeer(server, revision);
    const uri = "n:///2";
    expect(await peer.fail("resources/read", { uri })).toMatchObject({ code: notFound(revision), data: { uri } });
  });
});
