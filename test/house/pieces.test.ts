// Nothing is missing: the files that scripts name, the pages of the project, and what the pages link to.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { projects } from "../requirements/runs.ts";
import { listFiles, root } from "./source.ts";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };

describe("package.json", () => {
  test.each(Object.entries(manifest.scripts))("the files of %s are there", (_, command) => {
    const files = command.split(" ").filter((word) => /\.(m?js|ts|json)$/.test(word));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("start and test make a fresh clone ready first", () => {
    for (const name of ["prestart", "pretest"]) expect(manifest.scripts[name]).toBe("node scripts/setup.mjs");
  });
});

test("the report knows the projects of vitest.config.ts", () => {
  const listed = (config as { test: { projects: { test: { name: string } }[] } }).test.projects;
  const names = listed.map((project) => project.test.name);
  // Over HTTP the suites prove once more what they prove in memory. Budgets prove no requirement, and what they measure must
  // not run beside other tests.
  expect(names.filter((name) => !name.startsWith("suite-"))).toEqual([...projects, "budget"]);
});

describe("package-lock.json", () => {
  const text = readFileSync(join(root, "package-lock.json"), "utf8");

  test("names no registry: packages come from the one that the user has set", () => {
    expect(text).not.toMatch(/"resolved": "https?:/);
  });

  // npm leaves out what its registry did not have at the time; then `npm ci` refuses the file, here or elsewhere.
  test("has the packages of every platform", () => {
    const { packages } = JSON.parse(text) as { packages: Record<string, { optionalDependencies?: object }> };
    const lacks = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`])
        .map((name) => `${path}: ${name}`),
    );
    expect(lacks).toEqual([]);
  });
});

const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", "docs/design.md", "docs/errors.md"],
  ...["docs/rough-edges.md", "docs/dependencies.md", "docs/guide.md", "docs/protocol.md"],
];

test.each(pages)("%s is there", (page) => {
  expect(existsSync(join(root, page))).toBe(true);
});

/** Targets of relative links, and the headings that they name. */
function links(text: string): { file: string; heading: string | undefined }[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", heading] = target.split("#");
    return [{ file, heading }];
  });
}

/** The anchor of every heading of a page, as the usual viewers make them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const markdown = [
  ...listFiles(join(root, "docs"), ".md").map((path) => `docs/${path}`),
  ...pages.filter((page) => !page.includes("/") && page.endsWith(".md") && existsSync(join(root, page))),
];

test.each(markdown)("the links of %s lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const broken = links(text).filter(({ file, heading }) => {
    const path = file === "" ? page : join(dirname(page), file);
    if (!existsSync(join(root, path))) return true;
    return (
      heading !== undefined &&
      path.endsWith(".md") &&
      !anchors(readFileSync(join(root, path), "utf8")).includes(heading)
    );
  });
  expect(broken).toEqual([]);
});

test("docs/errors.md explains every error code", () => {
  const page = readFileSync(join(root, "docs/errors.md"), "utf8");
  const ofOAuth = /^## Authorization\n.*?(?=^## )/ms.exec(page)?.[0] ?? "";
  for (const [file, text] of [
    ["protocol/errors.ts", page.replace(ofOAuth, "")],
    ["auth/oauth-error.ts", ofOAuth],
  ] as const) {
    const table = readFileSync(join(root, "packages/plenum/src", file), "utf8");
    const codes = [...table.matchAll(/^ {2}\| "([a-z_]+)"/gm)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(10);
    const rows = [...text.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)];
    const explained = rows.flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
    expect(explained.sort()).toEqual(codes.sort());
  }
});

test("the link checker sees links and headings", () => {
  expect(links("see [a](b.md#c), [d](#e) and [f](https://g)\n```\n[no](no.md)\n```\n`[no](no.md)`")).toEqual([
    { file: "b.md", heading: "c" },
    { file: "", heading: "e" },
  ]);
  expect(anchors("# One thing: `two`\n\n## 3. Four")).toEqual(["one-thing-two", "3-four"]);
});
