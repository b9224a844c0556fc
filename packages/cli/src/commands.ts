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
  row(
    "Write",
    "install",
    "Put a server into Claude Desktop, Cursor, VS Code and other hosts",
    () => import("./commands/install.ts"),
  ),
  row("Write", "uninstall", "Take a server out of a host", () => import("./commands/uninstall.ts")),
  row("Write", "hosts", "Show the hosts on this machine and their servers", () => import("./commands/hosts.ts")),
  row("Write", "secret", "Keep secrets in the keychain of the system", () => import("./commands/secret.ts")),
  row("Shell", "version", "Show the version and the revisions of MCP it speaks", () => import("./commands/version.ts")),
];
