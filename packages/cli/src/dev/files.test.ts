// Watching files: what counts as a change, however it comes about.
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Files, watchFiles } from "./files.ts";

interface Stage {
  readonly folder: string;
  readonly files: Files;
  /** Settles at the next change. */
  next(): Promise<void>;
  readonly count: () => number;
}

function openStage(names: readonly string[] = ["a.ts"]): Stage {
  const folder = mkdtempSync(join(tmpdir(), "plenum-files-"));
  let count = 0;
  let wake = (): void => {};
  const files = watchFiles(() => {
    count++;
    wake();
  });
  onTestFinished(() => {
    files.close();
    rmSync(folder, { recursive: true });
  });
  for (const name of names) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), "1");
    // Long ago: not while it was read.
    utimesSync(join(folder, name), 1, 1);
  }
  files.begin();
  for (const name of names) files.add(join(folder, name));
  files.commit();
  return {
    folder,
    files,
    count: () => count,
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

test.each<[string, (path: string) => void]>([
  ["written in place", (path) => writeFileSync(path, "22")],
  [
    "replaced by another",
    (path) => {
      writeFileSync(`${path}~`, "2");
      renameSync(`${path}~`, path);
    },
  ],
  [
    "moved away and written anew",
    (path) => {
      renameSync(path, `${path}~`);
      writeFileSync(path, "2");
    },
  ],
  ["touched", (path) => utimesSync(path, 2, 2)],
])("a file that is %s has changed", async (_, change) => {
  const { folder, next, count } = openStage();
  const changed = next();
  change(join(folder, "a.ts"));
  await changed;
  expect(count()).toBe(1);
});

test("changes that come together are told once, and what is no file of the server's is not", async () => {
  const { folder, next, count } = openStage(["a.ts", "parts/b.ts"]);
  const changed = next();
  writeFileSync(join(folder, "log.txt"), "no file of the server's");
  writeFileSync(join(folder, "a.ts"), "22");
  writeFileSync(join(folder, "parts", "b.ts"), "22");
  await changed;
  // Whatever the file system still has to say of them.
  const another = next();
  writeFileSync(join(folder, "parts", "b.ts"), "333");
  await another;
  expect(count()).toBe(2);
});

test("a folder may be made anew", async () => {
  const { folder, next } = openStage(["parts/b.ts"]);
  rmSync(join(folder, "parts"), { recursive: true });
  const changed = next();
  mkdirSync(join(folder, "parts"));
  writeFileSync(join(folder, "parts", "b.ts"), "22");
  await changed;
});

test("a file that changes while it is loaded has changed", () => {
  const { folder, files, count } = openStage();
  files.begin();
  writeFileSync(join(folder, "a.ts"), "22");
  files.add(join(folder, "a.ts"));
  files.commit();
  expect(count()).toBe(1);
});

test("one that is heard of for the first time, and is as new as that, may have: it is looked at once more, and once", () => {
  const { folder, files, count } = openStage();
  const load = (): void => {
    files.begin();
    files.add(join(folder, "a.ts"));
    files.add(join(folder, "new.ts"));
    files.commit();
  };
  writeFileSync(join(folder, "new.ts"), "1");
  load();
  expect(count()).toBe(1);
  load();
  expect(count()).toBe(1);
});

test("after a failure a file of code that comes is a reason to try again, another is not", async () => {
  const { folder, files, next, count } = openStage();
  files.begin();
  files.fail();
  writeFileSync(join(folder, "notes.txt"), "1");
  const changed = next();
  writeFileSync(join(folder, "missing.ts"), "1");
  await changed;
  expect(count()).toBe(1);
});

test("a file that the new version does not have is not watched any more", () => {
  const { folder, files, count } = openStage(["a.ts", "b.ts"]);
  files.begin();
  files.add(join(folder, "a.ts"));
  writeFileSync(join(folder, "b.ts"), "22");
  files.commit();
  expect(count()).toBe(0);
});

test("files of installed packages are not watched", () => {
  const { folder, files, count } = openStage();
  const path = join(folder, "node_modules", "x", "index.js");
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "1");
  files.begin();
  files.add(join(folder, "a.ts"));
  files.add(path);
  files.commit();
  expect(count()).toBe(0);
});
