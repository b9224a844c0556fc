// What could come next on a command line that is being typed: commands, options, their values, and by asking the server that
// is named already: its tools, prompts, resources, and their arguments.
import type { ArgumentSpec, Command, OptionSpec, OptionSpecs } from "../command.ts";
import { commands } from "../commands.ts";
import { hostNames } from "../hosts/entry.ts";
import { everyOption } from "../parse.ts";
import type { Candidate } from "./candidate.ts";
import { type NameKind, type ServerNames, toArgumentCandidates } from "./server-names.ts";

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Names of files fit too: all, those that can be a TARGET, or folders alone. */
  readonly files?: "all" | "targets" | "folders" | undefined;
}

/** What is asked elsewhere, because it takes time. Neither ever rejects. */
export interface Sources {
  /** Of the server that TARGET names. */
  askServer(kind: NameKind, target: string, headers: readonly string[]): Promise<ServerNames>;
  /** Names of the servers in the files of a host. */
  listEntries(host: string): Promise<readonly string[]>;
}

const nothing: Completion = { candidates: [] };

/** @param words what follows `plenum`, unquoted; the last is being typed, and may be empty */
export async function complete(words: readonly string[], sources: Sources): Promise<Completion> {
  const current = words.at(-1) ?? "";
  const [name, ...given] = words.slice(0, -1);
  const { candidates, files } = await propose(name, given, current, sources);
  return { candidates: candidates.filter(({ value }) => isFitting(value, current)), files };
}

/** What a server made up must not break the line that it is put on. */
function isFitting(value: string, current: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are not let through
  return value.startsWith(current) && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(value);
}

async function propose(
  name: string | undefined,
  given: readonly string[],
  current: string,
  sources: Sources,
): Promise<Completion> {
  if (name === undefined) return { candidates: [...listCommands(), ...besides] };
  if (name === "help") return given.length === 0 ? { candidates: listCommands() } : nothing;
  const row = commands.find((one) => one.name === name);
  if (!row) return nothing;
  // After -- it is somebody else's command.
  if (given.includes("--")) return { candidates: [], files: "all" };
  const { command } = await row.load();
  const specs: OptionSpecs = { ...everyOption, ...command.options };
  const walked = walk(specs, given);
  if (walked.pending) return toValues(walked.pending, "");
  const joined = /^--([^=]+)=/.exec(current);
  const spec = joined && specs[joined[1] as string];
  if (spec) return toValues(spec, joined[0]);
  if (current.startsWith("-")) return { candidates: listOptions(specs, walked.seen) };
  return proposeArgument(command, walked, current, sources);
}

const besides: readonly Candidate[] = [
  { value: "help", description: "All about one command" },
  { value: "--help", description: "Show the list of commands" },
  { value: "--version", description: "Show the version" },
];

function listCommands(): Candidate[] {
  return commands.map(({ name, summary }) => ({ value: name, description: summary }));
}

interface Walked {
  readonly positionals: readonly string[];
  readonly seen: ReadonlySet<string>;
  readonly headers: readonly string[];
  /** The option whose value comes next. */
  readonly pending: OptionSpec | undefined;
}

function walk(specs: OptionSpecs, given: readonly string[]): Walked {
  const positionals: string[] = [];
  const headers: string[] = [];
  const seen = new Set<string>();
  let pending: [name: string, spec: OptionSpec] | undefined;
  const take = (name: string, value: string): void => {
    if (name === "header") headers.push(value);
  };
  for (const word of given) {
    if (pending) {
      take(pending[0], word);
      pending = undefined;
      continue;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      continue;
    }
    const [, long, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const name = long ?? Object.keys(specs).find((one) => specs[one]?.short === word[1]);
    const spec = name === undefined ? undefined : specs[name];
    if (!spec || name === undefined) continue;
    seen.add(name);
    if (spec.kind === "flag") continue;
    const attached = long === undefined ? word.slice(2) || undefined : value;
    if (attached === undefined) pending = [name, spec];
    else take(name, attached);
  }
  return { positionals, headers, seen, pending: pending?.[1] };
}

function listOptions(specs: OptionSpecs, seen: ReadonlySet<string>): Candidate[] {
  return Object.entries(specs)
    .filter(([name, { kind }]) => kind === "list" || !seen.has(name))
    .map(([name, { summary }]) => ({ value: `--${name}`, description: summary }));
}

/** @param lead what stands before the value in the same word: `--revision=` */
function toValues({ choices, value = "" }: OptionSpec, lead: string): Completion {
  if (choices) return { candidates: choices.map((one) => ({ value: lead + one })) };
  // Shells complete files of whole words only.
  return lead === "" ? { candidates: [], files: filesOf(value) } : nothing;
}

function filesOf(form: string): Completion["files"] {
  if (/DIR|FOLDER/.test(form)) return "folders";
  return /FILE|PATH/.test(form) ? "all" : undefined;
}

async function proposeArgument(
  command: Command<OptionSpecs>,
  { positionals, headers }: Walked,
  current: string,
  sources: Sources,
): Promise<Completion> {
  const specs = command.arguments;
  const last = specs.at(-1);
  const spec = specs[positionals.length] ?? (last?.isMany ? last : undefined);
  if (!spec) return nothing;
  const named = (name: string): string | undefined => positionals[specs.findIndex((one) => one.name === name)];
  const target = named("TARGET");
  if (spec.name === "TARGET" || spec.name === "URL") return proposeTarget(current, sources);
  if (spec.choices) return { candidates: spec.choices.map((value) => ({ value })) };
  const kind = kindOf(spec, specs);
  if (target === undefined || kind === undefined) return { candidates: [], files: filesOf(spec.name) };
  // One that looks like an option could not be meant by its name.
  const names = (await sources.askServer(kind, target, headers)).filter(({ name }) => !name.startsWith("-"));
  if (spec.name !== pairs) return { candidates: names.map(({ name, description }) => ({ value: name, description })) };
  const chosen = ownersOf[kind].map(named).find((one) => one !== undefined);
  const owner = names.find(({ name }) => name === chosen);
  return { candidates: owner ? toArgumentCandidates(owner, positionals.slice(specs.indexOf(spec)), current) : [] };
}

const pairs = "KEY=VALUE";

/** The arguments of commands that name one of a kind. */
const ownersOf: { readonly [K in NameKind]: readonly string[] } = {
  tools: ["TOOL"],
  prompts: ["PROMPT", "NAME"],
  resources: ["URI"],
};

/** Of which kind an argument is a name, or has the arguments. */
function kindOf({ name }: ArgumentSpec, specs: readonly ArgumentSpec[]): NameKind | undefined {
  const names = name === pairs ? specs.map((one) => one.name) : [name];
  return (Object.keys(ownersOf) as NameKind[]).find((kind) => ownersOf[kind].some((one) => names.includes(one)));
}

async function proposeTarget(current: string, { listEntries }: Sources): Promise<Completion> {
  const host = hostNames.find((name) => current.startsWith(`${name}:`));
  if (host) return { candidates: (await listEntries(host)).map((name) => ({ value: `${host}:${name}` })) };
  const hosts = hostNames.map((name) => ({
    value: `${name}:`,
    description: `A server of the host ${name}`,
    isOpen: true,
  }));
  return { candidates: current === "" ? [] : hosts, files: "targets" };
}
