// The order that tool calls and their results keep in the messages of a sampling request: models refuse a call without
// its result, and a result without its call. Specification: client/sampling, "Tool Use and Result Balance".
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";

/**
 * What is wrong with a dialogue, such as `messages[2] lacks the result of tool use "a1"`; undefined when it is right.
 * Messages are of the shape that their revision gives them.
 */
export function checkDialogue(messages: readonly unknown[]): string | undefined {
  // The calls that the message before made.
  let open: ReadonlySet<unknown> = new Set();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const { role, blocks } = read(message);
    const uses = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ toolUseId }) => toolUseId);

    if (uses.length > 0 && role !== "assistant") return `${at} is the user's and uses a tool`;
    if (results.length > 0 && role !== "user") return `${at} is the assistant's and holds a tool result`;
    if (results.length > 0 && results.length < blocks.length)
      return `${at} holds other content beside its tool results`;

    const given = new Set(results);
    const missing = [...open].find((id) => !given.has(id));
    if (missing !== undefined) return `${at} lacks the result of tool use ${name(missing)}`;
    const strange = results.find((id) => !open.has(id));
    if (strange !== undefined)
      return `${at} has a result of tool use ${name(strange)}, which the message before has not`;
    if (given.size < results.length) return `${at} has two results of one tool use`;

    open = new Set(uses);
    if (open.size < uses.length) return `${at} has two tool uses of the same id`;
  }
  const [unanswered] = open;
  return unanswered === undefined ? undefined : `messages end without the result of tool use ${name(unanswered)}`;
}

/** Content is one block or a list of them. */
function read(message: unknown): { role: unknown; blocks: readonly JsonObject[] } {
  if (!isObject(message)) return { role: undefined, blocks: [] };
  return { role: message.role, blocks: [message.content].flat().filter(isObject) };
}

const name = (id: unknown): string => quote(String(id));
