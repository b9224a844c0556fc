#!/usr/bin/env node
// The program `plenum`. Its version is asked for by scripts and by people in a hurry: for that nothing else is loaded.
import { version } from "../identity.ts";
import { runChunk } from "./chunks.ts";

const [word = "help", ...more] = process.argv.slice(2);
if (more.length === 0 && (word === "--version" || word === "-V")) {
  // Not by process.stdout, which takes a stream.
  process.getBuiltinModule("node:fs").writeSync(1, `plenum ${version}\n`);
} else runChunk("main", word);
