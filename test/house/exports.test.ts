// What the package offers is what it says: every export path leads to source and to built files with the same names,
// built entries load in plain Node, declarations compile for a strict user, and the packed files are the right ones.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { rewriteDeclaration, toPackaged } from "../../scripts/build.mjs";
import { ensureBuilt, pack, packageFolder } from "./built.ts";
import { listFiles, readSource, root, type Source } from "./source.ts";

interface Conditions {
  readonly "plenum-source": string;
  readonly types: string;
  readonly default: string;
}

const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
const entries = Object.entries(manifest.exports as Record<string, Conditions | string>).flatMap(
  ([path, target]): { path: string; name: string; target: Conditions }[] =>
    typeof target === "string" ? [] : [{ path, name: `plenum${path.slice(1)}`, target }],
);

function read(path: string): Source {
  return readSource(path, readFileSync(join(packageFolder, path), "utf8"));
}

beforeAll(ensureBuilt, 60_000);

test("the main entry is exported, and every path has source, types and default in this order", () => {
  expect(entries.map(({ path }) => path)).toContain(".");
  // Conditions are tried in the order in which they are written.
  for (const { target } of entries) expect(Object.keys(target)).toEqual(["plenum-source", "types", "default"]);
});

test("index.ts stands only where it is an export path", () => {
  const paths = entries.map(({ target }) => target["plenum-source"]);
  const indexes = listFiles(join(packageFolder, "src"), "index.ts").filter((path) => /(^|\/)index\.ts$/.test(path));
  for (const path of indexes) expect(paths).toContain(`./src/${path}`);
});

describe.each(entries)("$name", ({ name, target }) => {
  test("leads to files that are there and mirror each other", () => {
    for (const path of Object.values(target)) expect(existsSync(join(packageFolder, path)), path).toBe(true);
    const mirrored = target["plenum-source"].replace("./src/", "./dist/").replace(/\.ts$/, "");
    expect([target.default, target.types]).toEqual([`${mirrored}.js`, `${mirrored}.d.ts`]);
  });

  test("lists its names", () => {
    const { values, types, exportsAll } = read(target["plenum-source"]);
    expect(exportsAll, "export * hides what is exported").toBe(false);
    expect(values.length + types.length).toBeGreaterThan(0);
    expect(values).not.toContain("default");
  });

  test("loads in plain Node and exports what the source does", () => {
    const source = read(target["plenum-source"]);
    const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(name)}))));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: root,
      env: { PATH: process.env.PATH },
      encoding: "utf8",
    });
    expect(JSON.parse(output)).toEqual([...source.values].sort());
    const declared = read(target.types);
    // In declarations a name may be told apart from a type only by its declaration, so both kinds are compared at once.
    expect([...declared.values, ...declared.types].sort()).toEqual([...source.values, ...source.types].sort());
  });
});

test("the package's own imports lead to files that export the same names, wherever they lead", () => {
  const own = Object.entries(manifest.imports as Record<string, Conditions & Record<string, unknown>>);
  expect(own.map(([name]) => name)).toEqual(["#http", "#stdio"]);
  for (const [, { "plenum-source": sources, ...rest }] of own) {
    const { node: nodeSource, default: otherSource } = sources as unknown as Record<string, string>;
    const built = (source = ""): string => source.replace("./src/", "./dist/").replace(/\.ts$/, ".js");
    // In the same order, too: the first condition that holds decides.
    expect(Object.entries(rest)).toEqual(Object.entries(sources).map(([on, source]) => [on, built(source)]));
    expect(read(nodeSource ?? "").values).toEqual(expect.arrayContaining([...read(otherSource ?? "").values]));
    expect(read(otherSource ?? "").imports.filter((specifier) => specifier.startsWith("node:"))).toEqual([]);
  }
});

test("every relative import of a built file leads to a file", () => {
  const dist = join(packageFolder, "dist");
  const wrong = [...listFiles(dist, ".js"), ...listFiles(dist, ".d.ts")].flatMap((path) => {
    const { imports } = readSource(path, readFileSync(join(dist, path), "utf8"));
    const relative = imports.filter((specifier) => specifier.startsWith("."));
    const leadsNowhere = (specifier: string): boolean => {
      const file = join(dist, dirname(path), specifier);
      return !specifier.endsWith(".js") || !existsSync(path.endsWith(".js") ? file : file.replace(/\.js$/, ".d.ts"));
    };
    return relative.filter(leadsNowhere).map((specifier) => `${path}: ${specifier}`);
  });
  expect(wrong).toEqual([]);
});

test("endings are rewritten in every form of import that declarations have", () => {
  const before = `import type { A } from "./a.ts";\nimport "../b.ts";\nexport { c } from './c.ts';\ntype D = import("./d.ts").D;`;
  const after = `import type { A } from "./a.js";\nimport "../b.js";\nexport { c } from './c.js';\ntype D = import("./d.js").D;`;
  expect(rewriteDeclaration(before)).toBe(after);
  const untouched = `import type { A } from "a.ts";\nexport const b: "./b.ts";`;
  expect(rewriteDeclaration(untouched)).toBe(untouched);
});

test("the packed page has no link to what is not packed", () => {
  const page = "[a](docs/a.md#b), [`b`](test/b) [c](https://c.example), [d](#d) [e](LICENSE)";
  expect(toPackaged(page)).toBe("a, `b` [c](https://c.example), [d](#d) [e](LICENSE)");
  const packed = readFileSync(join(packageFolder, "README.md"), "utf8");
  expect(packed).toContain("createServer");
  const links = [...packed.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string);
  expect(links.filter((link) => !/^(https:|#|LICENSE$)/.test(link))).toEqual([]);
});

// Rooms about Node speak of its streams; nobody else has to have its types.
const isAboutNode = ({ target }: (typeof entries)[number]): boolean =>
  /^\.\/src\/(transport\/(stdio\/|http\/node\.ts$)|auth\/[a-z-]+\/node\.ts$)/.test(target["plenum-source"]);

test.each([
  ["without Node's types", [], entries.filter((entry) => !isAboutNode(entry))],
  ["with Node's types", ["node"], entries],
])(
  "the declarations compile for a strict user who checks libraries too, %s",
  (title, types, used) => {
    const folder = join(root, ".cache", `consumer-${title.replace(/[^a-z]+/gi, "-")}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const compilerOptions = {
      target: "ES2022",
      lib: ["ES2023", "ESNext.Disposable", "DOM"],
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      types,
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const imports = used.map(({ name }, index) => `export * as entry${index} from ${JSON.stringify(name)};`);
    writeFileSync(join(folder, "use.ts"), imports.join("\n"));
    let output = "";
    try {
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
        encoding: "utf8",
      });
    } catch (error) {
      output = String((error as { stdout?: unknown }).stdout ?? error);
    }
    expect(output).toBe("");
  },
  60_000,
);

test("the packed files are dist without maps", () => {
  const { paths } = pack();
  const ownPages = ["package.json", "LICENSE", "README.md"];
  // The source is for who has the repository.
  const shipped = entries.flatMap(({ target: { "plenum-source": _, ...built } }) => Object.values(built));
  const wanted = [...ownPages, ...shipped.map((path) => path.slice(2))];
  expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  expect(paths.filter((path) => !/^dist\/.*(?<!\.map)$/.test(path) && !ownPages.includes(path))).toEqual([]);
  expect(paths.filter((path) => /\.test\./.test(path))).toEqual([]);
}, 60_000);
