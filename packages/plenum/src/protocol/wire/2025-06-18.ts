// What revision 2025-06-18 changes: titles, `_meta` on most things, structured output, resource links, elicitation as a capability.

export const shapes: string = `
Named title?
Listed,Content,Contents _meta?
Tool outputSchema?ObjectSchema
CallToolResult structuredContent?{}
annotations lastModified?
ResourceLink type:'resource_link &Resource
ContentBlock |ResourceLink
context arguments?string{}
CompleteParams context?
elicitation
ClientCapabilities elicitation?
`;
