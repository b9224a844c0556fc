#!/usr/bin/env node
// The program `plenum`. Its version is asked for by scripts and by people in a hurry: for that nothing else is loaded.
import { version } from "./identity.ts";

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-V")) {
  // Not by process.stdout, which takes a stream, and not by an import, which takes all of node:fs.
  process.getBuiltinModule("node:fs").writeSync(1, `plenum ${version}\n`);
} else if (words[0]?.startsWith("__")) {
  keepCompiled();
  const { runHidden } = await import("./completion/hidden.ts");
  await runHidden(words);
} else {
  keepCompiled();
  const { runCli } = await import("./cli.ts");
  await runCli(words);
}

/** From Node 22.8 on, code that was compiled once is kept for the next run, in a folder for temporary files. */
function keepCompiled(): void {
  const module = process.getBuiltinModule("node:module") as { enableCompileCache?(): unknown };
  module.enableCompileCache?.();
}
