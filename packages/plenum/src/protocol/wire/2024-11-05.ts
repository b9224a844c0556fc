// The shapes of revision 2024-11-05: the base that the later revisions change. The language is told in shape.ts.
// In this order: envelope, opening, housekeeping, content, tools, resources, prompts, completion, logging, sampling,
// roots.

export const shapes: string = `
uri |URI
_meta,schema |{}
RequestMeta progressToken?id
NotificationMeta,ResultMeta,sampling
RequestParams _meta?RequestMeta
PaginatedParams &RequestParams cursor?
NotificationParams _meta?NotificationMeta
EmptyResult _meta?ResultMeta
CacheableResult &EmptyResult
PaginatedResult &CacheableResult nextCursor?
BaseMetadata name
Listed &BaseMetadata description?

Implementation &BaseMetadata version
Capabilities experimental?{}{}
ClientCapabilities &Capabilities roots? sampling?
roots,prompts,tools,resources listChanged?boolean
resources subscribe?boolean
ServerCapabilities &Capabilities logging?{} prompts? resources? tools?
InitializeParams &RequestParams protocolVersion capabilities:ClientCapabilities clientInfo:Implementation
InitializeResult &EmptyResult protocolVersion capabilities:ServerCapabilities serverInfo:Implementation instructions?

PingParams |RequestParams
PingResult,SubscribeResult,UnsubscribeResult,SetLevelResult |EmptyResult
InitializedParams,ToolListChangedParams,ResourceListChangedParams,PromptListChangedParams,RootsListChangedParams |NotificationParams
CancelledParams &NotificationParams requestId:id reason?
ProgressParams &NotificationParams progressToken:id progress:number total?number

role |'user|'assistant
annotations audience?role[] priority?unit
Annotated annotations?
TextContent type:'text text &Annotated
Media data:base64 mimeType &Annotated
ImageContent type:'image &Media
EmbeddedResource type:'resource resource &Annotated
ContentBlock |TextContent|ImageContent|EmbeddedResource

ObjectSchema $schema? type:'object properties?schema{} required?string[]
Tool &Listed inputSchema:ObjectSchema
ListToolsParams,ListResourcesParams,ListResourceTemplatesParams,ListPromptsParams |PaginatedParams
ListToolsResult &PaginatedResult tools:Tool[]
CallToolParams &RequestParams name arguments?{}
CallToolResult &EmptyResult content:ContentBlock[] isError?boolean

Resource uri &Listed mimeType? size?integer annotations?
ResourceTemplate uriTemplate:template &Listed mimeType? annotations?
Contents uri mimeType?
TextResourceContents &Contents text
BlobResourceContents &Contents blob:base64
resource |TextResourceContents|BlobResourceContents
ListResourcesResult &PaginatedResult resources:Resource[]
ListResourceTemplatesResult &PaginatedResult resourceTemplates:ResourceTemplate[]
ReadResourceParams,SubscribeParams,UnsubscribeParams &RequestParams uri
ReadResourceResult &CacheableResult contents:resource[]
ResourceUpdatedParams &NotificationParams uri

Prompt &Listed arguments?PromptArgument[]
PromptArgument &BaseMetadata description? required?boolean
PromptMessage role content:ContentBlock
ListPromptsResult &PaginatedResult prompts:Prompt[]
GetPromptParams &RequestParams name arguments?string{}
GetPromptResult &EmptyResult description? messages:PromptMessage[]

PromptReference type:'ref/prompt &BaseMetadata
ResourceTemplateReference type:'ref/resource uri:template
ref |PromptReference|ResourceTemplateReference
argument name value
completion values:string[] total?integer hasMore?boolean
CompleteParams &RequestParams ref argument
CompleteResult &EmptyResult completion

level |'debug|'info|'notice|'warning|'error|'critical|'alert|'emergency
SetLevelParams &RequestParams level
LoggingMessageParams &NotificationParams level logger? data:any

ModelHint name?
modelPreferences hints?ModelHint[] costPriority?unit speedPriority?unit intelligencePriority?unit
SamplingBlock |TextContent|ImageContent
SamplingContent |SamplingBlock
SamplingMessage role content:SamplingContent
CreateMessageParams &RequestParams messages:SamplingMessage[] maxTokens:integer systemPrompt? temperature?number
CreateMessageParams modelPreferences? includeContext?'none|'thisServer|'allServers
CreateMessageParams stopSequences?string[] metadata?{}
CreateMessageResult _meta? role content:SamplingContent model stopReason?

Root uri name?
ListRootsParams &RequestParams
ListRootsResult _meta? roots:Root[]
`;
