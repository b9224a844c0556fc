// Who belongs to a tree, and who only has a number that once did.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { listProcesses, type ProcessEntry } from "./process-list.ts";
import { createTree, findTree } from "./tree.ts";

/** pid, parent, group, session, start. */
function list(...rows: [number, number, number?, number?, string?][]): ProcessEntry[] {
  return rows.map(([pid, parent, group = pid, session = pid, start = `s${pid}`]) => ({
    ...{ pid, parent, group, session, start },
  }));
}
const pids = (entries: readonly ProcessEntry[]): number[] => entries.map(({ pid }) => pid).sort((a, b) => a - b);
const alive = { pid: 100, start: "s100", hasExited: false };
const exited = { ...alive, hasExited: true };

test("the group, the session, and descendants that left both", () => {
  const all = list([1, 0], [50, 1], [100, 50], [101, 100, 100, 100], [102, 1, 100, 100], [103, 1, 103, 100]);
  all.push(...list([104, 101], [105, 104], [200, 50], [201, 200]));
  expect(pids(findTree(all, alive))).toEqual([100, 101, 102, 103, 104, 105]);
});

test("after the root has exited its group remains, and what was known before", () => {
  const all = list([50, 1], [101, 1, 100, 100], [104, 1], [105, 104], [106, 1]);
  expect(pids(findTree(all, exited))).toEqual([101]);
  expect(pids(findTree(all, exited, list([104, 101], [100, 50])))).toEqual([101, 104, 105]);
});

test("the group is enough where sessions are not known", () => {
  expect(pids(findTree(list([101, 1, 100, 0], [102, 1, 102, 0]), exited))).toEqual([101]);
});

test("a stranger with the number of the root, and its group, are left alone", () => {
  const strangers = list([100, 1, 100, 100, "later"], [300, 100, 100, 100]);
  expect(findTree(strangers, exited)).toEqual([]);
  expect(findTree(strangers, alive)).toEqual([]);
  // Without a start, that the root has exited is enough.
  expect(findTree(strangers, { pid: 100, hasExited: true })).toEqual([]);
  expect(pids(findTree(strangers, { pid: 100, hasExited: false }))).toEqual([100, 300]);
});

test("a stranger with the number of one known before is left alone", () => {
  expect(findTree(list([104, 1, 104, 104, "later"], [105, 104]), exited, list([104, 101]))).toEqual([]);
});

test("never ourselves, and never the first process", () => {
  const all = list([1, 0, 100, 100], [process.pid, 100, 100, 100], [101, 100, 100, 100]);
  expect(pids(findTree(all, alive))).toEqual([101]);
});

test("a child that was not started has no tree", () => {
  expect(() => createTree({} as ChildProcess)).toThrow(TypeError);
});

describe.skipIf(process.platform === "win32")("ending one", () => {
  const idle = "setInterval(() => {}, 1000)";
  const parent = `
    const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(idle)}], { detached: true, stdio: "ignore" });
    console.log(child.pid);
    ${idle}`;

  const platforms = [process.platform, "darwin"] as const;
  test.each([...new Set(platforms)])("with a descendant in a session of its own, as on %s", async (platform) => {
    const child = spawn(process.execPath, ["-e", parent], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const tree = createTree(child, platform);
    const exit = once(child, "exit");
    const descendant = Number(String((await once(child.stdout, "data"))[0]));
    try {
      await tree.look();
      expect(await tree.isGone()).toBe(false);
      child.kill("SIGKILL");
      await exit;
      expect(await tree.isGone()).toBe(false);
      await tree.signal("SIGKILL");
      await expect.poll(() => tree.isGone()).toBe(true);
      await expect.poll(() => isAlive(descendant)).toBe(false);
    } finally {
      tree.release();
    }
  });

  test("as on Windows: the process itself, where taskkill does not work", async () => {
    const child = spawn(process.execPath, ["-e", idle], { stdio: "ignore" });
    const exit = once(child, "exit");
    const tree = createTree(child, "win32");
    expect(await tree.isGone()).toBe(false);
    await tree.signal("SIGTERM");
    expect((await exit)[1]).toBe("SIGKILL");
    expect(await tree.isGone()).toBe(true);
    await tree.signal("SIGKILL");
    tree.release();
  });
});

async function isAlive(pid: number): Promise<boolean> {
  return (await listProcesses()).some((entry) => entry.pid === pid);
}
