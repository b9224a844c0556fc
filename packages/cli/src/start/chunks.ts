// Loads the code of this program. It is built as chunks that lie in scripts, not modules, because of scripts every Node that we
// run on can keep what it compiled: most of a short run would be spent on compiling. `scripts/bundle-cli.mjs` makes them: the
// value of a file is an object of chunks, each a function that is given what `Surroundings` has.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { type Cache, findCacheFolder, makeOwn, openCache } from "./cache.ts";

/** A digest of all chunks, put here by the build: V8 compares no more of a text than its length. */
declare const buildId: string;
/** The file that has these chunks; each of the others is one of its own. */
declare const startFile: string;
declare const startChunks: readonly string[];

/** What a chunk is called with, in this order. */
type Surroundings = [
  exports: object,
  /** Another chunk, a module of Node's, or a package that was loaded before. */
  require: (id: string) => unknown,
  module: { exports: object },
  filename: string,
  /** A chunk on demand, after the packages that it imports. */
  open: (id: string, packages: readonly string[]) => Promise<unknown>,
  /** Anything else on demand. */
  importModule: (id: string) => Promise<unknown>,
];

const folder = join(import.meta.dirname, "chunks");
const chunks = new Map<string, (...given: Surroundings) => void>();
const modules = new Map<string, { exports: object }>();
const packages = new Map<string, unknown>();
/** Scripts of which nothing is kept yet. */
const unkept = new Map<string, Script>();

let cache: Cache | undefined;
/** What is compiled differs from one command to another, and what is kept and not used takes time too. */
let purpose = "";

/** @param name of the chunk that the program begins with, as "main" @param command what it is for, as far as that is known */
export function runChunk(name: string, command: string): void {
  // The variable is Node's own, for the same thing.
  if (!process.env.NODE_DISABLE_COMPILE_CACHE) {
    cache = openCache("code", { maxEntries: 100 });
    keepModules();
  }
  purpose = /^[a-z]{1,20}$/.test(command) ? command : "other";
  process.once("exit", keep);
  load(`./${name}.cjs`);
}

/**
 * From Node 22.8 on, what it compiled of a server's files is kept too. Not where Node would keep it, which is a folder that all
 * users of a machine share.
 */
function keepModules(): void {
  const { enableCompileCache } = process.getBuiltinModule("node:module") as {
    enableCompileCache?(folder: string): unknown;
  };
  if (!enableCompileCache) return;
  try {
    const folder = join(findCacheFolder(), "modules");
    if (makeOwn(folder)) enableCompileCache(folder);
  } catch {
    // A user may have no home, or none that can be written to.
  }
}

function load(id: string): object {
  const known = modules.get(id);
  if (known) return known.exports;
  const name = startChunks.includes(id) ? startFile : id;
  const path = join(folder, name);
  if (!chunks.has(id)) readChunks(name, path);
  const run = chunks.get(id);
  if (!run)
    throw new Error(`${path} has no ${id}: it was changed while plenum ran, or is not whole. Install it again.`);
  const module = { exports: {} };
  modules.set(id, module);
  try {
    run(module.exports, require, module, path, open, importModule);
  } catch (error) {
    // Half of it is not to be had by the next who asks.
    modules.delete(id);
    throw error;
  }
  return module.exports;
}

function readChunks(name: string, path: string): void {
  const key = [buildId, process.version, process.arch, ...flags(), purpose, name.replace("./", "")].join("-");
  const cachedData = toSound(cache?.get(key));
  const script = new Script(readFileSync(path, "latin1"), {
    filename: path,
    cachedData,
  });
  if (!cachedData || script.cachedDataRejected) unkept.set(key, script);
  for (const [id, run] of Object.entries(script.runInThisContext())) chunks.set(id, run as () => void);
}

/**
 * V8 does not notice damage within what it is given, and crashes. It is kept twice: to compare the two takes a hundredth of
 * the time that a checksum takes.
 */
function toSound(both: Buffer | undefined): Buffer | undefined {
  const one = both?.subarray(0, both.length / 2);
  return one && both?.subarray(one.length).equals(one) ? one : undefined;
}

/** V8 refuses what was compiled with other flags than its own. Most runs have none, and need not look closer. */
function flags(): string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ").trim();
  if (given === "") return [];
  const { createHash } = process.getBuiltinModule("node:crypto");
  return [createHash("sha256").update(given).digest("hex").slice(0, 8)];
}

function require(id: string): unknown {
  if (id.startsWith("./")) return load(id);
  return packages.get(id) ?? process.getBuiltinModule(id);
}

async function open(id: string, needed: readonly string[]): Promise<unknown> {
  await Promise.all(needed.map(async (name) => packages.set(name, await importModule(name))));
  return load(id);
}

function importModule(id: string): Promise<unknown> {
  return import(id);
}

/** At the end, when all is compiled that such a run needs. What went wrong is not kept: it may be no command at all. */
function keep(exitCode: number): void {
  if (exitCode !== 0) return;
  for (const [key, script] of unkept) {
    const data = script.createCachedData();
    cache?.set(key, Buffer.concat([data, data]));
  }
}
