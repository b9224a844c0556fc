// Our client against servers that others have published, over stdio: server-everything, server-filesystem, server-memory.
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, connect } from "plenum";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  codeOf,
  connectFully,
  counted,
  type Heard,
  isAlive,
  makeFolder,
  type Obj,
  publishedServer,
} from "./harness.ts";

const folder = makeFolder();
afterAll(() => folder.remove());

describe("server-everything", () => {
  let client: Client;
  let heard: Heard;
  const command = counted(publishedServer("everything"), folder.path);

  beforeAll(async () => {
    ({ client, heard } = await connectFully(command));
  });
  afterAll(() => client?.close());

  test("speaks 2025-11-25", () => {
    expect(client.revision).toBe("2025-11-25");
    expect(client.server.info).toMatchObject({ name: "mcp-servers/everything" });
    expect(client.server.instructions).toContain("Everything Server");
  });

  test("asks for roots by itself, and logs that it has them", async () => {
    await expect
      .poll(() => heard.logs, { timeout: 10_000 })
      .toContainEqual({
        level: "info",
        logger: "everything-server",
        data: "Roots updated: 2 root(s) received from client",
      });
    expect((await client.callTool("get-roots-list")).text).toContain("1. work\n   URI: file:///work");
  });

  test("adds the tools for what the client can do once it knows", async () => {
    expect(heard.changes).toContain("tools");
    const names = (await client.listTools().all()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["echo", "get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"]),
    );
    expect(names).toContain("trigger-url-elicitation");
  });

  test("lists and reads resources, by template too", async () => {
    const resources = await client.listResources().all();
    expect(resources.map(({ uri }) => uri)).toContain("demo://resource/static/document/features.md");
    expect(await client.listResourceTemplates().all()).toHaveLength(2);
    const { contents } = await client.readResource("demo://resource/dynamic/text/7");
    expect(contents).toMatchObject([{ mimeType: "text/plain", text: expect.stringContaining("Resource 7") }]);
    const blob = (await client.readResource("demo://resource/dynamic/blob/7")).contents[0];
    expect(blob).toMatchObject({ blob: expect.any(String) });
    expect(await codeOf(client.readResource("demo://nothing"))).toBe("resource_not_found");
  });

  test("gives prompts, and completes by what is filled in already", async () => {
    const prompts = await client.listPrompts().all();
    expect(prompts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]),
    );
    const { messages } = await client.getPrompt("args-prompt", { city: "Oslo" });
    expect(messages).toMatchObject([{ content: { text: "What's weather in Oslo?" } }]);
    const completion = await client.complete(
      { type: "ref/prompt", name: "completable-prompt" },
      { name: "name", value: "" },
      { arguments: { department: "Sales" } },
    );
    expect(completion.values).toEqual(["David", "Eve", "Frank"]);
    const template = { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" } as const;
    expect((await client.complete(template, { name: "resourceId", value: "12" })).values).toEqual(["12"]);
  });

  test("gives content of every kind", async () => {
    expect((await client.callTool("echo", { message: "hi" })).text).toBe("Echo: hi");
    expect((await client.callTool("get-sum", { a: 2, b: 3 })).text).toBe("The sum of 2 and 3 is 5.");
    expect((await client.callTool("get-structured-content", { location: "Chicago" })).structured).toEqual({
      temperature: 36,
      conditions: "Light rain / drizzle",
      humidity: 82,
    });
    const types = async (name: string, args?: Record<string, string | number | boolean>) =>
      (await client.callTool(name, args)).content.map(({ type }) => type);
    expect(await types("get-tiny-image")).toEqual(["text", "image", "text"]);
    expect(await types("get-resource-links", { count: 2 })).toEqual(["text", "resource_link", "resource_link"]);
    expect(await types("get-resource-reference", { resourceType: "Text", resourceId: 1 })).toEqual([
      "text",
      "resource",
      "text",
    ]);
    expect(await types("get-annotated-message", { messageType: "error", includeImage: true })).toEqual([
      "text",
      "image",
    ]);
  });

  test("tells the progress of a long operation, and it can be cancelled", async () => {
    const updates: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => updates.push(progress);
    const { text } = await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.3, steps: 3 },
      { onProgress },
    );
    expect(text).toContain("Long running operation completed");
    expect(updates).toEqual([1, 2, 3]);
    const signal = AbortSignal.timeout(200);
    const call = client.callTool("trigger-long-running-operation", { duration: 3, steps: 3 }, { signal });
    expect(await codeOf(call)).toBe("aborted");
  });

  test("asks for a form with fields of every kind, and defaults are filled in", async () => {
    heard.answer = { action: "accept", content: { name: "Ada Lovelace", titledSingleSelectEnum: "hero-3" } };
    const { text } = await client.callTool("trigger-elicitation-request");
    const raw = JSON.parse(text.split("Raw result: ")[1] ?? "") as { action: string; content: Obj };
    expect(raw).toMatchObject({
      action: "accept",
      content: {
        name: "Ada Lovelace",
        titledSingleSelectEnum: "hero-3",
        integer: 42,
        number: 3.14,
        firstLine: "It was a dark and stormy night.",
        untitledSingleSelectEnum: "Monica",
        untitledMultipleSelectEnum: ["Guitar"],
        titledMultipleSelectEnum: ["fish-1"],
        legacyTitledEnum: "pet-1",
      },
    });
    heard.answer = { action: "decline" };
    expect((await client.callTool("trigger-elicitation-request")).text).toContain("User declined");
  });

  test("sends the user to a page", async () => {
    const url = "https://example.com/consent";
    expect((await client.callTool("trigger-url-elicitation", { url })).text).toContain("completed the URL elicitation");
    // It can also refuse the call until the user was somewhere else. What to do about that is the caller's to decide.
    await expect(client.callTool("trigger-url-elicitation", { url, errorPath: true })).rejects.toMatchObject({
      code: "peer_error",
      rpcCode: -32042,
      data: { elicitations: [{ mode: "url", url: "https://modelcontextprotocol.io" }] },
    });
  });

  test("asks for a model", async () => {
    const { text } = await client.callTool("trigger-sampling-request", { prompt: "Hello", maxTokens: 10 });
    expect(text).toContain('"text": "Polly"');
    expect(heard.samples.at(-1)).toMatchObject({ systemPrompt: "You are a helpful test server.", maxTokens: 10 });
  });

  test("logs, tells of resources that are watched, and is ended though it would go on for ever", async () => {
    await client.setLogLevel("debug");
    const uri = "demo://resource/dynamic/text/1";
    await client.subscribe(uri);
    await client.callTool("toggle-subscriber-updates");
    await expect.poll(() => heard.updates, { timeout: 10_000 }).toContain(uri);
    await client.callTool("toggle-simulated-logging");
    await expect.poll(() => heard.logs.some(({ data }) => /level[- ]message$/.test(String(data)))).toBe(true);
    await client.ping();
    expect(heard.warnings).toEqual([]);
    // Its timers keep it alive when its input has ended: it has to be killed.
    await client.close();
    expect(client.state).toBe("closed");
    expect(command.pids().filter(isAlive)).toEqual([]);
  });
});

describe("server-filesystem", () => {
  const files = realpathSync(folder.path);
  const [allowed, other] = [join(files, "allowed"), join(files, "other")];

  beforeAll(() => {
    for (const path of [allowed, other]) {
      mkdirSync(path);
      writeFileSync(join(path, "note.txt"), `In ${path}`);
    }
  });

  test("works on the folder that it was given", async () => {
    const client = await connect({ ...publishedServer("filesystem", allowed) });
    onTestFinished(() => client.close());
    expect(client.revision).toBe("2025-11-25");
    expect(client.server.info?.name).toBe("secure-filesystem-server");
    const { text, structured } = await client.callTool("read_text_file", { path: join(allowed, "note.txt") });
    expect(text).toBe(`In ${allowed}`);
    expect(structured).toEqual({ content: `In ${allowed}` });
    await client.callTool("write_file", { path: join(allowed, "new.txt"), content: "New" });
    const { text: listing } = await client.callTool("list_directory", { path: allowed });
    expect(listing.split("\n").sort()).toEqual(["[FILE] new.txt", "[FILE] note.txt"]);
    const refused = await client.callTool("read_text_file", { path: join(other, "note.txt") });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("Access denied") });
  });

  test("takes the roots in place of it, and hears when they change", async () => {
    const client = await connect({ ...publishedServer("filesystem", allowed) }, { roots: [pathToFileURL(other).href] });
    onTestFinished(() => client.close());
    const allowedNow = async () => (await client.callTool("list_allowed_directories")).text;
    await expect.poll(allowedNow, { timeout: 10_000 }).toBe(`Allowed directories:\n${other}`);
    const read = await client.callTool("read_text_file", { path: join(other, "note.txt") });
    expect(read).toMatchObject({ isError: false, text: `In ${other}` });
    client.setRoots([pathToFileURL(allowed).href, pathToFileURL(other).href]);
    await expect.poll(allowedNow, { timeout: 10_000 }).toBe(`Allowed directories:\n${allowed}\n${other}`);
  });

  test("has neither resources nor prompts, and the client knows", async () => {
    const client = await connect({ ...publishedServer("filesystem", allowed) });
    onTestFinished(() => client.close());
    expect(client.server.capabilities).toEqual({ tools: { listChanged: true } });
    await expect(client.listResources().all()).rejects.toThrow();
    expect((await client.callTool("list_allowed_directories")).isError).toBe(false);
  });
});

test("server-memory remembers, and tells of it", async () => {
  const file = join(folder.path, "memory.jsonl");
  const { client, heard } = await connectFully(publishedServer("memory"), {}, { MEMORY_FILE_PATH: file });
  onTestFinished(() => client.close());
  expect(client.revision).toBe("2025-11-25");
  expect(client.server.info?.name).toBe("memory-server");
  const uri = "memory://knowledge-graph";
  expect(await client.listResources().all()).toMatchObject([{ uri }]);
  await client.subscribe(uri);
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote a program"] }];
  expect((await client.callTool("create_entities", { entities })).structured).toEqual({ entities });
  await expect.poll(() => heard.updates, { timeout: 10_000 }).toEqual([uri]);
  expect((await client.callTool("read_graph")).structured).toEqual({ entities, relations: [] });
  const [content] = (await client.readResource(uri)).contents;
  expect(JSON.parse((content as { text: string }).text)).toEqual({ entities, relations: [] });
  expect((await client.callTool("search_nodes", { query: "nobody" })).structured).toEqual({
    entities: [],
    relations: [],
  });
  expect(heard.warnings).toEqual([]);
});
