// The table of commands: what the list of them says, and where each is. Only the one that is run is loaded.
import type { Command, OptionSpecs } from "./command.ts";

export interface CommandRow {
  readonly name: string;
  /** As in the command itself; a test compares them. */
  readonly summary: string;
  readonly group: "Serve" | "Call" | "Check" | "Write" | "Shell";
  load(): Promise<{ readonly command: Command<OptionSpecs> }>;
}

const row = (group: CommandRow["group"], name: string, summary: string, load: CommandRow["load"]): CommandRow => ({
  group,
  name,
  summary,
  load,
});

/** In the order in which help lists them. */
export const commands: readonly CommandRow[] = [
  row("Call", "list", "List the tools, resources and prompts of a server", () => import("./commands/list.ts")),
  row("Call", "call", "Call a tool", () => import("./commands/call.ts")),
  row("Call", "login", "Log in at a server that wants to know who you are", () => import("./commands/login.ts")),
  row("Call", "logout", "Forget the login at a server", () => import("./commands/logout.ts")),
  row("Shell", "version", "Show the version and the revisions of MCP it speaks", () => import("./commands/version.ts")),
];
