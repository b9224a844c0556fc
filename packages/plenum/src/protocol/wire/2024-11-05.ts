// The shapes of revision 2024-11-05: the base that the later revisions change. The language is told in shape.ts.
// In this order: envelope, opening, housekeeping, content, tools, resources, prompts, completion, logging. What a server
// asks of its client is in asking.ts, for all revisions.

export const shapes: string = `
uri |URI
_meta,schema |{}
RequestMeta progressToken?id
NotificationMeta,ResultMeta,sampling
RequestParams _meta?RequestMeta
PageParams &RequestParams cursor?
NotificationParams _meta?NotificationMeta
Result _meta?ResultMeta
Cached &Result
Page &Cached nextCursor?
Named name
Listed &Named description?
Info &Named version
Capabilities experimental?{}{}
ClientCapabilities &Capabilities roots? sampling?
roots,prompts,tools,resources listChanged?boolean
resources subscribe?boolean
ServerCapabilities &Capabilities logging?{} prompts? resources? tools?
InitializeParams &RequestParams protocolVersion capabilities:ClientCapabilities clientInfo:Info
InitializeResult &Result protocolVersion capabilities:ServerCapabilities serverInfo:Info instructions?
PingParams |RequestParams
PingResult,SubscribeResult,UnsubscribeResult,SetLevelResult |Result
InitializedParams,ToolListChangedParams,ResourceListChangedParams,PromptListChangedParams,RootsListChangedParams |NotificationParams
CancelledParams &NotificationParams requestId:id reason?
ProgressParams &NotificationParams progressToken:id progress:number total?number
role |'user|'assistant
annotations audience?role[] priority?unit
Content annotations?
TextContent type:'text text &Content
ImageContent type:'image data:base64 mimeType &Content
ResourceContent type:'resource resource &Content
ContentBlock |TextContent|ImageContent|ResourceContent
ObjectSchema $schema? type:'object properties?schema{} required?string[]
Tool &Listed inputSchema:ObjectSchema
ListToolsParams,ListResourcesParams,ListResourceTemplatesParams,ListPromptsParams |PageParams
ListToolsResult &Page tools:Tool[]
CallToolParams &RequestParams name arguments?{}
CallToolResult &Result content:ContentBlock[] isError?boolean
Resource uri &Listed mimeType? size?integer annotations?
ResourceTemplate uriTemplate:template &Listed mimeType? annotations?
Contents uri mimeType?
TextResourceContents &Contents text
BlobResourceContents &Contents blob:base64
resource |TextResourceContents|BlobResourceContents
ListResourcesResult &Page resources:Resource[]
ListResourceTemplatesResult &Page resourceTemplates:ResourceTemplate[]
ReadResourceParams,SubscribeParams,UnsubscribeParams &RequestParams uri
ReadResourceResult &Cached contents:resource[]
ResourceUpdatedParams &NotificationParams uri
Prompt &Listed arguments?PromptArgument[]
PromptArgument &Named description? required?boolean
PromptMessage role content:ContentBlock
ListPromptsResult &Page prompts:Prompt[]
GetPromptParams &RequestParams name arguments?string{}
GetPromptResult &Result description? messages:PromptMessage[]
PromptReference type:'ref/prompt &Named
ResourceTemplateReference type:'ref/resource uri:template
ref |PromptReference|ResourceTemplateReference
argument name value
completion values:string[] total?integer hasMore?boolean
CompleteParams &RequestParams ref argument
CompleteResult &Result completion
level |'debug|'info|'notice|'warning|'error|'critical|'alert|'emergency
SetLevelParams &RequestParams level
LoggingMessageParams &NotificationParams level logger? data:any
`;
