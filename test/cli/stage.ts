// What tests of the command line stand on: the built program, run as a person or a script runs it, in folders and homes of its own.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { spawn as spawnTerminal } from "@lydell/node-pty";
import { afterAll, onTestFinished } from "vitest";
import { ensureCli } from "../house/built.ts";
import { root } from "../house/source.ts";

export interface RunOptions {
  readonly cwd?: string;
  /** Beyond PATH; HOME is a folder that is empty unless it is given. */
  readonly env?: { readonly [name: string]: string };
  /** What is typed, or piped in, before the end of input. */
  readonly input?: string;
  /** Default 30 000: then it is killed. */
  readonly timeoutMs?: number;
  /** Called with the process as soon as it runs: to send it signals. */
  readonly onStart?: (pid: number) => void;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The envelopes on stdout, one a line. Throws where a line is no JSON. */
  json(): Envelope[];
}

export interface Envelope {
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly event?: unknown;
  readonly error?: {
    readonly code: string;
    readonly exitCode: number;
    readonly message: string;
    readonly hint?: string;
  };
}

/** The built program, with few variables of ours: what a developer has set must not change what is tested. */
function toEnvironment(env: RunOptions["env"]): { [name: string]: string } {
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return { PATH, LANG, HOME: emptyHome(), ...env };
}

let home: string | undefined;
afterAll(() => {
  if (home !== undefined) rmSync(home, { recursive: true, force: true });
});
function emptyHome(): string {
  if (home === undefined) {
    home = mkdtempSync(join(tmpdir(), "plenum-home-"));
  }
  return home;
}

/** Runs `plenum` without a terminal and waits for its end. */
export async function runCli(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const program = await ensureCli();
  const { cwd = root, input = "", timeoutMs = 30_000, onStart } = options;
  const child = spawn(process.execPath, [program, ...words], { cwd, env: toEnvironment(options.env) });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  if (child.pid !== undefined) onStart?.(child.pid);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // It may have ended before it reads.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  const lines = (): string[] => stdout.split("\n").filter((line) => line !== "");
  return { code, stdout, stderr, json: () => lines().map((line) => JSON.parse(line) as Envelope) };
}

export interface Terminal {
  /** All that was shown so far, escape sequences included. */
  readonly shown: string;
  /** The same without them. */
  readonly text: string;
  /** Types; "\r" is Enter, "\x03" Ctrl-C. */
  type(keys: string): void;
  /** Waits until the text that was shown since the last `until` matches; rejects with what was shown after `timeoutMs` (default 20 000). */
  until(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** Settles with the exit code. */
  readonly exited: Promise<number>;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const sequences = /\u001b(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Runs `plenum` at a pseudo-terminal of 100 columns. Killed at the end of the test. */
export async function openTerminal(words: readonly string[], options: RunOptions = {}): Promise<Terminal> {
  return openProgram(process.execPath, [await ensureCli(), ...words], options);
}

/** Any program at such a terminal. */
export function openProgram(file: string, words: readonly string[], options: RunOptions = {}): Terminal {
  const { cwd = root } = options;
  const env = { TERM: "xterm-256color", ...toEnvironment(options.env) };
  const child = spawnTerminal(file, [...words], { cwd, env, cols: 100, rows: 40 });
  let shown = "";
  let seen = 0;
  const wakers = new Set<() => void>();
  const wake = (): void => {
    for (const one of wakers) one();
  };
  child.onData((data) => {
    shown += data;
    wake();
  });
  let isOver = false;
  const exited = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      isOver = true;
      resolve(exitCode);
      wake();
    });
  });
  onTestFinished(() => {
    if (!isOver) child.kill("SIGKILL");
  });
  const plain = (): string => shown.replace(sequences, "");
  return {
    get shown() {
      return shown;
    },
    get text() {
      return plain();
    },
    type: (keys) => child.write(keys),
    until(pattern, timeoutMs = 20_000) {
      return new Promise((resolve, reject) => {
        const finish = (): void => {
          clearTimeout(timer);
          wakers.delete(look);
        };
        const look = (): void => {
          const fresh = plain().slice(seen);
          const match = pattern.exec(fresh);
          if (match) {
            seen += match.index + match[0].length;
            finish();
            resolve(match[0]);
          } else if (isOver) {
            finish();
            reject(new Error(`It ended before ${pattern} was shown. Shown: ${plain()}`));
          }
        };
        const timer = setTimeout(() => {
          finish();
          reject(new Error(`${pattern} was not shown in ${timeoutMs} ms. Shown: ${plain()}`));
        }, timeoutMs);
        wakers.add(look);
        look();
      });
    },
    exited,
  };
}

/** A folder that is gone after the test, with these files in it: texts by path. */
export function makeFolder(files: { readonly [path: string]: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "plenum-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** What a server's file imports the built library by, wherever the file is. */
export function libraryUrl(path = "index.js"): string {
  return pathToFileURL(join(root, "packages", "plenum", "dist", path)).href;
}

/** The path of a file in test/cli/fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}
