// A program in a process of its own that serves HTTP: started, waited for until it says where it listens, and ended.
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll } from "vitest";
import { root } from "../house/source.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  /** Where it listens. */
  readonly url: string;
  readonly pid: number;
  /** All that it has written, to stdout and stderr. */
  output(): string;
  /** Asks it to end, by default with SIGTERM, and waits until it has. Rejects where it does not. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<Exit>;
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the usual. Undefined: not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Finds the address in what it writes. Default: the first http:// there is. */
  readonly find?: (output: string) => string | undefined;
}

const startMs = 30_000;
const endMs = 10_000;
const running = new Set<ChildProcess>();

// Whatever happens in a test file, nothing outlives it.
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

export const findUrl = (output: string): string | undefined => /http:\/\/127\.0\.0\.1:\d+\S*/.exec(output)?.[0];

export function startProgram({ command, args, env, find = findUrl }: ProgramOptions): Promise<Program> {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, NODE_NO_WARNINGS: "1", PORT: "0", ...env },
    // The fourth is where workerd says which port it has got.
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let output = "";
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  running.add(child);

  const stop = async (signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<Exit> => {
    child.kill(signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`The program did not end within ${endMs / 1000} s. It wrote: ${output}`));
      }, endMs);
    });
    return Promise.race([exited, late]).finally(() => clearTimeout(timer));
  };

  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${command} ${args.join(" ")} ${why}. It wrote: ${output}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`did not listen within ${startMs / 1000} s`);
    }, startMs);
    const take = (text: Buffer): void => {
      output += text;
      // A line that is not complete may end in the middle of a number.
      const url = find(output.slice(0, output.lastIndexOf("\n") + 1));
      if (!url) return;
      clearTimeout(timer);
      resolve({ url, pid: child.pid ?? 0, output: () => output, stop });
    };
    for (const stream of child.stdio.slice(1)) stream?.on("data", take);
    exited.then(
      ({ code, signal }) => {
        clearTimeout(timer);
        fail(`ended with ${signal ?? code}`);
      },
      (error: Error) => {
        clearTimeout(timer);
        fail(`could not be started: ${error.message}`);
      },
    );
  });
}

/** Runs an example on Node, from the source. */
export function startOnNode(path: string, options: Pick<ProgramOptions, "env" | "find"> = {}): Promise<Program> {
  const args = ["--conditions=plenum-source", "--import", "tsx", path];
  return startProgram({ command: process.execPath, args, ...options });
}
