#!/usr/bin/env node
// The program `plenum`. Its version is asked for by scripts and by people in a hurry: for that nothing else is loaded.
import { version } from "./identity.ts";

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === "--version" || words[0] === "-V")) {
  process.stdout.write(`plenum ${version}\n`);
} else if (words[0]?.startsWith("__")) {
  const { runHidden } = await import("./completion/hidden.ts");
  await runHidden(words);
} else {
  const { runCli } = await import("./cli.ts");
  await runCli(words);
}
