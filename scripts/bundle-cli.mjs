// The code of the command line: main.js, one file for each part that is loaded on demand, and chunks of what they share. What
// is in node_modules stays there, the library too.
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** Programs that are started by themselves, beside main: by Node, not by an import. */
const programs = [];

/** Writes the code of packages/cli into a folder beside its dist. Throws when it cannot be bundled. */
export async function bundleCli(folder, outDir) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const packages = Object.keys({ ...dependencies, ...optionalDependencies });
  const bundled = await rolldown({
    input: Object.fromEntries(["main", ...programs].map((name) => [name, join(folder, "src", `${name}.ts`)])),
    cwd: folder,
    platform: "node",
    external: (id) => id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: "node20" },
  });
  try {
    await bundled.write({
      dir: outDir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minify: false,
      sourcemap: false,
      comments: { legal: false, annotation: false, jsdoc: false },
    });
  } finally {
    await bundled.close();
  }
  chmodSync(join(outDir, "main.js"), 0o755);
}
