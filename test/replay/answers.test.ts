// The answers that come with a call that goes on: those that are missing, nobody's, of another kind, or wrong.
import { McpError } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer } from "../suites/peer.ts";
import { drive } from "./rounds.ts";
import { accept, createStage, leg, onward, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });

describe("answers", () => {
  const two = async (ctx: Parameters<Parameters<typeof createStage>[0]>[0]): Promise<unknown> => {
    const [a, b] = await Promise.all([ctx.elicit("a", form), ctx.roots()]);
    return `${a.action} ${b.length}`;
  };

  test("that are missing are asked for again, under their keys, and those that came are kept", async () => {
    covers("mrtr-server-asks-again", modern);
    const { open } = createStage(two);
    const peer = await open();
    const first = await leg(peer);
    expect(Object.keys(first.questions)).toEqual(["ask-1", "ask-2"]);
    const second = await leg(peer, { requestState: first.state, inputResponses: { "ask-2": { roots: [] } } });
    expect(second.questions).toEqual({ "ask-1": first.questions["ask-1"] });
    const none = await leg(peer, { requestState: second.state });
    expect(none.questions).toEqual(second.questions);
    expect(textOf(await peer.request("tools/call", { name: "run", ...onward(none) }))).toBe("accept 0");
  });

  test("that nobody asked for are not looked at", async () => {
    covers("mrtr-server-ignores-extra", modern);
    const { open } = createStage(two);
    const peer = await open();
    const { requestState, inputResponses } = onward(await leg(peer));
    const strays = {
      "ask-3": { roots: [] },
      ["__proto__"]: { roots: [] },
      "": { action: "cancel" },
      toString: { roots: [] },
    };
    const more = { requestState, inputResponses: { ...strays, ...(inputResponses as Obj) } };
    expect(textOf(await peer.request("tools/call", { name: "run", ...more }))).toBe("accept 1");
    // Without a state nothing was asked.
    const alone = await leg(peer, { inputResponses });
    expect(Object.keys(alone.questions)).toEqual(["ask-1", "ask-2"]);
  });

  test.each<[what: string, key: string, answer: unknown, problem: string]>([
    ["no object", "ask-1", 5, "inputResponses"],
    ["of another question", "ask-1", { roots: [] }, 'inputResponses["ask-1"].action'],
    ["of another question", "ask-2", { action: "accept" }, 'inputResponses["ask-2"].roots'],
    ["an unknown action", "ask-1", { action: "maybe" }, "inputResponses"],
    ["content that no form has", "ask-1", { action: "accept", content: { ok: {} } }, "content"],
  ])("that are %s are refused before anything runs", async (_, key, answer, problem) => {
    covers(["mrtr-server-validates", "mrtr-server-protocol-error"], modern);
    let runs = 0;
    const { open } = createStage((ctx) => {
      runs++;
      return two(ctx);
    });
    const peer = await open();
    const { requestState, inputResponses } = onward(await leg(peer));
    const bad = { requestState, inputResponses: { ...(inputResponses as Obj), [key]: answer } };
    const { error } = await peer.request("tools/call", { name: "run", ...bad });
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain(problem);
    expect(runs).toBe(1);
    // The state is still good.
    expect(textOf(await peer.request("tools/call", { name: "run", requestState, inputResponses }))).toBe("accept 1");
  });

  test("that do not fit the form are errors to the handler, who may ask again", async () => {
    covers("elicitation-validate-server", modern);
    const { open } = createStage(async (ctx) => {
      for (let attempt = 1; ; attempt++) {
        try {
          const answer = await ctx.elicit("How many?", z.object({ n: z.number().max(3) }));
          return `${answer.action} in attempt ${attempt}`;
        } catch (error) {
          if (!(error instanceof McpError && error.code === "invalid_result")) throw error;
        }
      }
    });
    let n = 6;
    const { last, rounds } = await drive(await open(), "tools/call", { name: "run" }, () => ({
      action: "accept",
      content: { n: --n },
    }));
    expect([textOf(last), rounds]).toEqual(["accept in attempt 3", 3]);
  });

  test("are asked for only where the request declares what that takes, which may change from one to the next", async () => {
    const { server, open } = createStage(async (ctx) => {
      const { action } = await ctx.elicit("?", form);
      const roots = await ctx.roots();
      return `${action} ${roots.length}`;
    });
    const poor = await open({ capabilities: { elicitation: {} } });
    const first = await leg(poor);
    const { error } = await poor.request("tools/call", { name: "run", ...onward(first) });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } });
    // An answer that is there already needs no capability.
    const other = await openPeer(server, modern, { capabilities: { roots: {} } });
    const { last } = await drive(other, "tools/call", { name: "run", ...onward(first) }, accept);
    expect(last.error?.message).toBeUndefined();
  });
});
