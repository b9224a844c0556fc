// What revision 2025-06-18 changes: titles, `_meta` on most things, structured output, resource links, elicitation.

export const shapes: string = `
BaseMetadata title?
Listed,Annotated,Contents,Root _meta?
Tool outputSchema?ObjectSchema
CallToolResult structuredContent?{}

annotations lastModified?
ResourceLink type:'resource_link &Resource
ContentBlock |ResourceLink

context arguments?string{}
CompleteParams context?

elicitation
ClientCapabilities elicitation?
Field title? description?
StringSchema type:'string &Field minLength?integer maxLength?integer format?'email|'uri|'date|'date-time
NumberSchema type:'number|'integer &Field minimum?number maximum?number
BooleanSchema type:'boolean &Field default?boolean
EnumSchema type:'string &Field enum:string[] enumNames?string[]
PrimitiveSchema |StringSchema|EnumSchema|NumberSchema|BooleanSchema
requestedSchema type:'object properties:PrimitiveSchema{} required?string[]
ElicitFormParams &RequestParams message requestedSchema
ElicitParams |ElicitFormParams
ElicitValue |string|number|boolean
ElicitResult _meta? action:'accept|'decline|'cancel content?ElicitValue{}
`;
