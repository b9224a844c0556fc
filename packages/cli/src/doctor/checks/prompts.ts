// Prompts: what people are shown of them, and that they want their arguments.
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip } from "../check.ts";
import { isObject } from "../visit.ts";

function overPrompts(look: (items: readonly JsonObject[]) => Finding[]): Check["run"] {
  return async ({ main }) => {
    if (!main.declares("prompts")) return skip("it has no prompts");
    const { items } = await main.list("prompts");
    return items.length === 0 ? skip("it lists no prompts") : found(look(items));
  };
}

function whereOf({ name }: JsonObject): string {
  return `prompt "${String(name).slice(0, 80)}"`;
}

function argumentsOf(prompt: JsonObject): readonly JsonObject[] {
  return Array.isArray(prompt.arguments) ? prompt.arguments.filter(isObject) : [];
}

const hasText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const usual = { appliesTo: "any", severity: "warning" } as const;

export const promptsChecks: readonly Check[] = [
  {
    ...usual,
    id: "prompts/unique-names",
    title: "Names of prompts are unique",
    looksAt: "the names of all prompts",
    severity: "error",
    remedy: "Rename one of them.",
    run: overPrompts((items) => {
      const names = items.map(({ name }) => String(name));
      const twice = [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
      return twice.map((name) => ({ message: "More than one prompt has this name.", where: `prompt "${name}"` }));
    }),
  },
  {
    ...usual,
    id: "prompts/descriptions",
    title: "Every prompt has a description",
    looksAt: "description of every prompt",
    remedy: "Say what it is for: people choose it from a list.",
    run: overPrompts((items) =>
      items
        .filter(({ description }) => !hasText(description))
        .map((item) => ({ message: "It has no description.", where: whereOf(item) })),
    ),
  },
  {
    ...usual,
    id: "prompts/arguments",
    title: "Required arguments of prompts are described",
    looksAt: "arguments of every prompt",
    severity: "note",
    remedy: "Describe what to fill in: hosts show it beside the field.",
    run: overPrompts((items) =>
      items.flatMap((item): Finding[] => {
        const bare = argumentsOf(item).filter(
          ({ required, description }) => required === true && !hasText(description),
        );
        if (bare.length === 0) return [];
        return [
          { message: `Not described: ${bare.map(({ name }) => String(name)).join(", ")}.`, where: whereOf(item) },
        ];
      }),
    ),
  },
  {
    ...usual,
    id: "prompts/missing-argument",
    title: "A prompt without a required argument is an error",
    looksAt: "the first prompt with a required argument, without it",
    remedy: "Answer with error -32602 that names the argument.",
    async run({ main }) {
      if (!main.declares("prompts")) return skip("it has no prompts");
      const { items } = await main.list("prompts");
      const prompt = items.find((item) => argumentsOf(item).some(({ required }) => required === true));
      if (!prompt) return skip("no prompt has a required argument");
      const where = whereOf(prompt);
      const answer = await main.ask("prompts/get", { name: prompt.name });
      if (answer.kind === "result") return found([{ message: "It is given without its required argument.", where }]);
      if (answer.kind === "none")
        return found([
          { message: `Without its required argument it is not answered: ${answer.why}.`, where, severity: "error" },
        ]);
      if (answer.code === -32602) return found([]);
      const message = `Without its required argument it is error ${answer.code}; -32602 says what is wrong.`;
      return found([{ message, where, severity: "note" }]);
    },
  },
];
