// The servers that hosts have in their files, found by host and name: for TARGETs such as `claude-desktop:weather` and `mcp.json:weather`.
// Every command that takes a TARGET loads this file, so that what reads files is loaded on demand.
import type { CommandSpec, UrlSpec } from "../target/spec.ts";

/** The hosts, as `--host` has them; each has a row in table.ts. */
export const hostIds: readonly string[] = [
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

/** What else they are called. */
export const hostAliases: { readonly [alias: string]: string } = {
  claude: "claude-desktop",
  code: "vscode",
  "vs-code": "vscode",
  "gemini-cli": "gemini",
  "codex-cli": "codex",
  "copilot-cli": "copilot",
};

/** Names of hosts, as in `--host` and `host:name`. */
export const hostNames: readonly string[] = [...hostIds, ...Object.keys(hostAliases)];

/** The id of a host by any of its names. */
export function toHostId(name: string): string {
  return Object.hasOwn(hostAliases, name) ? (hostAliases[name] as string) : name;
}

/** The server of that name in the host's files: the project's before the user's. Throws a Failure that names those there are. */
export async function findEntry(host: string, name: string): Promise<CommandSpec | UrlSpec> {
  const { findHostServer } = await import("./lookup.ts");
  return findHostServer(toHostId(host), name);
}

/** The server of that name in a file of any host's form. Throws a Failure that names those there are. */
export async function readEntry(path: string, name: string): Promise<CommandSpec | UrlSpec> {
  const { readFileServer } = await import("./lookup.ts");
  return readFileServer(path, name);
}
