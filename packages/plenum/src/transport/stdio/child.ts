// The life of a server's process, from just after its start to the end of its whole tree: when the end begins, the
// ladder of end of input, SIGTERM and SIGKILL, and what is said about a server that went away by itself.
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerChild } from "./start.ts";
import { readStderr, type Stderr, type StderrMode } from "./stderr.ts";
import { createTree, type Tree } from "./tree.ts";

export interface ChildLifeOptions {
  /** For messages. */
  readonly name: string;
  readonly stderr: StderrMode;
  readonly closeMs: number;
  readonly killMs: number;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildLife {
  /** Begins to end it, in the background. */
  close(): void;
  /** To be asked when its output has ended: why, in words; undefined when it was closed from here. */
  endCause(): Promise<Error | undefined>;
  /** Settles, and never rejects, when its whole tree is gone. */
  readonly ended: Promise<void>;
}

/** The exit of a process, and what it says last, come a little before or after the end of its output. */
const settleMs = 1000;
/** Even SIGKILL cannot end one that hangs in the kernel or belongs to somebody else: it is given up in the end. */
const maxKills = 20;
const betweenKillsMs = 250;
const longestPauseMs = 100;

/** To be called in the turn in which the child was started. */
export function createChildLife(
  child: ServerChild,
  { name, stderr: mode, closeMs, killMs }: ChildLifeOptions,
): ChildLife {
  const tree = createTree(child);
  const stderr = readStderr(child.stderr, mode);
  const exit = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  let isClosedByUs = false;
  let isEnding = false;
  let settle: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });

  /** Safe to call many times: whatever goes wrong first begins the end. */
  function end(): void {
    if (isEnding) return;
    isEnding = true;
    endTree({ child, tree, exit, closeMs, killMs })
      .finally(tree.release)
      .then(() => drop(child, isClosedByUs))
      .finally(settle);
  }

  // Its only task is done or nobody can hear it any more, whoever is left over.
  exit.then(end);
  child.stdin.on("error", end);
  child.stdin.on("close", end);
  child.stdout.on("error", end);

  return {
    ended,
    close() {
      isClosedByUs = true;
      // It may have much to write before it sees that its input has ended.
      child.stdout.resume();
      end();
    },
    async endCause() {
      if (isClosedByUs) return undefined;
      const how = await within(exit, settleMs);
      end();
      if (how) await within(stderr.ended, settleMs);
      return toCause(name, how, stderr);
    },
  };
}

interface Ladder {
  readonly child: ServerChild;
  readonly tree: Tree;
  readonly exit: Promise<Exit>;
  readonly closeMs: number;
  readonly killMs: number;
}

async function endTree({ child, tree, exit, closeMs, killMs }: Ladder): Promise<void> {
  // Before anyone can exit: afterwards it is no longer to be seen who started whom.
  await tree.look();
  child.stdin.end();
  if (await isGoneWithin(closeMs, tree, exit)) return;
  await tree.signal("SIGTERM");
  if (await isGoneWithin(killMs, tree, exit)) return;
  for (let kills = 0; kills < maxKills; kills++) {
    await tree.signal("SIGKILL");
    if (await isGoneWithin(betweenKillsMs, tree, exit)) return;
  }
}

/** The exit of the root is told to us; that of its descendants has to be looked for, less and less often. */
async function isGoneWithin(ms: number, tree: Tree, exit: Promise<Exit>): Promise<boolean> {
  const deadline = performance.now() + ms;
  await within(exit, ms);
  for (let pause = 2; ; pause = Math.min(pause * 2, longestPauseMs)) {
    if (await tree.isGone()) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}

/** Gives the pipes back. Somebody whom we do not know of may still hold their other ends. */
async function drop(child: ServerChild, isClosedByUs: boolean): Promise<void> {
  child.stdin.destroy();
  if (!isClosedByUs && !child.stdout.closed) {
    // What the server said last is still being read.
    await within(new Promise((resolve) => child.stdout.once("close", resolve)), settleMs);
  }
  child.stdout.destroy();
  child.stderr?.destroy();
}

/** The value, or undefined when it does not come in time. The timer is gone when this settles. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function toCause(name: string, how: Exit | undefined, stderr: Stderr): Error {
  const words = stderr.lastWords();
  const what = !how ? "closed its output" : how.signal ? `was killed by ${how.signal}` : `exited with code ${how.code}`;
  return new Error(`${name} ${what}.${words ? ` Its last words: ${words}` : ""}`);
}
