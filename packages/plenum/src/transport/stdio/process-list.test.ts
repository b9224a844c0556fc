// Reading lists of processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { listProcesses, listProcessesNow, parsePs, parseStat, startOf } from "./process-list.ts";

const rest = "0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 1107119 3133440";

test("parseStat: a name may hold anything", () => {
  const expected = { pid: 7, parent: 2, group: 3, session: 4, start: "1107119", state: "R" };
  expect(parseStat(7, `7 (cat) R 2 3 4 ${rest}`)).toEqual(expected);
  expect(parseStat(7, `7 (a) S 9 9 (b)) R 2 3 4 ${rest}`)).toEqual(expected);
  expect(parseStat(7, "")).toBeUndefined();
});

test("parsePs: the dead are left out", () => {
  const text = `    1     0     1 Ss   Mon Nov 10 09:00:00 2025
  501     1   501 Z+   Mon Nov 10 09:00:01 2025
 1234   501  1200 S+   Tue Nov 11 10:11:12 2025    \nnonsense\n`;
  expect(parsePs(text)).toEqual([
    { pid: 1, parent: 0, group: 1, session: 0, start: "Mon Nov 10 09:00:00 2025" },
    { pid: 1234, parent: 501, group: 1200, session: 0, start: "Tue Nov 11 10:11:12 2025" },
  ]);
});

test.runIf(process.platform !== "win32").each(["linux", "darwin"] as const)(
  "both ways find ourselves and a child, with its group (%s)",
  async (platform) => {
    if (platform === "linux" && process.platform !== "linux") return;
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
    const exit = once(child, "exit");
    try {
      const all = await listProcesses(platform);
      expect(all.find(({ pid }) => pid === process.pid)?.parent).toBe(process.ppid);
      const found = all.find(({ pid }) => pid === child.pid);
      expect(found).toMatchObject({ parent: process.pid, group: child.pid });
      expect(found?.start).not.toBe("");
    } finally {
      child.kill("SIGKILL");
    }
    await exit;
    expect((await listProcesses(platform)).find(({ pid }) => pid === child.pid)).toBeUndefined();
  },
);

test.runIf(process.platform === "linux")("at once on Linux, and by no other means", () => {
  expect(listProcessesNow("linux")?.some(({ pid }) => pid === process.pid)).toBe(true);
  expect(listProcessesNow("darwin")).toBeUndefined();
  expect(startOf(process.pid, "linux")).toMatch(/^\d+$/);
  expect(startOf(process.pid, "darwin")).toBeUndefined();
  expect(startOf(2 ** 30, "linux")).toBeUndefined();
});
