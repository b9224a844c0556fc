// Places in files as messages show them.
import { expect, test } from "vitest";
import { formatPlace } from "./place.ts";

test("line, column, the line, and a mark below the place", () => {
  expect(formatPlace("a.ts", "one\r\n\ttwo three\nfour", 10, "Bad")).toBe("a.ts:2:6: Bad\n  \ttwo three\n  \t    ^");
  expect(formatPlace("a.ts", "one", 0, "Bad")).toBe("a.ts:1:1: Bad\n  one\n  ^");
  expect(formatPlace("a.ts", "one\n", 4, "Bad")).toBe("a.ts:2:1: Bad\n  \n  ^");
});

test("of a very long line a part is shown", () => {
  const [, line = "", mark = ""] = formatPlace("a.ts", `${"x".repeat(5000)}!${"y".repeat(5000)}`, 5000, "Bad").split(
    "\n",
  );
  expect(line.length).toBeLessThan(200);
  expect(line[mark.length - 1]).toBe("!");
});
