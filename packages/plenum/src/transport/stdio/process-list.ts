// The processes of this machine and who started whom: from /proc on Linux, from `ps` on other POSIX systems.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A process at the time of looking. Two with the same pid and the same start are the same process. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where it is not known. */
  readonly session: number;
  /** In whatever unit the system counts. */
  readonly start: string;
}

/** All that are alive; those that have ended and are only waiting to be collected are not. Empty when nobody can tell. */
export function listProcesses(platform: NodeJS.Platform = process.platform): ProcessEntry[] | Promise<ProcessEntry[]> {
  return platform === "linux" ? listFromProc() : listFromPs();
}

/** At once, for an exit handler; undefined where that would mean to start a program. */
export function listProcessesNow(platform: NodeJS.Platform = process.platform): ProcessEntry[] | undefined {
  return platform === "linux" ? listFromProc() : undefined;
}

/** Dead or not: what a process that has just been started is known by. Undefined where only `ps` would know. */
export function startOf(pid: number, platform: NodeJS.Platform = process.platform): string | undefined {
  return platform === "linux" ? readStat(pid)?.start : undefined;
}

function listFromProc(): ProcessEntry[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const entry = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    return entry && entry.state !== "Z" && entry.state !== "X" ? [entry] : [];
  });
}

function readStat(pid: number): (ProcessEntry & { readonly state: string }) | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    // It ended between the listing and the look.
    return undefined;
  }
}

/** proc(5): `pid (name) state ppid pgrp session …`, start is the 22nd. The name may hold spaces and parentheses. */
export function parseStat(pid: number, text: string): (ProcessEntry & { readonly state: string }) | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  const start = fields[19];
  if (!state || start === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), start, state };
}

function listFromPs(): Promise<ProcessEntry[]> {
  return new Promise((resolve) => {
    execFile(
      "ps",
      ["-axo", "pid=,ppid=,pgid=,stat=,lstart="],
      { env: { PATH: "/bin:/usr/bin", LC_ALL: "C" }, timeout: 5000, maxBuffer: 2 ** 24 },
      (error, text) => resolve(error ? [] : parsePs(text)),
    );
  });
}

export function parsePs(text: string): ProcessEntry[] {
  return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/gm)].flatMap((match) => {
    const [, pid, parent, group, state = "", start = ""] = match;
    if (state.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, start }];
  });
}
