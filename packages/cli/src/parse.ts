// From words to an invocation, by a command's record. The words are split by util.parseArgs; what is wrong with them is said
// here, with the name that was probably meant.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestTo } from "plenum/util/nearest";
import type { Command, OptionSpec, OptionSpecs, OptionValues } from "./command.ts";
import { Failure } from "./failure.ts";

/** What every command understands. */
export const everyOption = {
  json: { kind: "flag", summary: "Print JSON envelopes on stdout, one a line" },
  quiet: { kind: "flag", short: "q", summary: "Say nothing but results, warnings and errors" },
  debug: { kind: "flag", summary: "Show the stack of an error" },
  color: { kind: "flag", summary: "Use colours even where stdout is no terminal" },
  "no-color": { kind: "flag", summary: "Use no colours; so does the variable NO_COLOR" },
  help: { kind: "flag", short: "h", summary: "Show this help" },
} as const satisfies OptionSpecs;

export interface Parsed {
  readonly options: OptionValues<OptionSpecs>;
  readonly every: OptionValues<typeof everyOption>;
  readonly arguments: { readonly [name: string]: string | undefined };
  readonly many: readonly string[];
  readonly rest: readonly string[] | undefined;
}

/** Throws a Failure `usage` for words that the command does not understand. */
export function parseWords(command: Command<OptionSpecs>, words: readonly string[]): Parsed {
  const specs: OptionSpecs = { ...everyOption, ...command.options };
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const { tokens } = parseArgs({ args: [...own], options: toConfig(specs), strict: false, tokens: true });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  let isHelp = false;
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    isHelp ||= token.name === "help";
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (!spec) throw toUnknown(command, token.rawName, Object.keys(specs));
    given.set(token.name, [...(given.get(token.name) ?? []), toValue(command, token.rawName, spec, token.value)]);
  }
  const values = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, toWorth(command, name, spec, given.get(name))]),
  ) as OptionValues<OptionSpecs>;
  const every = values as unknown as OptionValues<typeof everyOption>;
  const rest = end < 0 ? undefined : words.slice(end + 1);
  // Who asks for help need not know what else to give.
  if (isHelp) return { options: values, every, arguments: {}, many: [], rest };
  return { options: values, every, rest, ...toArguments(command, positionals, rest) };
}

function toConfig(specs: OptionSpecs): NonNullable<ParseArgsConfig["options"]> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { kind, short }]) => [
      name,
      { type: kind === "flag" ? "boolean" : "string", ...(short && { short }) },
    ]),
  );
}

function toUnknown({ name }: Command, given: string, known: readonly string[]): Failure {
  const near = nearestTo(given.replace(/^-+/, ""), known);
  return new Failure("usage", `${name} has no option ${given}`, {
    code: "unknown_option",
    hint: near ? `Did you mean --${near}?` : `plenum ${name} --help lists its options.`,
  });
}

function toValue({ name }: Command, given: string, spec: OptionSpec, value: string | undefined): string {
  const { kind, choices, aliases, value: form = "VALUE" } = spec;
  const hint = `plenum ${name} --help explains it.`;
  if (kind === "flag") {
    if (value !== undefined) throw new Failure("usage", `${given} takes no value`, { code: "invalid_option", hint });
    return "";
  }
  if (value === undefined) {
    throw new Failure("usage", `${given} needs a value: ${given} ${form}`, { code: "invalid_option", hint });
  }
  if (aliases && Object.hasOwn(aliases, value)) return aliases[value] as string;
  return choices ? toChoice(given, value, choices) : value;
}

function toChoice(given: string, value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  const near = nearestTo(value, choices);
  throw new Failure("usage", `${given} cannot be "${value}"`, {
    code: given.startsWith("-") ? "invalid_option" : "invalid_argument",
    hint: near ? `Did you mean "${near}"? It can be ${choices.join(", ")}.` : `It can be ${choices.join(", ")}.`,
  });
}

function toWorth({ name }: Command, option: string, { kind }: OptionSpec, values: readonly string[] = []): unknown {
  if (kind === "flag") return values.length > 0;
  if (kind === "list") return values;
  if (values.length > 1) {
    throw new Failure("usage", `--${option} is given ${values.length} times`, {
      code: "invalid_option",
      hint: "Give it once.",
    });
  }
  const [value] = values;
  if (kind === "text" || value === undefined) return value;
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) {
    throw new Failure("usage", `--${option} must be a number, not "${value}"`, {
      code: "invalid_option",
      hint: `plenum ${name} --help explains it.`,
    });
  }
  return number;
}

function toArguments(
  command: Command,
  positionals: readonly string[],
  rest: readonly string[] | undefined,
): Pick<Parsed, "arguments" | "many"> {
  const specs = command.arguments.filter(({ name }) => !(name === "TARGET" && rest));
  const named: Record<string, string> = {};
  let at = 0;
  for (const { name, isOptional, isMany, choices } of specs) {
    if (isMany) return { arguments: named, many: positionals.slice(at) };
    const value = positionals[at++];
    if (value !== undefined) named[name] = choices ? toChoice(name, value, choices) : value;
    else if (!isOptional) throw toMissing(command, name);
  }
  if (positionals.length > at) {
    throw new Failure("usage", `${command.name} does not know what to do with "${positionals[at]}"`, {
      code: "too_many_arguments",
      hint:
        named.TARGET !== undefined && !rest
          ? `${toUsed(command)} A command that starts a server stands after --.`
          : toUsed(command),
    });
  }
  return { arguments: named, many: [] };
}

const toUsed = (command: Command): string => `It is used as: ${formatUsage(command)}.`;

function toMissing(command: Command, missing: string): Failure {
  const remedy =
    missing === "TARGET"
      ? "A TARGET is a URL, a file, an entry of a config file, host:name, or a command after --. "
      : "";
  return new Failure("usage", `${command.name} needs ${missing}`, {
    code: "missing_argument",
    hint: `${remedy}${toUsed(command)}`,
  });
}

/** `plenum call TARGET TOOL [KEY=VALUE…] [options]` */
export function formatUsage({ name, arguments: specs, options }: Command): string {
  const words = specs.map((spec) => {
    const word = spec.isMany ? `${spec.name}…` : spec.name;
    return spec.isOptional || spec.isMany ? `[${word}]` : word;
  });
  return ["plenum", name, ...words, ...(Object.keys(options).length > 0 ? ["[options]"] : [])].join(" ");
}
