// What revision 2025-03-26 changes: audio, hints on tools, messages with progress, the completions capability.
import type { Shapes } from "./shape.ts";

export const shapes: Shapes = {
  AudioContent: { type: "'audio'", data: "base64", mimeType: "string", annotations: "Annotations?" },
  ContentBlock: "TextContent|ImageContent|AudioContent|EmbeddedResource",
  SamplingMessageContentBlock: "TextContent|ImageContent|AudioContent",
  ToolAnnotations: {
    title: "string?",
    readOnlyHint: "boolean?",
    destructiveHint: "boolean?",
    idempotentHint: "boolean?",
    openWorldHint: "boolean?",
  },
  Tool: { annotations: "ToolAnnotations?" },
  ProgressParams: { message: "string?" },
  ServerCapabilities: { completions: "object?" },
};
