// The file is written whole or not at all, and whoever else writes it meanwhile loses nothing.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readText, updateFile } from "./config-file.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plenum-file-"));
  onTestFinished(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** Root may do anything: what others may not is tried as another user. */
async function asNobody(folder: string, run: () => Promise<void>): Promise<void> {
  if (!isRoot) return run();
  chownSync(folder, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await run();
  } finally {
    process.seteuid?.(0);
  }
}

test("the file before the last change is kept, and nothing else is left behind", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  writeFileSync(path, "one", { mode: 0o640 });
  expect(await updateFile(path, (text) => `${text} two`)).toEqual({ isChanged: true, backup: `${path}.plenum.bak` });
  await updateFile(path, (text) => `${text} three`);
  expect(await updateFile(path, (text) => text)).toEqual({ isChanged: false, backup: undefined });
  expect(readFileSync(path, "utf8")).toBe("one two three");
  expect(readFileSync(`${path}.plenum.bak`, "utf8")).toBe("one two");
  expect(readdirSync(folder)).toEqual(["a.json", "a.json.plenum.bak"]);
  expect([path, `${path}.plenum.bak`].map((one) => statSync(one).mode & 0o777)).toEqual([0o640, 0o640]);
});

test("a file that is not there is made, for its owner alone", async () => {
  const path = join(makeFolder(), "a.json");
  expect(await readText(path)).toBeUndefined();
  expect(await updateFile(path, (text) => `${text}x`)).toEqual({ isChanged: true, backup: undefined });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a link stays a link, also one that leads to nothing yet", async () => {
  const [folder, elsewhere] = [makeFolder(), makeFolder()];
  const path = join(folder, "a.json");
  symlinkSync(join(elsewhere, "real.json"), path);
  await updateFile(path, () => "one");
  await updateFile(path, () => "two");
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readdirSync(elsewhere)).toEqual(["real.json", "real.json.plenum.bak"]);
  expect(readFileSync(path, "utf8")).toBe("two");
});

test("a byte order mark stays where it is", async () => {
  const path = join(makeFolder(), "a.json");
  writeFileSync(path, "\ufeffone");
  await updateFile(path, (text) => (text === "one" ? "two" : "wrong"));
  expect(readFileSync(path, "utf8")).toBe("\ufefftwo");
});

test("who edits it between reading and writing loses nothing", async () => {
  const path = join(makeFolder(), "a.json");
  writeFileSync(path, "one");
  let rounds = 0;
  await updateFile(path, (text) => {
    rounds++;
    if (rounds === 1) writeFileSync(path, `${text} host`);
    return `${text} ours`;
  });
  expect(readFileSync(path, "utf8")).toBe("one host ours");
  expect(rounds).toBe(2);
});

test("one that is changed all the time is given up, and is as the other left it", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  writeFileSync(path, "0");
  let rounds = 0;
  const edit = (text: string): string => {
    writeFileSync(path, String(++rounds));
    return `${text} ours`;
  };
  await expect(updateFile(path, edit)).rejects.toMatchObject({ code: "locked" });
  expect(readFileSync(path, "utf8")).toBe(String(rounds));
  expect(readdirSync(folder)).toEqual(["a.json"]);
});

test("fifty at once: each change is there", async () => {
  const path = join(makeFolder(), "a.json");
  await Promise.all(Array.from({ length: 50 }, (_, index) => updateFile(path, (text) => `${text}<${index}>`)));
  const text = readFileSync(path, "utf8");
  for (let index = 0; index < 50; index++) expect(text).toContain(`<${index}>`);
});

test("a lock that was left behind is taken away", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  const lock = join(folder, ".a.json.plenum-lock");
  // Of a process that is gone, and of one that runs but has forgotten it.
  writeFileSync(lock, "999999999 x\n");
  await updateFile(path, () => "one");
  writeFileSync(lock, `${process.pid} x\n`);
  utimesSync(lock, new Date(0), new Date(0));
  await updateFile(path, () => "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(existsSync(lock)).toBe(false);
});

test("what one that was killed left behind is taken away, and nothing else", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  const names = [".a.json.plenum-0123456789abcdef.tmp", ".b.json.plenum-fedcba9876543210.tmp", ".a.json.tmp", "x.tmp"];
  for (const name of names) {
    writeFileSync(join(folder, name), "secret");
    utimesSync(join(folder, name), new Date(0), new Date(0));
  }
  // Somebody is writing this one.
  writeFileSync(join(folder, ".c.json.plenum-0123456789abcdef.tmp"), "new");
  await updateFile(path, () => "one");
  expect(readdirSync(folder).sort()).toEqual([".a.json.tmp", ".c.json.plenum-0123456789abcdef.tmp", "a.json", "x.tmp"]);
});

test("a file that is not there gets the mode that is asked for, less what the process takes away", async () => {
  const path = join(makeFolder(), "a.json");
  await updateFile(path, () => "one", 0o666);
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
});

test.each(["EFBIG", "EDQUOT", "ENOSPC"])("%s has words", async (code) => {
  const path = join(makeFolder(), "a.json");
  const fail = (): never => {
    throw Object.assign(new Error(`${code}: raw, write`), { code });
  };
  await expect(updateFile(path, fail)).rejects.toMatchObject({ message: expect.not.stringContaining("raw") });
});

test("no permission to write the file: it says so, and the file is as it was", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  writeFileSync(path, "one", { mode: 0o444 });
  if (isRoot) chownSync(path, nobody, nobody);
  await asNobody(folder, async () => {
    await expect(updateFile(path, () => "two")).rejects.toMatchObject({
      exit: "usage",
      code: "no_permission",
      message: expect.stringContaining(path),
    });
  });
  expect(readFileSync(path, "utf8")).toBe("one");
  expect(readdirSync(folder)).toEqual(["a.json"]);
});

test("no permission to write its folder, or to read the file", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.json");
  writeFileSync(path, "one", { mode: 0o600 });
  if (isRoot) chownSync(path, nobody, nobody);
  chmodSync(folder, 0o500);
  await asNobody(folder, async () => {
    await expect(updateFile(path, () => "two")).rejects.toMatchObject({ code: "no_permission" });
    chmodSync(path, 0o000);
    await expect(readText(path)).rejects.toMatchObject({ code: "no_permission" });
    chmodSync(path, 0o600);
  });
  expect(readFileSync(path, "utf8")).toBe("one");
});

test("an owner stays the owner", async () => {
  const path = join(makeFolder(), "a.json");
  writeFileSync(path, "one");
  // Only root can give a file away.
  if (isRoot) chownSync(path, nobody, nobody);
  const { uid } = statSync(path);
  await updateFile(path, () => "two");
  expect([path, `${path}.plenum.bak`].map((one) => statSync(one).uid)).toEqual([uid, uid]);
});

test("what is no file, or no text, is refused", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "a.json"));
  await expect(updateFile(join(folder, "a.json"), () => "x")).rejects.toMatchObject({ code: "not_a_file" });
  writeFileSync(join(folder, "b.json"), Buffer.from([0x7b, 0xff, 0x7d]));
  await expect(updateFile(join(folder, "b.json"), () => "x")).rejects.toMatchObject({ code: "broken_file" });
  await expect(updateFile(join(folder, "b.json", "c.json"), () => "x")).rejects.toMatchObject({ code: "file_trouble" });
});

test("a file that is too large to be settings is not read", async () => {
  const path = join(makeFolder(), "large.json");
  writeFileSync(path, " ".repeat(4 * 1024 * 1024));
  expect(await readText(path)).toHaveLength(4 * 1024 * 1024);
  writeFileSync(path, " ".repeat(4 * 1024 * 1024 + 1));
  await expect(readText(path)).rejects.toMatchObject({
    exit: "usage",
    code: "broken_file",
    message: expect.stringContaining("4194305 bytes"),
    hint: expect.stringContaining("Nothing was changed"),
  });
});
