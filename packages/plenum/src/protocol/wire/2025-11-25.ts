// What revision 2025-11-25 changes: icons, what clients say of sampling and elicitation, core tasks.
// Of the tasks only the members on other shapes are here, the capability unread; tasks/* have no shapes.

export const shapes: string = `
Icon src:uri mimeType? sizes?string[] theme?'light|'dark
icons |Icon[]
Listed icons?
Info description? icons? websiteUrl?uri
Tool execution?
CancelledParams requestId?id
sampling context?{} tools?{}
elicitation form?{} url?{}
ElicitationCompleteParams &NotificationParams elicitationId
task ttl?integer
CallToolParams task?
execution taskSupport?'forbidden|'optional|'required
Capabilities tasks?{}
`;
