#!/usr/bin/env node
// The program `plenum`. Its version is asked for by scripts and by people in a hurry: for that nothing else is loaded.
import { version } from "../identity.ts";
import { runChunk } from "./chunks.ts";

const [word = "help", ...more] = process.argv.slice(2);
if (more.length === 0 && (word === "--version" || word === "-V")) {
  tellVersion(`plenum ${version}\n`);
} else runChunk("main", word);

/** Not by process.stdout, which takes a stream, unless the reader is slow. That there is none is no error. */
function tellVersion(text: string): void {
  try {
    process.getBuiltinModule("node:fs").writeSync(1, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN") process.stdout.write(text);
    else if (code !== "EPIPE") process.exitCode = 1;
  }
}
