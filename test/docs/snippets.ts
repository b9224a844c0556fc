// The code in the pages, taken out, compiled and run. The rules, all of which a reader of the page can see:
//   ```ts             a module of its own
//   ```ts continued   goes on where the block before it on the page ended
//   ```ts nocheck     only to be looked at
//   // name.ts        as the first line: saved under that name, for the other blocks of the page to import
//   … // → text       a line that the module prints, in this order and nothing else
// Lines keep their numbers: line 12 of the module is line 12 of the page.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../house/source.ts";

export interface Snippet {
  readonly page: string;
  /** Of the first block's first line of code. */
  readonly line: number;
  /** Where the module is saved, below the folder of its page. */
  readonly file: string;
  readonly code: string;
  /** What it says it prints. */
  readonly prints: readonly string[];
}

export interface Page {
  readonly snippets: readonly Snippet[];
  readonly unchecked: number;
  /** Mistakes in the marks themselves. */
  readonly problems: readonly string[];
}

interface Draft {
  readonly line: number;
  readonly file: string;
  readonly lines: string[];
}

const fence = /^( *)(```+)(.*)$/;

export function readPage(page: string, text: string): Page {
  const drafts: Draft[] = [];
  const problems: string[] = [];
  let unchecked = 0;
  let open: { readonly end: string; readonly draft: Draft | undefined } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const number = index + 1;
    if (open) {
      if (line.trim() === open.end) open = undefined;
      else if (open.draft) {
        while (open.draft.lines.length < index) open.draft.lines.push("");
        open.draft.lines.push(line);
      }
      continue;
    }
    const [, , end, info = ""] = fence.exec(line) ?? [];
    if (end === undefined) continue;
    const [language, mark, ...more] = info.trim().split(/\s+/);
    const previous = drafts.at(-1);
    let draft: Draft | undefined;
    if (language === "ts" && mark === undefined) {
      const name = /^\/\/ ([\w-]+\.ts)$/.exec(text.split("\n")[number] ?? "")?.[1];
      draft = { line: number + 1, file: name ?? `line-${number + 1}.ts`, lines: [] };
      drafts.push(draft);
    } else if (language === "ts" && mark === "continued" && more.length === 0 && previous) draft = previous;
    else if (language === "ts" && mark === "nocheck" && more.length === 0) unchecked++;
    else if (language === "ts") problems.push(`${page}:${number}: no such mark: ${info}`);
    else if (/^(typescript|tsx|js|javascript|mjs|mts)$/i.test(language ?? ""))
      problems.push(`${page}:${number}: write \`\`\`ts, so that the block is checked`);
    open = { end, draft };
  }
  if (open) problems.push(`${page}: the last block has no end`);
  const snippets = drafts.map(({ line, file, lines }) => ({
    page,
    line,
    file,
    code: `${lines.join("\n")}\nexport {};\n`,
    prints: lines.flatMap((text) => /\/\/ → (.*)$/.exec(text)?.[1] ?? []),
  }));
  return { snippets, unchecked, problems };
}

/** Writes the modules of all pages below a folder, with what the compiler needs; gives each module's path. */
export function writeSnippets(folder: string, snippets: readonly Snippet[]): Map<Snippet, string> {
  const paths = new Map<Snippet, string>();
  for (const snippet of snippets) {
    const below = join(folder, snippet.page.replaceAll(/[^\w]+/g, "-"));
    mkdirSync(below, { recursive: true });
    paths.set(snippet, join(below, snippet.file));
    writeFileSync(join(below, snippet.file), snippet.code);
  }
  const config = { extends: join(root, "tsconfig.json"), compilerOptions: { rootDir: root }, include: ["**/*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return paths;
}

/** What the compiler has to say, each as `path(line,column): …`. Empty: all is well. */
export function compileSnippets(folder: string): string[] {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  // What the compiler has to add to a message is indented below it.
  const said = `${stdout}${stderr}`.split(/\n(?! )/).filter((line) => line.trim() !== "");
  return status === 0 || said.length > 0 ? said : [`the compiler ended with ${status}`];
}

export interface Run {
  readonly status: number | null;
  readonly printed: readonly string[];
  readonly complained: string;
}

/** Runs one module in a process of its own, on the source of the library. One that does not end by itself is ended. */
export function runSnippet(path: string): Promise<Run> {
  const args = ["--conditions=plenum-source", "--import", "tsx", path];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], timeout: 40_000 });
  let printed = "";
  let complained = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      const lines = printed.split("\n");
      if (lines.at(-1) === "") lines.pop();
      resolve({ status, printed: lines, complained });
    });
  });
}
