// What revision 2026-07-28 changes: no handshake, every request complete in itself, results that ask for input,
// subscriptions, caching hints. The requests of the server become members of such a result.
import type { Shapes } from "./shape.ts";

const gone = "";
const required = { _meta: "RequestMeta" };
const complete = { resultType: "'complete'" };
const cacheable = { resultType: "'complete'", ttlMs: "count", cacheScope: "'public'|'private'" };
const retry = { _meta: "RequestMeta", inputResponses: "InputResponses?", requestState: "string?" };

export const shapes: Shapes = {
  RequestMeta: {
    "io.modelcontextprotocol/protocolVersion": "string",
    "io.modelcontextprotocol/clientCapabilities": "ClientCapabilities",
    "io.modelcontextprotocol/clientInfo": "Implementation?",
    "io.modelcontextprotocol/logLevel": "LoggingLevel?",
  },
  NotificationMeta: { "io.modelcontextprotocol/subscriptionId": "id?" },
  ResultMeta: { "io.modelcontextprotocol/serverInfo": "Implementation?" },
  RequestParams: required,
  PaginatedParams: required,
  EmptyResult: complete,

  InitializeParams: gone,
  InitializeResult: gone,
  InitializedParams: gone,
  PingParams: gone,
  PingResult: gone,
  SetLevelParams: gone,
  SetLevelResult: gone,
  ResourceParams: gone,
  SubscribeParams: gone,
  SubscribeResult: gone,
  UnsubscribeParams: gone,
  UnsubscribeResult: gone,
  RootsListChangedParams: gone,
  ElicitationCompleteParams: gone,

  DiscoverParams: "RequestParams",
  DiscoverResult: {
    _meta: "ResultMeta?",
    supportedVersions: "string[]",
    capabilities: "ServerCapabilities",
    instructions: "string?",
    ...cacheable,
  },
  ClientCapabilities: { tasks: gone, extensions: "map<object>?" },
  RootsCapability: { listChanged: gone },
  ServerCapabilities: { tasks: gone, extensions: "map<object>?" },
  CancelledParams: { requestId: "id" },

  InputSchema: { $schema: "string?", type: "'object'" },
  OutputSchema: { $schema: "string?" },
  Tool: { inputSchema: "InputSchema", outputSchema: "OutputSchema?", execution: gone },
  ObjectSchema: gone,
  ToolExecution: gone,
  ListToolsResult: cacheable,
  CallToolParams: { ...retry, task: gone },
  CallToolComplete: { ...complete, structuredContent: "any?" },
  CallToolResult: "CallToolComplete|InputRequiredResult",

  ListResourcesResult: cacheable,
  ListResourceTemplatesResult: cacheable,
  ReadResourceParams: retry,
  ReadResourceComplete: cacheable,
  ReadResourceResult: "ReadResourceComplete|InputRequiredResult",

  ListPromptsResult: cacheable,
  GetPromptParams: retry,
  GetPromptComplete: complete,
  GetPromptResult: "GetPromptComplete|InputRequiredResult",

  CompleteParams: required,
  Completion: { values: "string[100]" },
  CompleteResult: complete,

  SubscriptionFilter: {
    toolsListChanged: "boolean?",
    promptsListChanged: "boolean?",
    resourcesListChanged: "boolean?",
    resourceSubscriptions: "string[]?",
  },
  SubscriptionsListenParams: { _meta: "RequestMeta", notifications: "SubscriptionFilter" },
  SubscriptionsAcknowledgedParams: { _meta: "NotificationMeta?", notifications: "SubscriptionFilter" },
  ListenResultMeta: {
    "io.modelcontextprotocol/serverInfo": "Implementation?",
    "io.modelcontextprotocol/subscriptionId": "id",
  },
  SubscriptionsListenResult: { _meta: "ListenResultMeta", ...complete },

  InputRequiredResult: {
    _meta: "ResultMeta?",
    resultType: "'input_required'",
    inputRequests: "map<InputRequest>?",
    requestState: "string?",
  },
  InputRequest: "ElicitRequest|CreateMessageRequest|ListRootsRequest",
  ElicitRequest: { method: "'elicitation/create'", params: "ElicitParams" },
  CreateMessageRequest: { method: "'sampling/createMessage'", params: "CreateMessageParams" },
  ListRootsRequest: { method: "'roots/list'", params: "ListRootsParams?" },
  InputResponses: "map<InputResponse>",
  InputResponse: "ElicitResult|CreateMessageResult|ListRootsResult",
  CreateMessageParams: { _meta: gone, task: gone },
  ListRootsParams: { _meta: "object?" },
  ListRootsResult: { _meta: gone },
  ElicitFormParams: { _meta: gone, task: gone },
  ElicitURLParams: { _meta: gone, task: gone, elicitationId: gone },
  ElicitResult: { _meta: gone },
  ToolResultContent: { structuredContent: "any?" },
  TaskMetadata: gone,
};
