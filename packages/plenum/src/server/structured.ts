// What a tool with an output schema returns, checked by it; and results that a handler has put together itself.
import { isObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import type { Tool } from "../protocol/model.ts";
import { anyRoot } from "../protocol/revise.ts";
import { formatIssues, type Schema } from "../schema/standard.ts";
import { isWhole, settle, toText } from "./result.ts";

/** Throws a TypeError for what the output schema does not allow. */
export async function toWholeResult(
  returned: unknown,
  { definition, output }: { readonly definition: Tool; readonly output: Schema | undefined },
): Promise<Result> {
  // Of any value: a promise in it that nobody waits for would end the process when it fails.
  const settled = isObject(returned) && Array.isArray(returned.content) && (await settle(returned.content));
  const blocks = isWhole(returned) && settled;
  const { structured, isError, meta } = isWhole(returned) ? returned : { structured: returned };
  // A failure need not have the shape of a success.
  if (isError || !output)
    return { content: blocks || toText(structured), structuredContent: structured, isError, _meta: meta };
  const checked = await output.validate(structured);
  const value = "issues" in checked ? undefined : checked.value;
  // A schema that allows everything allows undefined, but the wire cannot carry it, and structured content was promised.
  if (value === undefined) {
    const why = "issues" in checked ? formatIssues(checked.issues) : "must not be undefined";
    throw new TypeError(`tool "${definition.name}" returned what its output schema does not allow: ${why}`);
  }
  const result = { content: blocks || toText(value), structuredContent: value, _meta: meta };
  return definition.outputSchema?.type === "object" ? result : { ...result, [anyRoot]: true };
}
