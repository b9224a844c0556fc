// Starts the process of a server, and says in plain words why that did not work.
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import type { Readable, Writable } from "node:stream";
import { McpError } from "../../protocol/errors.ts";
import { quote, toLine } from "../../util/quote.ts";
import { readVariable } from "./environment.ts";
import { maskText } from "./mask.ts";
import { resolveCommand } from "./resolve.ts";

export interface StartOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** Absolute; undefined: our own. */
  readonly cwd: string | undefined;
  readonly isStderrIgnored: boolean;
}

export type ServerChild = ChildProcessByStdio<Writable, Readable, Readable | null>;

/**
 * Starts one process, without a shell, as the leader of its own group (not on Windows, where that would open a window).
 * `onStarted` is called in the same turn. Rejects with McpError `connection_lost`.
 */
export function startChild(options: StartOptions, onStarted: (child: ServerChild) => void): Promise<ServerChild> {
  const { command, args, env, cwd, isStderrIgnored } = options;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(toStartError(error, options));
    try {
      const { platform } = process;
      const where = { platform, env, inherited: process.env, cwd: cwd ?? process.cwd(), exists: isFile };
      const resolved = resolveCommand(command, args, where);
      if (!resolved) throw Object.assign(new Error(`spawn ${command} ENOENT`), { code: "ENOENT" });
      const child: ChildProcess = spawn(resolved.file, resolved.args, {
        env,
        ...(cwd !== undefined && { cwd }),
        stdio: ["pipe", "pipe", isStderrIgnored ? "ignore" : "pipe"],
        shell: false,
        detached: platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: resolved.verbatim,
      });
      child.on("error", fail);
      if (child.pid === undefined) return;
      onStarted(child as ServerChild);
      child.once("spawn", () => resolve(child as ServerChild));
    } catch (error) {
      fail(error);
    }
  });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function toStartError(error: unknown, options: StartOptions): unknown {
  // Wrong arguments are the caller's mistake and say so themselves.
  if (error instanceof TypeError) return error;
  const { code } = error as NodeJS.ErrnoException;
  // Who prints the cause would print all arguments with it.
  if (error instanceof Error) Reflect.deleteProperty(error, "spawnargs");
  return new McpError("connection_lost", explainStart(code, error, options), { cause: error });
}

function explainStart(code: string | undefined, error: unknown, { command, args, env, cwd }: StartOptions): string {
  const program = quote(/\s/.test(command) ? maskText(command) : command, 200);
  // Node gives the same code for a folder that is missing as for a program.
  if (cwd !== undefined && !isFolder(cwd)) {
    return `${program} could not be started: the folder cwd, ${quote(cwd, 200)}, does not exist or is no folder`;
  }
  const isPath = /[\\/]/.test(command);
  const path = resolvePath(cwd ?? process.cwd(), command);
  switch (code) {
    case "ENOENT": {
      if (isPath && isFile(path)) {
        const reader = readInterpreter(path);
        const which = reader ? `, ${quote(reader)}, ` : " ";
        return `${program} could not be started: the program that its first line names${which}was not found`;
      }
      const hint = args.length === 0 && /\s/.test(command) ? " Arguments are given apart, in args." : "";
      if (isPath) return `${program} was not found: there is no such program at ${quote(path, 300)}.${hint}`;
      const searched = readVariable(env, "PATH");
      const list = searched ? `PATH was ${quote(searched, 500)}` : "PATH was not set";
      return `${program} was not found: is it installed and on PATH? ${list}.${hint}`;
    }
    case "EACCES":
      if (isPath && isFolder(path)) return `${program} could not be started: it is a folder, and not a program`;
      return (
        `${program} may not be run: ${isPath && isRunnable(path) ? "the system forbids it" : "it is not marked as a program"}. ` +
        "Make it one (chmod +x), or start it with the program that reads it, such as node or python"
      );
    case "E2BIG":
      return `${program} could not be started: its arguments and environment are larger than the system allows`;
    case "EMFILE":
    case "ENFILE":
    case "EAGAIN":
    case "ENOMEM":
      return `${program} could not be started: the system has no more processes, files or memory to give (${code})`;
    default:
      return `${program} could not be started: ${toLine(error instanceof Error ? error.message : String(error), 300)}`;
  }
}

/** What stands after `#!`. */
function readInterpreter(path: string): string | undefined {
  try {
    return /^#!\s*(\S+)/.exec(readFileSync(path, { encoding: "latin1" }).slice(0, 200))?.[1];
  } catch {
    return undefined;
  }
}
