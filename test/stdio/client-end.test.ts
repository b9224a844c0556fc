// How a server ends: the ladder of end of input, SIGTERM and SIGKILL; its descendants; and what happens to it when our
// own process leaves without closing.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { stdioTarget } from "../../packages/plenum/src/transport/stdio/client.ts";
import { covers } from "../requirements/covers.ts";
import { countHeld, findMarked, openStage, parentFile, readRecord, serverFile } from "./stage.ts";

const folder = mkdtempSync(join(tmpdir(), "plenum-stdio-"));
afterAll(() => rmSync(folder, { recursive: true }));
const idle = countHeld();
const record = (): string => join(folder, randomUUID());
const names = (file: string): string[] => readRecord(file).map(({ name }) => name);
/** Timers and clocks of two processes agree to about this. */
const slackMs = 20;
/** So long that nothing in the test waits for it. */
const never = 600_000;
const stubborn = ["--ignore-eof", "--trap"];

describe.skipIf(process.platform === "win32")("the ladder", () => {
  test("a server that goes when its input ends gets no signal", async () => {
    covers("stdio-shutdown-close-stdin");
    const file = record();
    const stage = await openStage({ flags: ["--trap", `--record=${file}`], closeMs: never });
    await stage.ask("who");
    stage.channel.close();
    await stage.channel.ended;
    expect(names(file)).toEqual(["ready", "eof"]);
  });

  test("one that does not gets SIGTERM, after the end of its input and not before its time", async () => {
    covers(["stdio-shutdown-close-stdin", "stdio-shutdown-sigterm"]);
    const file = record();
    const stage = await openStage({ flags: [...stubborn, `--record=${file}`], closeMs: 400, killMs: 300 });
    await stage.ask("who");
    const closedAt = Date.now();
    stage.channel.close();
    await stage.channel.ended;
    const noted = readRecord(file);
    expect(noted.map(({ name }) => name)).toEqual(["ready", "eof", "SIGTERM"]);
    expect(noted[2]?.time).toBeGreaterThanOrEqual(closedAt + 400 - slackMs);
  });

  test("SIGTERM is enough for one that does not trap it", async () => {
    covers("stdio-shutdown-sigterm");
    const stage = await openStage({ flags: ["--ignore-eof"], closeMs: 50, killMs: never });
    await stage.ask("who");
    stage.channel.close();
    await stage.channel.ended;
    expect(() => process.kill(stage.channel.pid, 0)).toThrow(/ESRCH/);
  });

  test("one that traps it is killed, not before its time, and nobody waits for ever", async () => {
    covers(["stdio-shutdown-sigkill", "lifecycle-handle-shutdown-timeout"]);
    const file = record();
    const stage = await openStage({ flags: [...stubborn, `--record=${file}`], closeMs: 100, killMs: 400 });
    const open = stage.request("hang");
    await stage.ask("who");
    stage.connection.close();
    expect((await open).kind).toBe("lost");
    await stage.channel.ended;
    const endedAt = Date.now();
    expect(() => process.kill(stage.channel.pid, 0)).toThrow(/ESRCH/);
    const term = readRecord(file).find(({ name }) => name === "SIGTERM");
    expect(endedAt - (term?.time ?? endedAt)).toBeGreaterThanOrEqual(400 - slackMs);
  });

  test("one that is stopped, or reads nothing, ends too", async () => {
    const stopped = await openStage({ closeMs: 50, killMs: 50 });
    await stopped.ask("who");
    process.kill(stopped.channel.pid, "SIGSTOP");
    // More than a pipe takes.
    stopped.request("echo", { text: "x".repeat(5_000_000) });
    stopped.connection.close();
    await stopped.channel.ended;
    expect(() => process.kill(stopped.channel.pid, 0)).toThrow(/ESRCH/);
  });

  test("a server that still has much to say can say it, and goes", async () => {
    const stage = await openStage({ closeMs: never });
    await stage.ask("who");
    stage.request("echo", { text: "x".repeat(5_000_000) });
    stage.connection.close();
    await stage.channel.ended;
    expect(() => process.kill(stage.channel.pid, 0)).toThrow(/ESRCH/);
  });
});

test("a channel that was never read can be closed, whatever waits in it", async () => {
  const script = 'fs.writeSync(1, "x".repeat(5_000_000)); process.stdin.on("end", () => process.exit()).resume()';
  const target = stdioTarget({ command: process.execPath, args: ["-e", script], closeMs: never });
  const channel = await target.open();
  channel.close();
  await channel.ended;
  expect(() => process.kill(channel.pid, 0)).toThrow(/ESRCH/);
});

describe.runIf(process.platform === "linux")("descendants", () => {
  const kinds = [
    { name: "that go at SIGTERM", params: {} },
    { name: "that ignore SIGTERM", params: { flags: ["--trap"] } },
    { name: "without our streams", params: { flags: ["--trap"], stdio: "ignore" } },
    { name: "of a session of their own", params: { flags: ["--trap"], detached: true } },
    { name: "of a session of their own, without our streams", params: { detached: true, stdio: "ignore" } },
  ];

  test.each(kinds)("$name are gone after close", async ({ params }) => {
    const stage = await openStage({ closeMs: 100, killMs: 100 });
    const { pid } = await stage.ask("spawn", params);
    expect(findMarked(stage.mark).sort()).toEqual([stage.channel.pid, pid].sort());
    stage.channel.close();
    await stage.channel.ended;
    expect(findMarked(stage.mark)).toEqual([]);
  });

  test.each(kinds)("$name are gone after the close of a server that ignores everything", async ({ params }) => {
    const stage = await openStage({ flags: stubborn, closeMs: 100, killMs: 100 });
    await stage.ask("spawn", params);
    await stage.ask("spawn", params);
    stage.channel.close();
    await stage.channel.ended;
    expect(findMarked(stage.mark)).toEqual([]);
  });

  test.each(kinds.slice(0, 3))("$name are gone after the server has exited by itself", async ({ params }) => {
    const stage = await openStage({ closeMs: 100, killMs: 100 });
    await stage.ask("spawn", params);
    stage.request("exit", { code: 1, words: "fatal: x" });
    expect(String(await stage.closed)).toMatch(/exited with code 1\. Its last words: "fatal: x"$/);
    await stage.channel.ended;
    expect(findMarked(stage.mark)).toEqual([]);
  });

  test("a server behind a launcher that is killed sees the end of its input, and goes", async () => {
    const file = record();
    // The shell stays as long as it has something left to do.
    const script = '"$0" "$@"; true';
    const args = ["-c", script, process.execPath, serverFile, "--trap", `--record=${file}`];
    const stage = await openStage({ command: "/bin/sh", args, closeMs: never });
    const { pid } = await stage.ask("who");
    expect(pid).not.toBe(stage.channel.pid);
    process.kill(stage.channel.pid, "SIGKILL");
    expect(String(await stage.closed)).toMatch(/was killed by SIGKILL\.$/);
    await stage.channel.ended;
    expect(names(file)).toEqual(["ready", "eof"]);
    expect(findMarked(stage.mark)).toEqual([]);
  });

  test("they have the same time to go", async () => {
    const file = record();
    const stage = await openStage({ closeMs: 400, killMs: 300 });
    await stage.ask("spawn", { flags: ["--trap", `--record=${file}`] });
    process.kill(stage.channel.pid, "SIGKILL");
    const killedAt = Date.now();
    await stage.channel.ended;
    const endedAt = Date.now();
    const noted = readRecord(file);
    expect(noted.map(({ name }) => name)).toEqual(["ready", "SIGTERM"]);
    expect(noted[1]?.time).toBeGreaterThanOrEqual(killedAt + 400 - slackMs);
    expect(endedAt - (noted[1]?.time ?? endedAt)).toBeGreaterThanOrEqual(300 - slackMs);
    expect(findMarked(stage.mark)).toEqual([]);
  });
});

test("nothing is listened for when nobody is there", async () => {
  await expect.poll(countHeld).toEqual(idle);
  const stages = await Promise.all([openStage(), openStage()]);
  expect(countHeld()).toMatchObject({ exit: idle.exit + 1, signals: idle.signals + 4, children: 2 });
  stages[0].channel.close();
  await stages[0].channel.ended;
  expect(countHeld()).toMatchObject({ exit: idle.exit + 1, signals: idle.signals + 4 });
  stages[1].channel.close();
  await stages[1].channel.ended;
  await expect.poll(countHeld).toEqual(idle);
});

describe.runIf(process.platform === "linux")("our own process leaves", () => {
  type Parent = ChildProcessByStdio<null, Readable, Readable>;

  /** Runs a program that connects to a stubborn server with a stubborn descendant in a session of its own. */
  async function run(way: string, onReady: (parent: Parent) => void = () => {}, flags = stubborn) {
    const mark = randomUUID();
    const parent: Parent = spawn(process.execPath, ["--import", "tsx", parentFile, way, mark, ...flags], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    let seen: number[] = [];
    createInterface(parent.stdout).on("line", (line) => {
      if (!line.startsWith("ready")) return said.push(line);
      seen = line.split(" ").slice(1).map(Number);
      return onReady(parent);
    });
    const [code, signal] = (await once(parent, "close")) as [number | null, string | null];
    expect(seen).toHaveLength(2);
    return { mark, code, signal, said };
  }

  test.each([
    { way: "exit", code: 3 },
    { way: "throw", code: 1 },
    { way: "close-exit", code: 0 },
  ])("by $way, and no one is left", async ({ way, code }) => {
    const run1 = await run(way);
    expect(run1.code).toBe(code);
    await expect.poll(() => findMarked(run1.mark)).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "by %s, as it would have without us, and no one is left",
    async (signal) => {
      const left = await run("wait", (parent) => parent.kill(signal));
      expect(left.signal).toBe(signal);
      await expect.poll(() => findMarked(left.mark)).toEqual([]);
    },
  );

  test("by a signal that others clean up after too", async () => {
    const left = await run("hook", (parent) => parent.kill("SIGINT"));
    expect(left).toMatchObject({ signal: "SIGINT", said: ["hook"] });
    await expect.poll(() => findMarked(left.mark)).toEqual([]);
  });

  test("when it says so itself, where it handles the signal: until then the server lives", async () => {
    const left = await run("handler", (parent) => parent.kill("SIGTERM"));
    expect(left).toMatchObject({ code: 7, said: ["handled", "result"] });
    await expect.poll(() => findMarked(left.mark)).toEqual([]);
  });

  test("after it has closed: it stays until the server is gone, and no longer", async () => {
    const left = await run("close");
    expect(left).toMatchObject({ code: 0, said: ["ended"] });
    expect(findMarked(left.mark)).toEqual([]);
  });

  test("by SIGKILL: a server that goes when its input ends goes", async () => {
    const left = await run("wait", (parent) => parent.kill("SIGKILL"), []);
    expect(left.signal).toBe("SIGKILL");
    // Its stubborn descendant of another session is beyond anybody's reach.
    const [descendant] = await expect
      .poll(() => findMarked(left.mark))
      .toHaveLength(1)
      .then(() => findMarked(left.mark));
    process.kill(descendant as number, "SIGKILL");
    await expect.poll(() => findMarked(left.mark)).toEqual([]);
  });
});
