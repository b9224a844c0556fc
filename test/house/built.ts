// The built library for tests that look at it: built here if it is not that of the present source.
import { existsSync, mkdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "../../scripts/build.mjs";
import { listFiles, root } from "./source.ts";

export const packageFolder: string = join(root, "packages", "plenum");
const lock = join(root, ".cache", "build.lock");

function isFresh(): boolean {
  const [src, dist] = [join(packageFolder, "src"), join(packageFolder, "dist")];
  if (!existsSync(dist)) return false;
  const sources = listFiles(src, ".ts").filter((path) => !path.endsWith(".test.ts"));
  if (listFiles(dist, ".js").length !== sources.length) return false;
  return sources.every((path) => {
    const output = join(dist, path.replace(/\.ts$/, ".js"));
    return existsSync(output) && statSync(output).mtimeMs >= statSync(join(src, path)).mtimeMs;
  });
}

/** Makes sure that dist is built from the source as it is. Test files run at the same time; only one of them builds. */
export async function ensureBuilt(): Promise<void> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const giveUp = Date.now() + 30_000;
  while (!isFresh()) {
    try {
      mkdirSync(lock);
    } catch {
      // Another test file builds, or one was ended while it did.
      if (Date.now() > giveUp) rmdirSync(lock);
      await delay(50);
      continue;
    }
    try {
      if (!build("plenum")) throw new Error("the library does not compile: npm run build");
    } finally {
      rmdirSync(lock);
    }
  }
}
