// What an official client finds at a Plenum server with the surface that harness.ts describes, whatever is between them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Handlers, Obj, OfficialClient } from "./harness.ts";

export interface Pair {
  readonly name: string;
  readonly line: "1.x" | "2.x";
  readonly revision: string;
  connect(handlers?: Handlers): Promise<OfficialClient>;
  /** How often the server was told to stop so far. */
  cancelled(client: OfficialClient): number;
}

/** The text of a result's only block. */
export function textOf(result: Obj): unknown {
  expect(result.content).toHaveLength(1);
  return (result.content as Obj[])[0]?.text;
}

export function describeClient({ name, line, revision, connect, cancelled: countCancelled }: Pair): void {
  describe(`the official client ${name}`, () => {
    const isStateless = revision === "2026-07-28";
    let client: OfficialClient;
    const cancelled = () => countCancelled(client);
    const asked: Obj[] = [];
    let answer: Obj = {};

    beforeAll(async () => {
      client = await connect({
        elicit: (params) => {
          asked.push(params);
          return answer;
        },
        sample: (params) => {
          asked.push(params);
          return {
            role: "assistant",
            model: "parrot",
            content: { type: "text", text: "Polly" },
            stopReason: "endTurn",
          };
        },
        roots: () => [{ uri: "file:///work", name: "work" }, { uri: "file:///home" }],
      });
      await client.listening();
    });
    afterAll(() => client?.close());

    test(`speaks ${revision} with it, and knows who it is`, () => {
      expect(client.revision()).toBe(revision);
      expect(client.serverInfo()).toMatchObject({ name: "ours", version: "1.0.0" });
      expect(client.instructions()).toBe("Use it to test a client.");
    });

    test("lists tools, resources, templates and prompts", async () => {
      const tools = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["echo", "add", "slow", "ask", "sample", "roots", "fail", "log", "touch", "grow"]),
      );
      expect(tools.find(({ name }) => name === "add")?.outputSchema !== undefined).toBe(revision >= "2025-06-18");
      expect(await client.listResources()).toMatchObject([{ uri: "memo://one", name: "one", mimeType: "text/plain" }]);
      expect(await client.listResourceTemplates()).toMatchObject([{ uriTemplate: "memo://{id}", name: "memo" }]);
      expect(await client.listPrompts()).toMatchObject([
        { name: "greet", arguments: [{ name: "name", required: true }] },
      ]);
    });

    test("calls tools", async () => {
      expect(textOf(await client.callTool("echo", { text: "Grüße 👋" }))).toBe("Grüße 👋");
      const failed = await client.callTool("fail");
      expect(failed.isError).toBe(true);
      expect(textOf(failed)).toBe("It failed.");
    });

    test("gets structured output where the revision has it", async () => {
      const result = await client.callTool("add", { a: 1, b: 2 });
      expect(result.structuredContent).toEqual(revision >= "2025-06-18" ? { sum: 3 } : undefined);
      expect(textOf(result)).toBe('{"sum":3}');
    });

    test("takes what is not there for an error", async () => {
      await expect(client.callTool("nothing")).rejects.toThrow(/nothing/);
      await expect(client.readResource("nowhere://")).rejects.toMatchObject({
        // The 2.x client turns the number of the older revisions into that of the newest.
        code: line === "1.x" ? -32002 : -32602,
        message: expect.stringContaining('Resource not found: "nowhere://"'),
      });
      await expect(client.getPrompt("nobody", {})).rejects.toMatchObject({ code: -32602 });
    });

    test("reads resources", async () => {
      expect(await client.readResource("memo://one")).toEqual([
        { uri: "memo://one", mimeType: "text/plain", text: "One" },
      ]);
      expect(await client.readResource("memo://seven")).toMatchObject([{ text: "Memo seven" }]);
    });

    test("gets a prompt, and completes its argument", async () => {
      expect(await client.getPrompt("greet", { name: "Ada" })).toEqual([
        { role: "user", content: { type: "text", text: "Greet Ada" } },
      ]);
      const ref = { type: "ref/prompt", name: "greet" };
      expect(await client.complete(ref, { name: "name", value: "A" })).toEqual(["Ada", "Alan"]);
    });

    test("hears of progress", async () => {
      const updates: Obj[] = [];
      const onProgress = (update: Obj) => updates.push(update);
      expect(textOf(await client.callTool("slow", { steps: 3, delayMs: 30 }, { onProgress }))).toBe("done 3");
      const message = (step: number) => (revision >= "2025-03-26" ? { message: `step ${step}` } : {});
      expect(updates).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, ...message(step) })));
    });

    test("cancels a call, and the server stops", async () => {
      const before = cancelled();
      const controller = new AbortController();
      const call = client.callTool(
        "slow",
        { steps: 1000, delayMs: 50 },
        { signal: controller.signal, onProgress: () => controller.abort(new Error("enough")) },
      );
      await expect(call).rejects.toThrow(/enough|abort/i);
      await expect.poll(cancelled, { timeout: 20_000 }).toBe(before + 1);
      expect(textOf(await client.callTool("echo", { text: "still there" }))).toBe("still there");
    });

    if (revision >= "2025-06-18")
      test("is asked for a form", async () => {
        asked.length = 0;
        answer = { action: "accept", content: { name: "Ada" } };
        expect(textOf(await client.callTool("ask"))).toBe("Hello, Ada");
        const properties = { name: { type: "string" } };
        expect(asked).toMatchObject([
          { message: "Who are you?", requestedSchema: { type: "object", properties, required: ["name"] } },
        ]);
        for (const action of ["decline", "cancel"]) {
          answer = { action };
          expect(textOf(await client.callTool("ask"))).toBe(action);
        }
      });

    if (revision < "2025-06-18")
      test("is not asked for a form, which its revision does not have", async () => {
        asked.length = 0;
        expect((await client.callTool("ask")).isError).toBe(true);
        expect(asked).toEqual([]);
      });

    test("is asked for its model", async () => {
      asked.length = 0;
      expect(textOf(await client.callTool("sample", { prompt: "Say something" }))).toBe("parrot: Polly");
      expect(asked).toMatchObject([
        { maxTokens: 100, messages: [{ role: "user", content: { type: "text", text: "Say something" } }] },
      ]);
    });

    test("is asked for its roots", async () => {
      expect(textOf(await client.callTool("roots"))).toBe("file:///work\nfile:///home");
    });

    test("hears log messages at the level it set", async () => {
      const heard = (message: string) => client.logs.filter(({ data }) => data === message);
      await client.setLogLevel("error");
      await client.callTool("log", { message: "not worth telling" });
      await client.setLogLevel("debug");
      expect(textOf(await client.callTool("log", { message: "hello" }))).toBe("logged");
      await expect.poll(() => heard("hello")).toEqual([{ level: "info", logger: "interop", data: "hello" }]);
      expect(heard("not worth telling")).toEqual([]);
    });

    test("hears of a resource that it watches, and no longer when it does not", async () => {
      const touch = async () => {
        await client.callTool("touch");
        // Changes are told in the next turn of the server's loop: what it answers later comes after that.
        await client.callTool("slow", { steps: 1, delayMs: 30 });
      };
      await touch();
      expect(client.updates).toEqual([]);
      await client.subscribe("memo://one");
      await touch();
      await expect.poll(() => client.updates).toEqual(["memo://one"]);
      await client.unsubscribe("memo://one");
      await touch();
      expect(client.updates).toEqual(["memo://one"]);
    });

    test("hears when the list of tools changes", async () => {
      await client.watchTools();
      expect(client.changes).toEqual([]);
      expect(textOf(await client.callTool("grow"))).toBe("grew");
      await expect.poll(() => client.changes).toEqual(["notifications/tools/list_changed"]);
      expect((await client.listTools()).map(({ name }) => name)).toContain("grown");
      expect(textOf(await client.callTool("grown"))).toBe("I am new.");
    });

    if (!isStateless)
      test("pings", async () => {
        await client.ping();
      });
  });

  describe(`the official client ${name} that answers nothing`, () => {
    test("is not asked", async () => {
      const client = await connect();
      try {
        for (const [name, args] of [["ask"], ["sample", { prompt: "?" }], ["roots"]] as const) {
          const result = client.callTool(name, args);
          if (revision === "2026-07-28") await expect(result, name).rejects.toMatchObject({ code: -32021 });
          else expect((await result).isError, name).toBe(true);
        }
      } finally {
        await client.close();
      }
    });
  });
}
