// One run of the command line: finds the command, parses its words, runs it, and says what went wrong.
import { nearestTo } from "plenum/util/nearest";
import type { Command, OptionSpecs } from "./command.ts";
import { commands } from "./commands.ts";
import { endProcess } from "./ending.ts";
import { exitCodes, Failure } from "./failure.ts";
import { createOutput, type Output } from "./output.ts";
import { parseWords } from "./parse.ts";
import { onBrokenStdout, printNote, streamsWritten } from "./streams.ts";

/** Ends the process with the exit code when all is written: what a file that was loaded left running would keep it alive. */
export async function runCli(words: readonly string[]): Promise<void> {
  // Before parsing, which may be what fails.
  const has = (name: string): boolean => words.slice(0, endOf(words)).includes(name);
  const output = createOutput({
    isJson: has("--json"),
    isQuiet: has("--quiet") || has("-q"),
    color: has("--no-color") ? false : has("--color") || undefined,
  });
  // For what draws by itself, such as prompts.
  if (has("--no-color")) process.env.NO_COLOR = "1";
  const interrupt = watchSignals();
  // A reader that has gone away, such as `head`, is no error.
  onBrokenStdout((error) => {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") endProcess();
    printNote(`error: stdout cannot be written to: ${String(error)}\n`);
    endProcess(exitCodes.usage);
  });
  // Of code that a file brings, and of ours: nobody waits for it any more, and a stack is for --debug.
  const onUncaught = async (error: unknown): Promise<void> => {
    let exitCode: number = exitCodes.usage;
    try {
      const { showFailure } = await import("./show-failure.ts");
      exitCode = showFailure(error, output, has("--debug"));
    } catch {
      // Nothing that is thrown here may come here again.
    }
    endProcess(exitCode);
  };
  process.on("uncaughtException", onUncaught);
  try {
    process.exitCode = (await dispatch(words, output, interrupt.signal)) ?? exitCodes.ok;
  } catch (error) {
    output.status(undefined);
    const { showFailure } = await import("./show-failure.ts");
    process.exitCode = interrupt.exitCode ?? showFailure(error, output, has("--debug"));
  } finally {
    interrupt.stop();
  }
  await streamsWritten();
  endProcess();
}

function endOf(words: readonly string[]): number {
  const end = words.indexOf("--");
  return end < 0 ? words.length : end;
}

async function dispatch(words: readonly string[], output: Output, signal: AbortSignal): Promise<number | undefined> {
  const [name = "--help", ...rest] = words;
  if (name === "--help" || name === "-h" || name === "help") {
    const { formatOverview, formatHelp } = await import("./help.ts");
    const [wanted] = name === "help" ? rest : [];
    output.raw(wanted ? formatHelp(await loadCommand(wanted), output.paint) : formatOverview(output.paint));
    return words.length === 0 ? exitCodes.usage : undefined;
  }
  const command = await loadCommand(name);
  const parsed = parseWords(command, rest);
  if (parsed.every.help) {
    const { formatHelp } = await import("./help.ts");
    output.raw(formatHelp(command, output.paint));
    return undefined;
  }
  const { options, arguments: named, many, rest: after } = parsed;
  return command.run({ options, arguments: named, many, rest: after, output, signal });
}

async function loadCommand(name: string): Promise<Command<OptionSpecs>> {
  const row = commands.find((one) => one.name === name);
  if (row) return (await row.load()).command;
  const near = nearestTo(
    name,
    commands.map((one) => one.name),
  );
  throw new Failure(
    "usage",
    name.startsWith("-") ? `There is no option ${name} here` : `There is no command "${name}"`,
    {
      code: "unknown_command",
      hint: near ? `Did you mean "plenum ${near}"?` : "plenum --help lists the commands.",
    },
  );
}

/** The first Ctrl-C asks the command to end; the second does not ask. */
function watchSignals(): { readonly signal: AbortSignal; readonly exitCode: number | undefined; stop(): void } {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const onSignal = (name: keyof typeof signalCodes): void => {
    const isFirst = exitCode === undefined;
    exitCode = signalCodes[name];
    if (!isFirst) endProcess(exitCode);
    controller.abort(new Failure("interrupted", "Interrupted"));
  };
  const names = Object.keys(signalCodes) as readonly (keyof typeof signalCodes)[];
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    stop() {
      for (const name of names) process.off(name, onSignal);
    },
  };
}

const signalCodes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;
