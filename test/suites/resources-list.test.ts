// The lists of resources and templates: what they hold in each revision, for whom, and page by page.
import { createServer, type Resource, revisions, type Server, type ServerOptions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer, type Peer } from "./peer.ts";

const create = (options: Partial<ServerOptions<undefined>> = {}): Server =>
  createServer({ name: "library", version: "1.0.0", onError: () => {}, ...options });

const read = (): string => "";

/** All pages of a list, one array each. */
async function pagesOf(peer: Peer, method: string, member: string): Promise<Obj[][]> {
  const pages: Obj[][] = [];
  for (let cursor: unknown; ; ) {
    const result = await peer.call(method, cursor === undefined ? {} : { cursor });
    pages.push(result[member] as Obj[]);
    cursor = result.nextCursor;
    if (cursor === undefined) return pages;
  }
}

const capabilitiesOf = async (peer: Peer): Promise<Obj> =>
  (peer.isModern ? await peer.call("server/discover") : peer.opening).capabilities as Obj;

describe.each(revisions)("in %s", (revision) => {
  test("a registered resource brings the capability; without one the methods do not exist", async () => {
    covers("resource-capability", revision);
    const server = create();
    const bare = await openPeer(server, revision);
    expect(await capabilitiesOf(bare)).not.toHaveProperty("resources");
    for (const method of ["resources/list", "resources/templates/list", "resources/read", "resources/subscribe"]) {
      const error = await bare.fail(method, { uri: "a:x" });
      expect(error).toEqual({ code: -32601, message: `Method not found: "${method}"` });
    }
    server.resource("a:x", {}, read);
    const peer = await openPeer(server, revision);
    expect((await capabilitiesOf(peer)).resources).toEqual({ subscribe: true, listChanged: true });
    await peer.call("resources/read", { uri: "a:x" });
  });

  test("an emptied server lists empty arrays", async () => {
    covers(["resource-list", "resource-templates-list", "schema-list-results"], revision);
    const server = create();
    server.resource("a:x", {}, read).remove();
    const peer = await openPeer(server, revision);
    expect(await peer.call("resources/list")).toMatchObject({ resources: [] });
    expect(await peer.call("resources/templates/list")).toMatchObject({ resourceTemplates: [] });
  });

  test("resources and templates are listed apart, with the members of the revision", async () => {
    covers(
      [
        ...["resource-list", "resource-templates-list", "resource-size", "resource-annotation-last-modified"],
        ...["schema-resource", "schema-resource-template", "schema-title-members", "schema-meta-members"],
        ...["schema-annotations", "schema-list-results", "icon-shape"],
      ],
      revision,
    );
    const server = create();
    const lastModified = new Date(Date.UTC(2025, 0, 12, 15, 0, 58, 250));
    const shared = {
      title: "The title",
      description: "What it is",
      mimeType: "text/plain",
      annotations: { audience: ["user"], priority: 0.8, lastModified },
      icons: [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" }],
      meta: { "com.example/shelf": 3 },
    } as const;
    server.resource("a:full", { ...shared, name: "full", size: 1234 }, read);
    server.resource("a:zero", { size: 0, annotations: { lastModified: "2025-01-12T15:00:58Z" } }, read);
    server.resource("a:plain", {}, read);
    server.resource("b:///{id}", { ...shared, name: "items" }, read);
    server.resource("c:///{id}", {}, read);
    const peer = await openPeer(server, revision);

    const since6 = revision >= "2025-06-18";
    const common = {
      description: "What it is",
      mimeType: "text/plain",
      annotations: { audience: ["user"], priority: 0.8, ...(since6 && { lastModified: "2025-01-12T15:00:58.250Z" }) },
      ...(since6 && { title: "The title", _meta: { "com.example/shelf": 3 } }),
      ...(revision >= "2025-11-25" && { icons: shared.icons }),
    };
    expect((await peer.call("resources/list")).resources).toEqual([
      { uri: "a:full", name: "full", size: 1234, ...common },
      {
        uri: "a:zero",
        name: "a:zero",
        size: 0,
        annotations: since6 ? { lastModified: "2025-01-12T15:00:58Z" } : {},
      },
      { uri: "a:plain", name: "a:plain" },
    ]);
    expect((await peer.call("resources/templates/list")).resourceTemplates).toEqual([
      { uriTemplate: "b:///{id}", name: "items", ...common },
      { uriTemplate: "c:///{id}", name: "c:///{id}" },
    ]);
  });

  test("what a template lists comes in its place, page by page, and nothing twice", async () => {
    covers(["resource-list", "resource-uri-unique"], revision);
    const server = create({ pageSize: 2 });
    const item = (uri: string): Resource => ({ uri, name: uri });
    server.resource("a:1", {}, read);
    server.resource("n:///{id}", { list: () => ["n:///1", "n:///2", "n:///own", "n:///2", "n:///3"].map(item) }, read);
    server.resource("n:///own", { name: "registered" }, read);
    server.resource("m:///{id}", { list: async () => [] }, read);
    server.resource("o:///{id}", {}, read);
    server.resource("z:9", {}, read);
    const peer = await openPeer(server, revision);
    expect(await pagesOf(peer, "resources/list", "resources")).toEqual([
      [item("a:1"), item("n:///1")],
      [item("n:///2"), item("n:///3")],
      [{ uri: "n:///own", name: "registered" }, item("z:9")],
    ]);
    const templates = await pagesOf(peer, "resources/templates/list", "resourceTemplates");
    expect(templates.map((page) => page.map(({ uriTemplate }) => uriTemplate))).toEqual([
      ["n:///{id}", "m:///{id}"],
      ["o:///{id}"],
    ]);
  });

  test("what a template lists carries only the members of the revision", async () => {
    const server = create();
    const list = (): Resource[] => [
      { uri: "n:///1", name: "one", title: "One", icons: [{ src: "https://x.example/i" }] },
    ];
    server.resource("n:///{id}", { list }, read);
    const peer = await openPeer(server, revision);
    expect((await peer.call("resources/list")).resources).toEqual([
      {
        uri: "n:///1",
        name: "one",
        ...(revision >= "2025-06-18" && { title: "One" }),
        ...(revision >= "2025-11-25" && { icons: [{ src: "https://x.example/i" }] }),
      },
    ]);
  });

  test("a failing list is an internal error, and the other methods go on", async () => {
    covers("resource-internal-error", revision);
    const server = create();
    server.resource("n:///{id}", { list: () => Promise.reject(new Error("disk")) }, ({ id }) => id);
    const peer = await openPeer(server, revision);
    expect(await peer.fail("resources/list")).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error \([0-9a-f-]{36}\)$/),
    });
    await peer.call("resources/templates/list");
    await peer.call("resources/read", { uri: "n:///1" });
  });

  test("whoever may not see a resource finds it nowhere; the check goes before the handler", async () => {
    covers(
      ["resource-access-control", "resource-permissions", "resource-list-by-authorization", "resource-list"],
      revision,
    );
    const server = create();
    const steps: string[] = [];
    const isAdmin = (step: string) => (ctx: { auth: { scopes: readonly string[] } | undefined }) => {
      steps.push(step);
      return ctx.auth?.scopes.includes("admin");
    };
    server.resource("a:open", {}, read);
    server.resource("a:secret", { visible: isAdmin("ask") }, () => {
      steps.push("read");
      return "42";
    });
    const visible = async (ctx: Parameters<ReturnType<typeof isAdmin>>[0]) => isAdmin("ask")(ctx);
    server.resource("s:///{id}", { visible, list: () => [{ uri: "s:///1", name: "1" }] }, () => "43");

    const urisOf = async (peer: Peer) =>
      ((await peer.call("resources/list")).resources as Resource[]).map((r) => r.uri);
    const templatesOf = async (peer: Peer) => (await peer.call("resources/templates/list")).resourceTemplates;
    const admin = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: ["admin"] } } });
    const guest = await openPeer(server, revision, { sender: { auth: { subject: "bob", scopes: [] } } });
    const nobody = await openPeer(server, revision);

    expect(await urisOf(admin)).toEqual(["a:open", "a:secret", "s:///1"]);
    expect(await templatesOf(admin)).toEqual([{ uriTemplate: "s:///{id}", name: "s:///{id}" }]);
    steps.length = 0;
    expect((await admin.call("resources/read", { uri: "a:secret" })).contents).toMatchObject([{ text: "42" }]);
    expect(steps).toEqual(["ask", "read"]);
    await admin.call("resources/read", { uri: "s:///1" });

    for (const peer of [guest, nobody]) {
      expect(await urisOf(peer)).toEqual(["a:open"]);
      expect(await templatesOf(peer)).toEqual([]);
      steps.length = 0;
      for (const uri of ["a:secret", "s:///1"]) {
        for (const method of peer.isModern ? ["resources/read"] : ["resources/read", "resources/subscribe"]) {
          expect(await peer.fail(method, { uri })).toEqual({
            code: revision === modern ? -32602 : -32002,
            message: `Resource not found: "${uri}"`,
            data: { uri },
          });
        }
      }
      expect(steps).not.toContain("read");
    }
  });

  test("two connections see the same list, whatever else they did", async () => {
    covers("resource-list-not-per-connection", revision);
    const server = create();
    server.resource("a:x", {}, read);
    server.resource("n:///{id}", { list: () => [{ uri: "n:///1", name: "1" }] }, read);
    const first = await openPeer(server, revision);
    const second = await openPeer(server, revision, { clientInfo: { name: "other", version: "2.0.0" } });
    await first.call("resources/read", { uri: "n:///77" });
    await first.call("resources/read", { uri: "a:x" });
    expect((await first.call("resources/list")).resources).toEqual((await second.call("resources/list")).resources);
  });

  test("a disabled resource is neither listed nor read until it is enabled again", async () => {
    const server = create();
    const handle = server.resource("a:x", {}, read);
    const peer = await openPeer(server, revision);
    handle.disable();
    expect(handle.enabled).toBe(false);
    expect((await peer.call("resources/list")).resources).toEqual([]);
    expect((await peer.fail("resources/read", { uri: "a:x" })).data).toEqual({ uri: "a:x" });
    handle.enable();
    expect((await peer.call("resources/list")).resources).toEqual([{ uri: "a:x", name: "a:x" }]);
    await peer.call("resources/read", { uri: "a:x" });
  });
});
