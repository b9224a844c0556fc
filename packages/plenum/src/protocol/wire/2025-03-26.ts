// What revision 2025-03-26 changes: audio, hints on tools, messages with progress, the completions capability.

export const shapes: string = `
AudioContent type:'audio data:base64 mimeType &Content
ContentBlock |AudioContent
ToolAnnotations title? readOnlyHint?boolean destructiveHint?boolean idempotentHint?boolean openWorldHint?boolean
Tool annotations?ToolAnnotations
ProgressParams message?
ServerCapabilities completions?{}
`;
