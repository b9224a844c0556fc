// The result of a tool call as callers see it.
import type { Json, JsonObject } from "../jsonrpc/message.ts";
import { metaOf } from "../protocol/meta.ts";
import type { Content, Meta } from "../protocol/model.ts";

export interface ToolResult {
  readonly content: readonly Content[];
  /** The structured content: undefined where there is none, while null is a value. */
  readonly structured: Json | undefined;
  /** The tool failed, and `text` says how: for a model to read. */
  readonly isError: boolean;
  /** The text blocks of the content, one below the other. Several are put together when it is first looked at. */
  readonly text: string;
  readonly meta: Meta;
}

/** @param result that of `tools/call`, checked */
export function toToolResult(result: JsonObject): ToolResult {
  const content = (result.content ?? []) as readonly Content[];
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return toSingle(result, content, only.text);
  let text: string | undefined;
  return {
    content,
    structured: result.structuredContent as Json | undefined,
    isError: result.isError === true,
    get text() {
      text ??= content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      return text;
    },
    meta: metaOf(result),
  };
}

/** Most results are one text: for them nothing is put together, and nothing is put off. */
function toSingle(result: JsonObject, content: readonly Content[], text: string): ToolResult {
  return {
    content,
    structured: result.structuredContent as Json | undefined,
    isError: result.isError === true,
    text,
    meta: metaOf(result),
  };
}
