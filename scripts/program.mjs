// Makes one plain file of a TypeScript program of this workspace, and starts it:
//   node scripts/program.mjs test/conformance/server.ts --port 3000
// The file is made anew only when something that it was made of has changed, so that starting it costs next to nothing.
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Size and time of each file that went into a bundle, by its path. */
function stampOf(paths) {
  return Object.fromEntries(
    paths.map((path) => {
      const found = statSync(join(root, path), { throwIfNoEntry: false });
      return [path, found && `${found.size} ${found.mtimeMs}`];
    }),
  );
}

function isFresh(bundle, stamp) {
  if (!existsSync(bundle) || !existsSync(stamp)) return false;
  try {
    const made = JSON.parse(readFileSync(stamp, "utf8"));
    return JSON.stringify(stampOf(Object.keys(made))) === JSON.stringify(made);
  } catch {
    return false;
  }
}

/** Another process may make the same at the same time: nobody may see half a file. */
function writeWhole(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/** The path of the program as one file. */
export async function bundleProgram(path) {
  const folder = join(root, ".cache", "programs");
  const bundle = join(folder, `${path.replace(/[^a-z0-9]+/gi, "-")}.mjs`);
  const stamp = `${bundle}.json`;
  if (isFresh(bundle, stamp)) return bundle;
  const { build } = await import("esbuild");
  const { metafile, outputFiles } = await build({
    entryPoints: [path],
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["plenum-source"],
    metafile: true,
    write: false,
    outfile: bundle,
  });
  mkdirSync(folder, { recursive: true });
  // How modules are found is part of what it was made of.
  const inputs = [...Object.keys(metafile.inputs), "packages/plenum/package.json", "scripts/program.mjs"];
  const made = JSON.stringify(stampOf(inputs));
  writeWhole(bundle, outputFiles[0].text);
  writeWhole(stamp, made);
  return bundle;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [, , path, ...args] = process.argv;
  if (path) {
    const bundle = await bundleProgram(path);
    process.argv = [process.argv[0], bundle, ...args];
    await import(pathToFileURL(bundle).href);
  } else {
    console.error("usage: node scripts/program.mjs <program.ts> [arguments]");
    process.exitCode = 2;
  }
}
