// `plenum types` on the built program: what it writes compiles in the strictest project, calls work, and nothing that a server says
// becomes code.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import fc from "fast-check";
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Surface } from "../../packages/cli/src/surface/surface.ts";
import { formatClientFile } from "../../packages/cli/src/typing/client-file.ts";
import { packageFolder } from "../house/built.ts";
import { root } from "../house/source.ts";
import { publishedServer } from "../interop/harness.ts";
import { fixture, makeFolder, runCli } from "./stage.ts";

const everything = fixture("everything.mjs");

const strict = {
  compilerOptions: {
    ...{ target: "ES2023", lib: ["ES2023"], module: "NodeNext", types: [], noEmit: true, strict: true },
    ...{
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
    },
    ...{ verbatimModuleSyntax: true, isolatedModules: true, erasableSyntaxOnly: true, noImplicitReturns: true },
    ...{ noPropertyAccessFromIndexSignature: true, skipLibCheck: true, isolatedDeclarations: true, declaration: true },
  },
  include: ["*.ts"],
};

/** A folder whose files are compiled in a strict project that has the built library installed. */
function makeProject(files: { readonly [path: string]: string } = {}): string {
  const folder = makeFolder({
    ...files,
    "package.json": '{ "type": "module" }',
    "tsconfig.json": JSON.stringify(strict),
  });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules", "plenum"), "junction");
  return folder;
}

/** What the compiler says of a project; empty when it has nothing to say. */
async function compile(folder: string): Promise<string> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  try {
    return (await promisify(execFile)(process.execPath, [tsc, "-p", folder], { cwd: folder })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout || String(error);
  }
}

test("the typed client calls, and the compiler knows what is wrong with a call", async () => {
  const folder = makeProject();
  const file = join(folder, "client.ts");
  const { code, stderr } = await runCli(["types", everything, "-o", file]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("createEverythingClient");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("// The server: everything 1.2.3\n//   plenum types everything.mjs -o client.ts\n");
  expect((await runCli(["types", everything])).stdout).toBe(text.replace(" -o client.ts", ""));
  writeFileSync(
    join(folder, "use.ts"),
    `import { connect } from "plenum";
import { createEverythingClient } from "./client.js";
declare const server: Parameters<typeof connect>[0];
const typed = createEverythingClient(await connect(server));
const { structured } = await typed.call("add", { a: 1, b: 2 });
export const sum: number | undefined = structured?.sum;
await typed.call("fail");
await typed.call("slow", { ms: 1 }, { timeoutMs: 5 });
await typed.call("shapes", { size: "small", place: { city: "Oslo" }, either: 1 });
await typed.prompt("review", { code: "x" });
await typed.read("note://{day}", { day: "monday" });
// @ts-expect-error an argument is missing
await typed.call("add", { a: 1 });
// @ts-expect-error it needs arguments
await typed.call("add");
// @ts-expect-error there is no such tool
await typed.call("ad", { a: 1, b: 2 });
// @ts-expect-error of another type
await typed.call("shapes", { size: "huge" });
// @ts-expect-error it has none
await typed.call("fail", { a: 1 });
// @ts-expect-error no such output
export const nothing: unknown = structured?.total;
// @ts-expect-error a required argument of the prompt
await typed.prompt("review", {});
// @ts-expect-error a variable of the template
await typed.read("note://{day}", {});
`,
  );
  expect(await compile(folder)).toBe("");

  // The code that is left when the types are gone.
  const { code: script } = transformSync(text, { loader: "ts", format: "esm" });
  writeFileSync(join(folder, "client.js"), script);
  writeFileSync(
    join(folder, "run.js"),
    `import { connect } from "plenum";
import server from ${JSON.stringify(pathToFileURL(everything).href)};
import { createEverythingClient } from "./client.js";
const client = await connect(server);
const typed = createEverythingClient(client);
console.log(JSON.stringify([
  (await typed.call("add", { a: 1, b: 2 })).structured,
  (await typed.prompt("review", { code: "x" })).messages[0].content.text,
  (await typed.read("note://{day}", { day: "to morrow" })).contents[0].text,
]));
await client.close();
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "run.js")]);
  expect(JSON.parse(stdout)).toEqual([{ sum: 3 }, "Review x", "Note of to morrow"]);
});

test("types of servers that others have published compile", async () => {
  const folder = makeProject();
  const codes = await Promise.all(
    ["everything", "memory", "filesystem"].map(async (name) => {
      const { command, args } = publishedServer(name, ...(name === "filesystem" ? [folder] : []));
      const file = join(folder, `${name}.ts`);
      return (await runCli(["types", "-o", file, "--name", "SomeClient", "--", command, ...args])).code;
    }),
  );
  expect(codes).toEqual([0, 0, 0]);
  const memory = readFileSync(join(folder, "memory.ts"), "utf8");
  expect(memory).toContain("//   plenum types -o memory.ts --name SomeClient -- COMMAND\n");
  expect(memory).not.toContain(root);
  expect(memory).toContain("createSomeClient");
  expect(await compile(folder)).toBe("");
});

test("--check: fresh, stale, missing, and not of our making", async () => {
  const folder = makeFolder({ "mine.ts": "export const mine = 1;\n" });
  const run = (...words: string[]) => runCli(["types", everything, ...words], { cwd: folder });
  expect(await run("--check", "-o", "client.ts")).toMatchObject({ code: 6 });
  expect(await run("-o", "client.ts", "--name", "MyClient")).toMatchObject({ code: 0 });
  expect(await run("-o", "client.ts", "--name", "MyClient", "--check")).toMatchObject({ code: 0, stdout: "" });
  const file = join(folder, "client.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("a: number;", "a: string;"));
  const stale = await run("-o", "client.ts", "--name", "MyClient", "--check", "--json");
  expect(stale.code).toBe(6);
  expect(stale.json()[0]).toMatchObject({ ok: false, error: { code: "types_stale" }, result: { isFresh: false } });
  const foreign = await run("-o", "mine.ts");
  expect(foreign.code).toBe(1);
  expect(foreign.stderr).toContain("this program did not write it");
  expect(readFileSync(join(folder, "mine.ts"), "utf8")).toBe("export const mine = 1;\n");
  expect(await run("--check")).toMatchObject({ code: 1 });
  expect((await run("--name", "x; evil()")).stderr).toContain("is no name for a type");
});

test("of a server at a URL, without what may be secret in it", async () => {
  const server = createServer({ name: "far away", version: "1.0.0" });
  server.tool("a", { description: "One" }, () => "x");
  const http = await serveHttp(server);
  onTestFinished(() => http.close());
  const { code, stdout } = await runCli(["types", `${http.url}?key=s3cret`]);
  expect(code).toBe(0);
  expect(stdout).toContain(`//   plenum types ${http.url}\n`);
  expect(stdout).toContain("export function createFarAwayClient(");
  expect(stdout).not.toContain("s3cret");
});

describe("a hostile server", () => {
  const payloads = [
    "*/ globalThis.hacked = 1; /*",
    '"; globalThis.hacked = 1; "',
    `\`$${"{"}(globalThis.hacked = 1)}\``,
    '\\"; globalThis.hacked = 1; //',
    "x\u2028globalThis.hacked = 1;//",
    "x\nglobalThis.hacked = 1;",
    "} globalThis.hacked = 1; export interface X {",
    "@ts-expect-error",
    "\u202e\u200b\u{e0041}",
    "*\r/",
    "__proto__",
    "constructor",
    "",
    "1",
    "日本語",
    "</script>",
    "\ud800",
  ];

  /** Payloads, and texts of the characters that they are made of. */
  const texts = fc.oneof(
    fc.constantFrom(...payloads),
    fc.string({ unit: fc.constantFrom(..."*/\\\"'`{$}[]();:,|&<>=@#\n\r\u2028 aT1_-") }),
    fc.array(fc.constantFrom(...payloads), { maxLength: 3 }).map((some) => some.join("")),
  );
  const schemas = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      fc.record({
        type: fc.constantFrom("string", "integer", "null", ["string", "null"]),
        description: texts,
        format: texts,
      }),
      fc.record({
        enum: fc.array(fc.oneof(texts, fc.double({ noNaN: true }), fc.dictionary(texts, texts)), { maxLength: 3 }),
      }),
      fc.record({ const: texts, title: texts }),
      fc.record({ $ref: fc.oneof(fc.constantFrom("#", "#/$defs/a", "#/$defs/b"), texts) }),
      fc.record(
        {
          type: fc.constant("object"),
          properties: fc.dictionary(texts, tie("schema"), { maxKeys: 3 }),
          required: fc.array(texts, { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record(
        {
          type: fc.constant("array"),
          items: tie("schema"),
          prefixItems: fc.array(tie("schema"), { maxLength: 2 }),
          minItems: fc.nat(2),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({ anyOf: fc.array(tie("schema"), { maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie("schema"), { maxLength: 2 }), pattern: texts, default: texts }),
      fc.constantFrom(true, false),
    ),
  })).schema;
  const roots = fc
    .tuple(fc.dictionary(texts, schemas, { maxKeys: 4 }), fc.array(texts, { maxLength: 2 }), schemas, schemas)
    .map(([properties, required, a, b]) => ({ type: "object", properties, required, $defs: { a, b } }));
  const surfaces = fc.record({
    ...{ revision: fc.constant("2025-11-25"), server: fc.record({ name: texts, version: texts, instructions: texts }) },
    ...{ capabilities: fc.constant({}), resources: fc.constant([]) },
    tools: fc.array(
      fc.record({ name: texts, title: texts, description: texts, inputSchema: roots, outputSchema: roots }),
      {
        ...{ minLength: 1, maxLength: 3 },
      },
    ),
    resourceTemplates: fc.array(fc.record({ uriTemplate: texts.map((one) => `a:{b}{?c*}${one}`), name: texts }), {
      maxLength: 2,
    }),
    prompts: fc.array(
      fc.record({
        name: texts,
        description: texts,
        arguments: fc.array(fc.record({ name: texts, description: texts })),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }) as unknown as fc.Arbitrary<Surface>;

  const codeOf = (text: string): string =>
    transformSync(text, { loader: "ts", format: "esm", logLevel: "silent" }).code;
  const options = { name: "SomeClient", command: "server.ts" };

  test("leaves no trace in the code: without its types the file is that of any other server", () => {
    const plain = { name: "a", inputSchema: { type: "object" } };
    const tame = (resourceTemplates: Surface["resourceTemplates"]): string =>
      codeOf(
        formatClientFile(
          {
            ...{ revision: "2025-11-25", server: { name: "x" }, capabilities: {}, tools: [plain], resources: [] },
            ...{ resourceTemplates, prompts: [{ name: "a" }] },
          },
          options,
        ),
      );
    const expected = [tame([]), tame([{ uriTemplate: "a:{b}", name: "b" }])];
    fc.assert(
      fc.property(surfaces, texts, (surface, command) => {
        expect(expected).toContain(codeOf(formatClientFile(surface, { ...options, command })));
      }),
      { seed: 20260728, numRuns: 400 },
    );
  });

  test("gets types that compile all the same", async () => {
    const folder = makeProject();
    for (const [at, surface] of fc.sample(surfaces, { seed: 20260728, numRuns: 150 }).entries())
      writeFileSync(join(folder, `s${at}.ts`), formatClientFile(surface, options));
    // Whatever there is none of: nothing may be left over that a strict project refuses.
    for (const [at, left] of fc.sample(fc.subarray(["tools", "prompts", "resourceTemplates"]), 20).entries()) {
      const some = {
        tools: [{ name: "a", inputSchema: {} }],
        prompts: [{ name: "a" }],
        resourceTemplates: [{ uriTemplate: "a:{b}", name: "b" }],
      };
      const none = {
        revision: "2025-11-25",
        server: {},
        capabilities: {},
        tools: [],
        resources: [],
        prompts: [],
        resourceTemplates: [],
      };
      const kept = Object.fromEntries(Object.entries(some).filter(([key]) => !left.includes(key)));
      writeFileSync(join(folder, `n${at}.ts`), formatClientFile({ ...none, ...kept }, options));
    }
    expect(await compile(folder)).toBe("");
  });

  test("is asked by the program as any other", async () => {
    const tools = payloads.map((text) => ({
      name: text,
      description: text,
      inputSchema: { type: "object", properties: { [text]: { enum: [text], description: text } }, required: [text] },
    }));
    const surface = { info: { name: payloads[0], version: payloads[5] }, tools, prompts: [], resourceTemplates: [] };
    const folder = makeProject({ "surface.json": JSON.stringify(surface) });
    const words = ["--", process.execPath, fixture("surface.mjs"), join(folder, "surface.json")];
    const { code, stderr } = await runCli(["types", "-o", join(folder, "client.ts"), "--name", "SomeClient", ...words]);
    expect(code, stderr).toBe(0);
    expect(await compile(folder)).toBe("");
    const script = codeOf(readFileSync(join(folder, "client.ts"), "utf8"));
    expect(script).not.toContain("hacked");
    const deep = `${'{"anyOf":['.repeat(1000)}{}${"]}".repeat(1000)}`;
    writeFileSync(
      join(folder, "deep.json"),
      `{"info":{"name":"a","version":"1"},"tools":[{"name":"a","inputSchema":{"type":"object","allOf":[${deep}]}}]}`,
    );
    const abyss = ["--", process.execPath, fixture("surface.mjs"), join(folder, "deep.json")];
    for (const name of ["types", "lock"]) {
      const { code, stderr } = await runCli([name, "-o", "-", ...abyss]);
      expect(stderr).not.toContain("call stack");
      expect([0, 4]).toContain(code);
    }
    const locked = await runCli(["lock", "-o", join(folder, "a.json"), ...words]);
    expect(locked.code).toBe(0);
    expect((await runCli(["diff", join(folder, "a.json"), ...words])).stdout).toBe("");
  });
});
