// Imports point down, and files keep their form: the rules of layers.ts hold for every package, and catch what they
// are there to catch.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkPackage } from "./layers.ts";
import { readPackage, root } from "./source.ts";

const packages = readdirSync(join(root, "packages")).filter((name) => existsSync(join(root, "packages", name, "src")));

test.each(packages)("packages/%s keeps the rules", (name) => {
  const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  const { dependencies: own, peerDependencies, optionalDependencies } = manifest;
  const dependencies = Object.keys({ ...own, ...peerDependencies, ...optionalDependencies });
  const texts = readPackage(name);
  expect(texts.size).toBeGreaterThan(0);
  expect(checkPackage(texts, { dependencies, layered: name === "plenum" })).toEqual([]);
});

/** Checks files given as path and text after the opening comment. */
function check(files: Readonly<Record<string, string>>): string[] {
  const texts = new Map(Object.entries(files).map(([path, text]) => [path, `// A file.\n${text}\n`]));
  return checkPackage(texts, { dependencies: ["some-package"], layered: true });
}

const empty = "export {};";

describe("the checker", () => {
  test("lets pass what points down", () => {
    const files = {
      "index.ts": 'export { a } from "./server/server.ts";\nexport { m } from "./transport/memory.ts";',
      "server/server.ts":
        'import type { E } from "../protocol/endpoint.ts";\nimport "../util/id.ts";\nexport const a = 1;',
      "transport/memory.ts": 'import "../jsonrpc/channel.ts";\nimport "some-package/part";\nexport const m = 1;',
      "protocol/endpoint.ts": 'import "../schema/index.ts";\nexport type E = 1;',
      "protocol/negotiate.ts": 'import "./sessioned/open.ts";\nimport "./stateless/open.ts";',
      "protocol/sessioned/open.ts": 'import "../endpoint.ts";',
      "protocol/stateless/open.ts": 'import "../endpoint.ts";',
      "schema/index.ts": 'import "../util/id.ts";',
      "jsonrpc/channel.ts": empty,
      "util/id.ts": empty,
    };
    expect(check(files)).toEqual([]);
  });

  test.each([
    ["a static import", 'import { a } from "../server/a.ts";'],
    ["a type import", 'import type { A } from "../server/a.ts";'],
    ["an inline type import", 'import { type A } from "../server/a.ts";'],
    ["an import for its effect", 'import "../server/a.ts";'],
    ["a dynamic import", 'export const a = () => import("../server/a.ts");'],
    ["an import type", 'export type A = import("../server/a.ts").A;'],
    ["a re-export", 'export { a } from "../server/a.ts";'],
    ["a type re-export", 'export type { A } from "../server/a.ts";'],
  ])("sees %s that points up", (_, text) => {
    const problems = check({ "util/b.ts": text, "server/a.ts": empty });
    expect(problems).toEqual(["util/b.ts: util must not import server (server/a.ts)"]);
  });

  test.each([
    ["server/a.ts", "transport/b.ts"],
    ["server/a.ts", "client/b.ts"],
    ["client/a.ts", "server/b.ts"],
    ["transport/a.ts", "server/b.ts"],
    ["jsonrpc/a.ts", "schema/b.ts"],
    ["schema/a.ts", "jsonrpc/b.ts"],
    ["auth/a.ts", "protocol/b.ts"],
    ["protocol/a.ts", "server/b.ts"],
    ["host/a.ts", "server/b.ts"],
  ])("%s must not import %s", (from, to) => {
    expect(check({ [from]: `import "../${to}";`, [to]: empty })).toHaveLength(1);
  });

  test("keeps the eras apart", () => {
    const eras = { "protocol/sessioned/a.ts": empty, "protocol/stateless/a.ts": empty };
    expect(check({ ...eras, "protocol/sessioned/b.ts": 'import "../stateless/a.ts";' })).toEqual([
      "protocol/sessioned/b.ts: the eras must not know each other (protocol/stateless/a.ts)",
    ]);
    const both = (up: string): string => `import "${up}sessioned/a.ts";\nimport "${up}stateless/a.ts";`;
    expect(check({ ...eras, "protocol/b.ts": both("./") })).toHaveLength(1);
    expect(check({ ...eras, "server/b.ts": both("../protocol/") })).toHaveLength(1);
    expect(check({ ...eras, "protocol/negotiate.ts": both("./") })).toEqual([]);
  });

  test("finds circles, also through types", () => {
    const problems = check({
      "util/a.ts": 'import type { B } from "./b.ts";',
      "util/b.ts": 'import "./c.ts";',
      "util/c.ts": 'import "./a.ts";',
    });
    expect(problems).toEqual(["a circle of imports: util/a.ts → util/b.ts → util/c.ts → util/a.ts"]);
  });

  test("refuses what comes from elsewhere", () => {
    expect(check({ "util/a.ts": 'import "node:fs";' })[0]).toContain("not about Node");
    expect(check({ "util/a.ts": 'import "other-package";' })[0]).toContain("no dependency");
    expect(check({ "util/a.ts": 'import "./missing.ts";' })[0]).toContain("not there");
    expect(check({ "util/a.ts": 'import "./b.js";', "util/b.ts": empty })[0]).toContain("not there");
    expect(() => check({ "util/a.ts": "export const a = (b: string) => import(b);" })).toThrow("plain string");
    expect(check({ "cellar/a.ts": 'import "../util/b.ts";', "util/b.ts": empty })[0]).toContain("no room");
  });

  test("minds the form of files", () => {
    expect(check({ "util/a.ts": "export const a: any = 1;" })).toEqual(["util/a.ts:2: the type any"]);
    expect(check({ "server/utils.ts": empty })[0]).toContain("names no topic");
    expect(check({ "server/types.ts": empty })[0]).toContain("names no topic");
    expect(check({ "server/shared/a.ts": empty })[0]).toContain("names no topic");
    expect(check({ "server/badName.ts": empty })[0]).toContain("kebab-case");
    expect(check({ "util/a.ts": "\n".repeat(449) })).toEqual([]);
    expect(check({ "util/a.ts": `${"\n".repeat(449)}export {};` })[0]).toContain("451 lines");
    const rules = { dependencies: [], layered: true };
    expect(checkPackage(new Map([["util/a.ts", "export {};\n"]]), rules)[0]).toContain("begin with a comment");
  });
});
