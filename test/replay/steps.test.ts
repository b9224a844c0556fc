// Steps: done once per call, the same value in every run and in every revision, and failures that stay failures.
import { type Context, McpError, revisions, ToolError } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { type Message, modern, openPeer } from "../suites/peer.ts";
import { capabilities, converse, drive } from "./rounds.ts";
import { accept, createStage, leg, onward, sleep, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });

/** The answer of a handler in a revision: through a session, or through as many rounds as it takes. */
async function answerOf(handler: (ctx: Context) => unknown, revision: (typeof revisions)[number]): Promise<Message> {
  const { server } = createStage(handler);
  const peer = await openPeer(server, revision, { capabilities });
  if (revision !== modern) return converse(peer, "tools/call", { name: "run" }, accept);
  return (await drive(peer, "tools/call", { name: "run" }, accept)).last;
}

describe.each(revisions)("in %s", (revision) => {
  /** Roots are what every revision can be asked for. */
  const around = (step: (ctx: Context) => Promise<unknown>) => async (ctx: Context) => {
    await ctx.roots();
    const value = await step(ctx);
    await ctx.roots();
    return JSON.stringify([value === undefined ? "undefined" : value]);
  };

  test.each<[what: string, value: unknown, seen: unknown]>([
    ["nothing", undefined, "undefined"],
    ["null", null, null],
    ["text", "é\u2028\ud83d\ude00", "é\u2028\ud83d\ude00"],
    ["a tree", { a: [1, { b: null }], c: false }, { a: [1, { b: null }], c: false }],
    ["a date, as text", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["what is undefined left out", { a: undefined, b: 1 }, { b: 1 }],
  ])("a step gives back %s", async (_, value, seen) => {
    let times = 0;
    const handler = around((ctx) =>
      ctx.step("value", async () => {
        times++;
        await sleep(0);
        return value;
      }),
    );
    expect(JSON.parse(String(textOf(await answerOf(handler, revision))))).toEqual([seen]);
    expect(times).toBe(1);
  });

  test("what is done to the value later changes nothing", async () => {
    const kept = { list: [1] };
    const handler = around(async (ctx) => {
      const mine = await ctx.step("value", () => kept);
      mine.list.push(2);
      kept.list.push(3);
      await ctx.roots();
      return mine;
    });
    expect(textOf(await answerOf(handler, revision))).toBe('[{"list":[1,2]}]');
  });

  test.each<[what: string, value: unknown]>([
    ["a function", () => {}],
    ["a big number", 1n],
    ["a symbol", Symbol("x")],
    ["itself", Object.assign([] as unknown[], { 0: 0 })],
  ])("a step that gives back %s is a TypeError, and is not taken again", async (what, value) => {
    if (what === "itself") (value as unknown[])[0] = value;
    let times = 0;
    const handler = around((ctx) =>
      ctx
        .step("odd", () => {
          times++;
          return value;
        })
        .catch(({ name, message }) => ({ name, message })),
    );
    expect(JSON.parse(String(textOf(await answerOf(handler, revision))))).toEqual([
      { name: "TypeError", message: 'What the step "odd" gives back must be a JSON value' },
    ]);
    expect(times).toBe(1);
  });

  test.each<[what: string, make: () => unknown, seen: object]>([
    ["an error", () => new RangeError("out"), { name: "RangeError", message: "out", isError: true }],
    ["a ToolError", () => new ToolError("no"), { name: "ToolError", message: "no", isTool: true }],
    [
      "an McpError",
      () => new McpError("application", "odd", { rpcCode: 7, data: { a: 1 } }),
      { name: "McpError", message: "odd", code: "application", rpcCode: 7, data: { a: 1 }, isMcp: true },
    ],
    [
      "an McpError of another request",
      () => new McpError("timeout", "late"),
      { name: "McpError", code: "timeout", isMcp: true },
    ],
    ["text", () => "just text", { name: "Error", message: "just text", isError: true }],
    ["an abort", () => new DOMException("stop", "AbortError"), { name: "AbortError", message: "stop" }],
  ])("a step that throws %s has failed, the same way every time", async (_, make, seen) => {
    const caught: Record<string, unknown>[] = [];
    let times = 0;
    const handler = around(async (ctx) => {
      try {
        await ctx.step("fails", () => {
          times++;
          throw make();
        });
      } catch (error) {
        const { name, message, code, rpcCode, data } = error as McpError;
        const [isTool, isMcp] = [error instanceof ToolError, error instanceof McpError];
        caught.push({ name, message, code, rpcCode, data, isTool, isMcp, isError: error instanceof Error });
      }
    });
    await answerOf(handler, revision);
    expect(times).toBe(1);
    expect(caught).toHaveLength(revision === modern ? 2 : 1);
    for (const one of caught) expect(one).toMatchObject(seen);
  });

  test("an unhandled ToolError of a step is the tool's", async () => {
    const handler = around((ctx) =>
      ctx.step("fails", () => {
        throw new ToolError("No such berth");
      }),
    );
    expect(await answerOf(handler, revision)).toMatchObject({
      result: { isError: true, content: [{ text: "No such berth" }] },
    });
  });

  test("names may repeat: order tells them apart", async () => {
    const ran: number[] = [];
    const handler = async (ctx: Context): Promise<string> => {
      const values: number[] = [];
      for (let i = 0; i < 4; i++) {
        values.push(
          await ctx.step("same", () => {
            ran.push(i);
            return i;
          }),
        );
        await ctx.roots();
      }
      return values.join();
    };
    expect(textOf(await answerOf(handler, revision))).toBe("0,1,2,3");
    expect(ran).toEqual([0, 1, 2, 3]);
  });

  test("a step inside a step, or an ask, is a TypeError where it can be seen", async () => {
    const problems: unknown[] = [];
    const note = (error: unknown): void => void problems.push(error);
    const handler = async (ctx: Context): Promise<string> => {
      await ctx.step("outer", async () => ctx.step("inner", () => 1).catch(note));
      await ctx.step("asking", async () => ctx.roots().catch(note));
      await ctx.step("still fine", () => 1);
      await ctx.roots();
      return "done";
    };
    expect(textOf(await answerOf(handler, revision))).toBe("done");
    expect(problems).toHaveLength(2);
    for (const error of problems) expect(error).toBeInstanceOf(TypeError);
    expect((problems[0] as Error).message).toBe("Ask, and take steps, before a step or after it, not inside");
  });

  test.each([
    ["no name", (ctx: Context) => ctx.step("", () => 1)],
    ["no text as its name", (ctx: Context) => ctx.step(5 as never, () => 1)],
  ])("a step with %s is a TypeError", async (_, take) => {
    let caught: unknown;
    await answerOf(async (ctx) => {
      await take(ctx).catch((error) => {
        caught = error;
      });
    }, revision);
    expect(caught).toBeInstanceOf(TypeError);
    expect((caught as Error).message).toBe("ctx.step takes a name and a function");
  });
});

test("the first failure of a step knows its cause, for the log", async () => {
  const cause = new RangeError("out");
  const { open, errors } = createStage((ctx) =>
    ctx.step("fails", () => {
      throw cause;
    }),
  );
  await (await open()).request("tools/call", { name: "run" });
  expect(errors).toMatchObject([{ message: "out", name: "RangeError", cause }]);
});

test("a step beside an ask is finished and remembered before the client is asked", async () => {
  const ran: string[] = [];
  const { open } = createStage(async (ctx) => {
    const [build, answer] = await Promise.all([
      ctx.step("build", async () => {
        await sleep(50);
        ran.push("build");
        return 7;
      }),
      ctx.elicit("?", form),
    ]);
    return `${build} ${answer.action}`;
  });
  const peer = await open();
  const first = await leg(peer);
  expect(ran).toEqual(["build"]);
  expect(textOf(await peer.request("tools/call", { name: "run", ...onward(first) }))).toBe("7 accept");
  expect(ran).toEqual(["build"]);
});

test("an ask inside a step, later than can be seen at once, is an error and no deadlock", async () => {
  const { open, errors } = createStage((ctx) =>
    ctx.step("deploy", async () => {
      await sleep(1);
      return ctx.elicit("?", form);
    }),
  );
  const { error } = await (await open()).request("tools/call", { name: "run" });
  const message = 'tools/call cannot go on: the step "deploy" asks: ask before a step or after it, not inside';
  expect(error).toMatchObject({ code: -32603, message });
  expect(errors.map((one) => one.message)).toEqual([message]);
});

test("a step of a call that never asks is simply taken", async () => {
  const { server } = createStage(() => {});
  server.prompt(
    "p",
    {
      arguments: z.object({ a: z.string() }),
      complete: { a: async (_, ctx) => [await ctx.step("look", () => "found")] },
    },
    () => "",
  );
  const peer = await openPeer(server, modern, { capabilities });
  const { completion } = await peer.call("completion/complete", {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "" },
  });
  expect(completion).toMatchObject({ values: ["found"] });
});
