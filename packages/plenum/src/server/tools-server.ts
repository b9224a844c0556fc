// A server of tools alone, for places where every kilobyte counts: the same API without resources, prompts and
// completion, and without their code.
import { createCore, type ServerBase, type ServerOptions } from "./core.ts";
import { offerTools, type ToolMethods } from "./tool.ts";

export interface ToolsServer<L = undefined> extends ServerBase<L>, ToolMethods<L> {}

/** Makes a server that offers tools only. */
export function createServer<L = undefined>(options: ServerOptions<L>): ToolsServer<L> {
  const core = createCore(options);
  return { ...core.server, ...offerTools(core) };
}
