// A connection to a TARGET, for the commands that are clients: options that they share, and opening and closing.
import type { Client, ClientOptions, Revision, Target } from "plenum";
import type { Invocation, OptionSpecs, OptionValues } from "./command.ts";
import { Failure } from "./failure.ts";
import { version } from "./identity.ts";
import { toHarmless } from "./output.ts";
import { findTarget } from "./target/find.ts";
import type { TargetSpec } from "./target/spec.ts";

/** The revisions, newest first: a list of its own, because help is shown without loading the library. A test compares them. */
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
    summary: "How long to wait without an answer or progress",
    fallback: "60",
  },
  stderr: { kind: "flag", summary: "Show what a server that is started writes to stderr" },
  trace: { kind: "flag", summary: "Show every message on stderr, without secrets" },
  yes: { kind: "flag", short: "y", summary: "Agree to what the server asks, with the values that it proposes" },
  answer: { kind: "list", value: "KEY=VALUE", summary: "The answer to a question of the server's" },
} as const satisfies OptionSpecs;

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

/** What opening a session needs: a target, and the `connect` of the library that it belongs to. */
export interface Opened {
  readonly target: Target;
  readonly connect: typeof import("plenum").connect;
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
  try {
    const opened = await openTarget(spec, invocation);
    try {
      const client = await opened.connect(opened.target, { ...(await toClientOptions(invocation, spec)), ...more });
      isConnected();
      try {
        return await run({ client, spec });
      } finally {
        await client.close();
      }
    } finally {
      await opened.close();
    }
  } finally {
    isConnected();
  }
}

/** The target as the library takes it, with trace and authorization. */
export async function openTarget(
  spec: TargetSpec,
  { options, output }: Pick<SessionInvocation, "output"> & { readonly options: TargetOpening },
): Promise<Opened> {
  const { target, connect, close } = await toTarget(spec, options, output);
  if (!options.trace) return { target, connect, close };
  const [{ tapTarget }, { createTrace }] = await Promise.all([import("plenum/tap"), import("./trace.ts")]);
  return { target: tapTarget(target, createTrace(output)), connect, close };
}

const nothing = async (): Promise<void> => {};

async function toTarget(
  spec: TargetSpec,
  { stderr: showsStderr }: TargetOpening,
  output: SessionInvocation["output"],
): Promise<Opened> {
  if (spec.kind === "file") {
    const [{ loadServer }, { divertStdout }] = await Promise.all([
      import("./load/server.ts"),
      import("./load/stdout.ts"),
    ]);
    const release = divertStdout();
    const { server, library } = await loadServer(spec);
    const { memoryTarget } = await library.import<typeof import("plenum/memory")>("plenum/memory");
    const close = async (): Promise<void> => {
      await server.close?.();
      release();
    };
    return { target: memoryTarget(server), connect: library.connect, close };
  }
  const { connect } = await import("plenum");
  if (spec.kind === "command") {
    const { command, args, env, cwd } = spec;
    const { stdioTarget } = await import("plenum/stdio/client");
    const stderr = showsStderr ? (text: string) => output.note(toHarmless(text.trimEnd())) : "capture";
    return {
      connect,
      close: nothing,
      target: stdioTarget({ command, args, env, stderr, ...(cwd !== undefined && { cwd }) }),
    };
  }
  const [{ httpTarget }, { createSessionAuth }] = await Promise.all([
    import("plenum/http/client"),
    import("./auth/session-auth.ts"),
  ]);
  const { url, headers } = spec;
  const auth = await createSessionAuth(spec, output);
  return { connect, close: nothing, target: httpTarget({ url, headers, ...(auth && { auth }) }) };
}

/** What the options say to `connect`: who we are, the revision, times, and how what the server asks is answered. */
export async function toClientOptions(
  { options, output, signal }: Pick<SessionInvocation, "options" | "output" | "signal">,
  spec: TargetSpec,
): Promise<ClientOptions> {
  const { createAnswers } = await import("./ask/answers.ts");
  const { revision, timeout } = options;
  if (timeout !== undefined && timeout <= 0)
    throw new Failure("usage", "--timeout must be a number of seconds above 0");
  return {
    info: { name: "plenum-cli", version },
    signal,
    ...(revision !== undefined && { revision: revision as Revision }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1000, connectTimeoutMs: timeout * 1000 }),
    // A user may have to log in first.
    ...(timeout === undefined && spec.kind === "url" && { connectTimeoutMs: 360_000 }),
    onWarning: (problem) => output.warn(problem),
    ...createAnswers({ isYes: options.yes, given: options.answer, output }),
  };
}
