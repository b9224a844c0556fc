// Generated handlers: a plan is what a handler does, as data, and `runPlan` does it. A plan asks, takes steps, joins
// parts with Promise.all, branches on answers, reads resources, and has try, catch and finally in all places.
import { type Context, McpError, ToolError } from "plenum";
import { z } from "zod";

export type Plan =
  | { readonly kind: "elicit"; readonly message: string }
  | { readonly kind: "page"; readonly path: string }
  | { readonly kind: "sample"; readonly text: string }
  | { readonly kind: "roots" }
  | { readonly kind: "step"; readonly id: number; readonly name: string; readonly does: StepKind }
  | { readonly kind: "read"; readonly id: number; readonly parts: readonly Plan[] }
  | { readonly kind: "all"; readonly chains: readonly (readonly Plan[])[] }
  | { readonly kind: "branch"; readonly message: string; readonly yes: readonly Plan[]; readonly no: readonly Plan[] }
  | { readonly kind: "finally"; readonly parts: readonly Plan[] }
  | { readonly kind: "catch"; readonly parts: readonly Plan[] }
  | { readonly kind: "pause" }
  | { readonly kind: "refuse"; readonly text: string };

type StepKind = "value" | "nothing" | "slow" | "fails" | "fails-tool" | "fails-mcp";

/** What a run did outside the protocol. */
export interface Trace {
  runs: number;
  /** How often the function of each step ran. */
  readonly steps: Map<number, number>;
  entered: number;
  left: number;
}

export const createTrace = (): Trace => ({ runs: 0, steps: new Map(), entered: 0, left: 0 });

export type Random = () => number;

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

const stepKinds = ["value", "value", "nothing", "slow", "fails", "fails-tool", "fails-mcp"] as const;

/** Plans in a row. What runs beside other things has names of its own; in a row names and questions may repeat. */
export function createPlans(random: Random): readonly Plan[] {
  let next = 1;
  const label = (isAlone: boolean): string => (isAlone && random() < 0.4 ? "again" : `n${next++}`);
  const make = (depth: number, isAlone: boolean): Plan => {
    const choice = random();
    if (choice < 0.2) return { kind: "elicit", message: label(isAlone) };
    if (choice < 0.28) return { kind: "page", path: label(isAlone) };
    if (choice < 0.36) return { kind: "sample", text: label(isAlone) };
    if (choice < 0.4 && isAlone) return { kind: "roots" };
    if (choice < 0.65) {
      const does = pick(random, stepKinds);
      const step = { kind: "step", id: next++, name: label(isAlone), does } as const;
      return does.startsWith("fails") ? { kind: "catch", parts: [step] } : step;
    }
    if (choice < 0.68) return { kind: "pause" };
    if (depth === 0) return { kind: "elicit", message: label(isAlone) };
    if (choice < 0.8) {
      const chains = Array.from({ length: 2 + Math.floor(random() * 2) }, () => row(depth - 1, false, 2));
      return { kind: "all", chains };
    }
    if (choice < 0.87)
      return {
        kind: "branch",
        message: label(isAlone),
        yes: row(depth - 1, isAlone, 2),
        no: row(depth - 1, isAlone, 2),
      };
    if (choice < 0.92) return { kind: "finally", parts: row(depth - 1, isAlone, 2) };
    if (choice < 0.96) return { kind: "catch", parts: row(depth - 1, isAlone, 2) };
    return { kind: "read", id: next++, parts: row(depth - 1, isAlone, 2) };
  };
  const row = (depth: number, isAlone: boolean, max: number): readonly Plan[] =>
    Array.from({ length: 1 + Math.floor(random() * max) }, () => make(depth, isAlone));
  const plans = row(2, true, 4);
  return random() < 0.1 ? [...plans, { kind: "refuse", text: "no more" }] : plans;
}

/** All the plans inside, too: for the resources that they read. */
export function readsOf(plans: readonly Plan[]): Extract<Plan, { kind: "read" }>[] {
  return plans.flatMap((plan) => {
    switch (plan.kind) {
      case "read":
        return [plan, ...readsOf(plan.parts)];
      case "all":
        return plan.chains.flatMap(readsOf);
      case "branch":
        return [...readsOf(plan.yes), ...readsOf(plan.no)];
      case "finally":
      case "catch":
        return readsOf(plan.parts);
      default:
        return [];
    }
  });
}

const form = z.object({ ok: z.boolean(), note: z.string().default("none") });

/** What the plans come to, for the answer. Whatever differs between two runs or two eras shows in it. */
export async function runPlans(plans: readonly Plan[], ctx: Context, trace: Trace): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const plan of plans) values.push(await runPlan(plan, ctx, trace));
  return values;
}

async function runPlan(plan: Plan, ctx: Context, trace: Trace): Promise<unknown> {
  switch (plan.kind) {
    case "elicit":
      return ctx.elicit(plan.message, form);
    case "page":
      return ctx.elicitUrl("Go there", `https://example.com/${plan.path}`);
    case "sample":
      return ctx.sample({
        messages: [{ role: "user", content: { type: "text", text: plan.text } }],
        maxTokens: 10,
      });
    case "roots":
      return ctx.roots();
    case "step":
      return (await ctx.step(plan.name, () => takeStep(plan, trace))) ?? "nothing";
    case "read":
      return (await ctx.readResource(`part:///${plan.id}`)).contents;
    case "all":
      return Promise.all(plan.chains.map((chain) => runPlans(chain, ctx, trace)));
    case "branch": {
      const answer = await ctx.elicit(plan.message, form);
      const isYes = answer.action === "accept" && answer.content.ok;
      return [isYes, await runPlans(isYes ? plan.yes : plan.no, ctx, trace)];
    }
    case "finally":
      trace.entered++;
      try {
        return await runPlans(plan.parts, ctx, trace);
      } finally {
        trace.left++;
      }
    case "catch":
      try {
        return await runPlans(plan.parts, ctx, trace);
      } catch (error) {
        if (error instanceof McpError && error.code === "input_required") throw error;
        const { name, message, code, rpcCode, data } = error as McpError;
        return { name, message, code, rpcCode, data, isTool: error instanceof ToolError };
      }
    case "pause":
      return new Promise((resolve) => setTimeout(resolve, 0, "paused"));
    case "refuse":
      throw new ToolError(plan.text);
  }
}

async function takeStep({ id, does }: Extract<Plan, { kind: "step" }>, trace: Trace): Promise<unknown> {
  trace.steps.set(id, (trace.steps.get(id) ?? 0) + 1);
  if (does === "slow") await new Promise((resolve) => setTimeout(resolve, 2));
  if (does === "fails") throw new RangeError(`step ${id} is out of range`);
  if (does === "fails-tool") throw new ToolError(`step ${id} failed`);
  if (does === "fails-mcp") throw new McpError("application", `step ${id}`, { rpcCode: id, data: { id } });
  return does === "nothing" ? undefined : { id, list: [1, { deep: true }], text: "é\u2028" };
}
