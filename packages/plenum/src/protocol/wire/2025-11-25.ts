// What revision 2025-11-25 changes: icons, tools in sampling, elicitation by URL, richer choices, core tasks.
// Of the tasks only the members on other shapes are here, the capability unread; tasks/* have no shapes.
import type { Shapes } from "./shape.ts";

const _meta = "object?";
const icons = "Icon[]?";
const title = "string?";
const description = "string?";
const task = "TaskMetadata?";

export const shapes: Shapes = {
  Icon: { src: "uri", mimeType: "string?", sizes: "string[]?", theme: "'light'|'dark'?" },
  Implementation: { description, icons, websiteUrl: "uri?" },
  Prompt: { icons },
  Resource: { icons },
  ResourceLink: { icons },
  ResourceTemplate: { icons },
  Tool: { icons, execution: "ToolExecution?" },
  CancelledParams: { requestId: "id?" },

  ToolUseContent: { type: "'tool_use'", id: "string", name: "string", input: "object", _meta },
  ToolResultContent: {
    type: "'tool_result'",
    toolUseId: "string",
    content: "ContentBlock[]",
    structuredContent: "object?",
    isError: "boolean?",
    _meta,
  },
  ToolChoice: { mode: "'auto'|'required'|'none'?" },
  SamplingCapability: { context: "object?", tools: "object?" },
  SamplingMessageContentBlock: "TextContent|ImageContent|AudioContent|ToolUseContent|ToolResultContent",
  SamplingContent: "SamplingMessageContentBlock|SamplingMessageContentBlock[]",
  SamplingMessage: { _meta },
  CreateMessageParams: { tools: "Tool[]?", toolChoice: "ToolChoice?", task },

  ElicitationCapability: { form: "object?", url: "object?" },
  StringSchema: { default: "string?" },
  NumberSchema: { default: "number?" },
  EnumSchema: { default: "string?" },
  TitledChoice: { const: "string", title: "string" },
  TitledItems: { anyOf: "TitledChoice[]" },
  UntitledItems: { type: "'string'", enum: "string[]" },
  TitledSingleSelectEnumSchema: {
    type: "'string'",
    title,
    description,
    oneOf: "TitledChoice[]",
    default: "string?",
  },
  MultiSelectEnumSchema: {
    type: "'array'",
    title,
    description,
    minItems: "integer?",
    maxItems: "integer?",
    items: "TitledItems|UntitledItems",
    default: "string[]?",
  },
  PrimitiveSchemaDefinition:
    "EnumSchema|TitledSingleSelectEnumSchema|StringSchema|NumberSchema|BooleanSchema|MultiSelectEnumSchema",
  RequestedSchema: { $schema: "string?" },
  ElicitFormParams: { mode: "'form'?", task },
  ElicitURLParams: {
    _meta: "RequestMeta?",
    mode: "'url'",
    message: "string",
    url: "uri",
    elicitationId: "string",
    task,
  },
  ElicitParams: "ElicitFormParams|ElicitURLParams",
  ElicitValue: "string|number|boolean|string[]",
  ElicitationCompleteParams: { _meta: "NotificationMeta?", elicitationId: "string" },

  TaskMetadata: { ttl: "integer?" },
  CallToolParams: { task },
  ToolExecution: { taskSupport: "'forbidden'|'optional'|'required'?" },
  ClientCapabilities: { tasks: "object?" },
  ServerCapabilities: { tasks: "object?" },
};
