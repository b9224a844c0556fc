// Builds packages/plenum: declarations mirror src file by file, and the code is bundled (see bundle.mjs). Builds packages/cli:
// code alone, since nobody imports it. The output is made beside the old one and takes its place when it is whole, so that dist
// never holds files of two builds.
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { bundleCli } from "./bundle-cli.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The compiler rewrites `./x.ts` to `./x.js` in code but not in declarations. */
export function rewriteDeclaration(text) {
  return text.replace(/(\b(?:from|import)\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]*)\.ts\2/g, "$1$2$3.js$2");
}

/** The page as it is packed: what it links to in this repository is not in the package, so that the words stay and the links go. */
export function toPackaged(page) {
  return page.replace(/\[((?:`[^`\n]*`|[^[\]`])+)\]\((?![a-z]+:|#|LICENSE\))[^()\s]*\)/g, "$1");
}

/** Builds the library; returns whether it went well. The compiler's messages go to this process's output. */
export async function build() {
  const folder = join(root, "packages", "plenum");
  const fresh = join(folder, ".dist");
  rmSync(fresh, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [
    tsc,
    "-p",
    join(folder, "tsconfig.json"),
    "--outDir",
    fresh,
    "--noEmitOnError",
    "--emitDeclarationOnly",
  ];
  if (spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    return false;
  }
  await bundle(folder, fresh);
  for (const file of readdirSync(fresh, { recursive: true })) {
    const path = join(fresh, file);
    if (file.endsWith(".d.ts")) writeFileSync(path, rewriteDeclaration(readFileSync(path, "utf8")));
  }
  settle(folder, fresh, readFileSync(join(root, "README.md"), "utf8"));
  return true;
}

/** Builds the command line; returns whether it went well. */
export async function buildCli() {
  const folder = join(root, "packages", "cli");
  const fresh = join(folder, ".dist");
  rmSync(fresh, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const checked = spawnSync(process.execPath, [tsc, "-p", join(folder, "tsconfig.json")], {
    cwd: root,
    stdio: "inherit",
  });
  if (checked.status !== 0) return false;
  await bundleCli(folder, fresh);
  settle(folder, fresh, readFileSync(join(root, "docs", "cli.md"), "utf8"));
  return true;
}

/** Puts what was built in its place, with what npm packs from the package's own folder. */
function settle(folder, fresh, page) {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "README.md"), toPackaged(page));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (!((await build()) && (await buildCli()))) {
    console.error("build: the compiler found errors, dist is left as it was");
    process.exitCode = 1;
  }
}
