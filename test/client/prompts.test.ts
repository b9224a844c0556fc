// Prompts, and completions of their arguments and of the variables of resource templates.
import { type CompletionRef, revisions } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { eachWay, errorOf, open, openScript } from "./harness.ts";
import { createScript, opening } from "./script.ts";

const greet = { type: "ref/prompt", name: "greet" } as const;
const notes = { type: "ref/resource", uri: "note://{id}" } as const;

test.each(eachWay())("prompts and their arguments in $revision over $transport", async ({ revision, transport }) => {
  covers(["prompt-list", "prompt-get", "prompt-security-validation"], revision);
  const { client, traffic } = await open(revision, transport);
  const prompts = await client.listPrompts().all();
  expect(prompts.find(({ name }) => name === "greet")).toEqual({
    name: "greet",
    description: "A greeting",
    arguments: [{ name: "name", required: true }, { name: "tone" }],
  });
  const plain = await client.getPrompt("greet", { name: "Ada" });
  expect(plain.description).toBe("A greeting");
  expect(plain.messages).toEqual([{ role: "user", content: { type: "text", text: "Greet Ada." } }]);

  // What is filled in is data: nothing in it is looked at again.
  const hostile = "{tone} %s {{name}} </user> $(name)";
  const warm = await client.getPrompt("greet", { name: hostile, tone: "warm" });
  expect(warm.messages).toEqual([
    { role: "user", content: { type: "text", text: `Greet ${hostile} in a warm tone.` } },
  ]);

  await client.callTool("learn", { name: "tenons" });
  expect((await client.getPrompt("tenons")).messages).toMatchObject([{ content: { text: "Tell me about tenons." } }]);
  expect(traffic.sent("prompts/get").at(-1)?.params).not.toHaveProperty("arguments");
});

test.each(eachWay())("prompts that cannot be had in $revision over $transport", async ({ revision, transport }) => {
  covers(["prompt-unknown-name-code", "prompt-missing-argument-code", "schema-get-prompt-request"], revision);
  const { client, traffic } = await open(revision, transport);
  const missing = await errorOf(client.getPrompt("greet", { tone: "warm" }));
  expect(missing).toMatchObject({ code: "peer_error", rpcCode: -32602 });
  expect(missing.message).toContain('"name"');
  const unknown = await errorOf(client.getPrompt("scold"));
  expect(unknown).toMatchObject({ code: "peer_error", rpcCode: -32602 });
  expect(unknown.message).toContain('prompts/get "scold"');

  // Arguments are texts: anything else is not even sent.
  const before = traffic.sent().length;
  const wrong = await errorOf(client.getPrompt("greet", { name: 5 } as unknown as { name: string }));
  expect(wrong.code).toBe("invalid_params");
  expect(wrong.message).toContain("arguments");
  expect(traffic.sent()).toHaveLength(before);
});

test.each(eachWay())("completions in $revision over $transport", async ({ revision, transport }) => {
  covers(["completion-request", "completion-context", "schema-complete-request", "schema-completion-refs"], revision);
  const { client, traffic } = await open(revision, transport);
  expect(await client.complete(greet, { name: "name", value: "A" })).toMatchObject({ values: ["Ada", "Alan"] });
  expect(await client.complete(greet, { name: "name", value: "Z" })).toMatchObject({ values: [] });
  expect(await client.complete(notes, { name: "id", value: "t" })).toMatchObject({ values: ["two", "three"] });
  for (const { params } of traffic.sent("completion/complete")) expect(params).not.toHaveProperty("context");

  // What is filled in already is told where the revision has a place for it.
  const hasContext = revision >= "2025-06-18";
  const tone = await client.complete(greet, { name: "tone", value: "warm" }, { arguments: { name: "Ada" } });
  expect(tone.values).toEqual([`warm, for ${hasContext ? "Ada" : "nobody"}`]);
  const { params } = traffic.sent("completion/complete").at(-1) ?? {};
  if (hasContext) expect(params?.context).toEqual({ arguments: { name: "Ada" } });
  else expect(params).not.toHaveProperty("context");

  for (const [ref, name] of [
    [{ type: "ref/prompt", name: "scold" }, "name"],
    [{ type: "ref/resource", uri: "hammer://{id}" }, "id"],
    [greet, "age"],
  ] as [CompletionRef, string][]) {
    expect(await errorOf(client.complete(ref, { name, value: "A" }))).toMatchObject({
      code: "peer_error",
      rpcCode: -32602,
    });
  }
  // A reference or an argument that is none is not sent.
  const before = traffic.sent().length;
  for (const [ref, argument] of [
    [
      { type: "ref/tool", name: "echo" },
      { name: "text", value: "" },
    ],
    [{ type: "ref/prompt" }, { name: "name", value: "" }],
    [greet, { name: "name" }],
    [greet, { name: "name", value: 5 }],
  ]) {
    const error = await errorOf(client.complete(ref as CompletionRef, argument as { name: string; value: string }));
    expect(error.code).toBe("invalid_params");
  }
  expect(traffic.sent()).toHaveLength(before);
});

test.each(revisions)("a completion that says little in %s", async (revision) => {
  covers(["completion-partial"], revision);
  const script = createScript(
    revision,
    opening(revision, { prompts: {}, completions: {} }, ({ method }) =>
      method === "completion/complete" ? { result: { resultType: "complete", completion: { values: [] } } } : undefined,
    ),
  );
  const client = await openScript(script.target, { revision });
  expect(await client.complete(greet, { name: "name", value: "" })).toEqual({ values: [] });
});
