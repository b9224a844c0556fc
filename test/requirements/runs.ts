// What a test run leaves behind for the report: one file a vitest project in .cache/runs, with the digest of the files
// that it ran on, so that the report knows whether it still tells the truth.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cover } from "./covers.ts";

/**
 * The projects of vitest.config.ts whose tests may name requirements. Those that run the feature suites over HTTP name the
 * same ones once more, and are not looked at for that.
 */
export const projects = ["unit", "suite"] as const;

export interface Run {
  readonly project: string;
  /** `digestTree()` when the run began. */
  readonly digest: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What the passed tests named, with the test that did. */
  readonly covers: readonly (Cover & { readonly test: string })[];
}

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, ".cache", "runs");

/** What decides how a test ends. exempt.yaml is left out: it is read by the report alone. */
const inputs = ["packages", "test", "examples", "scripts", "package.json", "package-lock.json", "vitest.config.ts"];
const ignored = new Set(["node_modules", "dist", ".dist", "exempt.yaml"]);

/** A digest of names and contents of all files that tests depend on. */
export function digestTree(): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    const full = join(root, path);
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) if (!ignored.has(name)) add(`${path}/${name}`);
    } else {
      hash.update(`${path}\0`).update(readFileSync(full)).update("\0");
    }
  };
  for (const input of inputs) if (existsSync(join(root, input))) add(input);
  return hash.digest("hex");
}

export function writeRun(run: Run): void {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, `${run.project}.json`), `${JSON.stringify(run)}\n`);
}

/** The last run of a project, if there is one. */
export function readRun(project: string): Run | undefined {
  const path = join(cache, `${project}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Run) : undefined;
}
