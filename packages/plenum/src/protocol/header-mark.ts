// The keyword that marks an argument which travels in an HTTP header, too. Apart from what reads the marks: most tools have none.
import type { Tool } from "./model.ts";

export const headerMark = "x-mcp-header";

/** Whether there may be a mark in the tool's schema: if not, nobody need walk it. */
export function hasHeaderMark({ inputSchema }: Tool): boolean {
  return JSON.stringify(inputSchema).includes(headerMark);
}
