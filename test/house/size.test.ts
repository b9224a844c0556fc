// Budgets: how large a small server is when it is bundled, and what importing the library costs.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { expect, test } from "vitest";
import { ensureBuilt, packageFolder } from "./built.ts";
import { root } from "./source.ts";

const maxBytes = 25_000;
const maxImportMs = 30;

/** One tool, served in memory, called by hand; prints the answer. */
const oneToolServer = `
import { createServer } from "plenum";
import { createRawPeer } from "plenum/memory";

const server = createServer({ name: "small", version: "1.0.0" });
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
server.tool("echo", { input }, ({ text }) => text);
const peer = createRawPeer(server);
const clientInfo = { name: "by hand", version: "1.0.0" };
await peer.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
const answer = await peer.request("tools/call", { name: "echo", arguments: { text: "hello" } });
console.log(JSON.stringify(answer));
peer.close();
`;

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

test(`a one-tool server in memory is under ${maxBytes} bytes, minified and compressed, and works`, async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: oneToolServer, resolveDir: root, loader: "js" },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    conditions: ["source"],
    logLevel: "silent",
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  const bytes = gzipSync(code, { level: 9 }).length;
  console.log(`one-tool server: ${bytes} bytes compressed, ${code.length} minified (${describeParts(metafile)})`);
  const answer = execFileSync(process.execPath, ["--input-type=module"], { input: code, encoding: "utf8" });
  expect(answer).toContain("hello");
  expect(bytes).toBeLessThan(maxBytes);
}, 60_000);

/** CPU time in milliseconds that a fresh Node spends on a script. */
function cpuOf(script: string): number {
  const measured = `const before = process.cpuUsage(); ${script}; const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", measured], { encoding: "utf8" }));
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

test(`importing the library takes less than ${maxImportMs} ms of CPU`, async () => {
  await ensureBuilt();
  const entry = JSON.stringify(pathToFileURL(join(packageFolder, "dist", "index.js")).href);
  const nothing = JSON.stringify("data:text/javascript,export{}");
  cpuOf(`await import(${entry})`);
  // Taken in pairs, so that what else the machine does weighs on both.
  const costs = Array.from({ length: 5 }, () => cpuOf(`await import(${entry})`) - cpuOf(`await import(${nothing})`));
  const cost = median(costs);
  console.log(`import: ${cost.toFixed(1)} ms of CPU`);
  expect(cost).toBeLessThan(maxImportMs);
}, 60_000);
