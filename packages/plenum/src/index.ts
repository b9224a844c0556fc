// The ninety-percent import: a server, its helpers, the errors and the types that user code names.

export type { Channel } from "./jsonrpc/channel.ts";
export type { Json, JsonObject, RequestId } from "./jsonrpc/message.ts";
export type { AuthInfo, Call, Caller, Endpoint, Result, Sender } from "./protocol/endpoint.ts";
export { type ErrorCode, McpError, ToolError } from "./protocol/errors.ts";
export type { Middleware, Next } from "./protocol/middleware.ts";
export type {
  Annotations,
  AudioContent,
  CallToolResult,
  Completion,
  Content,
  ElicitResult,
  EmbeddedResource,
  GetPromptResult,
  Icon,
  ImageContent,
  LogLevel,
  Prompt,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceLink,
  ResourceTemplate,
  Root,
  SampleRequest,
  SampleResult,
  TextContent,
  Tool,
} from "./protocol/model.ts";
export { type ServeOptions, type Serving, serve } from "./protocol/negotiate.ts";
export { type Revision, revisions } from "./protocol/revisions.ts";
export { jsonSchema } from "./schema/infer.ts";
export { audio, embedded, image, resourceLink, text } from "./server/content.ts";
export type { Context } from "./server/context.ts";
export { type RateLimitOptions, rateLimit } from "./server/rate-limit.ts";
export type { Registration } from "./server/registry.ts";
export { createServer, type Server, type ServerOptions } from "./server/server.ts";
export { toolResult } from "./server/tool.ts";
