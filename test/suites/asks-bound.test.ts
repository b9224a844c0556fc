// Whose question it was: an answer counts only from the client that was asked, and a handler knows on whose behalf it asks.
import { createServer } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { hasSession, openPeer } from "./peer.ts";

const revisions = ["2025-06-18", "2025-11-25"] as const;
const capabilities = { elicitation: {}, roots: {} };
const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

function createAsker() {
  const server = createServer({ name: "asker", version: "1.0.0" });
  server.tool("ask", {}, async (_, ctx) => {
    const answer = await ctx.elicit("Your name?", form);
    return `${ctx.auth?.subject}: ${JSON.stringify(answer)}`;
  });
  return server;
}

const textOf = (result: unknown): string | undefined => (result as { content: { text: string }[] }).content[0]?.text;

describe.runIf(revisions.every(hasSession)).each(revisions)("in %s", (revision) => {
  test("another client's answer settles nothing, though it has the same id", async () => {
    covers(["elicitation-state-bound", "elicitation-bound-identity", "elicitation-state-user-from-auth"], revision);
    const server = createAsker();
    const ada = await openPeer(server, revision, { capabilities, sender: { auth: { subject: "ada", scopes: [] } } });
    const eve = await openPeer(server, revision, { capabilities, sender: { auth: { subject: "eve", scopes: [] } } });
    ada.start("tools/call", { name: "ask" }, "call");
    const question = await ada.asked();
    eve.answer(question, { action: "accept", content: { name: "Eve" } });
    await eve.settle();
    await ada.settle();
    expect(ada.messages.some(({ id, result }) => id === "call" && result)).toBe(false);
    // And when both are asked, each answers for itself.
    eve.start("tools/call", { name: "ask" }, "call");
    eve.answer(await eve.asked(), { action: "decline" });
    ada.answer(question, { action: "accept", content: { name: "Ada" } });
    const said = (peer: typeof ada) => () =>
      textOf(peer.messages.find(({ id, result }) => id === "call" && result)?.result ?? { content: [] });
    await expect.poll(said(ada)).toBe('ada: {"action":"accept","content":{"name":"Ada"}}');
    await expect.poll(said(eve)).toBe('eve: {"action":"decline"}');
  });
});
