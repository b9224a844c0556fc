// Pages that a user has to visit, in 2025-11-25: an error that names them, and the notice that one is dealt with.
import { createServer, elicitationRequired, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { hasSession, type Obj, openPeer } from "./peer.ts";

const recent = "2025-11-25";
const url = "https://example.com/connect?t=1";
const capabilities = { elicitation: { form: {}, url: {} } };
const completed = "notifications/elicitation/complete";

function createGuarded() {
  const server = createServer({ name: "guarded", version: "1.0.0", onError: () => {} });
  server.tool("sync", {}, () => {
    throw elicitationRequired([
      { message: "Sign in", url, id: "sign-in" },
      { message: "Pay", url: "https://example.com/pay" },
    ]);
  });
  server.tool("ask", {}, async (_, ctx) => (await ctx.elicitUrl("Sign in", url, { id: "asked" })).action);
  server.tool("broken", {}, () => {
    throw new Error("secret");
  });
  server.resource("guarded://one", {}, () => {
    throw elicitationRequired([{ message: "Sign in", url }]);
  });
  return server;
}

describe("elicitationRequired", () => {
  test("fails the call with -32042 and the list of pages, in the one revision that has it", async () => {
    covers(["elicitation-required-error", "elicitation-required-error-list", "elicitation-required-error-must"]);
    const peer = await openPeer(createGuarded(), recent, { capabilities });
    const { code, data } = await peer.fail("tools/call", { name: "sync" });
    expect(code).toBe(-32042);
    const { elicitations } = data as { elicitations: Obj[] };
    expect(elicitations).toEqual([
      { mode: "url", message: "Sign in", url, elicitationId: "sign-in" },
      {
        mode: "url",
        message: "Pay",
        url: "https://example.com/pay",
        elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    expect((await peer.fail("resources/read", { uri: "guarded://one" })).code).toBe(-32042);
  });

  test.each(revisions.filter((revision) => revision !== recent))("is for the model to read in %s", async (revision) => {
    const peer = await openPeer(createGuarded(), revision, { capabilities });
    const { content, isError } = await peer.call("tools/call", { name: "sync" });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain(url);
    expect((await peer.fail("resources/read", { uri: "guarded://one" })).code).toBe(-32603);
  });

  test("no other failure has its number", async () => {
    covers("elicitation-required-error-only");
    const peer = await openPeer(createGuarded(), recent, { capabilities });
    const broken = await peer.call("tools/call", { name: "broken" });
    expect(broken).toMatchObject({ isError: true });
    const failures = [
      await peer.fail("tools/call", { name: "nowhere" }),
      await peer.fail("resources/read", { uri: "guarded://two" }),
      await peer.fail("tools/call", {}),
      await peer.fail("nothing/such", {}),
    ];
    for (const { code } of failures) expect(code).not.toBe(-32042);
  });

  test("takes a page and a URL", () => {
    expect(() => elicitationRequired([])).toThrow(TypeError);
    expect(() => elicitationRequired([{ message: "Sign in", url: "nowhere" }])).toThrow(TypeError);
  });
});

describe.runIf(hasSession("2025-11-25"))("elicitationComplete", () => {
  test("is told to the client that was given the id, with that id, once, and to nobody else", async () => {
    covers(["elicitation-complete-notification", "elicitation-complete-same-client", "elicitation-complete-id"]);
    const server = createGuarded();
    const [told, other] = [
      await openPeer(server, recent, { capabilities }),
      await openPeer(server, recent, { capabilities }),
    ];
    await told.fail("tools/call", { name: "sync" });
    server.elicitationComplete("sign-in");
    server.elicitationComplete("never given");
    await told.settle();
    server.elicitationComplete("sign-in");
    await told.settle();
    expect(told.notifications(completed).map(({ params }) => params)).toEqual([{ elicitationId: "sign-in" }]);
    expect(other.notifications(completed)).toEqual([]);
  });

  test("is told of pages that a handler asked to visit", async () => {
    const server = createGuarded();
    const peer = await openPeer(server, recent, { capabilities });
    peer.start("tools/call", { name: "ask" }, "call");
    const request = await peer.asked();
    expect(request.params).toMatchObject({ mode: "url", url, elicitationId: "asked" });
    peer.answer(request, { action: "accept" });
    await peer.settle();
    server.elicitationComplete("asked");
    await peer.settle();
    expect(peer.notifications(completed).map(({ params }) => params)).toEqual([{ elicitationId: "asked" }]);
  });
});
