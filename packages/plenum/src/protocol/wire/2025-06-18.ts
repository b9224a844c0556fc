// What revision 2025-06-18 changes: titles, `_meta` on most things, structured output, resource links, elicitation.
import type { Shapes } from "./shape.ts";

const _meta = "object?";
const title = "string?";
const description = "string?";

export const shapes: Shapes = {
  Implementation: { title },
  Prompt: { title, _meta },
  PromptArgument: { title },
  PromptReference: { title },
  Resource: { title, _meta },
  ResourceTemplate: { title, _meta },
  Tool: { title, outputSchema: "ObjectSchema?", _meta },
  CallToolComplete: { structuredContent: "object?" },

  Annotations: { lastModified: "string?" },
  TextContent: { _meta },
  ImageContent: { _meta },
  AudioContent: { _meta },
  EmbeddedResource: { _meta },
  TextResourceContents: { _meta },
  BlobResourceContents: { _meta },
  Root: { _meta },
  ResourceLink: {
    type: "'resource_link'",
    uri: "uri",
    name: "string",
    title,
    description,
    mimeType: "string?",
    size: "integer?",
    annotations: "Annotations?",
    _meta,
  },
  ContentBlock: "TextContent|ImageContent|AudioContent|ResourceLink|EmbeddedResource",

  CompletionContext: { arguments: "map<string>?" },
  CompleteParams: { context: "CompletionContext?" },

  ElicitationCapability: {},
  ClientCapabilities: { elicitation: "ElicitationCapability?" },
  StringSchema: {
    type: "'string'",
    title,
    description,
    minLength: "integer?",
    maxLength: "integer?",
    format: "'email'|'uri'|'date'|'date-time'?",
  },
  NumberSchema: { type: "'number'|'integer'", title, description, minimum: "number?", maximum: "number?" },
  BooleanSchema: { type: "'boolean'", title, description, default: "boolean?" },
  EnumSchema: { type: "'string'", title, description, enum: "string[]", enumNames: "string[]?" },
  PrimitiveSchemaDefinition: "EnumSchema|StringSchema|NumberSchema|BooleanSchema",
  RequestedSchema: { type: "'object'", properties: "map<PrimitiveSchemaDefinition>", required: "string[]?" },
  ElicitFormParams: { _meta: "RequestMeta?", message: "string", requestedSchema: "RequestedSchema" },
  ElicitParams: "ElicitFormParams",
  ElicitValue: "string|number|boolean",
  ElicitResult: { _meta, action: "'accept'|'decline'|'cancel'", content: "map<ElicitValue>?" },
};
