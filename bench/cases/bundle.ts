// What a bundle weighs, minified and compressed: a server of one tool for the edge, a client over HTTP. Each bundle is run; what
// counts is what it has loaded by the time the first call is answered.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";
import { root } from "../../test/house/source.ts";
import { programs } from "../bundles/programs.ts";
import { baselineName, type Case, type Target } from "../case.ts";
import { findPort, startNode, startProgram, stop, waitForPort } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";
import { targets } from "../targets.ts";

interface Bundle {
  readonly folder: string;
  readonly options: BuildOptions;
}

interface Row {
  readonly text: string | undefined;
  readonly external?: readonly string[];
}

/** `server` and `client` are whole: all that must be put online. What zod weighs can be told from the others. */
function rowsOf({ name }: Target): { readonly [variant: string]: Row } {
  const { server, zodServer, client } = programs[name] ?? {};
  const external = ["zod", "zod/*"];
  return {
    server: { text: server ?? zodServer },
    "server, zod": { text: server && zodServer },
    "server, zod left out": { text: zodServer, external },
    client: { text: client },
    "client, zod left out": { text: name === "plenum" ? undefined : client, external },
  };
}

const entry = "program.js";
const maxMs = 20_000;

/** Stands before each file when it is run, and tells which are loaded; not in what is weighed. */
const note = "(globalThis.loadedFiles ??= new Set()).add(import.meta.url);";

function optionsOf(target: Target, { text = "", external = [] }: Row): BuildOptions {
  return {
    stdin: { contents: text, resolveDir: target.home, sourcefile: entry, loader: "js" },
    entryNames: "program",
    absWorkingDir: root,
    outdir: "out",
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*", ...external],
    logLevel: "silent",
  };
}

const kb = (texts: readonly Uint8Array[]): number | null =>
  round(gzipSync(Buffer.concat(texts), { level: 9 }).length / 1000, 1);

/** The names of the files that are loaded when the first call is answered. */
async function run(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<readonly string[]> {
  for (const [name, contents] of files) writeFileSync(join(folder, name), `${note}${Buffer.from(contents)}`);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const bare = targets.find(({ name }) => name === baselineName) as Target;
  const port = await findPort();
  const server = startProgram(bare, ["server.mjs", "http", "session-json", "{port}"], { port });
  try {
    await waitForPort(port, server);
    const check = join(root, "bench", "bundles", "check.mjs");
    const checked = startNode([check, join(folder, entry), `http://127.0.0.1:${port}/mcp`], {
      stdio: ["ignore", "pipe"],
    });
    let output = "";
    checked.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    await Promise.race([checked.ended, delay(maxMs, undefined, { ref: false })]);
    await stop(checked);
    const { text, loaded } = JSON.parse(output || "{}") as { text?: string; loaded?: string[] };
    if (text !== "hello" || !loaded) throw new Error(`the bundle does not work: ${output || checked.stderr}`);
    return loaded.map((url) => basename(new URL(url).pathname));
  } finally {
    await stop(server);
  }
}

export const bundle: Case<Bundle> = {
  name: "bundle",
  help: "a bundled server of one tool (fetch handler) and a bundled client over HTTP, minified and compressed",
  better: { gzipKb: "low" },
  repeats: 1,
  isSteady: true,
  variants: (target) => Object.entries(rowsOf(target)).flatMap(([variant, { text }]) => (text ? [variant] : [])),
  baseline: () => undefined,
  async setup(target, variant) {
    const row = rowsOf(target)[variant];
    if (!row?.text) throw new Error(`${target.name} has no program for ${variant}`);
    // Within reach of what is left out of the bundle, and not among the sources.
    const cache = join(root, ".cache");
    const home = target.home.startsWith(cache) ? target.home : join(cache, `bench-bundle-${target.name}`);
    const folder = join(home, variant.replace(/\W+/g, "-"));
    mkdirSync(folder, { recursive: true });
    return { folder, options: optionsOf(target, row) };
  },
  async measure({ folder, options }) {
    const { outputFiles = [], metafile } = await build({ ...options, write: false, metafile: true });
    const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
    const atStart = new Set<string>();
    const visit = (path: string): void => {
      if (atStart.has(basename(path))) return;
      atStart.add(basename(path));
      for (const { path: imported, kind, external } of metafile.outputs[path]?.imports ?? [])
        if (kind === "import-statement" && !external) visit(imported);
    };
    visit(`out/${entry}`);
    const pick = (names: Iterable<string>): Uint8Array[] => [...names].flatMap((name) => files.get(name) ?? []);
    const loaded = pick(await run(folder, files));
    return {
      gzipKb: kb(loaded),
      startGzipKb: kb(pick(atStart)),
      allGzipKb: kb([...files.values()]),
      kb: round(loaded.reduce((sum, { length }) => sum + length, 0) / 1000, 1),
      files: loaded.length,
    };
  },
  teardown: ({ folder }) => rmSync(folder, { recursive: true, force: true }),
};
