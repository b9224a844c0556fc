// Servers that files export: TypeScript of every kind, which export, which library, and what is said of files that are not as they should be.
import { fork } from "node:child_process";
import { on } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureCli } from "../house/built.ts";
import { root } from "../house/source.ts";
import { fixture, makeFolder, type RunOptions, runCli } from "./stage.ts";

/** A server's text with one tool, `say`, that returns the value of an expression. */
const saying = (expression: string, before = "", name = "export default"): string => `${before}
import { createServer } from "plenum";
const it = createServer({ name: "it", version: "1.0.0" });
it.tool("say", { description: "Says it" }, () => String(${expression}));
${name === "" ? "" : `${name} it;`}
`;

/** What the tool `say` of a file in a folder with these files says. */
async function say(files: { readonly [path: string]: string }, file: string, options: RunOptions = {}) {
  const folder = makeFolder(files);
  return runCli(["call", join(folder, file), "say"], options);
}

test("TypeScript with all that is more than types, in files of every ending", async () => {
  const files = {
    "package.json": '{ "type": "commonjs" }',
    "server.ts": saying(
      "[Color[1], new Point(1, 2).sum(), Space.x, marks, twice(2), half(4), Third.name, fourth, data.n, view.tag, closed].join()",
      `import type { Missing } from "./nowhere.ts";
import { twice, type Unused } from "./twice.js";
import { half } from "./half.mjs";
import Third from "./third.cjs";
import { fourth } from "./fourth.cjs";
import { view } from "./view.js";
import data from "./data.json" with { type: "json" };
enum Color { Red, Green }
namespace Space { export const x = 7; }
class Point { constructor(private readonly a: number, public b = 0) {} sum(): number { return this.a + this.b; } }
const marks: string[] = [];
function mark(_: unknown, key: string): void { marks.push(key); }
class Marked { @mark method(): void {} }
new Marked() satisfies Marked;
let closed = "";
{ using one = { [Symbol.dispose]: () => { closed = "closed"; } }; one; }`,
    ),
    "twice.ts": "export type Unused = number; export const twice = (n: number): number => n * 2;",
    "half.mts": "export const half = (n: number): number => n / 2;",
    "third.cts": 'import path = require("node:path"); export = { name: path.basename("/a/third") as string };',
    "fourth.cts": "exports.fourth = 4 as number; exports.class = 1;",
    "view.tsx":
      "/** @jsxRuntime classic @jsx h */ const h = (tag: string) => ({ tag }); export const view = <p>hi</p>;",
    "data.json": '{ "n": 5 }',
  };
  const { code, stdout, stderr } = await say(files, "server.ts");
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: "Green,3,7,method,4,2,third,4,5,p,closed\n",
    stderr: "",
  });
});

test.each(["server.cts", "server.ts"])("CommonJS that requires the library and TypeScript: %s", async (file) => {
  const text = `import plenum = require("plenum");
import other = require("./other.cjs");
const it = plenum.createServer({ name: "it", version: "1.0.0" });
it.tool("say", { description: "Says it" }, () => other.words(typeof require, __filename));
export = it;`;
  const other = 'exports.words = (...all: string[]): string => all.join().replace(/,.*\\W(?=server)/, ",");';
  const { stdout, stderr } = await say({ [file]: text, "other.cts": other }, file);
  expect({ stdout, stderr }).toEqual({ stdout: `function,${file}\n`, stderr: "" });
});

test("code for the main module does not run", async () => {
  const isMain = "import.meta.url === pathToFileURL(process.argv[1] ?? '').href";
  const { stdout } = await say(
    { "server.ts": saying(isMain, 'import { pathToFileURL } from "node:url";') },
    "server.ts",
  );
  expect(stdout).toBe("false\n");
});

test("frames of errors name the lines of the TypeScript file", async () => {
  const before =
    "interface A { a: number }\n\ninterface B { b: number }\nconst where = (): string => new Error().stack ?? '';";
  const { stdout } = await say({ "server.ts": saying("where()", before) }, "server.ts");
  expect(stdout).toMatch(/server\.ts:4:\d+/);
});

test("what was made of a file is kept, taken from there, and not from a folder that others may write to", async () => {
  const cache = makeFolder();
  const options = { env: { XDG_CACHE_HOME: cache } };
  const folder = makeFolder({ "server.ts": saying('"first"') });
  const ask = async (): Promise<string> => (await runCli(["call", join(folder, "server.ts"), "say"], options)).stdout;
  expect(await ask()).toBe("first\n");
  const kept = join(cache, "plenum", "typescript");
  const [name = "", ...others] = readdirSync(kept);
  expect(others).toEqual([]);
  writeFileSync(join(kept, name), readFileSync(join(kept, name), "utf8").replace("first", "kept"));
  expect(await ask()).toBe("kept\n");
  chmodSync(kept, 0o777);
  expect(await ask()).toBe("first\n");
  chmodSync(kept, 0o700);
  writeFileSync(join(folder, "server.ts"), saying('"second"'));
  expect(await ask()).toBe("second\n");
});

test("without a folder for it nothing is kept, and nothing is said", async () => {
  const options = { env: { XDG_CACHE_HOME: "/dev/null/none" } };
  const { stdout, stderr } = await say({ "server.ts": saying('"said"') }, "server.ts", options);
  expect({ stdout, stderr }).toEqual({ stdout: "said\n", stderr: "" });
});

test("plain JavaScript with its library beside it is loaded without hooks", async () => {
  const folder = makeFolder({ "server.mjs": saying("process.sourceMapsEnabled") });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "packages", "plenum"), join(folder, "node_modules", "plenum"));
  const { stdout, stderr } = await runCli(["call", join(folder, "server.mjs"), "say"]);
  expect({ stdout, stderr }).toEqual({ stdout: "false\n", stderr: "" });
});

test("JavaScript that imports TypeScript, and the library without having it, is loaded once", async () => {
  const files = {
    "server.mjs": saying("word", 'import { word } from "./a.mjs"; console.error("loaded");'),
    "a.mjs": 'export { word } from "./b.js"; console.error("loaded a");',
    "b.ts": "enum Word { Hello } export const word: string = Word[0]!;",
  };
  const { stdout, stderr } = await say(files, "server.mjs");
  expect({ stdout, stderr }).toEqual({ stdout: "Hello\n", stderr: "loaded a\nloaded\n" });
});

test("what a file has left running keeps nobody waiting", async () => {
  const { code, stdout } = await say({ "server.ts": saying('"said"', "setInterval(() => {}, 1000);") }, "server.ts");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "said\n" });
});

test("what a file prints goes to stderr: stdout has the result alone", async () => {
  const before = 'console.log("loading"); process.stdout.write("still\\n");';
  const folder = makeFolder({ "server.ts": saying('(console.log("called"), "said")', before) });
  const { stdout, stderr, json } = await runCli(["call", join(folder, "server.ts"), "say", "--json"]);
  expect(json()).toMatchObject([{ ok: true, result: { content: [{ text: "said" }] } }]);
  expect(stdout).not.toContain("call");
  expect(stderr).toBe("loading\nstill\ncalled\n");
});

test("a second copy of the library is the server's own: its errors keep their codes", async () => {
  const before =
    'import { McpError } from "plenum"; const refuse = () => { throw new McpError("application", "No such city", { rpcCode: 4711 }); };';
  const folder = makeFolder({ "server.ts": saying("refuse()", before) });
  const copy = join(folder, "node_modules", "plenum");
  await ensureCli();
  cpSync(join(root, "packages", "plenum", "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(root, "packages", "plenum", "package.json"), join(copy, "package.json"));
  const { code, stdout } = await runCli(["call", join(folder, "server.ts"), "say", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining("error 4711: No such city") } });
  expect(code).toBe(4);
});

test.each([
  ["server.ts", saying('"default"'), "default"],
  ["server.ts", saying('"mcp"', "", "export const mcp ="), "mcp"],
  ["server.ts", saying('"server"', "export const mcp = 1;", "export const server ="), "server"],
  ["server.ts", saying('"app"', "export default function make() {}", "export const app ="), "app"],
  ["server.ts:weather", saying('"weather"', "", "export const weather ="), "weather"],
])("%s: the export that is a server", async (spec, text, said) => {
  const { stdout, stderr } = await say({ "server.ts": text }, spec);
  expect({ stdout, stderr }).toEqual({ stdout: `${said}\n`, stderr: "" });
});

/** File, its text, and what is said of it: all of these, and no stack. */
const problems: readonly (readonly [
  name: string,
  files: { readonly [path: string]: string },
  said: readonly string[],
])[] = [
  [
    "exports that are no server",
    {
      "server.ts":
        "export default function make() {}; export const size = 3; export const soon = Promise.resolve(); export const list = [1];",
    },
    [
      "server.ts exports no Plenum server",
      "default: a function. Call it, and export its result.",
      "size: a number",
      "soon: a promise",
      "list: an object",
      "Export the server as default, mcp, server or app",
      "server.ts:NAME",
      "createServer",
    ],
  ],
  [
    "no export",
    { "server.ts": "const a: number = 1; void a;" },
    ["exports no Plenum server", "server.ts exports nothing"],
  ],
  [
    "a server of another name",
    { "server.ts": saying("1", "", "export const weather =") },
    ["Name the export: server.ts:weather"],
  ],
  [
    "a misspelt export",
    { "server.ts:wether": saying("1", "", "export const weather =") },
    ['no export "wether"', "Did you mean server.ts:weather?"],
  ],
  [
    "an export that is a function",
    { "server.ts:make": "export const make = () => 1;" },
    ['"make" of', "is a function", "Call it"],
  ],
  [
    "a syntax error",
    { "server.ts": 'const é = "日本語";\nconst x: = 3;\n' },
    ["server.ts:2:10: Unexpected token", "  const x: = 3;\n           ^"],
  ],
  [
    "one in a file that is imported",
    { "server.ts": 'import "./other.ts";', "other.ts": "let 1a;" },
    ["other.ts:1:6: "],
  ],
  [
    "one in JavaScript",
    { "server.mjs": "\nconst = 3;" },
    ["server.mjs:2:7: Unexpected token", "  const = 3;\n        ^"],
  ],
  [
    "a name twice",
    { "server.ts": "const a = 1;\nconst a = 2; export { a };" },
    ["server.ts:2:7: Identifier `a` has already been declared"],
  ],
  [
    "a name that is not exported",
    { "server.ts": '\nimport { no } from "./other.ts"; console.log(no);', "other.ts": "export type no = 1;" },
    ['server.ts:2:20: "./other.ts" has no export "no"', "import type"],
  ],
  [
    "modules in a .cts",
    { "server.cts": 'import x from "node:fs"; export default x;' },
    ['"import" in a .cts file', ".mts"],
  ],
  [
    "a package that is not installed",
    { "server.ts": 'import { z } from "@acme/zodd/mini"; z();' },
    ['server.ts imports "@acme/zodd", which is not installed', "npm i @acme/zodd"],
  ],
  [
    "a required one",
    { "server.cjs": 'require("zodd");' },
    ['server.cjs imports "zodd", which is not installed', "npm i zodd"],
  ],
  [
    "a file that is not there",
    { "server.ts": 'import "./lib/none.ts";' },
    ['server.ts imports "./lib/none.ts", which is not there'],
  ],
  [
    "a file without its ending",
    { "server.ts": 'import "./other";', "other.ts": "" },
    ['imports "./other"', '"./other.ts"'],
  ],
  ["a file that is no code", { "server.mjs": 'import "./a.css";', "a.css": "" }, ["a.css", "ends in .ts"]],
  [
    "what is thrown",
    {
      "server.ts":
        "interface A { a: 1 }\nfunction open(name: string): never {\n  throw new RangeError('no ' + name);\n}\nopen('door');",
    },
    ["server.ts failed while it was loaded: RangeError: no door", "at open (", "server.ts:3:9)", "--debug"],
  ],
  ["what is thrown and is no error", { "server.ts": "throw 'tea';" }, ["failed while it was loaded: tea"]],
];

test.each(problems)("%s: says what to do", async (_, files, said) => {
  const [spec = ""] = Object.keys(files);
  const named = Object.fromEntries(Object.entries(files).map(([path, text]) => [path.replace(/:.*/, ""), text]));
  const { code, stdout, stderr } = await runCli(["list", join(makeFolder(named), spec)]);
  for (const one of said) expect(stderr).toContain(one);
  expect(stderr.match(/^\s+at /gm)?.length ?? 0).toBeLessThanOrEqual(1);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
});

test("a server of the official SDK is told to be run as a command", async () => {
  const folder = makeFolder({
    "server.mjs":
      'import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"; export default new McpServer({ name: "a", version: "1" });',
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const { code, stderr } = await runCli(["list", join(folder, "server.mjs")]);
  expect(stderr).toContain("default: a server of the official SDK. Run it as a command");
  expect(stderr).toContain("-- node server.mjs");
  expect(code).toBe(1);
});

test("a file that is not there, and a folder", async () => {
  const folder = makeFolder();
  expect(await runCli(["list", join(folder, "none.ts")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`File not found: ${join(folder, "none.ts")}\n`),
  });
  mkdirSync(join(folder, "folder.ts"));
  expect(await runCli(["list", join(folder, "folder.ts")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Not a file: ${join(folder, "folder.ts")}\n`),
  });
});

test("every file of the server's own is told of, also those that do not compile, and none of packages", async () => {
  // As `plenum dev` is told.
  const program = join(await ensureCli(), "..", "worker.cjs");
  const folder = makeFolder({
    "server.ts": saying(
      "1",
      'import { z } from "zod"; import "./a.js"; import b from "./b.json" with { type: "json" }; z.string(); b;\nif (process.env.LATER) await import("./later.ts");',
    ),
    "a.ts": 'import "./c.mjs";',
    "b.json": "1",
    "c.mjs": "",
    "later.ts": "const = 1;",
  });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules", "zod"), join(folder, "node_modules", "zod"));
  const watch = async (env: { readonly [name: string]: string }): Promise<unknown> => {
    const worker = fork(program, [], { env: { ...process.env, ...env }, execArgv: [], silent: true });
    onTestFinished(() => void worker.kill("SIGKILL"));
    const spec = { kind: "file", name: "server.ts", path: join(folder, "server.ts"), exportName: undefined };
    worker.send({ type: "load", spec, methods: [], extras: undefined });
    const own = realpathSync(folder);
    const files = new Set<string>();
    for await (const [texts] of on(worker, "message") as AsyncIterable<[readonly string[]]>) {
      for (const report of texts.map((text) => JSON.parse(text) as { type: string; path: string })) {
        if (report.type === "file" && report.path.startsWith(own)) files.add(report.path.slice(own.length + 1));
        if (report.type === "ready" || report.type === "failed")
          return { failed: report.type === "failed", files: [...files].sort() };
      }
    }
    throw new Error("it ended without a word");
  };
  const files = ["a.ts", "b.json", "c.mjs", "server.ts"];
  expect(await watch({})).toEqual({ failed: false, files });
  expect(await watch({ LATER: "1" })).toEqual({ failed: true, files: [...files, "later.ts"].sort() });
});

test("the server of the fixture, whose library is beside it", async () => {
  const { code, stdout } = await runCli(["call", fixture("everything.mjs"), "shapes", "text=hello"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"text":"hello"}\n' });
});
