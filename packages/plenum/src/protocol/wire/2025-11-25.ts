// What revision 2025-11-25 changes: icons, tools in sampling, elicitation by URL, richer choices, core tasks.
// Of the tasks only the members on other shapes are here, the capability unread; tasks/* have no shapes.

export const shapes: string = `
Icon src:uri mimeType? sizes?string[] theme?'light|'dark
icons |Icon[]
Listed icons?
Info description? icons? websiteUrl?uri
Tool execution?
CancelledParams requestId?id
ToolUseContent type:'tool_use id name input:{} _meta?
ToolResultContent type:'tool_result toolUseId content:ContentBlock[] structuredContent?{} isError?boolean _meta?
toolChoice mode?'auto|'required|'none
sampling context?{} tools?{}
SamplingBlock |ToolUseContent|ToolResultContent
SamplingContent |SamplingBlock[]
SamplingMessage _meta?
CreateMessageParams tools?Tool[] toolChoice? task?
elicitation form?{} url?{}
StringSchema,Enum default?
NumberSchema default?number
TitledChoice const title
TitledItems anyOf:TitledChoice[]
UntitledItems type:'string enum:string[]
TitledEnum type:'string title? description? oneOf:TitledChoice[] default?
MultiEnum type:'array title? description? minItems?integer maxItems?integer items:TitledItems|UntitledItems default?string[]
Primitive |TitledEnum|MultiEnum
requestedSchema $schema?
ElicitFormParams mode?'form task?
ElicitURLParams &RequestParams mode:'url message url:uri elicitationId task?
ElicitParams |ElicitURLParams
ElicitValue |string[]
ElicitationCompleteParams &NotificationParams elicitationId
task ttl?integer
CallToolParams task?
execution taskSupport?'forbidden|'optional|'required
Capabilities tasks?{}
`;
