// What a tool's annotations say of it, with what the protocol has them mean where they are silent.
import type { Tool } from "../protocol/model.ts";

/** The server's word. Nothing may depend on it unless the server is trusted. */
export interface ToolHints {
  /** It changes nothing. Default false. */
  readonly readOnly: boolean;
  /** It may destroy, not only add. Default true; never of what is read-only. */
  readonly destructive: boolean;
  /** Calling it again with the same arguments changes nothing more. Default false; always of what is read-only. */
  readonly idempotent: boolean;
  /** It deals with a world beyond its server. Default true. */
  readonly openWorld: boolean;
}

export function hintsOf(tool: Pick<Tool, "annotations"> | undefined): ToolHints {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool?.annotations ?? {};
  const readOnly = readOnlyHint === true;
  return {
    readOnly,
    destructive: !readOnly && destructiveHint !== false,
    idempotent: readOnly || idempotentHint === true,
    openWorld: openWorldHint !== false,
  };
}
