import { describe, expect, test } from "vitest";
import type { Ask } from "./endpoint.ts";
import { findMethod } from "./methods.ts";
import { missingOf, stems, toAsk, toParams } from "./question.ts";
import type { Revision } from "./revisions.ts";

test("stems are those of the table of methods", () => {
  for (const [name, stem] of Object.entries(stems)) expect(findMethod(name)?.stem).toBe(stem);
});

describe("what a question takes", () => {
  test.each<[method: string, params: object, needs: string[]]>([
    ["elicitation/create", { message: "?" }, ["elicitation.form"]],
    ["elicitation/create", { mode: "form", message: "?" }, ["elicitation.form"]],
    ["elicitation/create", { mode: "url", url: "https://a.example" }, ["elicitation.url"]],
    ["sampling/createMessage", { messages: [] }, ["sampling"]],
    ["sampling/createMessage", { messages: [], tools: [] }, ["sampling.tools"]],
    ["sampling/createMessage", { messages: [], toolChoice: {} }, ["sampling.tools"]],
    ["sampling/createMessage", { messages: [], includeContext: "none" }, ["sampling"]],
    ["sampling/createMessage", { messages: [], includeContext: "allServers" }, ["sampling", "sampling.context"]],
    ["roots/list", { anything: 1 }, ["roots"]],
  ])("%s with %j", (method, params, needs) => {
    expect(toAsk(method, params as never).needs).toEqual(needs);
  });

  test("is not asked of other methods", () => {
    expect(() => toAsk("tools/call", {})).toThrow('"tools/call" cannot be asked');
  });
});

test("params are those of the revision", () => {
  const ask = toAsk("elicitation/create", { mode: "url", message: "?", url: "https://a.example" });
  expect(toParams(ask, "2025-11-25")).toHaveProperty("elicitationId");
  expect(toParams(ask, "2026-07-28")).toEqual({ mode: "url", message: "?", url: "https://a.example" });
  expect(() => toParams(toAsk("elicitation/create", {}), "2026-07-28")).toThrow(
    "elicitation/create is not valid in 2026-07-28: params.message must be a string",
  );
});

describe("what is missing", () => {
  const of = (capabilities: object, needs: string[], revision: Revision): string[] =>
    missingOf({ info: undefined, capabilities: capabilities as never, revision }, { needs } as unknown as Ask);

  test("is all that was not declared", () => {
    expect(of({}, ["roots", "sampling"], "2026-07-28")).toEqual(["roots", "sampling"]);
    expect(of({ roots: {} }, ["roots", "sampling"], "2026-07-28")).toEqual(["sampling"]);
  });

  test("is what the revision does not have, whatever was declared", () => {
    const all = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} } };
    expect(of(all, ["elicitation.url", "sampling.tools"], "2025-06-18")).toEqual(["elicitation.url", "sampling.tools"]);
    expect(of(all, ["elicitation.url", "sampling.tools"], "2025-11-25")).toEqual([]);
  });

  test("is not the context of a sampling where no revision has asked to declare it yet", () => {
    expect(of({ sampling: {} }, ["sampling.context"], "2025-06-18")).toEqual([]);
    expect(of({ sampling: {} }, ["sampling.context"], "2025-11-25")).toEqual(["sampling.context"]);
  });
});
