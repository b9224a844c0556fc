// How a file and one of its exports are written in one word.
import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Failure } from "../failure.ts";
import { assertFile, parseFileSpec } from "./file-spec.ts";

const cwd = resolve("/work/project");

test.each([
  ["server.ts", join(cwd, "server.ts"), undefined],
  ["./src/server.ts", join(cwd, "src", "server.ts"), undefined],
  ["../server.ts:app", resolve(cwd, "..", "server.ts"), "app"],
  ["/srv/server.ts:app", resolve("/srv/server.ts"), "app"],
  ["a:b.ts:app", join(cwd, "a:b.ts"), "app"],
  ["server.ts:", join(cwd, "server.ts"), undefined],
  ["~/server.ts:app", join(homedir(), "server.ts"), "app"],
  ["~other/server.ts", join(cwd, "~other", "server.ts"), undefined],
])("%s", (text, path, exportName) => {
  expect(parseFileSpec(text, cwd)).toMatchObject({ kind: "file", path, exportName });
});

// What the path of a drive is made of depends on the system that the test runs on: its end does not.
test.each([
  ["C:\\x\\server.ts:app", /C:\\x\\server\.ts$/, "app"],
  ["C:\\x\\server.ts", /C:\\x\\server\.ts$/, undefined],
  ["c:/x/server.ts", /c:[\\/]x[\\/]server\.ts$/, undefined],
  ["c:/x/server.ts:app", /c:[\\/]x[\\/]server\.ts$/, "app"],
])("the colon of a drive separates nothing: %s", (text, path, exportName) => {
  const spec = parseFileSpec(text, cwd);
  expect(spec.path).toMatch(path);
  expect(spec.exportName).toBe(exportName);
});

test("a file that is not there, and one that is a folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "plenum-spec-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "server.ts");
  const thrown = (run: () => void): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const missing = thrown(() => assertFile({ path }));
  expect(missing).toBeInstanceOf(Failure);
  expect(missing).toMatchObject({ message: `File not found: ${path}`, exit: "usage" });
  expect(thrown(() => assertFile({ path: folder }))).toMatchObject({
    message: `Not a file: ${folder}`,
    exit: "usage",
  });
});
