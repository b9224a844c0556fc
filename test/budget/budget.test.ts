// Budgets: how large small programs are when they are bundled, what importing the library costs, and what is installed. All
// of it is measured on what users get, the built files.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { ensureBuilt, pack, packageFolder } from "../house/built.ts";
import { listFiles, root } from "../house/source.ts";

const maxImportMs = 15;
const maxPackages = 8;
const maxInstalledBytes = 3_000_000;

beforeAll(ensureBuilt, 60_000);

/** A program, and what makes one of it that prints what the tool answers. */
interface Program {
  readonly text: string;
  readonly check: string;
}

const oneTool = (path: string) => `
import { createServer } from "${path}";
const server = createServer({ name: "small", version: "1.0.0" });
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
server.tool("echo", { input }, ({ text }) => text);
`;

/** One tool, served in memory; the client's side of it is by hand. */
const inMemory = (path: string): Program => ({
  text: `${oneTool(path)}
import { createMemoryPair } from "plenum/memory";
import { serve } from "plenum/protocol";
const [near, far] = createMemoryPair();
serve(server, far);
`,
  check: `
near.open({ receive: ({ message }) => console.log(JSON.stringify(message)), closed() {} });
const clientInfo = { name: "by hand", version: "1.0.0" };
const send = (id, method, params) => near.send({ jsonrpc: "2.0", id, method, params });
send(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
setTimeout(() => send(2, "tools/call", { name: "echo", arguments: { text: "hello" } }));
`,
});

/** One tool over HTTP, as on the edge, and a client of it: each is what the other is checked with. */
const overHttp = `${oneTool("plenum/tools")}
import { toFetchHandler } from "plenum/http";
export const handle = toFetchHandler(server);
`;
const clientOverHttp = `
import { connect } from "plenum";
export const open = (fetch) => connect({ url: "http://127.0.0.1/mcp", fetch });
`;
const call = `
const client = await open((url, init) => handle(new Request(url, init)));
console.log(JSON.stringify(await client.callTool("echo", { text: "hello" })));
await client.close();
`;

/** Into chunks: what is imported on demand is one of its own. */
const bundle = (contents: string) =>
  build({
    stdin: { contents, resolveDir: root, loader: "js" },
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    outdir: "out",
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });

type Bundle = Awaited<ReturnType<typeof bundle>>;

/** The texts of the chunks that are loaded when the program starts, and of all of them. */
function chunksOf({ outputFiles, metafile }: Bundle): { atStart: Uint8Array[]; all: Uint8Array[] } {
  const texts = new Map(
    outputFiles.map(({ path, contents }) => [path.slice(root.length).replace(/^[\\/]+/, ""), contents]),
  );
  const atStart = new Set<string>();
  const visit = (path: string): void => {
    if (atStart.has(path)) return;
    atStart.add(path);
    for (const { path: imported, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === "import-statement") visit(imported);
  };
  visit("out/stdin.js");
  return {
    atStart: [...atStart].map((path) => texts.get(path) ?? new Uint8Array()),
    all: [...texts.values()],
  };
}

const compressed = (chunks: readonly Uint8Array[]): number => gzipSync(Buffer.concat(chunks), { level: 9 }).length;

/** What each built file weighs, heaviest first. */
function describeParts({ outputs }: Metafile): string {
  const parts = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs)))
    parts.set(path, (parts.get(path) ?? 0) + bytesInOutput);
  return [...parts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 8)
    .map(([path, bytes]) => `${basename(path, ".js")} ${bytes}`)
    .join(", ");
}

test.each<[string, Program, number, number]>([
  // A server of one tool carries what tools need; with resources, prompts and completion beside it, it is larger. What
  // only a handler that asks its user needs is loaded by the first one that does, and so is what a list takes, a
  // subscription, an output schema, or a parameter that stands in a header; of `plenum` the client, too, with the transport
  // that it needs. A client loads nothing of what its server may ask, nor of schemas and streams, before there are any.
  ["a one-tool server with plenum/tools", inMemory("plenum/tools"), 26_000, 39_550],
  ["a one-tool server with plenum", inMemory("plenum"), 30_630, 74_700],
  ["a one-tool server over HTTP, for the edge,", { text: overHttp, check: clientOverHttp + call }, 32_710, 56_900],
  ["a client over HTTP", { text: clientOverHttp, check: overHttp + call }, 9_560, 66_000],
])(
  "%s is small at its start and with all that it may load later, and works",
  async (name, { text, check }, maxBytes, maxInAll) => {
    const measured = await bundle(text);
    const { atStart, all } = chunksOf(measured);
    const [bytes, inAll] = [compressed(atStart), compressed(all)];
    console.log(
      `${name}: ${bytes} bytes compressed, ${inAll} with what comes on demand (${describeParts(measured.metafile)})`,
    );
    const folder = mkdtempSync(join(tmpdir(), "plenum-"));
    try {
      for (const { path: file, contents } of (await bundle(text + check)).outputFiles)
        writeFileSync(join(folder, basename(file)), contents);
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      const answer = execFileSync(process.execPath, [join(folder, "stdin.js")], { encoding: "utf8" });
      expect(answer).toContain('"text":"hello"');
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(bytes).toBeLessThan(maxBytes);
    expect(inAll).toBeLessThan(maxInAll);
  },
  60_000,
);

// A chunk is many files. A bundler takes what is used of them, and leaves out a constant only where it is told that it may.
test("who takes one part of the library bundles little else", async () => {
  const { all } = chunksOf(await bundle('export { httpTarget } from "plenum/http/client";'));
  const bytes = compressed(all);
  console.log(`httpTarget alone: ${bytes} bytes compressed`);
  expect(bytes).toBeLessThan(14_030);
});

/** CPU time in milliseconds that a fresh Node spends on a script. */
function cpuOf(script: string): number {
  const measured = `const before = process.cpuUsage(); ${script}; const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", measured], { encoding: "utf8" }));
}

test(`importing the library takes less than ${maxImportMs} ms of CPU`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "plenum-"));
  try {
    writeFileSync(join(folder, "empty.mjs"), "");
    const importOf = (file: string) => `await import(${JSON.stringify(pathToFileURL(file).href)})`;
    const library = importOf(join(packageFolder, "dist", "index.js"));
    const nothing = importOf(join(folder, "empty.mjs"));
    cpuOf(library);
    // The least of each: what else the machine does can only add to it. In turns, so that both have their quiet moments.
    let [least, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let i = 0; i < 12; i++) {
      least = Math.min(least, cpuOf(library));
      bare = Math.min(bare, cpuOf(nothing));
    }
    const cost = least - bare;
    console.log(`import: ${cost.toFixed(1)} ms of CPU`);
    expect(cost).toBeLessThan(maxImportMs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The folders of what is installed with the library: its dependencies, and theirs. */
function listDependencies(): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const found = new Set<string>();
  const visit = (folder: string): void => {
    for (const name of Object.keys(packages[folder]?.dependencies ?? {})) {
      const nested = `${folder}/node_modules/${name}`;
      const path = nested in packages ? nested : `node_modules/${name}`;
      if (found.has(path)) continue;
      found.add(path);
      visit(path);
    }
  };
  visit("packages/plenum");
  return found;
}

test(`installing the library takes at most ${maxPackages} packages and ${maxInstalledBytes / 1e6} MB`, () => {
  const dependencies = [...listDependencies()];
  const sizeOf = (folder: string): number =>
    listFiles(join(root, folder), "").reduce((sum, path) => {
      const file = statSync(join(root, folder, path));
      return file.isFile() ? sum + file.size : sum;
    }, 0);
  const bytes = dependencies.reduce((sum, folder) => sum + sizeOf(folder), pack().bytes);
  console.log(`installed: ${dependencies.length + 1} packages, ${(bytes / 1e6).toFixed(2)} MB`);
  expect(dependencies.length + 1).toBeLessThanOrEqual(maxPackages);
  expect(bytes).toBeLessThanOrEqual(maxInstalledBytes);
}, 60_000);
