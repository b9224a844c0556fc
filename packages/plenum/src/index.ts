// The ninety-percent import: a server, its helpers, the errors and the types that user code names.

export type { Client, CompleteOptions } from "./client/client.ts";
export { displayNameOf } from "./client/display-name.ts";
export type {
  AnswerContext,
  CallOptions,
  ClientOptions,
  ConnectionState,
  ElicitForm,
  ElicitPage,
  RestartOptions,
  RootsOption,
} from "./client/options.ts";
export type { List, Page } from "./client/pages.ts";
export type { ToolResult } from "./client/result.ts";
export { type ModelCard, type ModelPreferences, pickModel, userRejected } from "./client/sampling.ts";
export { hintsOf, type ToolHints } from "./client/tool-hints.ts";
export { type ConnectOptions, type ConnectTarget, connect } from "./host/connect.ts";
export type { Channel, Receiver, Target } from "./jsonrpc/channel.ts";
export type { Json, JsonObject, RequestId } from "./jsonrpc/message.ts";
export type {
  Ask,
  AuthInfo,
  CacheHints,
  Call,
  Caller,
  Change,
  Description,
  Endpoint,
  Input,
  Link,
  Result,
  Rounds,
  Sender,
} from "./protocol/endpoint.ts";
export { type ErrorCode, McpError, ToolError } from "./protocol/errors.ts";
export type { Middleware, Next } from "./protocol/middleware.ts";
export type {
  Annotations,
  AudioContent,
  CallToolResult,
  ClientCapabilities,
  Completion,
  CompletionRef,
  Content,
  ElicitResult,
  EmbeddedResource,
  GetPromptResult,
  Icon,
  ImageContent,
  Implementation,
  LogLevel,
  Meta,
  Prompt,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceLink,
  ResourceTemplate,
  Root,
  SampleRequest,
  SampleResult,
  ServerCapabilities,
  TextContent,
  Tool,
  ToolAnnotations,
} from "./protocol/model.ts";
export type { ProgressUpdate, RemoteDescription } from "./protocol/remote.ts";
export { isRevision, type Revision, revisions } from "./protocol/revisions.ts";
export { jsonSchema } from "./schema/infer.ts";
export { inputRequired, toolResult } from "./server/answers.ts";
export type { Completer, CompletionContext } from "./server/completion.ts";
export { audio, embedded, image, resourceLink, text } from "./server/content.ts";
export type { AsJson, Context, Log, LogEntry } from "./server/context.ts";
export type { ServerOptions } from "./server/core.ts";
export type { InputRequest, InputRequired, InputResponses, PageOptions } from "./server/input.ts";
export { type RateLimitOptions, rateLimit } from "./server/rate-limit.ts";
export type { Registration } from "./server/registry.ts";
export { createServer, type Server } from "./server/server.ts";
export { elicitationRequired } from "./server/visit.ts";
