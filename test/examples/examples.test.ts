// The examples do what they show, in every revision; the tour runs as `npm run tour` runs it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type ElicitResult, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createDeployServer } from "../../examples/ask-user.ts";
import { createEchoServer } from "../../examples/echo.ts";
import { createNotesServer } from "../../examples/notes.ts";
import { root } from "../house/source.ts";
import { type Obj, openPeer, type Peer } from "../suites/peer.ts";

/** Watches one resource and the list, in the way of the revision. */
async function watch(peer: Peer, uri: string): Promise<void> {
  if (!peer.isModern) await peer.call("resources/subscribe", { uri });
  else
    peer.start("subscriptions/listen", { notifications: { resourcesListChanged: true, resourceSubscriptions: [uri] } });
  await peer.settle();
}

const write = (title: string, content: string): Obj => ({ name: "create_note", arguments: { title, content } });

describe.each(revisions)("examples/notes.ts in %s", (revision) => {
  const hasStructure = revision >= "2025-06-18";

  test("lists its notes and reads them", async () => {
    const peer = await openPeer(createNotesServer(), revision);
    const { resources } = await peer.call("resources/list");
    expect(resources).toEqual([
      { uri: "note:///1", name: "First Note", description: "A text note: First Note", mimeType: "text/plain" },
      { uri: "note:///2", name: "Second Note", description: "A text note: Second Note", mimeType: "text/plain" },
    ]);
    const { resourceTemplates } = await peer.call("resources/templates/list");
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "note:///{id}", name: "note" }]);
    const { contents } = await peer.call("resources/read", { uri: "note:///2" });
    expect(contents).toEqual([{ uri: "note:///2", mimeType: "text/plain", text: "This is note 2" }]);
    const { code } = await peer.fail("resources/read", { uri: "note:///3" });
    expect(code).toBe(peer.isModern ? -32602 : -32002);
  });

  test("its tool writes a note that can be read", async () => {
    const peer = await openPeer(createNotesServer(), revision);
    const { tools } = await peer.call("tools/list");
    expect(tools).toMatchObject([{ name: "create_note", inputSchema: { required: ["title", "content"] } }]);
    expect((tools as Obj[]).map((tool) => "outputSchema" in tool)).toEqual([hasStructure]);
    const made = { id: "3", uri: "note:///3" };
    const result = await peer.call("tools/call", write("Third", "Three"));
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(made) }]);
    expect(result.structuredContent).toEqual(hasStructure ? made : undefined);
    expect((await peer.call("resources/read", { uri: made.uri })).contents).toMatchObject([{ text: "Three" }]);
    const blank = await peer.call("tools/call", write(" ", "Nothing"));
    expect(blank).toMatchObject({ isError: true, content: [{ text: "A note needs a title that is not blank." }] });
  });

  test("its prompt embeds every note", async () => {
    const peer = await openPeer(createNotesServer(), revision);
    await peer.call("tools/call", write("Third", "Three"));
    const { description, messages } = await peer.call("prompts/get", { name: "summarize_notes" });
    expect(description).toBe("Summarize all notes");
    const note = (id: string, text: string): Obj => ({
      role: "user",
      content: { type: "resource", resource: { uri: `note:///${id}`, mimeType: "text/plain", text } },
    });
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "Please summarize the following notes:" } },
      note("1", "This is note 1"),
      note("2", "This is note 2"),
      note("3", "Three"),
      { role: "user", content: { type: "text", text: "Provide a concise summary of all the notes above." } },
    ]);
  });

  test("completes ids", async () => {
    const peer = await openPeer(createNotesServer(), revision);
    const ref = { type: "ref/resource", uri: "note:///{id}" };
    const { completion } = await peer.call("completion/complete", { ref, argument: { name: "id", value: "2" } });
    expect(completion).toMatchObject({ values: ["2"] });
  });

  test("tells those who watch a note that it was written anew, and nobody else", async () => {
    const server = createNotesServer();
    const [watcher, other] = [await openPeer(server, revision), await openPeer(server, revision)];
    await watch(watcher, "note:///1");
    await other.call("tools/call", write("First Note", "New text"));
    await other.call("tools/call", write("Second Note", "Not watched"));
    await watcher.settle();
    expect(watcher.notifications("notifications/resources/updated").map(({ params }) => params?.uri)).toEqual([
      "note:///1",
    ]);
    expect(watcher.notifications("notifications/resources/list_changed")).toEqual([]);
    expect(other.notifications()).toEqual([]);
    expect((await watcher.call("resources/read", { uri: "note:///1" })).contents).toMatchObject([{ text: "New text" }]);
  });

  test("tells those who watch the list of a new note", async () => {
    const server = createNotesServer();
    const [watcher, other] = [await openPeer(server, revision), await openPeer(server, revision)];
    await watch(watcher, "note:///1");
    await other.call("tools/call", write("Third", "Three"));
    await watcher.settle();
    expect(watcher.notifications("notifications/resources/list_changed")).toHaveLength(1);
    expect(watcher.notifications("notifications/resources/updated")).toEqual([]);
  });
});

describe.each(revisions)("examples/echo.ts in %s", (revision) => {
  test("echoes as a resource, a tool and a prompt", async () => {
    const peer = await openPeer(createEchoServer(), revision);
    const { resourceTemplates } = await peer.call("resources/templates/list");
    expect(resourceTemplates).toEqual([{ uriTemplate: "echo://{message}", name: "echo" }]);
    expect(await peer.call("resources/read", { uri: "echo://hello%20you" })).toMatchObject({
      contents: [{ uri: "echo://hello%20you", text: "Resource echo: hello you" }],
    });
    expect(await peer.call("tools/call", { name: "echo", arguments: { message: "hello" } })).toMatchObject({
      content: [{ type: "text", text: "Tool echo: hello" }],
    });
    expect(await peer.call("prompts/get", { name: "echo", arguments: { message: "hello" } })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Please process this message: hello" } }],
    });
  });
});

test.each(["2025-06-18", "2025-11-25", "2026-07-28"] as const)(
  "examples/ask-user.ts in %s builds once, asks, and deploys only what it may",
  async (revision) => {
    const log: string[] = [];
    const server = createDeployServer((line) => log.push(line));
    const answers: ElicitResult[] = [
      { action: "accept", content: { confirm: true, note: "at last" } },
      { action: "accept", content: { confirm: false } },
      { action: "decline" },
    ];
    const client = await connect(server, { revision, onElicit: () => answers.shift() ?? { action: "cancel" } });
    const texts: string[] = [];
    for (let call = 0; call < 3; call++) texts.push((await client.callTool("deploy", { env: "staging" })).text);
    await client.close();
    expect(texts).toEqual(["Deployed build-1 to staging (at last).", "Not deployed.", "Not deployed."]);
    expect(log).toEqual(["building …", "deploying build-1 …", "building …", "building …"]);
  },
);

test("examples/hello-client.ts looks around in a server that it starts", () => {
  const args = ["--conditions=plenum-source", "--import", "tsx", "examples/hello-client.ts"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toBe("echo 1.0.0 speaks 2026-07-28");
  expect(lines[4]).toBe("Tool echo: Hello");
  expect(lines).toHaveLength(6);
});

describe("examples/tour.ts", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { tour: string } };
  const [program, ...args] = scripts.tour.split(" ");
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });

  test("is what npm run tour runs, and ends well", () => {
    expect(program).toBe("node");
    expect(args.at(-1)).toBe("examples/tour.ts");
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  /** What is shown of a revision, and the methods that its client sends. */
  const read = (revision: string) => {
    const part = stdout.split(`═══ ${revision} ═══`)[1]?.split("═══")[0] ?? "";
    return { part, sent: [...part.matchAll(/^ {2}→ (\w\S*)/gm)].map(([, method]) => method) };
  };
  const noted = ["tools/list", "tools/call", "tools/call", "resources/read"];

  test("shows the oldest revision: a handshake, tools, a call, a mistake and a resource", () => {
    const { part, sent } = read("2024-11-05");
    expect(sent).toEqual(["initialize", "notifications/initialized", ...noted]);
    // That there is a new resource may be told before the call is answered, or after all is over.
    expect(part.match(/^ {2}← (?!notifications)/gm)).toHaveLength(5);
    expect(part).toContain("From 2024-11-05");
    expect(part).not.toContain("outputSchema");
  });

  test("shows how a tool asks in a session", () => {
    const { part, sent } = read("2025-06-18");
    expect(sent).toEqual(["initialize", "notifications/initialized", "tools/call"]);
    expect(part).toMatch(
      /building …[\s\S]*← elicitation\/create[\s\S]*→ \{ "action"[\s\S]*Deployed build-1 to staging/,
    );
  });

  test("shows the newest revision: the same, and how a tool asks where nobody waits", () => {
    const { part, sent } = read("2026-07-28");
    expect(sent).toEqual(["server/discover", ...noted, "server/discover", "tools/call", "tools/call"]);
    expect(part).toContain("From 2026-07-28");
    expect(part).toContain("outputSchema");
    expect(part).toMatch(
      /"input_required"[\s\S]*"requestState"[\s\S]*"inputResponses"[\s\S]*Deployed build-2 to staging/,
    );
    expect(part.match(/building …/g)).toHaveLength(1);
  });

  test("nothing goes wrong that is not meant to", () => {
    expect(stdout.match(/^ {2}← error/gm)).toHaveLength(1);
    expect(stdout).not.toContain("Internal error");
  });

  test("fits a terminal", () => {
    expect(stdout.split("\n").filter((line) => line.length > 125)).toEqual([]);
  });
});
