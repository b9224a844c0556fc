// The code of the command line: main.js, one file for each part that is loaded on demand, and chunks of what they share. What
// is in node_modules stays there, the library too.
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** Programs that are started by themselves, beside main: by Node, not by an import. */
const programs = ["dev/extras-hooks", "dev/worker", "load/module-hooks"];

/** Of the library, what every run of the program needs, and what is a few lines without the chunks that it lies in. */
const inlined = ["plenum/util/nearest"];

/**
 * What is loaded together is one file each, with what it imports: what every command starts with, and what those start with
 * that connect to a server. Reading a file and finding it takes Node longer than running what is in most of them.
 */
const groups = {
  // By itself, because `--version` needs nothing else.
  identity: ["identity"],
  core: ["cli", "commands", "command", "failure", "output", "parse"],
  client: [
    ...["session", "target/find", "arguments", "content", "log-lines", "unknown-tool", "progress"],
    ...["ask/answers", "load/server", "load/stdout", "commands/call"],
  ],
};

/** Writes the code of packages/cli into a folder beside its dist. Throws when it cannot be bundled. */
export async function bundleCli(folder, outDir) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const packages = Object.keys({ ...dependencies, ...optionalDependencies });
  const bundled = await rolldown({
    input: Object.fromEntries(["main", ...programs].map((name) => [name, join(folder, "src", `${name}.ts`)])),
    cwd: folder,
    platform: "node",
    external: (id) =>
      !inlined.includes(id) &&
      (id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`))),
    resolve: { conditionNames: ["plenum-source", "import", "node"] },
    transform: { target: "node20" },
    // What is loaded on demand may export more than it says: else each would be a file of its own that leads to another.
    preserveEntrySignatures: false,
  });
  try {
    await bundled.write({
      dir: outDir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minify: false,
      codeSplitting: {
        groups: Object.entries(groups).map(([name, files], at) => ({
          name,
          // What both need is in the first.
          priority: -1 - at,
          test: (id) => files.some((file) => id === join(folder, "src", `${file}.ts`)),
        })),
      },
      sourcemap: false,
      comments: { legal: false, annotation: false, jsdoc: false },
    });
  } finally {
    await bundled.close();
  }
  chmodSync(join(outDir, "main.js"), 0o755);
}
