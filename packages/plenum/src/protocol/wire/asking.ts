// The shapes of what a server asks of its client, and of the answers: sampling, roots, elicitation, what each revision
// changes. From 2026-07-28 on they are members of results and of the requests that follow. Apart from the other shapes,
// because few servers ask: loaded by the first who does.
import type { Revision } from "../revisions.ts";
import { addShapes } from "./wire.ts";

const asking: { readonly [R in Revision]: string } = {
  "2024-11-05": `
hint name?
modelPreferences hints?hint[] costPriority?unit speedPriority?unit intelligencePriority?unit
SamplingBlock |TextContent|ImageContent
SamplingContent |SamplingBlock
SamplingMessage role content:SamplingContent
CreateMessageParams &RequestParams messages:SamplingMessage[] maxTokens:integer systemPrompt? temperature?number
CreateMessageParams modelPreferences? includeContext?'none|'thisServer|'allServers stopSequences?string[] metadata?{}
CreateMessageResult _meta? role content:SamplingContent model stopReason?
Root uri name?
ListRootsParams &RequestParams
ListRootsResult _meta? roots:Root[]
`,
  "2025-03-26": `
SamplingBlock |AudioContent
`,
  "2025-06-18": `
Root _meta?
StringSchema type:'string title? description? minLength?integer maxLength?integer format?'email|'uri|'date|'date-time
NumberSchema type:'number|'integer title? description? minimum?number maximum?number
BooleanSchema type:'boolean title? description? default?boolean
Enum type:'string title? description? enum:string[] enumNames?string[]
Primitive |StringSchema|Enum|NumberSchema|BooleanSchema
requestedSchema type:'object properties:Primitive{} required?string[]
ElicitFormParams &RequestParams message requestedSchema
ElicitParams |ElicitFormParams
ElicitValue |string|number|boolean
ElicitResult _meta? action:'accept|'decline|'cancel content?ElicitValue{}
`,
  // Tools in sampling, elicitation by URL, richer choices.
  "2025-11-25": `
ToolUseContent type:'tool_use id name input:{} _meta?
ToolResultContent type:'tool_result toolUseId content:ContentBlock[] structuredContent?{} isError?boolean _meta?
toolChoice mode?'auto|'required|'none
SamplingBlock |ToolUseContent|ToolResultContent
SamplingContent |SamplingBlock[]
SamplingMessage _meta?
CreateMessageParams tools?Tool[] toolChoice? task?
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
`,
  "2026-07-28": `
ToolResultContent structuredContent?any
InputRequired inputRequests?InputRequest{}
InputRequest |Elicit|CreateMessage|ListRoots
Elicit method:'elicitation/create params:ElicitParams
CreateMessage method:'sampling/createMessage params:CreateMessageParams
ListRoots method:'roots/list params?ListRootsParams
CallToolParams,ReadResourceParams,GetPromptParams inputResponses?
inputResponses |InputResponse{}
InputResponse |CreateMessageResult|ListRootsResult|ElicitResult
CreateMessageParams,ElicitFormParams,ElicitURLParams,ListRootsResult,ElicitResult -_meta -task -elicitationId
ListRootsParams _meta?
`,
};

let isAdded = false;

/** To be called before anything is checked or fitted that asks, or that answers. From then on all wires know these shapes. */
export function addAsking(): void {
  if (!isAdded) addShapes(asking);
  isAdded = true;
}
