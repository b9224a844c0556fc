// Where texts are kept, and from whom they are taken.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { toKey } from "../load/typescript.ts";
import { createCache as createWithin, toCacheFolder } from "./cache.ts";

/** Of texts. */
function createCache(folder: string): { get(key: string): string | undefined; set(key: string, text: string): void } {
  const { get, set } = createWithin(folder, { maxEntries: 2000 });
  return { get: (key) => get(key)?.toString(), set };
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plenum-cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test.each([
  ["linux", {}, "/home/ann/.cache/plenum"],
  ["linux", { XDG_CACHE_HOME: "/var/cache/ann" }, "/var/cache/ann/plenum"],
  ["linux", { XDG_CACHE_HOME: "relative" }, "/home/ann/.cache/plenum"],
  ["darwin", { XDG_CACHE_HOME: "/var/cache/ann" }, "/home/ann/Library/Caches/plenum"],
  ["win32", { LOCALAPPDATA: "/local" }, "/local/plenum/cache"],
  ["win32", {}, "/home/ann/AppData/Local/plenum/cache"],
] as const)("the folder on %s with %o", (platform, env, folder) => {
  expect(toCacheFolder({ platform, env, home: "/home/ann" }).replaceAll("\\", "/")).toBe(folder);
});

test("keys tell parts apart", () => {
  expect(toKey("ab", "c")).not.toBe(toKey("a", "bc"));
  expect(toKey("ab", "c")).toBe(toKey("ab", "c"));
});

test("a text is kept in a folder that is the user's alone", () => {
  const folder = join(makeFolder(), "a", "b");
  const cache = createCache(folder);
  expect(cache.get("key")).toBeUndefined();
  cache.set("key", "text");
  expect(cache.get("key")).toBe("text");
  expect(createCache(folder).get("key")).toBe("text");
  expect(readdirSync(folder)).toEqual(["key"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
});

test("a folder that others may write to is left alone", () => {
  const folder = makeFolder();
  createCache(folder).set("key", "text");
  chmodSync(folder, 0o777);
  expect(createCache(folder).get("key")).toBeUndefined();
  createCache(folder).set("other", "text");
  expect(readdirSync(folder)).toEqual(["key"]);
});

test("so are a folder that is a link, and a file that others may write to", () => {
  const folder = makeFolder();
  const real = join(folder, "real");
  createCache(real).set("key", "text");
  symlinkSync(real, join(folder, "link"));
  expect(createCache(join(folder, "link")).get("key")).toBeUndefined();
  chmodSync(join(real, "key"), 0o666);
  expect(createCache(real).get("key")).toBeUndefined();
});

test("a folder of another user's is left alone", () => {
  const folder = makeFolder();
  createCache(folder).set("key", "text");
  const { uid } = statSync(folder);
  vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(createCache(folder).get("key")).toBeUndefined();
});

test("where nothing can be written, nothing is kept and nothing thrown", () => {
  const file = join(makeFolder(), "file");
  writeFileSync(file, "");
  const cache = createCache(join(file, "folder"));
  cache.set("key", "text");
  expect(cache.get("key")).toBeUndefined();
});

test("beyond some thousands the oldest go", () => {
  const folder = makeFolder();
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < 2000; index++) writeFileSync(join(folder, `old-${index}`), "");
  createCache(folder).set("key", "text");
  expect(readdirSync(folder)).toHaveLength(1001);
  expect(createCache(folder).get("key")).toBe("text");
});
