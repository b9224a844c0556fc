import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { covers } from "../../../../../test/requirements/covers.ts";
import { formatEntries } from "./entries.ts";
import { fileTokens } from "./node-file-store.ts";

vi.mock("node:fs/promises", async (load) => {
  const fs = await load<typeof import("node:fs/promises")>();
  return { ...fs, mkdir: vi.fn(fs.mkdir) };
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "plenum-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const saved = (key: string, value: string): string => formatEntries(new Map([[key, { value }]]));

describe("only its owner can read it", () => {
  test("a new file, in a new folder", async () => {
    covers("security-token-storage-client");
    const folder = await makeFolder();
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const path = join(folder, "deep", "plenum", "tokens.json");
    await fileTokens(path).put("a", "1");
    expect(await modeOf(path)).toBe(0o600);
    expect([await modeOf(join(folder, "deep")), await modeOf(join(folder, "deep", "plenum"))]).toEqual([0o700, 0o700]);
  });

  test.each([0o644, 0o666, 0o640])(
    "one that others could read, as soon as it is read or written (%o)",
    async (mode) => {
      covers("security-token-storage-client");
      const folder = await makeFolder();
      const path = join(folder, "tokens.json");
      for (const use of ["get", "put"] as const) {
        await writeFile(path, saved("a", "1"));
        await chmod(path, mode);
        if (use === "get") expect(await fileTokens(path).get("a")).toBe("1");
        else await fileTokens(path).put("b", "2");
        expect(await modeOf(path)).toBe(0o600);
      }
    },
  );

  test("nobody else's file is changed", async () => {
    const folder = await makeFolder();
    const path = join(folder, "tokens.json");
    await writeFile(path, "{}");
    await chmod(path, 0o644);
    await expect(fileTokens(path).get("a")).rejects.toThrow();
    expect(await modeOf(path)).toBe(0o644);
  });
});

test("it is on the disk before it is in its place, and so is its name in the end", async () => {
  const folder = await makeFolder();
  const path = join(folder, "tokens.json");
  const handle = await open(folder);
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "sync");
  await handle.close();
  const inPlace: boolean[] = [];
  sync.mockImplementation(async () => void inPlace.push(existsSync(path)));
  await fileTokens(path).put("a", "1");
  expect(inPlace).toEqual([false, true]);
});

test("nothing stays beside it", async () => {
  const folder = await makeFolder();
  const store = fileTokens(join(folder, "tokens.json"));
  await store.put("a", "1");
  await store.put("a", "1");
  expect(await store.put("a", "2", { expected: "x" })).toBe(false);
  await store.delete("a");
  expect(await readdir(folder)).toEqual(["tokens.json"]);
});

describe("a link in its place", () => {
  test("is followed, and stays", async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, "real"));
    const [link, real] = [join(folder, "tokens.json"), join(folder, "real", "kept.json")];
    await writeFile(real, saved("a", "1"));
    await symlink(real, link);
    await Promise.all([fileTokens(link).put("b", "2"), fileTokens(real).put("c", "3")]);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    const store = fileTokens(real);
    expect(await Promise.all(["a", "b", "c"].map((key) => store.get(key)))).toEqual(["1", "2", "3"]);
    expect(await modeOf(real)).toBe(0o600);
    expect(await readdir(folder)).toEqual(["real", "tokens.json"]);
  });

  test("is an error if it leads nowhere", async () => {
    const folder = await makeFolder();
    const path = join(folder, "tokens.json");
    await symlink(join(folder, "gone"), path);
    expect(await fileTokens(path).get("a")).toBeUndefined();
    await expect(fileTokens(path).put("a", "1")).rejects.toThrow(`${path} is a link that leads nowhere`);
  });
});

describe("what was not saved here", () => {
  test.each([
    ["broken", '{"version":1,"entries":{"a":{"value":"hunter2"'],
    ["another's", '{"token":"hunter2"}'],
    ["of another version", '{"version":2,"entries":{"a":"hunter2"}}'],
  ])("is not written over, nor shown: %s", async (_, text) => {
    covers("security-token-storage-client");
    const path = join(await makeFolder(), "tokens.json");
    await writeFile(path, text);
    const store = fileTokens(path);
    for (const wrong of [store.get("a"), store.put("a", "1"), store.delete("a")]) {
      const error: Error = await wrong.then(
        () => expect.unreachable(),
        (error) => error,
      );
      expect(error.message).toBe(`${path} holds no tokens that were saved here. Move it away, and log in again`);
      expect(`${error.stack} ${error.cause}`).not.toContain("hunter2");
    }
    expect(await readFile(path, "utf8")).toBe(text);
    // Once it is moved away, the same store goes on.
    await rm(path);
    expect(await store.put("a", "1")).toBe(true);
  });

  test("is not waited for, nor read without end: a pipe, a folder, a file that is too large", async () => {
    const folder = await makeFolder();
    const [pipe, large] = [join(folder, "pipe"), join(folder, "large")];
    execFileSync("mkfifo", [pipe]);
    await writeFile(large, " ".repeat(16_777_217));
    for (const path of [pipe, folder, large])
      await expect(fileTokens(path).get("a")).rejects.toThrow("holds no tokens");
  });

  test("an empty file has nothing to lose", async () => {
    const path = join(await makeFolder(), "tokens.json");
    await writeFile(path, "");
    expect(await fileTokens(path).get("a")).toBeUndefined();
    await fileTokens(path).put("a", "1");
    expect(await fileTokens(path).get("a")).toBe("1");
  });
});

describe("where it cannot be written", () => {
  test("a folder that is none", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "file"), "");
    const path = join(folder, "file", "tokens.json");
    await expect(fileTokens(path).put("a", "1")).rejects.toThrow(`${path} could not be written (ENOTDIR)`);
  });

  test("a folder of others", async () => {
    const folder = await makeFolder();
    const path = join(folder, "tokens.json");
    await fileTokens(path).put("a", "1");
    await chmod(path, 0o644);
    await chmod(folder, 0o555);
    // Root may write anywhere.
    const isRoot = process.geteuid?.() === 0;
    const goBack = async (): Promise<void> => {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o755);
    };
    onTestFinished(goBack);
    if (isRoot) process.seteuid?.(65534);
    const error: unknown = await fileTokens(path)
      .put("a", "2")
      .catch((error) => error);
    const still = await fileTokens(path).get("a");
    await goBack();
    expect(error).toMatchObject({ message: expect.stringContaining(`${path} could not be written (EACCES)`) });
    expect(still).toBe("1");
    expect(await readdir(folder)).toEqual(["tokens.json"]);
  });

  test("more than a file of tokens can be", async () => {
    const folder = await makeFolder();
    const store = fileTokens(join(folder, "tokens.json"));
    await store.put("a", "1");
    await expect(store.put("b", "x".repeat(16_777_216))).rejects.toThrow("is full");
    expect([await store.get("a"), await readdir(folder)]).toEqual(["1", ["tokens.json"]]);
  });
});

describe("the lock", () => {
  const here = hostname()
    .replace(/[^\w-]/g, "_")
    .slice(0, 64);

  /** As somebody leaves it who was ended, or who is at work. */
  async function makeLock(
    ...owner: readonly [pid: number, host: string] | []
  ): Promise<{ path: string; folder: string }> {
    const folder = await makeFolder();
    const path = join(folder, "tokens.json");
    await writeFile(path, saved("a", "1"));
    await mkdir(`${path}.lock`);
    const [pid, host] = owner;
    if (pid !== undefined) await writeFile(join(`${path}.lock`, `${pid}-${randomUUID()}-${host}`), "half of wh");
    return { path, folder };
  }

  /** Seconds pass in milliseconds. */
  function hurry(): void {
    const now = performance.now.bind(performance);
    const start = now();
    vi.spyOn(performance, "now").mockImplementation(() => start + (now() - start) * 100);
  }

  async function isDone(promise: Promise<unknown>, ms: number): Promise<boolean> {
    return Promise.race([promise.then(() => true), delay(ms, false)]);
  }

  test("of a process that was ended is not waited for", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const { path, folder } = await makeLock(pid, here);
    vi.spyOn(performance, "now").mockReturnValue(0);
    await fileTokens(path).put("b", "2");
    expect([await fileTokens(path).get("a"), await readdir(folder)]).toEqual(["1", ["tokens.json"]]);
  });

  test("that is a folder without a draft is nobody's", async () => {
    const { path, folder } = await makeLock();
    vi.spyOn(performance, "now").mockReturnValue(0);
    await fileTokens(path).put("b", "2");
    expect(await readdir(folder)).toEqual(["tokens.json"]);
  });

  test.each([
    ["of a process that lives", process.pid, here],
    ["of another machine", 1, "elsewhere"],
  ])("%s is respected, for some seconds", async (_, pid, host) => {
    const { path, folder } = await makeLock(pid, host);
    const put = fileTokens(path).put("b", "2");
    expect(await isDone(put, 300)).toBe(false);
    hurry();
    await put;
    expect(await readdir(folder)).toEqual(["tokens.json"]);
  });

  test("is waited for only so long", async () => {
    const { path } = await makeLock();
    // Somebody else each time one looks.
    const busy = setInterval(() => {
      const others = readdirSync(`${path}.lock`);
      // Never empty: it would be taken for one that nobody holds.
      writeFileSync(join(`${path}.lock`, `1-${randomUUID()}-elsewhere`), "");
      for (const name of others) rmSync(join(`${path}.lock`, name));
    }, 1);
    await writeFile(join(`${path}.lock`, "x"), "");
    hurry();
    await expect(fileTokens(path).put("b", "2")).rejects.toThrow(/tokens\.json\.lock was in use for 30 s/);
    clearInterval(busy);
    expect(await fileTokens(path).get("a")).toBe("1");
  });

  test("is another's who has made the folder anew", async () => {
    const { path, folder } = await makeLock();
    await rmdir(`${path}.lock`);
    const other = join(`${path}.lock`, `${process.pid}-${randomUUID()}-${here}`);
    // The one that was made here was empty for a moment, and was taken away in it.
    vi.mocked(mkdir).mockImplementationOnce(async (folder) => {
      mkdirSync(folder);
      writeFileSync(other, "");
      return undefined;
    });
    const put = fileTokens(path).put("b", "2");
    expect(await isDone(put, 300)).toBe(false);
    writeFileSync(other, saved("c", "3"));
    renameSync(other, path);
    await put;
    const store = fileTokens(path);
    expect([await store.get("b"), await store.get("c"), await readdir(folder)]).toEqual(["2", "3", ["tokens.json"]]);
  });

  test("taken from one who stood still takes away what he would have written", async () => {
    const folder = await makeFolder();
    const path = join(folder, "tokens.json");
    const store = fileTokens(path);
    await store.put("a", "1");
    // He has read the file, and before he goes on another has written one.
    const now = Date.now.bind(Date);
    let thefts = 0;
    vi.spyOn(Date, "now").mockImplementation(() => {
      if (thefts++ === 0) {
        rmSync(`${path}.lock`, { recursive: true });
        writeFileSync(path, saved("a", "newer"));
      }
      return now();
    });
    await store.put("b", "2");
    vi.restoreAllMocks();
    expect(thefts).toBeGreaterThan(1);
    expect([await store.get("a"), await store.get("b"), await readdir(folder)]).toEqual([
      "newer",
      "2",
      ["tokens.json"],
    ]);
  });
});

test.each([
  ["XDG_CONFIG_HOME", (folder: string) => ({ XDG_CONFIG_HOME: folder, APPDATA: "/elsewhere" }), ""],
  ["APPDATA", (folder: string) => ({ XDG_CONFIG_HOME: "", APPDATA: folder }), ""],
  ["the home folder", (folder: string) => ({ XDG_CONFIG_HOME: "relative", APPDATA: "", HOME: folder }), ".config"],
])("without a path it is in the configuration of the user: %s", async (_, env, below) => {
  const folder = await makeFolder();
  for (const [name, value] of Object.entries(env(folder))) vi.stubEnv(name, value);
  await fileTokens().put("a", "1");
  expect(homedir()).toBeTruthy();
  expect(await readdir(join(folder, below, "plenum"))).toEqual(["tokens.json"]);
});

test.each([[42], [""], [null], [{ path: "tokens.json" }]])("%j is no path", (path) => {
  expect(() => fileTokens(path as string)).toThrow(
    new TypeError("fileTokens takes the path of a file, or nothing for tokens.json in the user's configuration"),
  );
});
