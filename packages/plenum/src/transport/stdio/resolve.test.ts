// Finding programs on Windows, and arguments that cmd.exe cannot misread. There is no cmd.exe to ask here: `read` below
// models how it, a batch file that repeats `%*`, and a program read a line.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeForBatch, findSystemProgram, type ResolveOptions, resolveCommand } from "./resolve.ts";

const node = "C:\\Program Files\\nodejs";
function options(files: readonly string[], given: Partial<ResolveOptions> = {}): ResolveOptions {
  const there = new Set(files.map((file) => file.toLowerCase()));
  return {
    platform: "win32",
    env: { Path: `"${node}";D:\\tools;;relative` },
    inherited: { SystemRoot: "C:\\WINDOWS", PATHEXT: ".COM;.EXE;.BAT;.CMD;.VBS;.JS", ComSpec: "D:\\evil.exe" },
    cwd: "E:\\work",
    exists: (path) => there.has(path.toLowerCase()),
    ...given,
  };
}

test.each<NodeJS.Platform>(["linux", "darwin"])("on %s the command stands as it is", (platform) => {
  const nowhere = options([], { platform });
  expect(resolveCommand("npx", ["a b", "%X%", "\n"], nowhere)).toEqual({
    ...{ file: "npx", args: ["a b", "%X%", "\n"], verbatim: false },
  });
});

describe("finding a program on Windows", () => {
  test.each<[string, string[], string | undefined]>([
    ["node", [`${node}\\node.exe`], `${node}\\node.exe`],
    ["node.exe", [`${node}\\node.exe`], `${node}\\node.exe`],
    ["NODE.EXE", [`${node}\\node.exe`], `${node}\\NODE.EXE`],
    ["python3.11", ["D:\\tools\\python3.11.exe"], "D:\\tools\\python3.11.exe"],
    // The one without an ending is a script for other systems.
    ["tool", ["D:\\tools\\tool", "D:\\tools\\tool.exe"], "D:\\tools\\tool.exe"],
    ["tool", [`${node}\\tool.com`, `${node}\\tool.exe`], `${node}\\tool.com`],
    ["tool", ["E:\\work\\relative\\tool.exe"], "E:\\work\\relative\\tool.exe"],
    ["tool", ["D:\\tools\\tool.js", "D:\\tools\\tool.vbs"], undefined],
    ["tool", ["E:\\work\\tool.exe"], undefined],
    [".\\tool", ["E:\\work\\tool.exe"], "E:\\work\\tool.exe"],
    ["bin/tool.exe", ["E:\\work\\bin\\tool.exe"], "E:\\work\\bin\\tool.exe"],
    ["D:\\x\\tool.exe", ["D:\\x\\tool.exe"], "D:\\x\\tool.exe"],
    ["D:\\x\\tool.exe", [`${node}\\tool.exe`], undefined],
    ["server.py", ["D:\\tools\\server.py"], undefined],
  ])("%s with %j", (command, files, file) => {
    const found = resolveCommand(command, ["a b"], options(files));
    expect(found).toEqual(file && { file, args: ["a b"], verbatim: false });
  });

  test("the order of PATHEXT, and the usual one without it", () => {
    const files = [`${node}\\x.cmd`, `${node}\\x.exe`];
    const at = (inherited: ResolveOptions["inherited"]) => resolveCommand("x", [], options(files, { inherited }))?.file;
    expect(at({ PATHEXT: ".CMD;.EXE" })).toMatch(/cmd\.exe$/);
    expect(at({ PATHEXT: ".JS" })).toBe(`${node}\\x.exe`);
    expect(at({})).toBe(`${node}\\x.exe`);
  });

  test("no PATH", () => {
    expect(resolveCommand("x", [], options(["E:\\work\\x.exe"], { env: {} }))).toBeUndefined();
  });
});

describe("a batch file", () => {
  const npx = options([`${node}\\npx`, `${node}\\npx.cmd`]);

  test("goes through the cmd.exe of the system, without AutoRun, with expansion of ! off", () => {
    expect(resolveCommand("npx", ["-y", "a b"], npx)).toEqual({
      file: "C:\\WINDOWS\\System32\\cmd.exe",
      args: ["/e:on", "/v:off", "/d", "/s", "/c", `""${node}\\npx.cmd" -y "a b""`],
      verbatim: true,
    });
  });

  test.each([".bat", ".CMD", ".Bat"])("%s is one, whatever its case", (ending) => {
    const file = `D:\\x${ending}`;
    expect(resolveCommand(file, [], options([file]))?.file).toMatch(/cmd\.exe$/);
  });

  test("lines that are too long are refused", () => {
    expect(() => resolveCommand("npx", ["x".repeat(8200)], npx)).toThrow(
      /at most 8191 to a batch file such as npx.cmd/,
    );
    expect(() => resolveCommand("npx", ["x".repeat(8200)], npx)).toThrow(TypeError);
  });

  test.each(["a\nb", "a\r", "\n", "a\0"])("%j is refused", (arg) => {
    expect(() => resolveCommand("npx", [arg], npx)).toThrow(TypeError);
    expect(() => resolveCommand("npx", [arg], npx)).toThrow(/line break or NUL.*directly/);
  });
});

describe("escapeForBatch", () => {
  test.each<[string, string]>([
    ["plain", "plain"],
    ["--a:b@1.0/c\\d", "--a:b@1.0/c\\d"],
    ["", '""'],
    ["a b", '"a b"'],
    ["a&calc", '"a&calc"'],
    ["a|b<c>d^e(f)", '"a|b<c>d^e(f)"'],
    ['a"&calc&"', '"a""&calc&"""'],
    ['a\\"b', '"a\\\\""b"'],
    ["a\\", '"a\\\\"'],
    ["a b\\\\", '"a b\\\\\\\\"'],
    ["%PATH%", '"%%cd:~,%PATH%%cd:~,%"'],
    ["100%", '"100%%cd:~,%"'],
    ["!PATH!", '"!PATH!"'],
    ["a,b;c=d", '"a,b;c=d"'],
    ["`$'", '"`$\'"'],
    ["a\tb", '"a\tb"'],
    ["日本", "日本"],
    ["\u00a0", '"\u00a0"'],
  ])("%j", (arg, expected) => {
    expect(escapeForBatch(arg)).toBe(expected);
  });

  /** Replaces %NAME% as cmd.exe does on a command line: unknown names stay, and %cd:~,% is nothing. */
  function expand(line: string): string {
    let out = "";
    for (let at = 0; at < line.length; at++) {
      const end = line[at] === "%" ? line.indexOf("%", at + 1) : -1;
      const name = end < 0 ? undefined : line.slice(at + 1, end);
      const value = name === "cd:~," ? "" : name === "X" ? '"&calc&"' : name === "YY" ? "value" : undefined;
      out += value ?? line[at];
      if (value !== undefined) at = end;
    }
    return out;
  }

  /** Throws for anything outside quotes that ends or redirects the command. */
  function assertOneCommand(line: string): string {
    let isQuoted = false;
    for (const char of line) {
      if (char === '"') isQuoted = !isQuoted;
      else if (char === "\n" || (!isQuoted && "&|<>()^%!".includes(char)))
        throw new Error(`${char} is loose in ${line}`);
    }
    if (isQuoted) throw new Error(`the end of ${line} is inside quotes`);
    return line;
  }

  /** The arguments as the C runtime of a program reads them. */
  function split(line: string): string[] {
    const args: string[] = [];
    let [arg, isQuoted]: [string | undefined, boolean] = [undefined, false];
    for (let at = 0; at < line.length; at++) {
      const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
      if (slashes > 0) {
        const isBeforeQuote = line[at + slashes] === '"';
        arg = (arg ?? "") + "\\".repeat(isBeforeQuote ? Math.floor(slashes / 2) : slashes);
        at += slashes;
        if (isBeforeQuote && slashes % 2 === 1) {
          arg += '"';
          continue;
        }
        if (at >= line.length) break;
      }
      const char = line[at] as string;
      if (char === '"' && isQuoted && line[at + 1] === '"') {
        arg = `${arg ?? ""}"`;
        at++;
      } else if (char === '"') {
        isQuoted = !isQuoted;
        arg ??= "";
      } else if (!isQuoted && /[ \t]/.test(char)) {
        if (arg !== undefined) args.push(arg);
        arg = undefined;
      } else arg = (arg ?? "") + char;
    }
    if (arg !== undefined) args.push(arg);
    return args;
  }

  const read = (args: readonly string[]): string[] =>
    split(assertOneCommand(expand(args.map(escapeForBatch).join(" "))));

  test("the model sees what it is to see", () => {
    expect(() => assertOneCommand(expand('"%X%"'))).toThrow(/& is loose/);
    expect(() => assertOneCommand('"a"&calc"')).toThrow(/& is loose/);
    expect(split(String.raw`a "b c" "d""e" \"f "g\\" h\i`)).toEqual(["a", "b c", 'd"e', '"f', "g\\", "h\\i"]);
  });

  test("whatever the arguments are, the program gets them and nothing else is run", () => {
    const arg = fc.string({ unit: fc.constantFrom(...'abXY "\\%%%&|<>()^!:~,;=\t'), maxLength: 14 });
    fc.assert(
      fc.property(fc.array(arg, { maxLength: 5 }), (args) => {
        expect(read(args)).toEqual(args);
      }),
      { numRuns: 5000 },
    );
    expect(read(["%X%", "%X%YY%", "%YY%", "%%X%%"])).toEqual(["%X%", "%X%YY%", "%YY%", "%%X%%"]);
  });
});

test("findSystemProgram", () => {
  expect(findSystemProgram("x.exe", { windir: "D:\\Win" })).toBe("D:\\Win\\System32\\x.exe");
  expect(findSystemProgram("x.exe", {})).toBe("C:\\Windows\\System32\\x.exe");
});
