// The client's side of stdio: starts a server as a child process, speaks with it over its standard streams, and ends it
// with all that it started: end of input, then SIGTERM, then SIGKILL.
// Specification: basic/transports/stdio; basic/lifecycle § Shutdown up to 2025-11-25.
import { createHash } from "node:crypto";
import { resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";
import type { Channel, Target } from "../../jsonrpc/channel.ts";
import { quote } from "../../util/quote.ts";
import { createStreamChannel } from "./channel.ts";
import { type ChildLife, createChildLife } from "./child.ts";
import { formatCommand } from "./command.ts";
import { type Environment, toEnvironment } from "./environment.ts";
import { startChild } from "./start.ts";
import type { StderrMode } from "./stderr.ts";

export { parseCommand } from "./command.ts";
export { type Resolved, type ResolveOptions, resolveCommand } from "./resolve.ts";

export interface StdioTargetOptions {
  /** The program: a name that is looked for in PATH, or a path. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Beyond HOME, LOGNAME, PATH, SHELL, TERM and USER (or what Windows needs) the server gets only what is given here.
   * An `undefined` leaves one of those out.
   */
  readonly env?: Environment;
  /** The folder that it runs in. Default: ours. */
  readonly cwd?: string | URL;
  /** What becomes of its stderr. Default `capture`. */
  readonly stderr?: StderrMode;
  /** Bytes that one message of the server may have. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Bytes that may wait for a server that does not read; what is sent beyond them ends the connection. Default 256 MiB. */
  readonly maxQueuedBytes?: number;
  /** How long it may take to exit once its input has ended; then comes SIGTERM. Default 2000. */
  readonly closeMs?: number;
  /** How long it may take to exit after SIGTERM; then comes SIGKILL. Default 2000. */
  readonly killMs?: number;
}

/** A channel to a child process. */
export interface StdioChannel extends Channel {
  /** Settles, and never rejects, when the server and all that it started are gone. */
  readonly ended: Promise<void>;
  readonly pid: number;
}

export interface StdioTarget extends Target {
  open(): Promise<StdioChannel>;
}

/**
 * A server to be started by a command. Every `open` starts one process, and rejects with McpError `connection_lost` when
 * there is none to be had.
 *
 * The channel's `close` ends the server in the background: its input ends, after `closeMs` everyone in its process tree
 * gets SIGTERM, and after `killMs` more SIGKILL. The same happens to what is left when the server exits by itself or
 * closes one of its streams. While that goes on our own process stays alive; when it exits before, the tree is killed.
 * Two things are out of reach: when our process is killed by SIGKILL, the server only sees the end of its input; and what
 * a server put into a session of its own cannot be found after the server was killed by somebody else.
 *
 * Throws a TypeError for options that cannot be meant.
 */
export function stdioTarget(options: StdioTargetOptions): StdioTarget {
  const { command, stderr = "capture", closeMs = 2000, killMs = 2000, maxBytes, maxQueuedBytes } = options;
  assertOptions(options);
  const args = [...(options.args ?? [])];
  const env = { ...options.env };
  // A mistake in env is told here and not at the first connection.
  toEnvironment(env);
  const cwd = options.cwd === undefined ? undefined : toPath(options.cwd);
  const name = formatCommand(command, args);
  return {
    name,
    key: toKey(command, args, cwd, env),
    restarts: true,
    async open() {
      let life: ChildLife | undefined;
      const isStderrIgnored = stderr === "ignore";
      const child = await startChild({ command, args, env: toEnvironment(env), cwd, isStderrIgnored }, (started) => {
        life = createChildLife(started, { name, stderr, closeMs, killMs });
      });
      const { close, endCause, ended } = life as ChildLife;
      const channel = createStreamChannel({
        input: child.stdout,
        output: child.stdin,
        onClose: close,
        endCause,
        ...(maxBytes !== undefined && { maxBytes }),
        ...(maxQueuedBytes !== undefined && { maxQueuedBytes }),
      });
      return Object.assign(channel, { ended, pid: child.pid as number });
    },
  };
}

// Checked by the compiler: one that is missing here, or too many, does not compile.
const optionNames: { readonly [K in keyof Required<StdioTargetOptions>]: true } = {
  command: true,
  args: true,
  env: true,
  cwd: true,
  stderr: true,
  maxBytes: true,
  maxQueuedBytes: true,
  closeMs: true,
  killMs: true,
};
const known: ReadonlySet<string> = new Set(Object.keys(optionNames));

function assertOptions(options: StdioTargetOptions): void {
  const { command, args = [], closeMs = 0, killMs = 0, maxBytes = 1, maxQueuedBytes = 1 } = options;
  if (typeof command !== "string" || command === "")
    throw new TypeError("command must be the name or path of a program");
  if (!Array.isArray(args)) throw new TypeError("args must be a list of strings");
  const stray = Object.keys(options).find((name) => !known.has(name));
  if (stray !== undefined)
    throw new TypeError(`there is no option ${quote(stray)}; there are ${[...known].join(", ")}`);
  for (const word of [command, ...args]) {
    if (typeof word !== "string") throw new TypeError(`args must be strings, not ${typeof word}`);
    if (word.includes("\0")) throw new TypeError("command and args must not hold a NUL character");
  }
  for (const [option, ms] of Object.entries({ closeMs, killMs })) {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new TypeError(`${option} must be 0 or more milliseconds, not ${ms}`);
  }
  for (const [option, bytes] of Object.entries({ maxBytes, maxQueuedBytes })) {
    if (!(bytes > 0)) throw new TypeError(`${option} must be more than 0, not ${bytes}`);
  }
}

function toPath(cwd: string | URL): string {
  return resolvePath(typeof cwd === "string" ? cwd : fileURLToPath(cwd));
}

/** A digest of it all: arguments hold secrets as often as variables do. */
function toKey(command: string, args: readonly string[], cwd: string | undefined, env: Environment): string {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [command, args, cwd ?? process.cwd(), variables.map(([name, value]) => [name, value ?? null])];
  return `stdio:${createHash("sha256").update(JSON.stringify(parts)).digest("base64url")}`;
}
