// What our client expects of a server with the surface that harness.ts describes, whatever is between them.
import type { Client, Revision } from "plenum";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Connected, codeOf, type Heard } from "./harness.ts";

export interface Twin {
  readonly name: string;
  readonly serverName: "official-1x" | "official-2x" | "ours";
  readonly revision: Revision;
  connect(): Promise<Connected>;
  /** All that the server wrote to stderr so far. */
  stderr(heard: Heard): string;
  /** Over HTTP: until the server can tell something outside of a call. */
  listening?(): Promise<void>;
  /** Whether the server says nothing but its answers: neither asks nor tells. */
  readonly isMute?: boolean;
}

export function describeServer({ name, serverName, revision, connect, stderr, listening, isMute = false }: Twin): void {
  describe(`a server of ${name}`, () => {
    const isStateless = revision === "2026-07-28";
    let client: Client;
    let heard: Heard;

    beforeAll(async () => {
      ({ client, heard } = await connect());
      await listening?.();
    });
    afterAll(() => client?.close());

    test(`speaks ${revision}, and says who it is`, () => {
      expect(client.revision).toBe(revision);
      expect(client.state).toBe("open");
      expect(client.server.info).toMatchObject({ name: serverName });
      expect(client.server.instructions).toBe("Use it to test a client.");
      expect(client.server.capabilities).toMatchObject({
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
      });
    });

    test("lists tools, resources, templates and prompts", async () => {
      const tools = await client.listTools().all();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["echo", "add", "slow", "ask", "sample", "roots", "fail", "log", "touch", "grow"]),
      );
      const names: string[] = [];
      for await (const { name } of client.listTools()) names.push(name);
      expect(names).toEqual(tools.map(({ name }) => name));
      expect(await client.listResources().all()).toMatchObject([{ uri: "memo://one", mimeType: "text/plain" }]);
      expect(await client.listResourceTemplates().all()).toMatchObject([{ uriTemplate: "memo://{id}", name: "memo" }]);
      expect(await client.listPrompts().all()).toMatchObject([{ name: "greet", arguments: [{ name: "name" }] }]);
    });

    test("runs tools", async () => {
      const { text, content, isError } = await client.callTool("echo", { text: "Grüße 👋" });
      expect({ text, content, isError }).toEqual({
        text: "Grüße 👋",
        content: [{ type: "text", text: "Grüße 👋" }],
        isError: false,
      });
      expect(await client.callTool("fail")).toMatchObject({ isError: true, text: "It failed." });
    });

    test("gives structured output", async () => {
      const { structured, text } = await client.callTool("add", { a: 1, b: 2 });
      expect(text).toBe('{"sum":3}');
      if (revision >= "2025-06-18") expect(structured).toEqual({ sum: 3 });
    });

    test("says what is not there", async () => {
      expect(await codeOf(client.readResource("nowhere://x"))).toBe("resource_not_found");
      expect(await codeOf(client.getPrompt("nobody"))).toBe("peer_error");
      // An unknown tool is a result for the model in SDK 1.x, and an error in the others.
      if (serverName === "official-1x")
        expect(await client.callTool("nothing")).toMatchObject({
          isError: true,
          text: expect.stringContaining("not found"),
        });
      else expect(await codeOf(client.callTool("nothing"))).toBe("peer_error");
    });

    test("reads resources", async () => {
      expect((await client.readResource("memo://one")).contents).toEqual([
        { uri: "memo://one", mimeType: "text/plain", text: "One" },
      ]);
      expect((await client.readResource("memo://seven")).contents).toMatchObject([{ text: "Memo seven" }]);
    });

    test("gives a prompt, and completes its argument", async () => {
      expect((await client.getPrompt("greet", { name: "Ada" })).messages).toEqual([
        { role: "user", content: { type: "text", text: "Greet Ada" } },
      ]);
      const { values } = await client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "A" });
      expect(values).toEqual(["Ada", "Alan"]);
    });

    const testLast = () => {
      test("answers a ping, in whatever way", async () => {
        await client.ping();
      });

      test("has given no cause for complaint", () => {
        expect(heard.warnings).toEqual([]);
      });
    };
    if (isMute) return testLast();

    test("tells its progress", async () => {
      const updates: number[] = [];
      const { text } = await client.callTool(
        "slow",
        { steps: 3, delayMs: 30 },
        { onProgress: ({ progress, total }) => updates.push(progress, total ?? 0) },
      );
      expect(text).toBe("done 3");
      expect(updates).toEqual([1, 3, 2, 3, 3, 3]);
    });

    test("stops when it is told to, and when its time is up", async () => {
      const cancelled = () => stderr(heard).split("cancelled").length - 1;
      const before = cancelled();
      const controller = new AbortController();
      const options = { signal: controller.signal, onProgress: () => controller.abort() };
      expect(await codeOf(client.callTool("slow", { steps: 1000, delayMs: 50 }, options))).toBe("aborted");
      await expect.poll(cancelled, { timeout: 20_000 }).toBe(before + 1);
      expect(await codeOf(client.callTool("slow", { steps: 1, delayMs: 60_000 }, { timeoutMs: 300 }))).toBe("timeout");
      await expect.poll(cancelled, { timeout: 20_000 }).toBe(before + 2);
      expect((await client.callTool("echo", { text: "still there" })).text).toBe("still there");
    });

    if (revision >= "2025-06-18")
      test("asks for a form", async () => {
        heard.answer = { action: "accept", content: { name: "Ada" } };
        expect((await client.callTool("ask")).text).toBe("Hello, Ada");
        expect(heard.forms.at(-1)).toMatchObject({
          message: "Who are you?",
          schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        });
        for (const action of ["decline", "cancel"] as const) {
          heard.answer = { action };
          expect((await client.callTool("ask")).text).toBe(action);
        }
      });

    test("asks for a model", async () => {
      expect((await client.callTool("sample", { prompt: "Say something" })).text).toBe("parrot: Polly");
      expect(heard.samples.at(-1)).toMatchObject({ maxTokens: 100, messages: [{ role: "user" }] });
    });

    test("asks for roots", async () => {
      expect((await client.callTool("roots")).text).toBe("file:///work\nfile:///home");
      client.setRoots(["file:///elsewhere"]);
      expect((await client.callTool("roots")).text).toBe("file:///elsewhere");
      client.setRoots([{ uri: "file:///work", name: "work" }, "file:///home"]);
    });

    test("logs at the level that was set", async () => {
      await client.setLogLevel("error");
      await client.callTool("log", { message: "not worth telling" });
      await client.setLogLevel("debug");
      await client.callTool("log", { message: "hello" });
      await expect
        .poll(() => heard.logs.filter(({ logger }) => logger === "interop"))
        .toEqual([{ level: "info", logger: "interop", data: "hello" }]);
    });

    test("tells of a resource that is watched", async () => {
      await client.subscribe("memo://one");
      await client.callTool("touch");
      await expect.poll(() => heard.updates).toContain("memo://one");
      await client.unsubscribe("memo://one");
      // In a session the SDK 2.x tells it to everyone, watched or not.
      if (serverName === "official-2x" && !isStateless) return;
      const before = heard.updates.length;
      await client.callTool("touch");
      await client.callTool("slow", { steps: 1, delayMs: 30 });
      expect(heard.updates).toHaveLength(before);
    });

    test("tells that its tools have changed", async () => {
      expect((await client.callTool("grow")).text).toBe("grew");
      await expect.poll(() => heard.changes).toContain("tools");
      expect((await client.listTools().all()).map(({ name }) => name)).toContain("grown");
      expect((await client.callTool("grown")).text).toBe("I am new.");
    });

    testLast();
  });
}
