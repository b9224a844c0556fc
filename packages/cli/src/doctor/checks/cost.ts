// What the tools cost: every request to a model carries the whole list.
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip } from "../check.ts";

/** Of JSON, on the average of today's tokenizers. */
const charactersPerToken = 4;
const dear = 10_000;
const worthKnowing = 3000;

/** A tool as a model sees it, and no more. */
function toTokens({ name, description, inputSchema }: JsonObject): number {
  return Math.ceil(JSON.stringify({ name, description, input_schema: inputSchema }).length / charactersPerToken);
}

const numbers = new Intl.NumberFormat("en");

export const costChecks: readonly Check[] = [
  {
    id: "cost/tokens",
    title: "The list of tools is cheap",
    looksAt: "names, descriptions and input schemas, at 4 characters a token",
    appliesTo: "any",
    severity: "warning",
    remedy:
      "Shorten descriptions and schemas, beginning with the largest, or put rare tools into a server of their own.",
    async run({ main }) {
      if (!main.declares("tools")) return skip("it has no tools");
      const { items } = await main.list("tools");
      const sizes = items.map((tool) => [String(tool.name), toTokens(tool)] as const).sort(([, a], [, b]) => b - a);
      const total = sizes.reduce((sum, [, tokens]) => sum + tokens, 0);
      const largest = sizes.slice(0, 5).map(([name, tokens]) => `${name} ${numbers.format(tokens)}`);
      const summary = `about ${numbers.format(total)} tokens by estimate; largest: ${largest.join(", ") || "none"}`;
      if (total <= worthKnowing) return found([], summary);
      const message = `Every request to a model carries about ${numbers.format(total)} tokens of tools, by estimate. The largest: ${largest.join(", ")}.`;
      const finding: Finding = { message, where: "tools/list", severity: total > dear ? "warning" : "note" };
      return found([finding]);
    },
  },
];
