// What the kernel tells of processes and of the machine (/proc, so Linux only): CPU time, memory, and how much of the machine
// others used meanwhile. Elsewhere the readings are `NaN`, and what is made of them is missing from the table.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startedPids } from "./process.ts";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The fields of /proc/<pid>/stat after the name, which may hold blanks. */
function statOf(pid: number | "self"): readonly number[] {
  const text = read(`/proc/${pid}/stat`);
  return text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

const ticksPerSecond = 100;

/** CPU time that a process has used so far, all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  // Nanoseconds by thread, where the kernel counts them: the ticks of /proc/<pid>/stat are 10 ms long.
  let nanoseconds = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
    }
  } catch {
    nanoseconds = 0;
  }
  if (nanoseconds > 0) return nanoseconds / 1e6;
  const stat = statOf(pid);
  return (((stat[11] ?? Number.NaN) + (stat[12] ?? Number.NaN)) * 1000) / ticksPerSecond;
}

function statusKb(pid: number, key: string): number {
  return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN);
}

export const rssMb = (pid: number): number => statusKb(pid, "VmRSS") / 1024;
/** The most since it began or since `resetPeak`. */
export const peakRssMb = (pid: number): number => statusKb(pid, "VmHWM") / 1024;

export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The peak is then the one since it began.
  }
}

function ticksOfMachine(): { readonly total: number; readonly busy: number } {
  const fields = read("/proc/stat").split("\n", 1)[0]?.split(/\s+/).slice(1, 9).map(Number) ?? [];
  const total = fields.reduce((sum, field) => sum + field, 0);
  return { total, busy: total - (fields[3] ?? 0) - (fields[4] ?? 0) };
}

/** Of this process and of all that it started, with what those have waited for. */
function ticksOfOurs(): number {
  let sum = 0;
  for (const pid of ["self" as const, ...startedPids()]) {
    const stat = statOf(pid);
    for (const field of [11, 12, 13, 14]) sum += stat[field] ?? 0;
  }
  return sum;
}

/** Gives the share of the machine (0 to 1) that others have used since this call. */
export function markForeign(): () => number {
  const machine = ticksOfMachine();
  const ours = ticksOfOurs();
  return () => {
    const since = ticksOfMachine();
    const total = since.total - machine.total;
    if (!(total > 0)) return 0;
    return Math.max(0, (since.busy - machine.busy - (ticksOfOurs() - ours)) / total);
  };
}

/** Others that use no more than this share of the machine are no reason to wait. */
const quietShare = 0.06;

/** Waits until others leave the machine alone, but no longer than this, and says what they use. Gives how long it waited. */
export async function waitForQuiet(maxMs: number, onBusy: (share: number) => void): Promise<number> {
  const started = performance.now();
  const waited = (): number => performance.now() - started;
  while (waited() < maxMs) {
    const foreign = markForeign();
    await delay(300);
    const share = foreign();
    if (share <= quietShare) break;
    onBusy(share);
    await delay(200);
  }
  return waited();
}

/**
 * Keeps this process from sleeping until the returned function is called. Whoever writes to a socket pays for waking who reads
 * it, in a virtual machine dearly: a server that is slower than its driver would be charged for that, one that is as fast not.
 */
export function stayAwake(): () => void {
  let isAwake = true;
  const turn = (): void => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => {
    isAwake = false;
  };
}
