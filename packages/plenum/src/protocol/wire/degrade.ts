// What becomes of a thing that an older revision lacks but can still tell of: other content as text, titled choices
// as an enum with names, boolean subschemas as objects.
import { isRecord } from "./shape.ts";

type Value = Readonly<Record<string, unknown>>;

/** How a shape that the revision lacks is told, by its name. */
export const degrades: { readonly [name: string]: (value: Value) => Value } = {
  AudioContent: toText,
  ResourceLink: toText,
  ToolUseContent: toText,
  ToolResultContent: toText,
  TitledSingleSelectEnumSchema: toEnum,
};

/** Text content in place of a block, with its annotations. */
function toText(block: Value): Value {
  const text = { type: "text", text: describe(block) };
  return block.annotations === undefined ? text : { ...text, annotations: block.annotations };
}

/** Titled choices as an enum with names. */
function toEnum({ oneOf, ...rest }: Value): Value {
  const choices = toRecords(oneOf);
  return { ...rest, enum: choices.map((choice) => choice.const), enumNames: choices.map(({ title }) => title) };
}

/** One block in place of several, where only one may be. */
export function joinBlocks(blocks: readonly unknown[]): unknown {
  return blocks.length === 1 ? blocks[0] : { type: "text", text: describeAll(blocks) };
}

function describeAll(blocks: unknown): string {
  return toRecords(blocks).map(describe).join("\n");
}

function describe(block: Value): string {
  const { type, data, mimeType, name } = block;
  if (type === "text") return String(block.text);
  if (type === "resource_link") {
    return [block.title ?? name, block.uri, block.description].filter((word) => word !== undefined).join(" - ");
  }
  if (type === "tool_use") return `[call of tool ${name}: ${JSON.stringify(block.input)}]`;
  if (type === "tool_result") return describeAll(block.content);
  if (isRecord(block.resource)) return String(block.resource.text ?? block.resource.uri);
  // Four letters are three bytes; the padding counts for none.
  const bytes = Math.floor(String(data).replace(/={1,2}$/, "").length * 0.75);
  return `[${mimeType} ${type}, ${bytes} bytes: this client's protocol revision cannot carry ${type}]`;
}

/** Each block as a message of its own, for a revision whose messages hold just one. */
export function splitMessages(params: Value): Value {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some(hasSeveral)) return params;
  return {
    ...params,
    messages: messages.flatMap((message) =>
      hasSeveral(message) ? message.content.map((content) => ({ ...message, content })) : message,
    ),
  };
}

function hasSeveral(message: unknown): message is { readonly content: readonly unknown[] } {
  return isRecord(message) && Array.isArray(message.content);
}

/** A subschema as an object: one that is `true` or `false` can be said as an object too. */
export function toObjectSchema(schema: unknown): unknown {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
}

function toRecords(list: unknown): readonly Value[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
