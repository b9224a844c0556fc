// The hosts, one row each: where their files are, how they are written, what their entries look like. All that differs between hosts.
import { type EntryForm, forms } from "./form.ts";
import { applicationHome, configHome, folderOf, type Place, pathOf } from "./place.ts";

/** How a host writes a variable within a value: see variables.ts. */
export type VariableForm = "braces" | "default" | "dollar" | "env" | "input" | "folders" | "curly";

export type FormatName = "json" | "toml" | "yaml";

export interface Host {
  readonly id: string;
  readonly title: string;
  readonly format: FormatName;
  /** The key that the servers are under. */
  readonly rootKey: string;
  /** Where the user's file may be: the first that is there counts, else the first whose folder is there. */
  userFiles(place: Place): readonly string[];
  /** Of a project, from its folder; likewise. */
  readonly projectFiles: readonly string[];
  /** Also a sign that the host is on this machine, beside the folder of its file. */
  signs?(place: Place): readonly string[];
  /** Where else its user's file has servers for this folder: read, never written. */
  moreRoots?(place: Place): readonly (readonly string[])[];
  readonly variables: readonly VariableForm[];
  readonly form: EntryForm;
}

const at = (place: Place, ...parts: string[]): string => pathOf(place).join(...parts);
const inHome =
  (...parts: string[]) =>
  (place: Place): string[] => [at(place, place.home, ...parts)];

export const hosts: readonly Host[] = [
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    rootKey: "mcpServers",
    userFiles: (place) => [at(place, applicationHome(place), "Claude", "claude_desktop_config.json")],
    projectFiles: [],
    variables: [],
    form: forms.local,
  },
  {
    id: "claude-code",
    title: "Claude Code",
    format: "json",
    rootKey: "mcpServers",
    userFiles: inHome(".claude.json"),
    projectFiles: [".mcp.json"],
    // Its file is in the home itself, which is there anyway.
    signs: inHome(".claude"),
    moreRoots: ({ cwd }) => [["projects", cwd, "mcpServers"]],
    variables: ["braces", "default"],
    form: forms.typed,
  },
  {
    id: "cursor",
    title: "Cursor",
    format: "json",
    rootKey: "mcpServers",
    userFiles: inHome(".cursor", "mcp.json"),
    projectFiles: [".cursor/mcp.json"],
    variables: ["env", "folders"],
    form: forms.plain,
  },
  {
    id: "vscode",
    title: "VS Code",
    format: "json",
    rootKey: "servers",
    userFiles: (place) => [at(place, applicationHome(place), "Code", "User", "mcp.json")],
    projectFiles: [".vscode/mcp.json"],
    variables: ["env", "input", "folders"],
    form: forms.typed,
  },
  {
    id: "windsurf",
    title: "Windsurf",
    format: "json",
    rootKey: "mcpServers",
    userFiles: inHome(".codeium", "windsurf", "mcp_config.json"),
    projectFiles: [],
    variables: ["env"],
    form: forms.windsurf,
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    format: "json",
    rootKey: "mcpServers",
    userFiles: inHome(".gemini", "settings.json"),
    projectFiles: [".gemini/settings.json"],
    variables: ["braces", "default", "dollar"],
    form: forms.gemini,
  },
  {
    id: "codex",
    title: "Codex",
    format: "toml",
    rootKey: "mcp_servers",
    userFiles: (place) => [at(place, folderOf(place, "CODEX_HOME") ?? at(place, place.home, ".codex"), "config.toml")],
    projectFiles: [".codex/config.toml"],
    variables: [],
    form: forms.codex,
  },
  {
    id: "zed",
    title: "Zed",
    format: "json",
    rootKey: "context_servers",
    userFiles(place) {
      if (place.platform === "win32") return [at(place, applicationHome(place), "Zed", "settings.json")];
      if (place.platform !== "darwin") return [at(place, configHome(place), "zed", "settings.json")];
      // Both are told of. Zed reads the first; the folder of the second is there for its data.
      return [
        at(place, place.home, ".config", "zed", "settings.json"),
        at(place, applicationHome(place), "Zed", "settings.json"),
      ];
    },
    projectFiles: [".zed/settings.json"],
    variables: [],
    form: forms.plain,
  },
  {
    id: "goose",
    title: "Goose",
    format: "yaml",
    rootKey: "extensions",
    userFiles: (place) =>
      place.platform === "win32"
        ? [at(place, applicationHome(place), "Block", "goose", "config", "config.yaml")]
        : [at(place, configHome(place), "goose", "config.yaml")],
    projectFiles: [],
    variables: ["braces", "dollar"],
    form: forms.goose,
  },
  {
    id: "opencode",
    title: "OpenCode",
    format: "json",
    rootKey: "mcp",
    userFiles: (place) =>
      ["opencode.json", "opencode.jsonc"].map((name) => at(place, configHome(place), "opencode", name)),
    projectFiles: ["opencode.json", "opencode.jsonc"],
    variables: ["curly"],
    form: forms.opencode,
  },
  {
    id: "copilot",
    title: "Copilot CLI",
    format: "json",
    rootKey: "mcpServers",
    userFiles: (place) => [
      at(place, folderOf(place, "COPILOT_HOME") ?? at(place, place.home, ".copilot"), "mcp-config.json"),
    ],
    projectFiles: [".mcp.json"],
    variables: ["braces", "default", "dollar"],
    form: forms.copilot,
  },
];
