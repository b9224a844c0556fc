// How a call of 2026-07-28 is suspended and goes on: what travels in a round, how a handler is unwound, and what
// happens to one that does not do the same again.
import { createServer, McpError, ToolError } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "../suites/peer.ts";
import { capabilities, drive, type Leg } from "./rounds.ts";
import { accept, createStage, leg, onward, sleep, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });
const hello = { messages: [], maxTokens: 1 };

describe("a round", () => {
  test("carries all that is asked together, each under a key of its own", async () => {
    covers(["mrtr-only-channel", "mrtr-result-type", "mrtr-keys-unique", "mrtr-request-shape"], modern);
    covers(["mrtr-request-kinds", "elicitation-no-completion-2026", "mrtr-repeat"], modern);
    const { open } = createStage(async (ctx) => {
      const first = await Promise.all([
        ctx.elicit("Form?", form),
        ctx.elicitUrl("Page?", "https://example.com/a"),
        ctx.sample({ ...hello, systemPrompt: "Be brief" }),
        ctx.roots(),
      ]);
      const second = await ctx.elicit("Form?", form);
      return [...first, second].length;
    });
    const peer = await open();
    const { result, questions, state } = await leg(peer);
    expect(result).toEqual({
      resultType: "input_required",
      inputRequests: {
        "ask-1": {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Form?",
            requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
          },
        },
        "ask-2": {
          method: "elicitation/create",
          params: { mode: "url", message: "Page?", url: "https://example.com/a" },
        },
        "ask-3": {
          method: "sampling/createMessage",
          params: { messages: [], maxTokens: 1, systemPrompt: "Be brief" },
        },
        "ask-4": { method: "roots/list" },
      },
      requestState: expect.stringMatching(/^v1\.[\w-]{8}\.[\w-]+$/),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "stage", version: "1.0.0" } },
    });
    const next = await leg(peer, onward({ result, questions, state }));
    // The same question again, and yet another key.
    expect(Object.keys(next.questions)).toEqual(["ask-5"]);
    expect(textOf(await peer.request("tools/call", { name: "run", ...onward(next) }))).toBe("5");
    expect(peer.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test("carries what is asked a moment later, as long as moments follow one another", async () => {
    const { open } = createStage(async (ctx) => {
      const later = async (turns: number): Promise<unknown> => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        return ctx.elicit(`after ${turns}`, form);
      };
      return Promise.all([later(0), later(3), later(20)]);
    });
    expect(Object.keys((await leg(await open())).questions)).toHaveLength(3);
  });

  test("carries what follows at once on an answer, beside a question that waits already", async () => {
    const { open } = createStage((ctx) =>
      Promise.all([ctx.elicit("waits", form), ctx.elicit("answered", form).then(() => ctx.elicit("follows", form))]),
    );
    const peer = await open();
    const { state } = await leg(peer);
    const inputResponses = { "ask-2": { action: "accept", content: { ok: true } } };
    const { questions } = await leg(peer, { requestState: state, inputResponses });
    expect(Object.values(questions).map(({ params }) => params?.message)).toEqual(["waits", "follows"]);
  });

  test("equal questions are told apart by their order", async () => {
    const { open } = createStage(async (ctx) => {
      const pair = await Promise.all([
        ctx.elicit("?", z.object({ n: z.number() })),
        ctx.elicit("?", z.object({ n: z.number() })),
      ]);
      const third = await ctx.elicit("?", z.object({ n: z.number() }));
      return [...pair, third].map((answer) => answer.action === "accept" && answer.content.n);
    });
    let n = 0;
    const { last, rounds } = await drive(await open(), "tools/call", { name: "run" }, () => ({
      action: "accept",
      content: { n: ++n },
    }));
    expect([textOf(last), rounds]).toEqual(["[1,2,3]", 2]);
  });

  test("an answer goes to its question and to no other, in whatever order they are put again", async () => {
    let run = 0;
    const { open } = createStage(async (ctx) => {
      const names = run++ % 2 === 0 ? ["a", "b"] : ["b", "a"];
      const answers = await Promise.all(names.map((name) => ctx.elicit(name, z.object({ name: z.string() }))));
      return names.map((name, i) => [name, answers[i]?.action === "accept" && answers[i].content.name]);
    });
    const { last } = await drive(await open(), "tools/call", { name: "run" }, ({ params }) => ({
      action: "accept",
      content: { name: params?.message },
    }));
    expect(textOf(last)).toBe('[["b","b"],["a","a"]]');
  });

  test("what the handler does with an answer does not change it", async () => {
    const { open } = createStage(async (ctx) => {
      const roots = (await ctx.roots()) as { uri: string }[];
      const seen = roots.map(({ uri }) => uri);
      roots.push({ uri: "file:///more" });
      await ctx.elicit("?", form);
      return seen.join();
    });
    expect(textOf((await drive(await open(), "tools/call", { name: "run" }, accept)).last)).toBe("file:///a");
  });
});

describe("a handler that is suspended", () => {
  test("unwinds: finally runs, in every part that waits", async () => {
    const log: string[] = [];
    const { open, errors } = createStage(async (ctx) => {
      const part = async (name: string): Promise<unknown> => {
        try {
          return await ctx.elicit(name, form);
        } finally {
          log.push(name);
        }
      };
      try {
        return await Promise.all([part("a"), part("b")]);
      } finally {
        log.push("all");
      }
    });
    const peer = await open();
    const first = await leg(peer);
    expect(log.sort()).toEqual(["a", "all", "b"]);
    await peer.request("tools/call", { name: "run", ...onward(first) });
    expect(log).toHaveLength(6);
    expect(errors).toEqual([]);
  });

  test("neither steps nor asks any more on its way out", async () => {
    const did: string[] = [];
    const failed: unknown[] = [];
    const { open } = createStage(async (ctx) => {
      try {
        await ctx.elicit("?", form);
      } finally {
        await ctx.step("tidy", () => did.push("tidy")).catch((error) => failed.push(error));
        await ctx.roots().catch((error) => failed.push(error));
      }
    });
    const peer = await open();
    const first = await leg(peer);
    expect(Object.keys(first.questions)).toEqual(["ask-1"]);
    expect(did).toEqual([]);
    expect(failed).toMatchObject([{ code: "input_required" }, { code: "input_required" }]);
    await leg(peer, onward(first));
    expect(did).toEqual(["tidy"]);
  });

  test.each<[what: string, handler: (ask: () => Promise<unknown>) => Promise<unknown>]>([
    ["returns", (ask) => ask().catch(() => "never mind")],
    ["throws another error", (ask) => ask().catch(() => Promise.reject(new ToolError("It failed")))],
    ["throws what is masked", (ask) => ask().catch(() => Promise.reject(new Error("hidden")))],
    ["waits for all, whatever comes of each", (ask) => Promise.allSettled([ask(), ask()])],
  ])("and %s asks all the same, and the swallowed error is reported", async (_, handler) => {
    let hasAnswer = false;
    const { open, errors } = createStage((ctx) =>
      handler(async () => {
        await ctx.elicit("?", form);
        hasAnswer = true;
        return "answered";
      }),
    );
    const peer = await open();
    const first = await leg(peer);
    expect(hasAnswer).toBe(false);
    const report = errors.find(({ message }) => message.includes("caught the error that suspends it"));
    expect(report?.message).toMatch(
      /^tools\/call "run" caught .* rethrow what you catch when its code is input_required$/,
    );
    await peer.request("tools/call", { name: "run", ...onward(first) });
    expect(hasAnswer).toBe(true);
  });

  test("so does a middleware that swallows it and gives no result", async () => {
    const { server, open, errors } = createStage(async (ctx) => (await ctx.elicit("?", form)).action);
    server.use(async (call, next) => {
      try {
        return await next(call);
      } catch {
        return undefined as never;
      }
    });
    const peer = await open();
    const first = await leg(peer);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("caught the error that suspends it"),
    ]);
    expect(textOf(await peer.request("tools/call", { name: "run", ...onward(first) }))).toBe("accept");
  });

  test("hears what to do", async () => {
    let heard: unknown;
    const { open } = createStage(async (ctx) => {
      try {
        await ctx.elicit("?", form);
      } catch (error) {
        heard = error;
        throw error;
      }
    });
    await leg(await open());
    expect(heard).toBeInstanceOf(McpError);
    expect(heard).toMatchObject({
      code: "input_required",
      message:
        "The call is suspended until the client answers. Let this error pass: rethrow what you catch when its code is input_required",
    });
  });

  test("a middleware may see the error and let it pass", async () => {
    const seen: unknown[] = [];
    const { server, open, errors } = createStage(async (ctx) => (await ctx.elicit("?", form)).action);
    server.use(async (call, next) => {
      try {
        return await next(call);
      } catch (error) {
        seen.push((error as McpError).code);
        throw error;
      }
    });
    const { last } = await drive(await open(), "tools/call", { name: "run" }, accept);
    expect([textOf(last), seen, errors]).toEqual(["accept", ["input_required"], []]);
  });

  test("an ask that is waited for later is waited for", async () => {
    const { open, errors } = createStage(async (ctx) => {
      const early = ctx.elicit("?", form);
      await sleep(20);
      return (await early).action;
    });
    const { last, rounds } = await drive(await open(), "tools/call", { name: "run" }, accept);
    expect([textOf(last), rounds, errors]).toEqual(["accept", 1, []]);
  });

  test("an ask that is not waited for does not keep the call", async () => {
    const { open, errors } = createStage((ctx) => {
      void ctx.elicit("?", form);
      void ctx.roots();
      return "done";
    });
    const response = await (await open()).request("tools/call", { name: "run" });
    expect(textOf(response)).toBe("done");
    await sleep(20);
    expect(errors).toEqual([]);
  });

  test("work that goes on beside it neither asks nor steps, and its finally runs", async () => {
    const did: string[] = [];
    const freed: string[] = [];
    let isOver = false;
    const { open } = createStage(async (ctx) => {
      const part = async (name: string, work: () => Promise<unknown>): Promise<void> => {
        try {
          await work();
        } finally {
          freed.push(name);
        }
      };
      await Promise.all([
        ctx.elicit("?", form),
        part("beside", async () => {
          await ctx.step("one", () => sleep(30));
          did.push("one");
          await ctx.step("two", () => did.push("two"));
          isOver = true;
        }),
      ]);
      await Promise.all([
        ctx.elicit("more?", form),
        part("late", async () => {
          await sleep(20);
          await ctx.step("three", () => did.push("three"));
        }),
        part("later", async () => {
          await sleep(25);
          await ctx.roots();
        }),
      ]);
    });
    const peer = await open();
    const first = await leg(peer);
    // The step that ran has ended before the answer went out.
    expect(did).toEqual(["one"]);
    await expect.poll(() => freed).toEqual(["beside"]);
    const second = await leg(peer, onward(first));
    expect(did).toEqual(["one", "one", "two"]);
    expect(isOver).toBe(true);
    // What came when the call was over was not done, but it gave back what it held.
    await expect.poll(() => freed).toEqual(["beside", "beside", "late", "later"]);
    expect(did).toHaveLength(3);
    await leg(peer, onward(second));
    expect(did.at(-1)).toBe("three");
  });

  test("a cancelled call is not answered", async () => {
    const { open } = createStage(async (ctx) => {
      await ctx.step("slow", () => sleep(30));
      await ctx.elicit("?", form);
    });
    const peer = await open();
    const id = peer.start("tools/call", { name: "run" });
    peer.notify("notifications/cancelled", { requestId: id });
    await sleep(60);
    expect(peer.messages).toEqual([]);
  });
});

describe("a handler that does something else when it is run again", () => {
  const refused = async (peer: Awaited<ReturnType<typeof openPeer>>, from: Leg): Promise<string> => {
    const { error } = await peer.request("tools/call", { name: "run", ...onward(from) });
    expect(error?.code).toBe(-32603);
    return error?.message ?? "";
  };

  test("asks something else: an error that says so, and no wrong answer", async () => {
    let n = 0;
    const { open, errors } = createStage(async (ctx) => (await ctx.elicit(`Question ${n++}`, form)).action);
    const peer = await open();
    const message = await refused(peer, await leg(peer));
    expect(message).toContain("tools/call cannot go on: the handler came to something new");
    expect(message).toContain("the question ask-1");
    expect(errors.map((error) => error.message)).toEqual([message]);
  });

  test("takes another step: it is not taken", async () => {
    let n = 0;
    const did: number[] = [];
    const { open } = createStage(async (ctx) => {
      const mine = n++;
      await ctx.step(`charge ${mine}`, () => did.push(mine));
      await ctx.elicit("?", form);
      return "charged";
    });
    const peer = await open();
    const message = await refused(peer, await leg(peer));
    expect(message).toContain('the step "charge 0"');
    expect(did).toEqual([0]);
  });

  test("is late: it is waited for", async () => {
    let run = 0;
    const { open } = createStage(async (ctx) => {
      const delay = run++ === 0 ? 0 : 150;
      const [a, b] = await Promise.all([
        ctx.elicit("a", form).then(() => ctx.elicit("c", form)),
        sleep(delay).then(() => ctx.elicit("b", form)),
      ]);
      return [a.action, b.action];
    });
    const { last } = await drive(await open(), "tools/call", { name: "run" }, accept);
    expect(last.result?.content).toMatchObject([{ text: "accept" }, { text: "accept" }]);
  });
});

test("every call has a journal of its own: many at once, from many clients, mix nothing up", async () => {
  const server = createServer({ name: "stage", version: "1.0.0" });
  const n = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
  server.tool("run", { input: n }, async ({ n }, ctx) => {
    const first = await ctx.elicit("Same for all", z.object({ back: z.string() }));
    const step = await ctx.step("same", () => n * 2);
    const second = await ctx.elicit(`Only for ${n}`, z.object({ back: z.string() }));
    return JSON.stringify([n, step, first, second]);
  });
  const calls = Array.from({ length: 50 }, async (_, n) => {
    const peer = await openPeer(server, modern, { capabilities });
    const { last } = await drive(peer, "tools/call", { name: "run", arguments: { n } }, ({ params }) => ({
      action: "accept",
      content: { back: `${params?.message} ${n}` },
    }));
    const answer = (back: string): Obj => ({ action: "accept", content: { back: `${back} ${n}` } });
    expect(JSON.parse(String(textOf(last)))).toEqual([n, n * 2, answer("Same for all"), answer(`Only for ${n}`)]);
  });
  await Promise.all(calls);
});
