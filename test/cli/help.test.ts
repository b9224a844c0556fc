// Help of every command, as it is printed: kept in help/, so that a change of it is seen. `npx vitest run --project suite
// test/cli/help.test.ts -u` writes them anew.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { Command, OptionSpecs } from "../../packages/cli/src/command.ts";
import { commands } from "../../packages/cli/src/commands.ts";
import { exitMeanings } from "../../packages/cli/src/help.ts";
import { everyOption, parseWords } from "../../packages/cli/src/parse.ts";
import { ensureCli } from "../house/built.ts";
import { openProgram, openTerminal, type Ran, type RunOptions, runCli, type Terminal } from "./stage.ts";

const names = commands.map(({ name }) => name);
const pages = new Map<string, Ran>();

beforeAll(async () => {
  const left: string[] = ["", ...names];
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      pages.set(name, await runCli(name === "" ? ["--help"] : ["help", name]));
  };
  await Promise.all(Array.from({ length: 4 }, work));
}, 120_000);

const pageOf = (name: string): string => pages.get(name)?.stdout ?? "";
const fileOf = (name: string): string => fileURLToPath(new URL(`help/${name || "overview"}.txt`, import.meta.url));

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins every escape sequence
const escapes = /\u001b/;

describe.each([["the overview", ""], ...names.map((name) => [name, name])])("help of %s", (_, name) => {
  test("is what it was", async () => {
    expect(pages.get(name)).toMatchObject({ code: 0, stderr: "" });
    await expect(pageOf(name)).toMatchFileSnapshot(fileOf(name));
  });

  test("fits into 80 columns, and has no colours for a program", () => {
    const lines = pageOf(name).split("\n");
    expect(lines.filter((line) => [...line].length > 80 || /\s$/.test(line))).toEqual([]);
    expect(pageOf(name)).not.toMatch(escapes);
  });
});

test("there is no page of a command that is gone", () => {
  const files = readdirSync(fileURLToPath(new URL("help", import.meta.url)));
  expect(files.toSorted()).toEqual(["overview", ...names].map((name) => `${name}.txt`).toSorted());
});

test("the overview has every command", () => {
  for (const { name, summary } of commands) expect(pageOf("").replace(/\s+/g, " ")).toContain(`${name} ${summary}`);
});

/** Every call of the program in an example, as a shell splits it: in a pipe, and as the command of another. */
function callsIn(example: string): string[][] {
  const words = example.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? [];
  const plain = words.map((word) => word.replace(/^(['"])(.*)\1$/s, "$2"));
  const isEnd = (word: string): boolean => /^(\||[<>]+|&&|\d>.*)$/.test(word);
  return plain.flatMap((word, at) => {
    const before = plain[at - 1];
    if (word !== "plenum" || !(before === undefined || before === "--" || isEnd(before))) return [];
    const end = plain.findIndex((one, place) => place > at && isEnd(one));
    return [plain.slice(at + 1, end < 0 ? undefined : end)];
  });
}

describe.each(commands.map((row) => [row.name, row] as const))("%s", (name, row) => {
  let command: Command<OptionSpecs>;
  const specs = (): OptionSpecs => ({ ...everyOption, ...command.options });
  beforeAll(async () => {
    ({ command } = await row.load());
  });

  test("tells of every option and argument, and of what they can be", () => {
    const page = pageOf(name).replace(/\s+/g, " ");
    for (const [option, { kind, short, choices = [], summary }] of Object.entries(specs())) {
      expect(page).toContain(`${short ? `-${short}, ` : ""}--${option}`);
      expect(page).toContain(summary.replace(/\s+/g, " "));
      expect(summary).not.toMatch(/\.$/);
      for (const choice of choices) expect(page).toContain(choice);
      if (kind !== "flag") expect(page).toMatch(new RegExp(`--${option} [A-Z]`));
    }
    for (const { name: argument, summary } of command.arguments) {
      expect(argument).toMatch(/^[A-Z][A-Z=_-]*$/);
      expect(page).toContain(`${argument} ${summary}`);
    }
    for (const [code, meaning] of exitMeanings) expect(page).toContain(`${code} ${meaning}`);
  });

  test("has no two options of one letter", () => {
    const letters = Object.values(specs()).flatMap(({ short }) => short ?? []);
    expect(new Set(letters).size).toBe(letters.length);
  });

  test("teaches: a description in sentences, and examples that are understood", async () => {
    for (const paragraph of command.description) expect(paragraph).toMatch(/[.:?!)]$/);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { command: line } of command.examples) {
      const calls = callsIn(line);
      expect(
        calls.map(([own]) => own),
        line,
      ).toContain(name);
      for (const [own, ...words] of calls) {
        const { command: called } = (await commands.find((one) => one.name === own)?.load()) ?? {};
        expect(() => parseWords(called as Command<OptionSpecs>, words), line).not.toThrow();
      }
    }
  });
});

test.each(names.slice(0, 3))("%s --help shows the same page, whatever else is given", async (name) => {
  const { code, stdout } = await runCli([name, "--help", "--json"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: pageOf(name) });
});

test("without words the overview is shown, and the exit code says that nothing was done", async () => {
  expect(await runCli([])).toMatchObject({ code: 1, stdout: pageOf("") });
});

/**
 * Help at a terminal that is there until all of it was read: a pseudo-terminal is closed soon after its program has ended, and on
 * a busy machine the end of a page would be lost.
 */
async function openPage(words: readonly string[], env: RunOptions["env"] = {}): Promise<Terminal> {
  const script = '"$@"; code=$?; read -r line; exit $code';
  const program = [process.execPath, await ensureCli(), "help", "call", ...words];
  const terminal = openProgram("sh", ["-c", script, "sh", ...program], { env });
  await terminal.until(/a check found problems\r?\n/);
  terminal.type("\r");
  return terminal;
}

/** Without what was typed to end it. */
const toPage = (text: string): string => text.replaceAll("\r\n", "\n").replace(/\n+$/, "\n");

describe("colours", () => {
  test("on a terminal, and nowhere else", async () => {
    const terminal = await openPage([]);
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toMatch(escapes);
    expect(toPage(terminal.text)).toBe(toPage(pageOf("call")));
  });

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }, []],
    ["TERM=dumb", { TERM: "dumb" }, []],
    ["--no-color", {}, ["--no-color"]],
  ])("%s takes them away", async (_, env, words) => {
    const terminal = await openPage(words, env as RunOptions["env"]);
    expect(await terminal.exited).toBe(0);
    expect(toPage(terminal.shown)).toBe(toPage(pageOf("call")));
  });

  test.each([
    ["FORCE_COLOR", { FORCE_COLOR: "1" }, []],
    ["--color", {}, ["--color"]],
  ])("%s brings them where there is no terminal", async (_, env, words) => {
    expect((await runCli(["help", "call", ...words], { env: env as { [name: string]: string } })).stdout).toMatch(
      escapes,
    );
  });

  test("an empty NO_COLOR is none", async () => {
    const terminal = await openTerminal(["nonsense"], { env: { NO_COLOR: "" } });
    expect(await terminal.exited).toBe(1);
    expect(terminal.shown).toMatch(escapes);
  });
});

describe("what is not understood", () => {
  test.each([
    ["a command", ["cal"], "unknown_command", 'Did you mean "plenum call"?'],
    ["one that is like none", ["xyzzy"], "unknown_command", "plenum --help lists the commands."],
    ["an option in place of a command", ["--vers"], "unknown_command", "plenum --help lists the commands."],
    ["help of a command", ["help", "lst"], "unknown_command", 'Did you mean "plenum list"?'],
    ["an option", ["call", "x.ts", "y", "--jsn"], "unknown_option", "Did you mean --json?"],
    ["one that is like none", ["list", "x.ts", "--xyzzy"], "unknown_option", "plenum list --help lists its options."],
    ["a choice", ["list", "x.ts", "--revision", "2025-11-26"], "invalid_option", 'Did you mean "2025-11-25"?'],
    ["a choice of an argument", ["completion", "bsh"], "invalid_argument", 'Did you mean "bash"?'],
    ["a number", ["list", "x.ts", "--timeout", "soon"], "invalid_option", "plenum list --help explains it."],
    ["an option without its value", ["list", "x.ts", "--timeout"], "invalid_option", "plenum list --help explains it."],
    ["a flag with a value", ["list", "x.ts", "--trace=1"], "invalid_option", "plenum list --help explains it."],
    ["one given twice", ["list", "x.ts", "--cwd", "a", "--cwd", "b"], "invalid_option", "Give it once."],
    ["a word too many", ["version", "now"], "too_many_arguments", "It is used as: plenum version"],
    ["nothing where something is needed", ["call"], "missing_argument", "A TARGET is a URL, a file"],
  ])("%s: %j", async (_, words, code, hint) => {
    const ran = await runCli([...words, "--json"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^error: /);
    expect(ran.stderr).toContain(hint);
    expect(ran.stderr).not.toMatch(/^\s+at /m);
    const [envelope, ...others] = ran.json();
    expect(others).toEqual([]);
    expect(envelope).toMatchObject({ ok: false, error: { code, exitCode: 1 } });
    expect(envelope?.error?.hint).toContain(hint);
  });

  test("without --json nothing is on stdout", async () => {
    expect(await runCli(["list"])).toMatchObject({ code: 1, stdout: "" });
  });

  test("--debug shows the stack", async () => {
    expect((await runCli(["list", "--debug"])).stderr).toMatch(/^\s+at /m);
  });
});
