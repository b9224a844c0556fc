// The shapes of revision 2024-11-05: the base that the later revisions change.
import type { Shapes } from "./shape.ts";

const meta = "RequestMeta?";
const notice = "NotificationMeta?";
const result = "ResultMeta?";

export const shapes: Shapes = {
  // Envelope parts
  RequestMeta: { progressToken: "id?" },
  NotificationMeta: {},
  ResultMeta: {},
  RequestParams: { _meta: meta },
  PaginatedParams: { _meta: meta, cursor: "string?" },
  ResourceParams: { _meta: meta, uri: "uri" },
  NotificationParams: { _meta: notice },
  EmptyResult: { _meta: result },
  LoggingLevel: "'debug'|'info'|'notice'|'warning'|'error'|'critical'|'alert'|'emergency'",
  Role: "'user'|'assistant'",

  // Opening
  Implementation: { name: "string", version: "string" },
  ClientCapabilities: { experimental: "map<object>?", roots: "RootsCapability?", sampling: "SamplingCapability?" },
  RootsCapability: { listChanged: "boolean?" },
  SamplingCapability: {},
  ServerCapabilities: {
    experimental: "map<object>?",
    logging: "object?",
    prompts: "ListCapability?",
    resources: "ResourcesCapability?",
    tools: "ListCapability?",
  },
  ListCapability: { listChanged: "boolean?" },
  ResourcesCapability: { subscribe: "boolean?", listChanged: "boolean?" },
  InitializeParams: {
    _meta: meta,
    protocolVersion: "string",
    capabilities: "ClientCapabilities",
    clientInfo: "Implementation",
  },
  InitializeResult: {
    _meta: result,
    protocolVersion: "string",
    capabilities: "ServerCapabilities",
    serverInfo: "Implementation",
    instructions: "string?",
  },
  InitializedParams: "NotificationParams",

  // Every method's small change
  PingParams: "RequestParams",
  PingResult: "EmptyResult",
  CancelledParams: { _meta: notice, requestId: "id", reason: "string?" },
  ProgressParams: { _meta: notice, progressToken: "id", progress: "number", total: "number?" },

  // Content
  Annotations: { audience: "Role[]?", priority: "unit?" },
  TextContent: { type: "'text'", text: "string", annotations: "Annotations?" },
  ImageContent: { type: "'image'", data: "base64", mimeType: "string", annotations: "Annotations?" },
  EmbeddedResource: { type: "'resource'", resource: "ResourceContents", annotations: "Annotations?" },
  ContentBlock: "TextContent|ImageContent|EmbeddedResource",

  // Tools
  ObjectSchema: { $schema: "string?", type: "'object'", properties: "map<object>?", required: "string[]?" },
  Tool: { name: "string", description: "string?", inputSchema: "ObjectSchema" },
  ListToolsParams: "PaginatedParams",
  ListToolsResult: { _meta: result, tools: "Tool[]", nextCursor: "string?" },
  CallToolParams: { _meta: meta, name: "string", arguments: "object?" },
  CallToolResult: "CallToolComplete",
  CallToolComplete: { _meta: result, content: "ContentBlock[]", isError: "boolean?" },
  ToolListChangedParams: "NotificationParams",

  // Resources
  Resource: {
    uri: "uri",
    name: "string",
    description: "string?",
    mimeType: "string?",
    size: "integer?",
    annotations: "Annotations?",
  },
  ResourceTemplate: {
    uriTemplate: "template",
    name: "string",
    description: "string?",
    mimeType: "string?",
    annotations: "Annotations?",
  },
  TextResourceContents: { uri: "uri", mimeType: "string?", text: "string" },
  BlobResourceContents: { uri: "uri", mimeType: "string?", blob: "base64" },
  ResourceContents: "TextResourceContents|BlobResourceContents",
  ListResourcesParams: "PaginatedParams",
  ListResourcesResult: { _meta: result, resources: "Resource[]", nextCursor: "string?" },
  ListResourceTemplatesParams: "PaginatedParams",
  ListResourceTemplatesResult: { _meta: result, resourceTemplates: "ResourceTemplate[]", nextCursor: "string?" },
  ReadResourceParams: { _meta: meta, uri: "uri" },
  ReadResourceResult: "ReadResourceComplete",
  ReadResourceComplete: { _meta: result, contents: "ResourceContents[]" },
  SubscribeParams: "ResourceParams",
  SubscribeResult: "EmptyResult",
  UnsubscribeParams: "ResourceParams",
  UnsubscribeResult: "EmptyResult",
  ResourceListChangedParams: "NotificationParams",
  ResourceUpdatedParams: { _meta: notice, uri: "uri" },

  // Prompts
  Prompt: { name: "string", description: "string?", arguments: "PromptArgument[]?" },
  PromptArgument: { name: "string", description: "string?", required: "boolean?" },
  PromptMessage: { role: "Role", content: "ContentBlock" },
  ListPromptsParams: "PaginatedParams",
  ListPromptsResult: { _meta: result, prompts: "Prompt[]", nextCursor: "string?" },
  GetPromptParams: { _meta: meta, name: "string", arguments: "map<string>?" },
  GetPromptResult: "GetPromptComplete",
  GetPromptComplete: { _meta: result, description: "string?", messages: "PromptMessage[]" },
  PromptListChangedParams: "NotificationParams",

  // Completion
  PromptReference: { type: "'ref/prompt'", name: "string" },
  ResourceTemplateReference: { type: "'ref/resource'", uri: "template" },
  CompletionReference: "PromptReference|ResourceTemplateReference",
  CompletionArgument: { name: "string", value: "string" },
  Completion: { values: "string[]", total: "integer?", hasMore: "boolean?" },
  CompleteParams: { _meta: meta, ref: "CompletionReference", argument: "CompletionArgument" },
  CompleteResult: { _meta: result, completion: "Completion" },

  // Logging
  SetLevelParams: { _meta: meta, level: "LoggingLevel" },
  SetLevelResult: "EmptyResult",
  LoggingMessageParams: { _meta: notice, level: "LoggingLevel", logger: "string?", data: "any" },

  // Sampling
  ModelHint: { name: "string?" },
  ModelPreferences: {
    hints: "ModelHint[]?",
    costPriority: "unit?",
    speedPriority: "unit?",
    intelligencePriority: "unit?",
  },
  SamplingMessageContentBlock: "TextContent|ImageContent",
  SamplingContent: "SamplingMessageContentBlock",
  SamplingMessage: { role: "Role", content: "SamplingContent" },
  CreateMessageParams: {
    _meta: meta,
    messages: "SamplingMessage[]",
    maxTokens: "integer",
    systemPrompt: "string?",
    modelPreferences: "ModelPreferences?",
    includeContext: "'none'|'thisServer'|'allServers'?",
    temperature: "number?",
    stopSequences: "string[]?",
    metadata: "object?",
  },
  CreateMessageResult: {
    _meta: "object?",
    role: "Role",
    content: "SamplingContent",
    model: "string",
    stopReason: "string?",
  },

  // Roots
  Root: { uri: "uri", name: "string?" },
  ListRootsParams: { _meta: meta },
  ListRootsResult: { _meta: "object?", roots: "Root[]" },
  RootsListChangedParams: "NotificationParams",
};
