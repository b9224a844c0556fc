// The tools that return their questions, round by round: their keys, their questions, and what they make of the answers.
import type { JsonObject } from "plenum";
import { type Case, expectEqual, ownOf } from "./cases.ts";
import type { Exchange, Wire } from "./wire.ts";

const form = (message: string, field: string, type = "string"): JsonObject => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { [field]: { type } }, required: [field] },
  },
});

const sampling = (text: string, maxTokens: number): JsonObject => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens },
});

const roots = { method: "roots/list" };
const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });
const said = (text: string): JsonObject => ({ role: "assistant", content: { type: "text", text }, model: "none" });
const folders = { roots: [{ uri: "file:///work", name: "work" }] };

interface Round {
  readonly asks: JsonObject;
  readonly answers: JsonObject;
}

/** A tool, or a prompt, that asks in rounds: each with exactly these questions. */
function inRounds(name: string, rounds: readonly Round[], end: (own: JsonObject) => string[]): Case {
  const isPrompt = name === "prompt";
  const called = `test_input_required_result_${name}`;
  const call = (wire: Wire, more: JsonObject = {}): Promise<Exchange> =>
    isPrompt
      ? wire.request("prompts/get", { name: called, ...more })
      : wire.request("tools/call", { name: called, arguments: {}, ...more });
  return {
    name: called,
    async check(wire) {
      let exchange = await call(wire);
      for (const [index, { asks, answers }] of rounds.entries()) {
        const { resultType, inputRequests, requestState } = exchange.answer?.result ?? {};
        const problems = [
          ...expectEqual(`the kind of result ${index + 1}`, resultType, "input_required"),
          ...expectEqual(`the questions of round ${index + 1}`, withoutEmptyParams(inputRequests as JsonObject), asks),
        ];
        if (problems.length > 0) return [...problems, JSON.stringify(exchange.answer)];
        exchange = await call(wire, {
          inputResponses: answers,
          ...(requestState !== undefined && { requestState }),
        });
      }
      const { resultType } = exchange.answer?.result ?? {};
      return [
        ...expectEqual("the kind of the last result", resultType, "complete"),
        ...end(ownOf(exchange) as JsonObject),
      ];
    },
  };
}

function withoutEmptyParams(requests: JsonObject = {}): JsonObject {
  const entries = Object.entries(requests).map(([key, request]) => {
    const { params, ...rest } = request as { readonly params?: JsonObject };
    return [key, params && Object.keys(params).length > 0 ? { ...rest, params } : rest];
  });
  return Object.fromEntries(entries);
}

const ends =
  (...parts: readonly string[]) =>
  (own: JsonObject): string[] => {
    const found = JSON.stringify(own);
    return parts.flatMap((part) => (found.includes(part) ? [] : [`${found} should contain ${part}`]));
  };

export const roundCases: readonly Case[] = [
  inRounds(
    "elicitation",
    [{ asks: { user_name: form("What is your name?", "name") }, answers: { user_name: accept({ name: "Ada" }) } }],
    (own) => expectEqual("the result", own, { content: [{ type: "text", text: "Hello, Ada!" }] }),
  ),
  inRounds(
    "sampling",
    [
      {
        asks: { capital_question: sampling("What is the capital of France?", 100) },
        answers: { capital_question: said("It is Paris.") },
      },
    ],
    ends("It is Paris."),
  ),
  inRounds("list_roots", [{ asks: { client_roots: roots }, answers: { client_roots: folders } }], ends("work")),
  inRounds(
    "request_state",
    [{ asks: { confirm: form("Please confirm", "ok", "boolean") }, answers: { confirm: accept({ ok: true }) } }],
    ends("state-ok"),
  ),
  inRounds(
    "multiple_inputs",
    [
      {
        asks: {
          user_name: form("What is your name?", "name"),
          greeting: sampling("Generate a greeting", 50),
          client_roots: roots,
        },
        answers: { user_name: accept({ name: "Ada" }), greeting: said("Good day."), client_roots: folders },
      },
    ],
    ends("Ada", "Good day.", "work"),
  ),
  inRounds(
    "multi_round",
    [
      { asks: { step1: form("Step 1: What is your name?", "name") }, answers: { step1: accept({ name: "Ada" }) } },
      {
        asks: { step2: form("Step 2: What is your favorite color?", "color") },
        answers: { step2: accept({ color: "green" }) },
      },
    ],
    ends("Ada", "green"),
  ),
  inRounds(
    "prompt",
    [
      {
        asks: { user_context: form("What context should the prompt use?", "context") },
        answers: { user_context: accept({ context: "harbours" }) },
      },
    ],
    ends("messages", "harbours"),
  ),
];
