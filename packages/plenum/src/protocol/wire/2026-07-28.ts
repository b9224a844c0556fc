// What revision 2026-07-28 changes: no handshake, every request complete in itself, results that ask for input,
// subscriptions, caching hints. The requests of the server become members of such a result.

export const shapes: string = `
InitializeParams,InitializeResult,InitializedParams,PingParams,PingResult,SetLevelParams,SetLevelResult -
SubscribeParams,SubscribeResult,UnsubscribeParams,UnsubscribeResult,RootsListChangedParams -
ElicitationCompleteParams,ObjectSchema,execution,task -

RequestMeta io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientCapabilities:ClientCapabilities
RequestMeta io.modelcontextprotocol/clientInfo?Implementation io.modelcontextprotocol/logLevel?level
NotificationMeta io.modelcontextprotocol/subscriptionId?id
ResultMeta io.modelcontextprotocol/serverInfo?Implementation
RequestParams _meta:RequestMeta
EmptyResult resultType:'complete
CacheableResult ttlMs:count cacheScope:'public|'private
Retried inputResponses?InputResponse{} requestState?

DiscoverParams |RequestParams
DiscoverResult &CacheableResult supportedVersions:string[] capabilities:ServerCapabilities instructions?
Capabilities -tasks extensions?{}{}
roots -listChanged
CancelledParams requestId:id

OutputSchema $schema?
InputSchema &OutputSchema type:'object
Tool inputSchema:InputSchema outputSchema?OutputSchema -execution
CallToolParams,ReadResourceParams,GetPromptParams -task &Retried
CallToolResult,ToolResultContent structuredContent?any
CallToolResult,ReadResourceResult,GetPromptResult |InputRequiredResult
completion values:string[100]

notifications toolsListChanged?boolean promptsListChanged?boolean resourcesListChanged?boolean
notifications resourceSubscriptions?string[]
SubscriptionsListenParams &RequestParams notifications
SubscriptionsAcknowledgedParams &NotificationParams notifications
ListenResultMeta &ResultMeta io.modelcontextprotocol/subscriptionId:id
SubscriptionsListenResult &EmptyResult _meta:ListenResultMeta

InputRequiredResult &EmptyResult resultType:'input_required inputRequests?InputRequest{} requestState?
InputRequest |ElicitRequest|CreateMessageRequest|ListRootsRequest
ElicitRequest method:'elicitation/create params:ElicitParams
CreateMessageRequest method:'sampling/createMessage params:CreateMessageParams
ListRootsRequest method:'roots/list params?ListRootsParams
InputResponse |CreateMessageResult|ListRootsResult|ElicitResult
CreateMessageParams,ElicitFormParams,ElicitURLParams,ListRootsResult,ElicitResult -_meta -task -elicitationId
ListRootsParams _meta?
`;
