// Locks that nobody will ever let go of.
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { withLock } from "./lock.ts";

function makeLock(text: string, mtime: Date): string {
  const folder = mkdtempSync(join(tmpdir(), "plenum-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "lock");
  writeFileSync(path, text);
  utimesSync(path, mtime, mtime);
  return path;
}

const future = new Date(Date.now() + 86_400_000);

test.each([
  ["empty", "", new Date()],
  ["empty, of the future", "", future],
  ["of one that runs, of the future", `${process.pid} x\n`, future],
])("%s: it is stale after the usual time", { timeout: 5000 }, async (_, text, mtime) => {
  const path = makeLock(text, mtime);
  expect(await withLock(path, async () => "done", 100)).toBe("done");
  expect(existsSync(path)).toBe(false);
});

test("who waits longer than a moment says what for, once", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const path = makeLock("", new Date());
  await withLock(path, async () => {}, 1500);
  const said = write.mock.calls.map(([text]) => String(text)).filter((text) => text.includes(path));
  expect(said).toEqual([`Waiting for another program that holds ${path} …\n`]);
});
