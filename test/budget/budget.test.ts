// Budgets: how large a small server is when it is bundled, and what importing the library costs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { expect, test } from "vitest";
import { ensureBuilt, packageFolder } from "../house/built.ts";
import { root } from "../house/source.ts";

const maxImportMs = 30;

/** One tool, served in memory. */
const oneToolServer = (path: string) => `
import { createServer } from "${path}";
import { createMemoryPair } from "plenum/memory";
import { serve } from "plenum/protocol";

const server = createServer({ name: "small", version: "1.0.0" });
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
server.tool("echo", { input }, ({ text }) => text);
const [near, far] = createMemoryPair();
serve(server, far);
`;

/** The client's side of it, by hand: calls the tool and prints the answers. */
const client = `
near.open({ receive: ({ message }) => console.log(JSON.stringify(message)), closed() {} });
const clientInfo = { name: "by hand", version: "1.0.0" };
const send = (id, method, params) => near.send({ jsonrpc: "2.0", id, method, params });
send(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
setTimeout(() => send(2, "tools/call", { name: "echo", arguments: { text: "hello" } }));
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
    conditions: ["plenum-source"],
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

/** What each room weighs, heaviest first. */
function describeParts({ outputs }: Metafile): string {
  const rooms = new Map<string, number>();
  for (const [path, { bytesInOutput }] of Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs))) {
    const room = /^packages\/plenum\/src\/(protocol\/wire|[^/]+)\//.exec(path)?.[1] ?? "rest";
    rooms.set(room, (rooms.get(room) ?? 0) + bytesInOutput);
  }
  return [...rooms]
    .sort(([, a], [, b]) => b - a)
    .map(([room, bytes]) => `${room} ${bytes}`)
    .join(", ");
}

test.each([
  // A server of one tool carries what tools need; with resources, prompts and completion beside it, it is larger. What
  // only a handler that asks its user needs is loaded by the first one that does, and so is what a second page takes, a
  // subscription, or a parameter that stands in a header; of `plenum` the client, too, with the transport that it needs.
  ["plenum/tools", 25_000, 35_000],
  ["plenum", 30_000, 68_000],
])(
  "a one-tool server with %s loads under %i bytes, minified and compressed, under %i with all it may load later, and works",
  async (path, maxBytes, maxInAll) => {
    const built = await bundle(oneToolServer(path));
    const { atStart, all } = chunksOf(built);
    const [bytes, inAll] = [compressed(atStart), compressed(all)];
    console.log(
      `${path}: ${bytes} bytes compressed, ${inAll} with what comes on demand (${describeParts(built.metafile)})`,
    );
    const folder = mkdtempSync(join(tmpdir(), "plenum-"));
    try {
      for (const { path: file, contents } of (await bundle(oneToolServer(path) + client)).outputFiles)
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

/** CPU time in milliseconds that a fresh Node spends on a script. */
function cpuOf(script: string): number {
  const measured = `const before = process.cpuUsage(); ${script}; const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", measured], { encoding: "utf8" }));
}

test(`importing the library takes less than ${maxImportMs} ms of CPU`, async () => {
  await ensureBuilt();
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
