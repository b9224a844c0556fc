// Packages that only some tests or benchmarks need, and that are many or large: each folder has a package.json and a
// package-lock.json of its own, apart from the workspace, and is installed into .cache when it is asked for. What cannot be
// installed is a failure.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkInstalled, type Lock } from "../scripts/setup.mjs";
import { root } from "./house/source.ts";

const npmMs = 240_000;

/** How long a test should wait for `ensureApart`. */
export const installMs: number = npmMs + 60_000;

const read = (path: string): Lock => JSON.parse(readFileSync(path, "utf8")) as Lock;

/** Where the packages of a folder of this repository are, or will be. */
export function apartFolder(source: string): string {
  return join(root, ".cache", source.replace(/[^a-z0-9]+/g, "-"));
}

/** Why they must be installed, or nothing. */
function missing(source: string): string | undefined {
  const installed = join(apartFolder(source), "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return "they are not installed yet";
  return checkInstalled(read(join(root, source, "package-lock.json")), read(installed));
}

/**
 * Installs what the lock file of a folder names, if it is not there: `test/runtimes`, `bench/peers/v2`. No script of a package is
 * run. Test files run side by side: one of them installs, the others wait. What it says goes to stderr.
 */
export async function ensureApart(source: string): Promise<void> {
  const busy = `${apartFolder(source)}.lock`;
  mkdirSync(join(root, ".cache"), { recursive: true });
  while (missing(source)) {
    try {
      mkdirSync(busy);
    } catch {
      // Another one installs, or was ended while it did.
      if (Date.now() - (statSync(busy, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > installMs) rmdirSync(busy);
      await delay(200);
      continue;
    }
    try {
      const reason = missing(source);
      if (!reason) return;
      process.stderr.write(`installing the packages of ${source} from the npm registry: ${reason}\n`);
      const started = performance.now();
      await install(source);
      process.stderr.write(`installed (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
      const still = missing(source);
      if (still) throw new Error(`The packages of ${source} are installed, but ${still}`);
    } finally {
      rmdirSync(busy);
    }
  }
}

async function install(source: string): Promise<void> {
  const folder = apartFolder(source);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(root, source, name), join(folder, name));
  const args = ["ci", "--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--no-progress"];
  // Under npm, npm_execpath is npm's own script: it needs no shell on any platform.
  const npm = process.env.npm_execpath;
  const [command, all] = npm?.endsWith("js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const child = spawn(command, all, {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    timeout: npmMs,
    shell: command === "npm" && process.platform === "win32",
  });
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`npm ci in ${folder} ended with ${signal ?? code}; what it said is above`));
    });
  });
}
