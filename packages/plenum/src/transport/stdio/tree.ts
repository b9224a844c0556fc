// A process with all that it started, and how to end it whole. Killing the program that was started is not enough:
// `npx` and `uvx` start the server as a child of their own, and it would live on.
//
// On POSIX the process leads a session and a group of its own, so that a signal reaches all who stayed in it, and those
// who left are found by their parents. On Windows `taskkill` follows the parents.
import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { holdAtExit } from "./exit.ts";
import { listProcesses, listProcessesNow, type ProcessEntry, startOf } from "./process-list.ts";
import { findSystemProgram } from "./resolve.ts";

type Signal = "SIGTERM" | "SIGKILL";

export interface Tree {
  /** Remembers who is there now. One who left the group can only be found while those between it and the root live. */
  look(): Promise<void>;
  /** Whether the root and all that is known to belong to it have ended. */
  isGone(): Promise<boolean>;
  /** Signals everyone in it. On Windows there are no signals: whatever is asked for, everyone is ended at once. */
  signal(signal: Signal): Promise<void>;
  /** To be called when it is gone, or given up: it is no longer killed when our own process exits. */
  release(): void;
}

/**
 * The tree of a child that was just started, in the same turn, with `detached` on POSIX. Until it is released, it is
 * killed when our own process exits. When our process is itself killed by SIGKILL nothing can be done: the server then
 * sees the end of its input, and a well-behaved one exits.
 *
 * A process that left the group, and whose parents ended by themselves before anybody looked, cannot be found.
 */
export function createTree(child: ChildProcess, platform: NodeJS.Platform = process.platform): Tree {
  if (child.pid === undefined) throw new TypeError("The child has not been started");
  return platform === "win32" ? createWindowsTree(child, child.pid) : createPosixTree(child, child.pid, platform);
}

/** A pid of 0 or 1 would signal ourselves or everybody. */
function kill(pid: number, signal: Signal): void {
  if (Math.abs(pid) <= 1) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, or it belongs to somebody else by now: there is nothing more that we may do.
  }
}

function hasGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function createPosixTree(child: ChildProcess, pid: number, platform: NodeJS.Platform): Tree {
  const start = startOf(pid, platform);
  let known: readonly ProcessEntry[] = [];

  function learn(all: readonly ProcessEntry[], hadExited: boolean): readonly ProcessEntry[] {
    known = findTree(all, { pid, start, hasExited: hadExited }, known);
    return known;
  }

  /** Whether the root had exited is asked before looking: what is seen afterwards with its number is a stranger. */
  async function look(): Promise<readonly ProcessEntry[]> {
    const hadExited = hasExited(child);
    const all = await listProcesses(platform);
    // Not even ourselves: nobody can tell, and there is only the group to go by.
    if (all.length === 0) known = hasGroup(pid) ? [{ pid: 0, parent: 0, group: pid, session: 0, start: "" }] : [];
    else learn(all, hadExited);
    return known;
  }

  function send(signal: Signal, members: readonly ProcessEntry[]): void {
    // A child that nobody has waited for keeps its number, and a member keeps the group's.
    if (!hasExited(child) || members.some(({ group }) => group === pid)) kill(-pid, signal);
    for (const member of members) if (member.group !== pid) kill(member.pid, signal);
  }

  const release = holdAtExit(() => {
    const all = listProcessesNow(platform);
    send("SIGKILL", all ? learn(all, hasExited(child)) : known);
  });
  return {
    async look() {
      await look();
    },
    async isGone() {
      return hasExited(child) && (await look()).length === 0;
    },
    async signal(signal) {
      send(signal, await look());
    },
    release,
  };
}

export interface Root {
  readonly pid: number;
  /** Undefined where it could not be learned. */
  readonly start?: string | undefined;
  /** Ended and waited for: its number is free. */
  readonly hasExited: boolean;
}

/**
 * Those of `all` that belong to the tree: the root, its group and session, those known from before, and the descendants
 * of all of these. A process that only has the pid of one that is gone does not count.
 */
export function findTree(
  all: readonly ProcessEntry[],
  root: Root,
  known: readonly ProcessEntry[] = [],
): readonly ProcessEntry[] {
  const before = new Map(known.map(({ pid, start }) => [pid, start]));
  const leader = all.find(({ pid }) => pid === root.pid);
  // While a group has members no new process gets its number. A stranger with the number has a group of its own.
  const isStranger = leader && (root.hasExited || (root.start !== undefined && leader.start !== root.start));
  const members = new Map<number, ProcessEntry>();
  const children = new Map<number, ProcessEntry[]>();
  const add = (entry: ProcessEntry): void => {
    if (members.has(entry.pid) || entry.pid === process.pid || entry.pid <= 1) return;
    members.set(entry.pid, entry);
    for (const child of children.get(entry.pid) ?? []) add(child);
  };
  for (const entry of all) {
    const siblings = children.get(entry.parent);
    if (siblings) siblings.push(entry);
    else children.set(entry.parent, [entry]);
  }
  for (const entry of all) {
    const isOfRoot = entry.pid === root.pid || entry.group === root.pid || entry.session === root.pid;
    if ((isOfRoot && !isStranger) || before.get(entry.pid) === entry.start) add(entry);
  }
  return [...members.values()];
}

function createWindowsTree(child: ChildProcess, root: number): Tree {
  const file = findSystemProgram("taskkill.exe", process.env);
  const args = ["/pid", String(root), "/t", "/f"];
  // Once it has exited its number may be another's.
  const release = holdAtExit(() => {
    if (hasExited(child)) return;
    const { status } = spawnSync(file, args, { windowsHide: true });
    if (status !== 0) child.kill("SIGKILL");
  });
  return {
    async look() {},
    async isGone() {
      return hasExited(child);
    },
    async signal() {
      if (hasExited(child)) return;
      const error = await new Promise((resolve) => {
        execFile(file, args, { windowsHide: true }, resolve);
      });
      if (error) child.kill("SIGKILL");
    },
    release,
  };
}
