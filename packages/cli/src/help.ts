// Help, as text: the list of commands, and the page of each, in the order of a manual page.
import type { Command, Example, OptionSpec, OptionSpecs } from "./command.ts";
import { type CommandRow, commands } from "./commands.ts";
import type { Paint } from "./output.ts";
import { everyOption, formatUsage } from "./parse.ts";

const width = 80;
const indent = "  ";

/** What each exit code means, as every page says it. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [0, "all went well"],
  [1, "the command was not understood, or a file is not as it should be"],
  [2, "the server could not be reached"],
  [3, "the server wants a login, or a better one"],
  [4, "the server answered with an error, or not in the words of the protocol"],
  [5, "the tool ran and reported an error"],
  [6, "a check found problems"],
];

/** What can stand for TARGET. */
export const targetForms: readonly (readonly [form: string, meaning: string])[] = [
  ["https://example.com/mcp", "a server at a URL"],
  ["-- node server.js", "a command that starts a server on stdio, at the end, in place of TARGET"],
  ["server.ts, server.ts:name", "a file that exports a Plenum server"],
  ["mcp.json:name", "an entry of a config file"],
  ["claude-desktop:name", "a server that is configured in a host on this machine"],
];

/** The groups of commands, in the order of the list. */
export function groupCommands(): ReadonlyMap<CommandRow["group"], readonly CommandRow[]> {
  const groups = new Map<CommandRow["group"], CommandRow[]>();
  for (const row of commands) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return groups;
}

export function formatOverview(paint: Paint): string {
  const sections = [...groupCommands()].map(([group, rows]) =>
    section(paint, group, toColumns(rows.map(({ name, summary }) => [name, summary]))),
  );
  return [
    "plenum: run and install MCP servers, and call any of them.",
    section(paint, "Usage", `${indent}plenum COMMAND [arguments] [options]`),
    ...sections,
    section(paint, "A TARGET is", toColumns(targetForms)),
    section(
      paint,
      "Begin with",
      toColumns([
        ["plenum new my-server", "a server of your own, with a test"],
        ["plenum list server.ts", "what a server has"],
        ["plenum help call", "all about one command"],
      ]),
    ),
    "",
  ].join("\n\n");
}

export function formatHelp(command: Command<OptionSpecs>, paint: Paint): string {
  const { name, summary, description, options, examples } = command;
  const hasTarget = command.arguments.some((one) => one.name === "TARGET");
  const parts = [
    section(paint, "Name", wrap(`plenum ${name}: ${summary}`)),
    section(paint, "Usage", formatUsageLines(command).map(toBroken).join("\n")),
    section(paint, "Description", description.map(wrap).join("\n\n")),
    command.arguments.length > 0 &&
      section(paint, "Arguments", toColumns(command.arguments.map((one) => [one.name, one.summary]))),
    hasTarget && section(paint, "A TARGET is", toColumns(targetForms)),
    Object.keys(options).length > 0 && section(paint, "Options", formatOptions(options)),
    section(paint, "Options of every command", formatOptions(everyOption)),
    section(paint, "Examples", examples.map((one) => formatExample(paint, one)).join("\n\n")),
    section(paint, "Exit codes", toColumns(exitMeanings.map(([code, meaning]) => [String(code), meaning]))),
    "",
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function formatExample(paint: Paint, { command, summary }: Example): string {
  const notes = fold(summary, width - indent.length - 2).map((line) => indent + paint("dim", `# ${line}`));
  return [...notes, toBroken(command)].join("\n");
}

/** A command line, over several lines as a shell takes it where it is long: blanks within quotes stay as they are. */
function toBroken(command: string): string {
  if (indent.length + command.length <= width) return indent + command;
  const words = command.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? [];
  // The mark at the end takes two columns, the indent of what follows two more.
  return foldWords(words, width - indent.length - 4)
    .join(` \\\n${indent}${indent}`)
    .replace(/^/, indent);
}

/** How it is called: with a TARGET, and with a command in its place. */
export function formatUsageLines(command: Command<OptionSpecs>): string[] {
  const usage = formatUsage(command);
  const hasTarget = command.arguments.some((one) => one.name === "TARGET");
  return hasTarget ? [usage, `${usage.replace(" TARGET", "")} -- COMMAND [ARG…]`] : [usage];
}

export function formatOption(name: string, { kind, short, value }: OptionSpec): string {
  const long = kind === "flag" ? `--${name}` : `--${name} ${value ?? "VALUE"}`;
  return `${short ? `-${short}, ` : ""}${long}${kind === "list" ? "…" : ""}`;
}

/** The summary with what may be given, and what is taken otherwise. */
export function formatOptionSummary({ summary, choices, fallback }: OptionSpec): string {
  const more = [choices && `one of ${choices.join(", ")}`, fallback && `default: ${fallback}`].filter(Boolean);
  return more.length > 0 ? `${summary} (${more.join("; ")})` : summary;
}

function formatOptions(options: OptionSpecs): string {
  return toColumns(
    Object.entries(options).map(([name, spec]) => [formatOption(name, spec), formatOptionSummary(spec)]),
  );
}

function section(paint: Paint, title: string, text: string): string {
  return `${paint("bold", title)}\n${text}`;
}

function wrap(text: string): string {
  return fold(text, width - indent.length)
    .map((line) => indent + line)
    .join("\n");
}

/** Two columns; a first one that is long has a line to itself. */
function toColumns(rows: readonly (readonly [string, string])[]): string {
  const most = 26;
  const first = Math.min(most, Math.max(...rows.map(([left]) => left.length)));
  const hang = indent + " ".repeat(first + 2);
  return rows
    .map(([left, right]) => {
      const lines = fold(right, width - hang.length);
      if (left.length > first) return [indent + left, ...lines.map((line) => hang + line)].join("\n");
      const [head = "", ...tail] = lines;
      return [`${indent}${left.padEnd(first + 2)}${head}`, ...tail.map((line) => hang + line)].join("\n");
    })
    .join("\n");
}

function fold(text: string, room: number): string[] {
  return foldWords(text.split(" "), room);
}

function foldWords(words: readonly string[], room: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line];
}
