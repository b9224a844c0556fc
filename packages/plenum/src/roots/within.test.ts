import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { ToolError } from "../protocol/errors.ts";
import { resolveWithin } from "./within.ts";

let base = "";
let roots: { uri: string }[] = [];
const at = (...parts: string[]): string => join(base, ...parts);

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "plenum-roots-")));
  for (const folder of ["a/deep", "ab", "other"]) mkdirSync(at(folder), { recursive: true });
  for (const file of ["a/one.txt", "a/deep/two.txt", "ab/secret.txt", "other/three.txt"]) writeFileSync(at(file), file);
  symlinkSync(at("ab"), at("a/way-out"));
  symlinkSync(at("ab/secret.txt"), at("a/alias.txt"));
  symlinkSync(at("ab/not-yet.txt"), at("a/dangling.txt"));
  symlinkSync(at("a/deep"), at("a/inside"));
  symlinkSync(at("a"), at("link-to-a"));
  roots = [{ uri: pathToFileURL(at("a")).href }, { uri: pathToFileURL(at("other")).href }];
});
afterAll(() => rmSync(base, { recursive: true }));

describe("resolveWithin", () => {
  test("gives the real path of what is below a root", async () => {
    expect(await resolveWithin(roots, at("a/one.txt"))).toBe(at("a/one.txt"));
    expect(await resolveWithin(roots, at("a"))).toBe(at("a"));
    expect(await resolveWithin(roots, "deep/two.txt")).toBe(at("a/deep/two.txt"));
    expect(await resolveWithin(roots, pathToFileURL(at("other/three.txt")).href)).toBe(at("other/three.txt"));
    expect(await resolveWithin(roots, at("a/inside/two.txt"))).toBe(at("a/deep/two.txt"));
    expect(await resolveWithin(roots, at("link-to-a/one.txt"))).toBe(at("a/one.txt"));
    expect(await resolveWithin([{ uri: pathToFileURL(at("link-to-a")).href }], at("a/one.txt"))).toBe(at("a/one.txt"));
  });

  test("gives what is not there yet, by the folder that it would be in", async () => {
    expect(await resolveWithin(roots, at("a/new/deeper/file.txt"))).toBe(at("a/new/deeper/file.txt"));
    expect(await resolveWithin(roots, "inside/new.txt")).toBe(at("a/deep/new.txt"));
  });

  test.each([
    ["a sibling whose name begins alike", () => at("ab/secret.txt")],
    ["the way up", () => at("a/../ab/secret.txt")],
    ["the way up, relative", () => "../ab/secret.txt"],
    ["the way up, encoded", () => `${pathToFileURL(at("a")).href}/%2e%2e/ab/secret.txt`],
    ["a slash, encoded", () => `${pathToFileURL(at("a")).href}/..%2fab`],
    ["a link to a folder outside", () => at("a/way-out/secret.txt")],
    ["a new file behind such a link", () => at("a/way-out/new.txt")],
    ["a link to a file outside", () => at("a/alias.txt")],
    ["a link to a file outside that is not there yet", () => at("a/dangling.txt")],
    ["the folder above", () => base],
    ["another place altogether", () => "/etc/passwd"],
    ["a NUL", () => `${at("a/one.txt")}\0.png`],
    ["a URI of another host", () => "file://elsewhere/a/one.txt"],
  ])("refuses %s", async (_, path) => {
    covers(["root-boundaries", "root-validate-paths"]);
    await expect(resolveWithin(roots, path())).rejects.toBeInstanceOf(ToolError);
  });

  test("refuses everything without roots, or where the root is gone", async () => {
    await expect(resolveWithin([], at("a/one.txt"))).rejects.toThrow(/no roots/);
    await expect(resolveWithin([{ uri: pathToFileURL(at("gone")).href }], at("a/one.txt"))).rejects.toThrow(/outside/);
  });

  test("leaves out roots that are no local folder", async () => {
    const odd = ["https://example.com/", "file://elsewhere/x", "file:///a%00b", "file:///a%2fb", "nonsense", ""];
    const mixed = [...odd.map((uri) => ({ uri })), ...roots];
    expect(await resolveWithin(mixed, at("a/one.txt"))).toBe(at("a/one.txt"));
    expect(await resolveWithin(mixed, "one.txt")).toBe(at("a/one.txt"));
    const none = resolveWithin(
      odd.map((uri) => ({ uri })),
      at("a/one.txt"),
    );
    await expect(none).rejects.toBeInstanceOf(ToolError);
    await expect(none).rejects.toThrow(/no roots that are local folders/);
  });

  test("does not tell what there is outside", async () => {
    const say = (path: string): Promise<string> =>
      resolveWithin(roots, path).then(
        () => "found",
        (error: Error) => error.message.replace(path, "…"),
      );
    const outside = await say(at("ab/missing.txt"));
    expect(outside).toMatch(/is outside/);
    // Through a file as if it were a folder, a name that is too long, a link to nowhere.
    symlinkSync(at("nowhere"), at("ab/dangling"));
    for (const path of [
      at("ab/secret.txt"),
      at("ab/secret.txt/x"),
      at("ab/secret.txt/x/y"),
      at("ab/dangling"),
      at("ab/dangling/x"),
    ])
      expect(await say(path)).toBe(outside);
    expect(await say(at("ab", "n".repeat(300)))).toMatch(/is outside/);
    expect(await say(at("a/one.txt/x"))).toMatch(/cannot be used: ENOTDIR/);
    expect(await say(at("a/one.txt/x/y"))).toMatch(/cannot be used: ENOTDIR/);
  });

  test("does not tell what there is behind a link that leads out", async () => {
    const outside = await resolveWithin(roots, at("a/way-out/missing")).catch((error: Error) => error.message);
    const through = await resolveWithin(roots, at("a/way-out/secret.txt/x")).catch((error: Error) => error.message);
    expect(outside).toMatch(/is outside/);
    await expect(resolveWithin(roots, at("a/dangling.txt"))).rejects.toThrow(/is outside/);
    symlinkSync(at("a/not-there"), at("a/inner-dangling"));
    await expect(resolveWithin(roots, at("a/inner-dangling"))).rejects.toThrow(/cannot be used: ENOENT/);
    expect(through).toMatch(/is outside/);
  });

  test("names what was wrong on one line", async () => {
    await expect(resolveWithin(roots, "/etc/\npasswd")).rejects.toThrow(/^[^\n]*outside the folders[^\n]*$/);
  });
});
