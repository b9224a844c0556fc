// Tools and modules of others that only the tests over HTTP need. They are many and large, so they are not among the
// workspace's dependencies: peers/package-lock.json names them, and they are installed into .cache when a test needs them.
// (`overrides` is there because `npm ci` does not take a lock file with two versions of a package of many platforms.)
import { existsSync } from "node:fs";
import { join } from "node:path";
import { apartFolder } from "../apart.ts";
import type { Command } from "./harness.ts";

/** The folder that names them. */
export const peers = "test/interop/peers";

/** A file of an installed package. */
export function peerFile(...path: string[]): string {
  return join(apartFolder(peers), "node_modules", ...path);
}

/** A program of an installed package. They need a newer Node than this library: it is installed with them. */
export function peerProgram(file: readonly string[], ...args: string[]): Command {
  return { command: newNode(), args: [peerFile(...file), ...args] };
}

function newNode(): string {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const path = peerFile(name, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (!existsSync(path)) throw new Error(`There is no package ${name}: run these tests with Node 24 or newer.`);
  return path;
}
