import { expect, test } from "vitest";
import { formatProgress, hasUnicode } from "./progress.ts";

const wide = { columns: 100, isUnicode: true };

test("a bar with what is done, and what the server says of it", () => {
  const bar = `${"█".repeat(15)}${"░".repeat(15)}`;
  expect(formatProgress({ progress: 2.5, total: 5, message: "half" }, 0, wide)).toBe(`${bar}  50% half`);
  expect(formatProgress({ progress: 5, total: 5 }, 0, wide)).toBe(`${"█".repeat(30)} 100%`);
  // Not done before it is.
  expect(formatProgress({ progress: 999, total: 1000 }, 0, wide)).toContain(" 99%");
});

test.each([
  [7, 5, "100%"],
  [-1, 5, "0%"],
])("%d of %d is no more than all, and no less than nothing", (progress, total, percent) => {
  expect(formatProgress({ progress, total }, 0, wide)).toContain(` ${percent}`);
});

test("without an end, a sign that turns and a count", () => {
  const lines = [0, 1, 2].map((turn) => formatProgress({ progress: turn + 0.5, message: "files" }, turn, wide));
  expect(lines).toEqual(["⠋ 0.50 files", "⠙ 1.50 files", "⠹ 2.50 files"]);
  expect(formatProgress({ progress: 3, total: 0 }, 0, wide)).toBe("⠋ 3");
});

test("in ASCII where the terminal has no more", () => {
  const look = { columns: 40, isUnicode: false };
  expect(formatProgress({ progress: 1, total: 2 }, 0, look)).toBe("#######......  50%");
  expect(formatProgress({ progress: 1, message: "x".repeat(100) }, 3, look)).toMatch(/^\\ 1 x+\.\.\.$/);
});

test.each([10, 20, 40, 80])("fits %d columns, on one harmless line", (columns) => {
  const message = "a\nb \u001b[2J".repeat(30);
  for (const total of [undefined, 9]) {
    const update = { progress: 3, message, ...(total !== undefined && { total }) };
    const line = formatProgress(update, 0, { columns, isUnicode: true });
    expect([...line].length).toBeLessThanOrEqual(Math.max(10, columns - 1));
    for (const control of ["\n", "\u001b"]) expect(line).not.toContain(control);
  }
});

test.each([
  [{ LANG: "C.UTF-8" }, "linux", true],
  [{ LANG: "en_US.UTF-8", LC_ALL: "C" }, "linux", false],
  [{ LC_CTYPE: "de_DE.utf8" }, "linux", true],
  [{}, "linux", false],
  [{}, "win32", true],
])("%j on %s: %s", (env, system, expected) => {
  expect(hasUnicode(env, system)).toBe(expected);
});
