// The built library and command line for tests that look at them: built here if they are not those of the present source.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { build, buildCli } from "../../scripts/build.mjs";
import { listFiles, root } from "./source.ts";

export const packageFolder: string = join(root, "packages", "plenum");
const cliFolder = join(root, "packages", "cli");

/** What the dist of a package is made from. */
function listSources(folder: string): string[] {
  const src = listFiles(join(folder, "src"), ".ts").filter((path) => !path.endsWith(".test.ts"));
  return src.map((path) => join(folder, "src", path));
}

/** @param scripts what builds it */
function isFresh(folder: string, scripts: readonly string[]): boolean {
  const dist = join(folder, "dist");
  const timeOf = (path: string): number => statSync(path).mtimeMs;
  const made = Math.min(
    ...[".js", ".cjs"].flatMap((ending) => listFiles(dist, ending)).map((path) => timeOf(join(dist, path))),
  );
  const own = ["build.mjs", ...scripts].map((name) => join(root, "scripts", name));
  return [...listSources(folder), ...own, join(folder, "package.json")].every((path) => timeOf(path) <= made);
}

/** Whether it is there and fresh. While another test file puts it in its place, it may be gone from one look to the next. */
function isReady(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}

/** Makes sure that dist is built from the source as it is. Test files run at the same time; only one of them builds. */
export function ensureBuilt(): Promise<void> {
  const isOfSource = (): boolean => {
    // Declarations mirror the source file by file: one more or less says that dist is of another.
    const declared = listFiles(join(packageFolder, "dist"), ".d.ts").length;
    return declared === listSources(packageFolder).length && isFresh(packageFolder, ["bundle.mjs"]);
  };
  return ensure("build.lock", isOfSource, build);
}

/** The same for the command line and the library that it uses. Gives the path of its program. */
export async function ensureCli(): Promise<string> {
  await ensureBuilt();
  await ensure("build-cli.lock", () => isFresh(cliFolder, ["bundle-cli.mjs"]), buildCli);
  return join(cliFolder, "dist", "main.cjs");
}

async function ensure(name: string, look: () => boolean, make: () => Promise<boolean>): Promise<void> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const lock = join(root, ".cache", name);
  const giveUp = Date.now() + 30_000;
  while (!isReady(look)) {
    try {
      mkdirSync(lock);
    } catch {
      // Another test file builds, or one was ended while it did.
      if (Date.now() > giveUp) rmdirSync(lock);
      await delay(50);
      continue;
    }
    try {
      if (!(await make())) throw new Error("it does not compile: npm run build");
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
