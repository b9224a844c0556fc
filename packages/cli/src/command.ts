// What a command of the command line is: a record, from which parsing, help, docs/cli.md and shell completion are derived.
// The table of all commands is commands.ts; each has a file of its own under commands/.
import type { Output } from "./output.ts";

/** `flag` is there or not; `text` and `number` are given once, `list` any number of times. */
export interface OptionSpec {
  readonly kind: "flag" | "text" | "number" | "list";
  /** One letter: `-t`. */
  readonly short?: string;
  /** What stands for the value in help: `NAME`, `KEY=VALUE`. Not for flags. */
  readonly value?: string;
  /** One line, without a full stop at the end. */
  readonly summary: string;
  readonly choices?: readonly string[];
  /** Other words for choices, which are taken but not proposed. */
  readonly aliases?: { readonly [alias: string]: string };
  /** Shown in help; the command itself applies it. */
  readonly fallback?: string;
}

export type OptionSpecs = { readonly [name: string]: OptionSpec };

/** What the options are worth in one invocation: a flag is always there, the others where they were given. */
export type OptionValues<O extends OptionSpecs> = {
  readonly [K in keyof O]: O[K]["kind"] extends "flag"
    ? boolean
    : O[K]["kind"] extends "list"
      ? readonly string[]
      : (O[K]["kind"] extends "number" ? number : string) | undefined;
};

export interface ArgumentSpec {
  /** In capitals: `TOOL`. `TARGET` has a meaning: where a command follows `--`, it is not given. */
  readonly name: string;
  readonly summary: string;
  /** Default false. */
  readonly isOptional?: boolean;
  /** Takes all that is left; only the last may. Default false. */
  readonly isMany?: boolean;
  /** All that it can be. */
  readonly choices?: readonly string[];
}

export interface Example {
  /** As typed, without a prompt: `plenum list server.ts`. */
  readonly command: string;
  readonly summary: string;
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  /** One line for the list of commands, without a full stop at the end. */
  readonly summary: string;
  /** What it does, in paragraphs of plain text; wrapped by help. */
  readonly description: readonly string[];
  readonly arguments: readonly ArgumentSpec[];
  /** Beyond those of every command: see parse.ts. */
  readonly options: O;
  /** One at least. */
  readonly examples: readonly Example[];
  /** Gives the exit code; undefined is 0. Throws a Failure for what a person should be told. */
  run(invocation: Invocation<O>): Promise<number | undefined>;
}

/** A command as it was typed. */
export interface Invocation<O extends OptionSpecs = OptionSpecs> {
  readonly options: OptionValues<O>;
  /** By their place in `Command.arguments`; TARGET is left out where `rest` stands for it. */
  readonly arguments: { readonly [name: string]: string | undefined };
  /** What the argument with `isMany` took. */
  readonly many: readonly string[];
  /** What stands after `--`; undefined without it. */
  readonly rest: readonly string[] | undefined;
  readonly output: Output;
  /** Aborts at Ctrl-C, and at SIGTERM. */
  readonly signal: AbortSignal;
}

/** The command as it is: for the types of its options. */
export function defineCommand<const O extends OptionSpecs>(command: Command<O>): Command<O> {
  return command;
}
