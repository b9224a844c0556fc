// How content and questions that an older revision lacks are told all the same. Apart from what fits values to a revision,
// because nothing of it is needed where only the newest is spoken.
import type { JsonObject } from "../../jsonrpc/message.ts";
import { addRetold, type Retell } from "./fit.ts";

const retold: { readonly [shape: string]: Retell } = {
  AudioContent: (block) => {
    // Four letters are three bytes; the padding counts for none.
    const bytes = (String(block.data).replace(/={1,2}$/, "").length * 3) >> 2;
    return toText(block, `[${block.mimeType}, ${bytes} bytes: this protocol revision has no audio]`);
  },
  ResourceLink: (block) =>
    toText(block, [block.title ?? block.name, block.uri, block.description].filter(Boolean).join(" - ")),
  ToolUseContent: toText,
  ToolResultContent: toText,
  // Titled choices as an enum with names.
  TitledEnum: ({ oneOf, ...rest }) => {
    const choices = [oneOf].flat() as (JsonObject | null)[];
    return { ...rest, enum: choices.map((choice) => choice?.const), enumNames: choices.map((choice) => choice?.title) };
  },
};

/** Text in place of another kind of content. */
function toText(block: JsonObject, text: string = JSON.stringify(block)): JsonObject {
  return { type: "text", text, annotations: block.annotations };
}

let isAdded = false;

/** To be called before anything is fitted to an older revision. */
export function addRetelling(): void {
  if (!isAdded) addRetold(retold);
  isAdded = true;
}
