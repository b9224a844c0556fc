// What revision 2025-06-18 changes: titles, `_meta` on most things, structured output, resource links, elicitation.

export const shapes: string = `
Named title?
Listed,Content,Contents,Root _meta?
Tool outputSchema?ObjectSchema
CallToolResult structuredContent?{}
annotations lastModified?
ResourceLink type:'resource_link &Resource
ContentBlock |ResourceLink
context arguments?string{}
CompleteParams context?
elicitation
ClientCapabilities elicitation?
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
`;
