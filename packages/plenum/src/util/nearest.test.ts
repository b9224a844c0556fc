import { expect, test } from "vitest";
import { nearestTo } from "./nearest.ts";

const known = ["path", "port", "allowedHosts", "allowedOrigins", "maxBodyBytes", "sse"];

test.each([
  ["paht", "path"],
  ["prot", "port"],
  ["htap", undefined],
  ["pth", "path"],
  ["Path", "path"],
  ["allowedHost", "allowedHosts"],
  ["allowedhosts", "allowedHosts"],
  ["alowedOrigin", "allowedOrigins"],
  ["maxBytes", "maxBodyBytes"],
  ["ssl", "sse"],
  ["", undefined],
  ["colour", undefined],
  ["x".repeat(65), undefined],
])("%j", (name, nearest) => {
  expect(nearestTo(name, known)).toBe(nearest);
});

test("what is far too long is not compared", () => {
  expect(nearestTo("x".repeat(5_000_000), ["x".repeat(5_000_000)])).toBeUndefined();
});

test("none where there is none", () => {
  expect(nearestTo("path", [])).toBeUndefined();
});
