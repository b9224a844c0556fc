// The servers that hosts have in their files, found by host and name: for TARGETs such as `claude-desktop:weather` and `mcp.json:weather`.
import { Failure } from "../failure.ts";
import type { CommandSpec, UrlSpec } from "../target/spec.ts";

/** Names of hosts, as in `--host` and `host:name`. */
export const hostNames: readonly string[] = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "windsurf",
  "gemini",
  "codex",
  "zed",
  "goose",
  "opencode",
  "copilot",
];

/** The server of that name in the host's files: the project's before the user's. Throws a Failure that names those there are. */
export async function findEntry(host: string, name: string): Promise<CommandSpec | UrlSpec> {
  throw new Failure("usage", `${host} has no server "${name}"`, { code: "no_entry" });
}

/** The server of that name in a file of any host's form. Throws a Failure that names those there are. */
export async function readEntry(path: string, name: string): Promise<CommandSpec | UrlSpec> {
  throw new Failure("usage", `${path} has no server "${name}"`, { code: "no_entry" });
}
