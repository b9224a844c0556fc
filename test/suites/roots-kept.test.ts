// A session's roots are asked for once, and again when the client says that they are others.
import { createServer } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { openPeer, type Peer, sessioned } from "./peer.ts";

function createLooker() {
  const server = createServer({ name: "looker", version: "1.0.0" });
  server.tool("look", {}, async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(" "));
  return server;
}

/** Calls the tool, and answers with this root if it is asked for; whether it was, and what the tool said. */
async function look(peer: Peer, id: string, uri: string): Promise<{ asked: boolean; said: unknown }> {
  const requests = () => peer.messages.filter(({ method }) => method === "roots/list");
  const answer = (): unknown => peer.messages.find((message) => message.id === id && message.result);
  const before = requests().length;
  peer.start("tools/call", { name: "look" }, id);
  await expect.poll(() => requests().length > before || answer() !== undefined).toBe(true);
  const request = requests()[before];
  if (request) peer.answer(request, { roots: [{ uri }] });
  await expect.poll(answer).toBeDefined();
  const { result } = answer() as { result: { content: { text: string }[] } };
  return { asked: request !== undefined, said: result.content[0]?.text };
}

describe.each(sessioned)("in %s", (revision) => {
  test("asks once, and again after the notice", async () => {
    covers(["root-refetch", "root-cache"], revision);
    const peer = await openPeer(createLooker(), revision, { capabilities: { roots: { listChanged: true } } });
    expect(await look(peer, "a", "file:///one")).toEqual({ asked: true, said: "file:///one" });
    expect(await look(peer, "b", "file:///two")).toEqual({ asked: false, said: "file:///one" });
    peer.notify("notifications/roots/list_changed");
    expect(await look(peer, "c", "file:///two")).toEqual({ asked: true, said: "file:///two" });
  });

  test("asks again when they changed while they were asked for", async () => {
    covers("root-refetch", revision);
    const peer = await openPeer(createLooker(), revision, { capabilities: { roots: { listChanged: true } } });
    peer.start("tools/call", { name: "look" }, "a");
    const request = await peer.asked();
    peer.notify("notifications/roots/list_changed");
    // It may be the list of before.
    peer.answer(request, { roots: [{ uri: "file:///old" }] });
    await expect.poll(() => peer.messages.some(({ id, result }) => id === "a" && result)).toBe(true);
    expect(await look(peer, "b", "file:///new")).toEqual({ asked: true, said: "file:///new" });
  });

  test("what a handler does with them, no other sees", async () => {
    const server = createServer({ name: "looker", version: "1.0.0" });
    server.tool("look", {}, async (_, ctx) => {
      const roots = (await ctx.roots()) as { uri: string }[];
      const said = roots.map(({ uri }) => uri).join(" ");
      roots.push({ uri: "file:///etc" });
      return said;
    });
    const peer = await openPeer(server, revision, { capabilities: { roots: { listChanged: true } } });
    for (const id of ["a", "b", "c"]) expect((await look(peer, id, "file:///one")).said).toBe("file:///one");
  });

  test("asks every time where the client would not say", async () => {
    const peer = await openPeer(createLooker(), revision, { capabilities: { roots: {} } });
    expect(await look(peer, "a", "file:///one")).toEqual({ asked: true, said: "file:///one" });
    expect(await look(peer, "b", "file:///two")).toEqual({ asked: true, said: "file:///two" });
  });
});
