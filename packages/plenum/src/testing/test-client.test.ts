// A client for tests tells what passed and what was asked, and does not let a question without an answer go by.
import { createServer, type Revision, revisions, ToolError } from "plenum";
import { expect, test } from "vitest";
import { z } from "zod";
import { createTestClient, inEveryRevision } from "./test-client.ts";

function createSubject() {
  const server = createServer({ name: "subject", version: "1.0.0", onError() {} });
  server.tool("greet", {}, async (_, ctx) => {
    const answer = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
    return answer.action === "accept" ? `Hello ${answer.content.name}` : `You said ${answer.action}`;
  });
  server.tool("polite", {}, async (_, ctx) => {
    try {
      await ctx.elicit("Who are you?", z.object({ name: z.string() }));
      return "asked";
    } catch (error) {
      // A handler of the stateless era has to let this one pass.
      if ((error as { code?: string }).code === "input_required") throw error;
      return "never mind";
    }
  });
  server.tool("poem", {}, async (_, ctx) => {
    const { content } = await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text: "A poem" } }],
      maxTokens: 10,
    });
    return (content as { text: string }).text;
  });
  server.tool("count", {}, (_, ctx) => {
    for (let step = 1; step <= 3; step++) ctx.progress(step, 3);
    ctx.log.debug({ done: true });
    return "3";
  });
  server.tool("fail", {}, () => {
    throw new ToolError("no");
  });
  server.tool("secret", { scopes: ["admin"] }, (_, ctx) => `${ctx.auth?.subject} ${ctx.sender?.header?.("X-Team")}`);
  return server;
}

/** Elicitation came with 2025-06-18. */
const asking: readonly Revision[] = revisions.filter((revision) => revision >= "2025-06-18");

test("answers are given in order, and the questions kept", async () => {
  await inEveryRevision(
    createSubject(),
    async (client) => {
      expect((await client.callTool("greet")).text).toBe("Hello Ada");
      expect((await client.callTool("greet")).text).toBe("You said decline");
      expect((await client.callTool("greet")).text).toBe("Hello Who are you?");
      expect(client.questions.map(({ kind, answer }) => [kind, answer])).toEqual([
        ["elicit", { name: "Ada" }],
        ["elicit", "decline"],
        ["elicit", { name: "Who are you?" }],
      ]);
    },
    { revisions: asking, elicit: [{ name: "Ada" }, "decline", ({ message }) => ({ name: message })] },
  );
});

test("a question without an answer fails the call, and is shown", async () => {
  await inEveryRevision(
    createSubject(),
    async (client) => {
      await expect(client.callTool("greet")).rejects.toThrow(
        /asked a form, "Who are you\?", and the test has no answer.*none was given[\s\S]*"name"/,
      );
      // Even where the handler copes.
      await expect(client.callTool("polite")).rejects.toThrow(/no answer/);
      expect((await client.callTool("count")).text).toBe("3");
    },
    { revisions: asking },
  );
});

test("a client that cannot be asked is not", async () => {
  await using client = await createTestClient(createSubject(), { elicit: false });
  await expect(client.callTool("greet")).rejects.toMatchObject({ name: "McpError" });
  expect(client.questions).toEqual([]);
});

test("a model says what the test lets it say", async () => {
  await inEveryRevision(
    createSubject(),
    async (client) => expect((await client.callTool("poem")).text).toBe("Roses are red"),
    { sample: ["Roses are red"] },
  );
});

test("messages, logs and progress are kept", async () => {
  await inEveryRevision(createSubject(), async (client) => {
    await client.callTool("count");
    expect(client.progress).toEqual([1, 2, 3].map((progress) => expect.objectContaining({ progress, total: 3 })));
    expect(client.logs).toEqual([expect.objectContaining({ level: "debug", data: { done: true } })]);
    const [opening] = client.messages;
    expect(opening).toMatchObject({
      from: "client",
      message: { method: client.revision === "2026-07-28" ? "server/discover" : "initialize" },
    });
    expect(client.messages.at(-1)).toMatchObject({ from: "server", message: { result: {} } });
    expect(client.warnings).toEqual([]);
  });
});

test("scopes and headers are whose the test says", async () => {
  await using admin = await createTestClient(createSubject(), {
    auth: { subject: "ada", scopes: ["admin"] },
    headers: { "x-team": "blue" },
  });
  expect((await admin.callTool("secret")).text).toBe("ada blue");
  await using guest = await createTestClient(createSubject(), { auth: { subject: "bob" } });
  await expect(guest.callTool("secret")).rejects.toMatchObject({ name: "McpError" });
});

test("a test that fails in some revisions says in which", async () => {
  const seen: string[] = [];
  const failing = inEveryRevision(createSubject(), (client) => {
    seen.push(client.revision);
    if (client.revision < "2025-06-18") throw new RangeError("too old");
  });
  await expect(failing).rejects.toThrow(new RangeError("in 2024-11-05, 2025-03-26: too old"));
  expect(seen).toEqual([...revisions]);
});
