// Writes docs/cli.md from the records of the commands and the text in cli-page.md; `--check` only says whether it is current.
import { readFileSync, writeFileSync } from "node:fs";
import type { Command, OptionSpecs } from "../packages/cli/src/command.ts";
import { commands } from "../packages/cli/src/commands.ts";
import {
  exitMeanings,
  formatOption,
  formatOptionSummary,
  formatUsageLines,
  groupCommands,
  targetForms,
} from "../packages/cli/src/help.ts";
import { everyOption } from "../packages/cli/src/parse.ts";
import { revisionNames, sessionOptions } from "../packages/cli/src/session.ts";

const file = new URL("../docs/cli.md", import.meta.url);
const template = readFileSync(new URL("cli-page.md", import.meta.url), "utf8");

/** What the groups are about. */
const groupTitles: { readonly [name: string]: string } = {
  Serve: "Serving and installing",
  Call: "Calling a server",
  Check: "Checking and measuring",
  Write: "Writing servers and clients",
  Shell: "The program itself",
};

const code = (text: string): string => `\`${text}\``;
/** A stroke ends a cell, even within code; an angle bracket outside of it begins a tag. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

function optionTable(options: OptionSpecs): string {
  return table(
    ["option", ""],
    Object.entries(options).map(([name, spec]) => [
      code(formatOption(name, spec).replaceAll("|", "\\|")),
      cell(formatOptionSummary(spec)),
    ]),
  );
}

/** Options that all commands of a kind share are told once: a command's table has its own. */
function optionsOf({ options }: Command<OptionSpecs>): string {
  const isShared = (name: string): boolean => options[name] === (sessionOptions as OptionSpecs)[name];
  const own = Object.fromEntries(Object.entries(options).filter(([name]) => !isShared(name)));
  const hasShared = Object.keys(sessionOptions).every((name) => name in options && isShared(name));
  const rest = hasShared ? own : options;
  return [
    Object.keys(rest).length > 0 && optionTable(rest),
    hasShared && "It takes the [options of commands that connect](#options-of-commands-that-connect).",
  ]
    .filter(Boolean)
    .join("\n\n");
}

function commandSection(command: Command<OptionSpecs>): string {
  const { name, summary, description, arguments: args, examples } = command;
  const argumentTable = table(
    ["argument", ""],
    args.map((one) => [code(one.name), cell(one.summary)]),
  );
  const parts = [
    `### plenum ${name}`,
    `${summary}.`,
    `\`\`\`\n${formatUsageLines(command).join("\n")}\n\`\`\``,
    ...description.map(cell),
    args.length > 0 && argumentTable,
    optionsOf(command),
    `\`\`\`sh\n${examples.map((one) => `# ${one.summary}\n${one.command}`).join("\n\n")}\n\`\`\``,
  ];
  return parts.filter(Boolean).join("\n\n");
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");
const link = (title: string): string => `[${title}](#${anchorOf(title)})`;

/** The sections of the template, then the groups with their commands. */
function formatContents(): string {
  const sections = [...template.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => link(title));
  const groups = [...groupCommands()].map(([group, rows]) => {
    const names = rows.map(({ name }) => `[${code(name)}](#plenum-${name})`);
    return `- ${link(groupTitles[group] ?? group)}: ${names.join(", ")}`;
  });
  return [`- ${sections.join(", ")}`, ...groups].join("\n");
}

async function formatCommands(): Promise<string> {
  const loaded = new Map<string, Command<OptionSpecs>>();
  for (const one of commands) loaded.set(one.name, (await one.load()).command);
  const groups = [...groupCommands()].map(([group, rows]) => {
    const sections = rows.flatMap(({ name }) => loaded.get(name) ?? []).map(commandSection);
    return [`## ${groupTitles[group] ?? group}`, ...sections].join("\n\n");
  });
  return groups.join("\n\n");
}

const parts: { readonly [name: string]: string } = {
  revisions: revisionNames.toReversed().join(", "),
  contents: formatContents(),
  targets: table(
    ["TARGET", ""],
    targetForms.map(([form, meaning]) => [form.split(", ").map(code).join(", "), cell(meaning)]),
  ),
  exits: table(
    ["exit code", ""],
    exitMeanings.map(([exit, meaning]) => [String(exit), cell(meaning)]),
  ),
  every: optionTable(everyOption),
  session: optionTable(sessionOptions),
  commands: await formatCommands(),
};

const page = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
  const part = parts[name];
  if (part === undefined) throw new Error(`cli-page.md: there is no part {{${name}}}`);
  return part;
});

if (process.argv.includes("--check")) {
  const current = readFileSync(file, "utf8") === page;
  if (!current) console.error("docs/cli.md is not what the commands say: run `npm run docs`");
  process.exitCode = current ? 0 : 1;
} else {
  writeFileSync(file, page);
  console.log("docs/cli.md written");
}
