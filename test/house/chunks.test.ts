// The built files are the source in fewer pieces: every file is in one of them, so that a class is the same whatever path it
// is imported by, nothing loads what is about another runtime, and stack traces can be read.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ensureBuilt, packageFolder } from "./built.ts";
import { listFiles, readSource, root } from "./source.ts";

const dist = join(packageFolder, "dist");

interface Built {
  readonly text: string;
  /** Built files that are loaded with this one, and with them those that are loaded on demand. */
  readonly atOnce: readonly string[];
  readonly all: readonly string[];
  /** Modules of Node and packages. */
  readonly foreign: readonly string[];
}

const built = new Map<string, Built>();

beforeAll(async () => {
  await ensureBuilt();
  for (const path of listFiles(dist, ".js")) {
    const text = readFileSync(join(dist, path), "utf8");
    const { imports } = readSource(path, text);
    const all = imports.filter((specifier) => specifier.startsWith(".")).map((file) => join(dirname(path), file));
    const lazy = [...text.matchAll(/\bimport\(\s*"(\.[^"]+)"/g)].map(([, file = ""]) => join(dirname(path), file));
    const foreign = imports.filter((specifier) => !specifier.startsWith("."));
    built.set(path, { text, all, atOnce: all.filter((file) => !lazy.includes(file)), foreign });
  }
}, 60_000);

/** The files that are loaded with these, themselves included. */
function reach(paths: readonly string[], next: "atOnce" | "all"): Set<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const file of built.get(path)?.[next] ?? []) visit(file);
  };
  for (const path of paths) visit(path);
  return found;
}

test("every file of the source is in one built file, and none holds a path of this machine", () => {
  const times = new Map<string, number>();
  for (const path of listFiles(dist, ".js.map")) {
    const text = readFileSync(join(dist, path), "utf8");
    const { sources } = JSON.parse(text) as { sources: string[] };
    for (const source of sources) {
      const file = join("dist", dirname(path), source).replaceAll("\\", "/");
      times.set(file, (times.get(file) ?? 0) + 1);
    }
  }
  expect(times.size).toBeGreaterThan(100);
  expect([...times].filter(([, count]) => count > 1)).toEqual([]);
  expect([...times.keys()].filter((path) => !path.startsWith("src/"))).toEqual([]);
  const files = [...listFiles(dist, ".js"), ...listFiles(dist, ".d.ts")];
  expect(files.filter((path) => readFileSync(join(dist, path), "utf8").includes(root))).toEqual([]);
});

test("a stack trace has the names of the source and leads to a line that can be read", () => {
  const script = `import { createServer } from "plenum"; try { createServer({}); } catch (error) { console.log(error.stack); }`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: root,
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  const [, path = "", line] = /at toDefinition .*?(dist[\\/][^:)]+):(\d+)/.exec(output) ?? [];
  expect(readFileSync(join(packageFolder, path), "utf8").split("\n")[Number(line) - 1]).toContain(
    "throw new TypeError",
  );
});

test("built files import one another in no circle", () => {
  const inCircles = [...built].filter(([path, { atOnce }]) => reach(atOnce, "atOnce").has(path));
  expect(inCircles.map(([path]) => path)).toEqual([]);
});

test.each([
  ["plenum", ["index.js"], 6],
  ["a server on stdio", ["server/tools-server.js", "transport/stdio/server.js"], 7],
  ["a server on HTTP", ["server/tools-server.js", "transport/http/node.js"], 8],
])("%s starts with few files", (_, paths, most) => {
  expect([...reach(paths, "atOnce")].length).toBeLessThanOrEqual(most);
});

test("who speaks HTTP loads nothing of stdio, and the other way round", () => {
  const files = (...paths: string[]) => [...reach(paths, "atOnce")].join(" ");
  expect(files("transport/http/node.js", "transport/http/client.js", "index.js")).not.toContain("stdio");
  expect(files("transport/stdio/server.js", "transport/stdio/client.js", "index.js")).not.toContain("http");
});

test("a client loads nothing that only servers need", () => {
  const server = [...reach(["server/tools-server.js"], "atOnce")];
  const client = reach(["transport/http/client.js", "client/client.js", "protocol/sessioned/dial.js"], "atOnce");
  expect(server.filter((path) => client.has(path))).toEqual(["chunks/core.js"]);
});

test("only what is about Node imports its modules, and what is loaded on demand is no exception", () => {
  const isAboutNode = /^(transport\/stdio\/|transport\/http\/(client-)?node|auth\/[a-z-]+\/node|roots\/)/;
  const entries = [...built.keys()].filter((path) => !path.startsWith("chunks/") && !isAboutNode.test(path));
  const using = [...reach(entries, "all")].filter((path) =>
    built.get(path)?.foreign.some((specifier) => specifier.startsWith("node:")),
  );
  expect(using).toEqual([]);
});

/** All that a class can meet: a server of one path, a client of another, over transports of a third. */
const program = `
import { connect, createServer, McpError, ToolError } from "plenum";
import { toFetchHandler } from "plenum/http";
import { httpTarget } from "plenum/http/client";
import { createMemoryPair } from "plenum/memory";
import { resolveWithin } from "plenum/roots";
import { stdioTarget } from "plenum/stdio/client";
import { createServer as createToolsServer } from "plenum/tools";

const found = {};
const note = (name, work) => work().then(
  (value) => { found[name] = value; },
  (error) => { found[name] = [error instanceof McpError, error instanceof ToolError, error.name]; },
);
const offer = (server) => {
  server.tool("refuse", {}, () => { throw new ToolError("for the model"); });
  return server;
};
for (const [name, server] of [["server", offer(createServer({ name: "a", version: "1" }))], ["tools", offer(createToolsServer({ name: "a", version: "1" }))]]) {
  const serve = toFetchHandler(server);
  const fetch = (url, init) => serve(new Request(url, init));
  for (const [way, target] of [["memory", server], ["http", httpTarget({ url: "http://127.0.0.1/mcp", fetch })]]) {
    const client = await connect(target);
    await note(name + " " + way + " result", async () => (await client.callTool("refuse")).content[0].text);
    await note(name + " " + way + " error", () => client.callTool("nothing"));
    await client.close();
  }
}
await note("stdio", () => connect(stdioTarget({ command: "no-such-program-of-plenum" })));
await note("roots", () => resolveWithin([], "/somewhere"));
console.log(JSON.stringify(found));
process.exit();
`;

test("an error is the same class whatever path it comes by", () => {
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  const { stdio, roots, ...rest } = JSON.parse(output) as Record<string, unknown>;
  expect(stdio).toEqual([true, false, "McpError"]);
  expect(roots).toEqual([false, true, "ToolError"]);
  expect(Object.keys(rest)).toHaveLength(8);
  for (const [name, found] of Object.entries(rest))
    expect(found, name).toEqual(name.endsWith("result") ? "for the model" : [true, false, "McpError"]);
});
