// The processes under test: started, watched and ended. Whatever is still there when this process ends is ended with it.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Program, Target } from "../case.ts";

export interface StartOptions {
  readonly env?: { readonly [name: string]: string };
  /** Options of node, before the program. */
  readonly nodeArgs?: readonly string[];
  /** Stdin and stdout; stderr is kept in `Started.stderr`. */
  readonly stdio?: readonly ["ignore" | "pipe", "ignore" | "pipe"];
  /** Fills `{port}` in the arguments. */
  readonly port?: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The beginning of what it wrote to stderr; may be emptied. */
  stderr: string;
  /** Resolves when it is gone, with its code or signal. */
  readonly ended: Promise<number | string>;
}

const running = new Set<Started>();

export function startedPids(): number[] {
  return [...running].map(({ pid }) => pid);
}

const maxStderr = 4_000;

/** Starts node with these arguments. Tests and this driver run on the source; what is started here must not. */
export function startNode(args: readonly string[], options: StartOptions = {}): Started {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const stdio: StdioOptions = [...(options.stdio ?? ["ignore", "ignore"]), "pipe"];
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), ...args], {
    env: { ...inherited, ...options.env },
    stdio,
  });
  const started: Started = {
    child,
    pid: child.pid ?? -1,
    stderr: "",
    ended: new Promise((resolve) => {
      child.once("error", (error) => {
        started.stderr += error.message;
        resolve(error.message);
      });
      child.once("exit", (code, signal) => resolve(code ?? signal ?? 0));
    }),
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (started.stderr.length < maxStderr) started.stderr += text;
  });
  running.add(started);
  void started.ended.then(() => running.delete(started));
  return started;
}

/** The arguments that start a program of a target. */
export function argsOf(target: Target, [file, ...args]: Program, port?: number): string[] {
  return [join(target.home, file), ...args.map((arg) => arg.replace("{port}", String(port)))];
}

export function startProgram(target: Target, program: Program, options: StartOptions = {}): Started {
  return startNode(argsOf(target, program, options.port), options);
}

export function isRunning({ child }: Started): boolean {
  return child.exitCode === null && child.signalCode === null && child.pid !== undefined;
}

/** Ends what was started here: kindly, then not. */
export async function stop(started: Started | undefined, graceMs = 1_500): Promise<void> {
  if (!started || !isRunning(started)) return;
  started.child.kill("SIGTERM");
  await Promise.race([started.ended, delay(graceMs, undefined, { ref: false })]);
  if (!isRunning(started)) return;
  started.child.kill("SIGKILL");
  await started.ended;
}

process.once("exit", () => {
  for (const { child } of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** A port on 127.0.0.1 that nothing listens on. */
export function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Waits until a server listens. */
export async function waitForPort(port: number, started: Started, maxMs = 15_000): Promise<void> {
  const end = performance.now() + maxMs;
  while (!(await answers(port))) {
    if (!isRunning(started)) throw new Error(`the server ended: ${started.stderr}`);
    if (performance.now() > end) throw new Error(`the server did not listen within ${maxMs} ms: ${started.stderr}`);
    await delay(20);
  }
}
