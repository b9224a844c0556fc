// Questions to a model, for roots, and several at once; and that one file of handlers gives the same answers everywhere.
import { type JsonObject, McpError, type Revision, revisions, type SampleRequest } from "plenum";
import { expect, test } from "vitest";
import { createDeferred } from "../deferred.ts";
import { covers } from "../requirements/covers.ts";
import { accept, answers, declared, onSample, seen, withForms, withPages } from "./asking.ts";
import { each, errorOf, modern, open } from "./harness.ts";

test.each(each())("a model is asked in $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "sampling-create",
      "sampling-capability",
      "sampling-capability-2026",
      "sampling-max-tokens",
      "sampling-stop-reason-open",
      "sampling-approval",
      "sampling-messages-not-retained",
      "schema-create-message-result",
    ],
    revision,
  );
  const asked: SampleRequest[] = [];
  const { client, traffic } = await open(revision, transport, {
    onSample(request) {
      asked.push(request);
      const content = { type: "text", text: `thought ${asked.length}` };
      return { role: "assistant", content, model: "dummy-1", stopReason: "boredom", secret: "mine" } as never;
    },
  });
  for (const [index, about] of ["sawdust", "glue"].entries()) {
    const { text } = await client.callTool("think", { about });
    expect(JSON.parse(text)).toEqual({ type: "text", text: `thought ${index + 1}` });
    expect(asked.at(-1)).toEqual({
      messages: [{ role: "user", content: { type: "text", text: about } }],
      maxTokens: 100,
    });
  }
  for (const capabilities of declared(traffic)) expect(capabilities).toEqual({ sampling: {} });
  expect(answers(traffic)[0]).toEqual({
    role: "assistant",
    content: { type: "text", text: "thought 1" },
    model: "dummy-1",
    stopReason: "boredom",
  });
});

test.each(each())("the user does not want a model asked, in $revision over $transport", async (where) => {
  covers(["sampling-rejected"], where.revision);
  const { client, traffic } = await open(where.revision, where.transport, {
    onSample() {
      throw new McpError("application", "User rejected sampling request", { rpcCode: -1 });
    },
  });
  if (where.revision === modern) {
    const error = await errorOf(client.callTool("think", { about: "glue" }));
    expect(error).toMatchObject({ code: "application", rpcCode: -1 });
    expect(error.message).toContain("User rejected sampling request");
  } else {
    expect((await client.callTool("think", { about: "glue" })).isError).toBe(true);
    const reply = traffic.replyTo(traffic.heard("sampling/createMessage")[0]);
    expect(reply?.error).toEqual({ code: -1, message: "User rejected sampling request" });
  }
});

test.each(each(withPages))("a model with tools in $revision over $transport", async ({ revision, transport }) => {
  covers(["sampling-tools-capability", "sampling-tool-choice", "sampling-content-array", "schema-tool-use"], revision);
  const asked: SampleRequest[] = [];
  const content = [
    { type: "text", text: "Let me weigh it again." },
    { type: "tool_use", id: "w2", name: "weigh", input: { twice: true } },
  ];
  const { client, traffic } = await open(revision, transport, {
    sampleTools: true,
    onSample(request) {
      asked.push(request);
      return { role: "assistant", content, model: "dummy-1", stopReason: "toolUse" };
    },
  });
  expect(JSON.parse((await client.callTool("ponder", { about: "the plank" })).text)).toEqual(content);
  expect(asked).toMatchObject([
    {
      tools: [{ name: "weigh", inputSchema: { type: "object" } }],
      toolChoice: { mode: "auto" },
      messages: [
        { role: "user" },
        { role: "assistant", content: { type: "tool_use", id: "w1" } },
        { role: "user", content: [{ type: "tool_result", toolUseId: "w1" }] },
      ],
    },
  ]);
  for (const capabilities of declared(traffic)) expect(capabilities).toEqual({ sampling: { tools: {} } });
});

test.each(each())("roots in $revision over $transport", async ({ revision, transport }) => {
  covers(["root-list", "root-capability", "root-capability-2026", "schema-list-roots-result"], revision);
  let calls = 0;
  const provide = () => {
    calls++;
    return calls === 3 ? [] : ["file:///home/ada", { uri: `file:///srv/${calls}`, name: "Srv" }];
  };
  const { client, traffic } = await open(revision, transport, { roots: provide });
  const told = async (): Promise<unknown> => JSON.parse((await client.callTool("roots")).text);
  for (const n of [1, 2]) {
    expect(await told()).toEqual([{ uri: "file:///home/ada" }, { uri: `file:///srv/${n}`, name: "Srv" }]);
    // A server may keep them until it hears that they are others.
    client.setRoots(provide);
  }
  expect(await told()).toEqual([]);
  const roots = revision === modern ? {} : { listChanged: true };
  for (const capabilities of declared(traffic)) expect(capabilities).toEqual({ roots });
});

test.each(each(withForms))(
  "questions that are put together travel together, in $revision over $transport",
  async (where) => {
    covers(["mrtr-client-fulfils", "mrtr-client-keys", "mrtr-client-new-id"], where.revision);
    // Each waits until the other is asked, too.
    const both = [createDeferred(), createDeferred()] as const;
    const { client, traffic } = await open(where.revision, where.transport, {
      async onElicit() {
        both[0].resolve();
        await both[1].promise;
        return accept({ name: "Ada" });
      },
      async roots() {
        both[1].resolve();
        await both[0].promise;
        return ["file:///srv"];
      },
    });
    expect(JSON.parse((await client.callTool("together")).text)).toEqual({
      name: { action: "accept", content: { name: "Ada" } },
      roots: [{ uri: "file:///srv" }],
    });
    if (where.revision !== modern) return;
    const [first, second, ...more] = traffic.sent("tools/call");
    expect(more).toEqual([]);
    expect(second?.id).not.toBe(first?.id);
    const asking = traffic.answerTo(first)?.result;
    expect(asking?.resultType).toBe("input_required");
    const keys = Object.keys(asking?.inputRequests as object);
    expect(keys).toHaveLength(2);
    expect(Object.keys(second?.params?.inputResponses as object).sort()).toEqual(keys.sort());
    expect(second?.params?.requestState).toBe(asking?.requestState);
  },
);

test.each(each(withForms))("questions while reading and prompting, in $revision over $transport", async (where) => {
  const messages: string[] = [];
  const { client } = await open(where.revision, where.transport, {
    onElicit({ message }) {
      messages.push(message);
      return accept(message.startsWith("May") ? { yes: !message.includes("vault") } : { tone: "formal" });
    },
  });
  expect((await client.readResource("secret://drawer")).contents).toMatchObject([{ text: "the secret of drawer" }]);
  expect((await client.readResource("secret://vault")).contents).toMatchObject([{ text: "refused" }]);
  const { messages: said } = await client.getPrompt("interview");
  expect(said).toMatchObject([{ role: "user", content: { text: "Interview me in a formal tone." } }]);
  expect(messages).toEqual(["May drawer be shown?", "May vault be shown?", "Which tone?"]);
});

test("the same handlers give the same answers everywhere", async () => {
  const calls: [name: string, args: JsonObject, has: readonly Revision[]][] = [
    ["deploy", { env: "production" }, withForms],
    ["deploy", { env: "staging" }, withForms],
    ["survey", {}, withForms],
    ["together", {}, withForms],
    ["pick", {}, withPages],
    ["visit", { url: "https://example.com/" }, withPages],
    ["ponder", { about: "the plank" }, withPages],
    ["think", { about: "the plank" }, revisions],
    ["roots", {}, revisions],
  ];
  const given: { where: string; key: string; text: string }[] = [];
  for (const { revision, transport } of each()) {
    const { client } = await open(revision, transport, {
      onElicit({ message }) {
        if (message.includes("production")) return accept({ confirm: true, reason: "it is Friday" });
        if (message.includes("staging")) return { action: "decline" };
        if (message.includes("name")) return accept({ name: "Ada" });
        if (message.includes("Which")) return accept({ plain: ["b"], titled: [] });
        return accept({
          plain: "b",
          named: "y",
          titled: "oak",
          count: 1,
          ratio: 2,
          sure: false,
          mail: "a@example.com",
        });
      },
      onElicitUrl: () => ({ action: "accept" }),
      onSample,
      sampleTools: true,
      roots: ["file:///srv"],
    });
    for (const [name, args, has] of calls) {
      if (!has.includes(revision)) continue;
      const { text, isError } = await client.callTool(name, args);
      expect(isError, `${name} in ${revision} over ${transport}`).toBe(false);
      given.push({ where: `${revision} ${transport}`, key: `${name} ${JSON.stringify(args)}`, text });
    }
    if (withForms.includes(revision)) expect(await seen(client)).toEqual({ build: 2, deploy: 1 });
    await client.close();
  }
  for (const [name, args, has] of calls) {
    const texts = given.filter(({ key }) => key === `${name} ${JSON.stringify(args)}`);
    expect(texts).toHaveLength(each(has).length);
    for (const { where, text } of texts) expect(toValue(text), `${name} in ${where}`).toEqual(toValue(texts[0]?.text));
  }
});

/** Texts that are JSON are the same when their values are. */
function toValue(text = ""): unknown {
  return /^[[{]/.test(text) ? JSON.parse(text) : text;
}
