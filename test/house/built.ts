// The built library for tests that look at it: built here if it is not that of the present source.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "../../scripts/build.mjs";
import { listFiles, root } from "./source.ts";

export const packageFolder: string = join(root, "packages", "plenum");
const lock = join(root, ".cache", "build.lock");

/** What dist is made from. */
function listSources(): string[] {
  const src = listFiles(join(packageFolder, "src"), ".ts").filter((path) => !path.endsWith(".test.ts"));
  return src.map((path) => join(packageFolder, "src", path));
}

function isFresh(): boolean {
  const dist = join(packageFolder, "dist");
  const sources = listSources();
  // Declarations mirror the source file by file: one more or less says that dist is of another.
  if (listFiles(dist, ".d.ts").length !== sources.length) return false;
  const timeOf = (path: string): number => statSync(path).mtimeMs;
  const made = Math.min(...listFiles(dist, ".js").map((path) => timeOf(join(dist, path))));
  const scripts = ["build.mjs", "bundle.mjs"].map((name) => join(root, "scripts", name));
  return [...sources, ...scripts, join(packageFolder, "package.json")].every((path) => timeOf(path) <= made);
}

/** Whether it is there and fresh. While another test file puts it in its place, it may be gone from one look to the next. */
function isReady(): boolean {
  try {
    return isFresh();
  } catch {
    return false;
  }
}

/** Makes sure that dist is built from the source as it is. Test files run at the same time; only one of them builds. */
export async function ensureBuilt(): Promise<void> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const giveUp = Date.now() + 30_000;
  while (!isReady()) {
    try {
      mkdirSync(lock);
    } catch {
      // Another test file builds, or one was ended while it did.
      if (Date.now() > giveUp) rmdirSync(lock);
      await delay(50);
      continue;
    }
    try {
      if (!(await build("plenum"))) throw new Error("the library does not compile: npm run build");
    } finally {
      rmdirSync(lock);
    }
  }
}

/** What npm would pack: the paths in the package, and the bytes of all files together. */
export function pack(): { readonly paths: readonly string[]; readonly bytes: number } {
  const npm = process.env.npm_execpath;
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [command, all] = npm?.endsWith("js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const output = execFileSync(command, all, {
    cwd: packageFolder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: command === "npm" && process.platform === "win32",
  });
  type Packed = { files: { path: string }[]; unpackedSize: number };
  const packed = Object.values(JSON.parse(output) as Record<string, Packed>)[0];
  return { paths: packed?.files.map(({ path }) => path) ?? [], bytes: packed?.unpackedSize ?? 0 };
}
