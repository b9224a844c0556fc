// A Worker in one file, as users make them: bundled from the built library, without the conditions of Node.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { build } from "esbuild";
import { root } from "../house/source.ts";

export interface Bundle {
  readonly text: string;
  /** What is imported and not in it. */
  readonly external: readonly string[];
}

/** @param file where to write it */
export async function bundleWorker(entry: string, file: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    target: "es2022",
    external: ["cloudflare:*", "node:*"],
    logLevel: "silent",
  });
  const text = outputFiles[0]?.text ?? "";
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const outputs = Object.values(metafile.outputs);
  return { text, external: outputs.flatMap(({ imports }) => imports.map(({ path }) => path)) };
}
