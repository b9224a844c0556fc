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
  row("Serve", "run", "Serve the server that a file exports", () => import("./commands/run.ts")),
  row(
    "Serve",
    "dev",
    "Serve the server of a file, and reload it when the file changes",
    () => import("./commands/dev.ts"),
  ),
  row(
    "Serve",
    "install",
    "Put a server into Claude Desktop, Cursor, VS Code and other hosts",
    () => import("./commands/install.ts"),
  ),
  row("Serve", "uninstall", "Take a server out of a host", () => import("./commands/uninstall.ts")),
  row("Serve", "hosts", "Show the hosts on this machine and their servers", () => import("./commands/hosts.ts")),
  row("Serve", "secret", "Keep secrets in the keychain of the system", () => import("./commands/secret.ts")),
  row("Call", "list", "List the tools, resources and prompts of a server", () => import("./commands/list.ts")),
  row("Call", "call", "Call a tool", () => import("./commands/call.ts")),
  row("Call", "read", "Read a resource", () => import("./commands/read.ts")),
  row("Call", "prompt", "Get a prompt, with its arguments filled in", () => import("./commands/prompt.ts")),
  row(
    "Call",
    "complete",
    "Ask for values of an argument of a prompt or a resource template",
    () => import("./commands/complete.ts"),
  ),
  row("Call", "ping", "See whether a server answers, and how fast", () => import("./commands/ping.ts")),
  row("Call", "logs", "Show what a server logs", () => import("./commands/logs.ts")),
  row("Call", "subscribe", "Watch resources and lists of a server change", () => import("./commands/subscribe.ts")),
  row("Call", "login", "Log in at a server that wants to know who you are", () => import("./commands/login.ts")),
  row("Call", "logout", "Forget the login at a server", () => import("./commands/logout.ts")),
  row(
    "Check",
    "doctor",
    "Look for faults of a server, and say what to do about them",
    () => import("./commands/doctor.ts"),
  ),
  row("Check", "bench", "Measure throughput and latency of a call", () => import("./commands/bench.ts")),
  row(
    "Check",
    "lock",
    "Write down all that a server shows, to see later what changed",
    () => import("./commands/lock.ts"),
  ),
  row("Check", "diff", "Compare two servers, or a server with its lock file", () => import("./commands/diff.ts")),
  row("Check", "record", "Record a conversation between a host and a server", () => import("./commands/record.ts")),
  row("Check", "replay", "Play a recorded conversation as a server or a client", () => import("./commands/replay.ts")),
  row("Write", "new", "Begin a server in TypeScript, with a test", () => import("./commands/new.ts")),
  row("Write", "types", "Write TypeScript types and a typed client for a server", () => import("./commands/typing.ts")),
  row(
    "Shell",
    "completion",
    "Print a script that completes commands in your shell",
    () => import("./commands/completion.ts"),
  ),
  row("Shell", "version", "Show the version and the revisions of MCP it speaks", () => import("./commands/version.ts")),
];
