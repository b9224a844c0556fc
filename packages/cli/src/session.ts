// A connection to a TARGET, for the commands that are clients: options that they share, and opening and closing.
import { type Client, type ClientOptions, connect, type Revision, type Target } from "plenum";
import { memoryTarget } from "plenum/memory";
import { createAnswers } from "./ask/answers.ts";
import type { Invocation, OptionSpecs, OptionValues } from "./command.ts";
import { isOurEnd } from "./ending.ts";
import { exitCodes, Failure } from "./failure.ts";
import { version } from "./identity.ts";
import { loadServer } from "./load/server.ts";
import { formatJson, toHarmless } from "./output.ts";
import { divertStdout, printNote } from "./streams.ts";
import { findTarget } from "./target/find.ts";
import { secretsOf } from "./target/secrets.ts";
import type { FileSpec, TargetSpec } from "./target/spec.ts";

/** The revisions, newest first, as help shows them. A test compares them with those of the library. */
export const revisionNames = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** What every command that connects to a server understands. */
export const sessionOptions = {
  revision: {
    kind: "text",
    value: "DATE",
    choices: revisionNames,
    summary: "Speak this revision of MCP and no other",
    fallback: "the newest that both sides know",
  },
  header: { kind: "list", short: "H", value: "NAME:VALUE", summary: "A header for a server at a URL" },
  env: {
    kind: "list",
    short: "e",
    value: "KEY=VALUE",
    summary: "A variable for a server that is started; @env:, @file: and @keychain: are references",
  },
  cwd: { kind: "text", value: "DIR", summary: "The folder that a server is started in" },
  timeout: {
    kind: "number",
    value: "SECONDS",
    summary: "How long to wait without an answer or progress; progress starts it anew",
    fallback: "60",
  },
  "max-time": { kind: "number", value: "SECONDS", summary: "How long a request may take in all, progress or not" },
  stderr: { kind: "flag", summary: "Show what a server that is started writes to stderr" },
  trace: { kind: "flag", summary: "Show every message on stderr, without secrets" },
  yes: { kind: "flag", short: "y", summary: "Agree to what the server asks, with the values that it proposes" },
  answer: {
    kind: "list",
    value: "KEY=VALUE",
    summary: "The answer to a question of the server's, by the field's name",
  },
  decline: { kind: "flag", summary: "Say no to whatever the server asks" },
  cancel: { kind: "flag", summary: "Say neither yes nor no to whatever the server asks" },
  "sample-command": {
    kind: "text",
    value: "COMMAND",
    summary: "A program that answers for a model: it gets the request as JSON, and prints the answer",
  },
  root: { kind: "list", value: "DIR", summary: "A folder that the server is told it may look at" },
} as const satisfies OptionSpecs;

/** How what a server asks is answered: for the description of every command that may be asked something. */
export const askDescription: readonly string[] = [
  "A server may ask something before it answers: a form, a page to visit, the answer of a model. At a terminal you are asked, on stderr; Esc or Ctrl-C cancels the question, and another Ctrl-C ends the command. In a script, --answer KEY=VALUE fills in a field by its name: numbers, yes and no, choices by value or title, lists with commas or --answer given several times. What is not answered is as the server proposes. --yes agrees to all that it proposes, and prints the address of a page without opening it; --decline and --cancel refuse. A field that needs an answer and has none ends the command with exit code 1.",
  "The answer of a model is what you type, --answer sample=TEXT, or what --sample-command prints. Where nobody can answer, the server is told that it cannot ask.",
];

export type SessionOptions = OptionValues<typeof sessionOptions>;

/** What opening a target looks at. */
export type TargetOpening = Pick<SessionOptions, "stderr" | "trace">;

export type SessionInvocation = Pick<Invocation, "arguments" | "rest" | "output" | "signal"> & {
  readonly options: SessionOptions;
};

export interface Session {
  readonly client: Client;
  readonly spec: TargetSpec;
}

export interface Opened {
  readonly target: Target;
  /** Ends what was loaded for it, after the client. */
  close(): Promise<void>;
}

/**
 * Connects to the invocation's TARGET, runs, and closes, whatever happens.
 * @param more over what the options say
 */
export async function withSession<T>(
  invocation: SessionInvocation,
  run: (session: Session) => Promise<T>,
  more: ClientOptions = {},
): Promise<T> {
  const { options, output } = invocation;
  const spec = await findTarget(invocation.arguments.TARGET, invocation.rest, options);
  // What is quick need not be said.
  const waiting = setTimeout(() => output.status(`Connecting to ${spec.name} …`), 300);
  const isConnected = (): void => {
    clearTimeout(waiting);
    output.status(undefined);
  };
  const unanswered = createUnanswered();
  const warnings = createWarnings(output, spec);
  try {
    const opened = await openTarget(spec, invocation);
    try {
      const asked = await toClientOptions(invocation, spec, unanswered.onFailure);
      const { onWarning } = warnings;
      const client = await connect(opened.target, { ...asked, onWarning, ...more });
      isConnected();
      try {
        return await Promise.race([run({ client, spec }), unanswered.failed]);
      } finally {
        await client.close();
      }
    } finally {
      await opened.close();
    }
  } finally {
    isConnected();
    await warnings.shown();
  }
}

/** What makes a warning fit to be shown is loaded with the first: most runs have none. Nothing may be lost by an end meanwhile. */
function createWarnings(
  output: SessionInvocation["output"],
  spec: TargetSpec,
): { readonly onWarning: (problem: string) => void; shown(): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    onWarning(problem) {
      last = last.then(async () => {
        const { toShown } = await import("./trace.ts");
        output.warn(toShown(problem, spec));
      });
    },
    shown: () => last,
  };
}

/** A question of the server's that nothing answers ends the command, whatever it waits for. */
function createUnanswered(): { readonly failed: Promise<never>; readonly onFailure: (failure: Failure) => void } {
  let onFailure: (failure: Failure) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    onFailure = reject;
  });
  // It may fail when nobody waits any more.
  failed.catch(() => {});
  return { failed, onFailure: (failure) => onFailure(failure) };
}

/** The target as the library takes it, with trace and authorization. */
export async function openTarget(
  spec: TargetSpec,
  { options, output }: Pick<SessionInvocation, "output"> & { readonly options: TargetOpening },
): Promise<Opened> {
  const { target, close } = await toTarget(spec, options, output);
  if (!options.trace) return { target, close };
  const [{ tapTarget }, { createTrace }] = await Promise.all([import("plenum/tap"), import("./trace.ts")]);
  return { target: tapTarget(target, createTrace(output, secretsOf(spec))), close };
}

const nothing = async (): Promise<void> => {};

/** A file that serves itself ends the process with its stdin, and a handler may do so too: that must not look like success. */
function tellEarlyEnd({ name, path }: FileSpec, output: SessionInvocation["output"]): void {
  if (isOurEnd()) return;
  const exitCode = exitCodes.usage;
  process.exitCode = exitCode;
  const message = `${name} ended the process`;
  const hint = `If it serves itself when it is loaded, export the server instead (export default server), or call it as a command: -- node ${path}. A handler must not call process.exit.`;
  if (output.isJson) output.raw(`${formatJson({ ok: false, error: { code: "ended", exitCode, message, hint } })}\n`);
  printNote(`error: ${toHarmless(message)}\n${toHarmless(hint)}\n`);
}

/** The server that a file exports. From then on what others print does not go to stdout. */
async function openServer(spec: FileSpec, output: SessionInvocation["output"]): Promise<Opened> {
  divertStdout();
  process.once("exit", () => tellEarlyEnd(spec, output));
  const { server } = await loadServer(spec);
  return { target: memoryTarget(server), close: async () => server.close?.() };
}

async function toTarget(
  spec: TargetSpec,
  { stderr: showsStderr }: TargetOpening,
  output: SessionInvocation["output"],
): Promise<Opened> {
  if (spec.kind === "file") return openServer(spec, output);
  if (spec.kind === "command") {
    const { command, args, env, cwd } = spec;
    const { stdioTarget } = await import("plenum/stdio/client");
    const stderr = showsStderr ? (text: string) => output.note(toHarmless(text.trimEnd())) : "capture";
    return { target: stdioTarget({ command, args, env, stderr, ...(cwd !== undefined && { cwd }) }), close: nothing };
  }
  const [{ httpTarget }, { createSessionAuth }] = await Promise.all([
    import("plenum/http/client"),
    import("./auth/session-auth.ts"),
  ]);
  const { url, headers } = spec;
  const auth = await createSessionAuth(spec, output);
  return { target: httpTarget({ url, headers, ...(auth && { auth }) }), close: nothing };
}

/**
 * What the options say to `connect`: who we are, the revision, times, and how what the server asks is answered.
 * @param onFailure told of a question that nothing answers. Default: the server gets an error
 */
export async function toClientOptions(
  { options, output, signal }: Pick<SessionInvocation, "options" | "output" | "signal">,
  spec: TargetSpec,
  onFailure?: (failure: Failure) => void,
): Promise<ClientOptions> {
  const { revision, timeout, "max-time": maxTime, root: roots } = options;
  for (const [name, seconds] of Object.entries({ timeout, "max-time": maxTime })) {
    if (seconds !== undefined && seconds <= 0)
      throw new Failure("usage", `--${name} must be a number of seconds above 0`);
  }
  return {
    info: { name: "plenum-cli", version },
    signal,
    ...(revision !== undefined && { revision: revision as Revision }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1000, connectTimeoutMs: timeout * 1000 }),
    ...(maxTime !== undefined && { maxTimeoutMs: maxTime * 1000 }),
    // A user may have to log in first.
    ...(timeout === undefined && spec.kind === "url" && { connectTimeoutMs: 360_000 }),
    ...(roots.length > 0 && { roots: await toRoots(roots) }),
    ...createAnswers({
      isYes: options.yes,
      given: options.answer,
      refusal: toRefusal(options),
      sampleCommand: options["sample-command"],
      output,
      onFailure,
    }),
  };
}

function toRefusal({ decline, cancel }: SessionOptions): "decline" | "cancel" | undefined {
  if (decline && cancel)
    throw new Failure("usage", "--decline and --cancel are two answers", { hint: "Give one of them." });
  if (decline) return "decline";
  return cancel ? "cancel" : undefined;
}

async function toRoots(folders: readonly string[]): Promise<string[]> {
  const [{ resolve }, { pathToFileURL }] = await Promise.all([import("node:path"), import("node:url")]);
  return folders.map((folder) => pathToFileURL(resolve(folder)).href);
}
