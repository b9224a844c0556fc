// Every piece of code in README.md and docs/ compiles, runs, and prints what it says it prints.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listFiles, root } from "../house/source.ts";
import { compileSnippets, readPage, runSnippet, type Snippet, writeSnippets } from "./snippets.ts";

const names = ["README.md", ...listFiles(join(root, "docs"), ".md").map((path) => `docs/${path}`)];
const pages = names.map((name) => readPage(name, readFileSync(join(root, name), "utf8")));
const snippets = pages.flatMap((page) => page.snippets);

// One page with every kind of mistake: a check that finds none of them checks nothing.
const broken = readPage(
  "broken",
  [
    ...["```ts", 'const n: number = "one";', "console.log(n); // → one", "```"],
    ...["```ts", 'import { createServer } from "plenum";', 'createServer({ name: "no version" } as never);', "```"],
    ...["```ts", "console.log(1); // → 2", "```", "```ts", 'console.error("oh");', "```"],
    ...["```ts", "export const sum = 1 + 1;", "```", "```ts continued", "console.log(sum); // → 2", "```"],
  ].join("\n"),
).snippets;

let folder = "";
let paths = new Map<Snippet, string>();
let said: string[] = [];

beforeAll(() => {
  mkdirSync(join(root, ".cache"), { recursive: true });
  folder = mkdtempSync(join(root, ".cache", "snippets-"));
  paths = writeSnippets(folder, [...snippets, ...broken]);
  said = compileSnippets(folder);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is wrong with a snippet; each problem names the line of its page. */
async function check(snippet: Snippet): Promise<string[]> {
  const path = paths.get(snippet) as string;
  const place = path.slice(folder.length + 1).replaceAll("\\", "/");
  const mistakes = said.filter((line) => line.startsWith(`${place}(`)).map((line) => line.slice(place.length));
  const { status, printed, complained } = await runSnippet(path);
  return [
    ...mistakes.map((mistake) => `${snippet.page}${mistake}`),
    ...(status === 0 ? [] : [`${snippet.page}:${snippet.line}: ended with ${status}`]),
    ...(complained === "" ? [] : [`${snippet.page}:${snippet.line}: ${complained}`]),
    ...(printed.join("\n") === snippet.prints.join("\n")
      ? []
      : [`${snippet.page}:${snippet.line}: says ${show(snippet.prints)} and prints ${show(printed)}`]),
  ];
}

const show = (lines: readonly string[]): string => lines.map((line) => `\n  ${line}`).join("") || "nothing";

describe.concurrent("the code of the pages", () => {
  test.each(snippets.map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    "%s compiles, runs and prints what it says",
    async (_, snippet) => {
      expect(await check(snippet)).toEqual([]);
    },
  );
});

test("the compiler has nothing to say about anything else", () => {
  const places = [...paths.values()].map((path) => `${path.slice(folder.length + 1).replaceAll("\\", "/")}(`);
  expect(said.filter((line) => !places.some((place) => line.startsWith(place)))).toEqual([]);
});

test("the marks are right, and hardly anything is left unchecked", () => {
  expect(pages.flatMap((page) => page.problems)).toEqual([]);
  expect(snippets.length).toBeGreaterThan(20);
  expect(pages.reduce((sum, page) => sum + page.unchecked, 0)).toBeLessThanOrEqual(1);
});

test("mistakes are found: of types, at run time, in what is printed", async () => {
  const found = await Promise.all(broken.map(check));
  expect(found.map((problems) => problems.join("\n"))).toEqual([
    expect.stringMatching(/^broken\(2,7\): error TS2322/),
    expect.stringMatching(/ended with 1[\s\S]*version must be/),
    expect.stringMatching(/says \n {2}2 and prints \n {2}1$/),
    expect.stringMatching(/^broken:\d+: oh/),
    "",
  ]);
});

test("blocks are joined, named and kept at their lines", () => {
  const text = [
    "```ts",
    "// one.ts",
    "a();",
    "```",
    "words",
    "```ts continued",
    "b(); // → x",
    "```",
    "```ts nocheck",
    "c();",
    "```",
    "```ts continues",
    "```",
    "```js",
    "```",
    "```ts",
  ].join("\n");
  const { snippets, unchecked, problems } = readPage("page.md", text);
  expect(snippets.map(({ file, line, prints }) => ({ file, line, prints }))).toEqual([
    { file: "one.ts", line: 2, prints: ["x"] },
    { file: "line-17.ts", line: 17, prints: [] },
  ]);
  expect(snippets[0]?.code.split("\n").slice(0, 7)).toEqual(["", "// one.ts", "a();", "", "", "", "b(); // → x"]);
  expect(unchecked).toBe(1);
  expect(problems).toHaveLength(3);
});
