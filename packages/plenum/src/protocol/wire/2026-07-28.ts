// What revision 2026-07-28 changes: no handshake, every request complete in itself, results that ask for input,
// subscriptions, caching hints. What such a result asks, and what answers it, is looked into by asking.ts.

export const shapes: string = `
InitializeParams,InitializeResult,InitializedParams,PingParams,PingResult,SetLevelParams,SetLevelResult -
SubscribeParams,SubscribeResult,UnsubscribeParams,UnsubscribeResult,RootsListChangedParams -
ElicitationCompleteParams,ObjectSchema,execution,task -
RequestMeta io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientCapabilities:ClientCapabilities
RequestMeta io.modelcontextprotocol/clientInfo?Info io.modelcontextprotocol/logLevel?level
NotificationMeta io.modelcontextprotocol/subscriptionId?id
ResultMeta io.modelcontextprotocol/serverInfo?Info
RequestParams _meta:RequestMeta
Result resultType:'complete
Cached ttlMs:count cacheScope:'public|'private
DiscoverParams |RequestParams
DiscoverResult &Cached supportedVersions:string[] capabilities:ServerCapabilities instructions?
Capabilities -tasks extensions?{}{}
roots -listChanged
CancelledParams requestId:id
OutputSchema $schema?
InputSchema &OutputSchema type:'object
Tool inputSchema:InputSchema outputSchema?OutputSchema -execution
CallToolParams,ReadResourceParams,GetPromptParams -task inputResponses?{}{} requestState?
CallToolResult structuredContent?any
CallToolResult,ReadResourceResult,GetPromptResult |InputRequired
completion values:string[100]
notifications toolsListChanged?boolean promptsListChanged?boolean resourcesListChanged?boolean
notifications resourceSubscriptions?string[]
SubscriptionsListenParams &RequestParams notifications
SubscriptionsAcknowledgedParams &NotificationParams notifications
ListenResultMeta &ResultMeta io.modelcontextprotocol/subscriptionId:id
SubscriptionsListenResult &Result _meta:ListenResultMeta
InputRequired &Result resultType:'input_required inputRequests?{}{} requestState?
`;
