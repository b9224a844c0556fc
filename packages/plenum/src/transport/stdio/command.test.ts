// Command lines as people write them, and back.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatCommand, parseCommand } from "./command.ts";

function words(line: string, platform: NodeJS.Platform = "linux"): string[] {
  const { command, args } = parseCommand(line, platform);
  return [command, ...args];
}

describe("words", () => {
  test.each<[string, string[]]>([
    ["npx -y some-server", ["npx", "-y", "some-server"]],
    ["  npx\t-y  some-server ", ["npx", "-y", "some-server"]],
    [`node "my server.js" 'and "this"'`, ["node", "my server.js", 'and "this"']],
    [`node my" "server.js`, ["node", "my server.js"]],
    [`node "" ''`, ["node", "", ""]],
    [`node "it's"`, ["node", "it's"]],
    [String.raw`node my\ server.js \"x\" \'y\' a\\b`, ["node", "my server.js", '"x"', "'y'", "a\\b"]],
    [String.raw`node "say \"hi\" \\ \n"`, ["node", String.raw`say "hi" \ \n`]],
    [String.raw`node 'a\b' \d+ a\|b \$HOME \~`, ["node", "a\\b", "\\d+", "a|b", "$HOME", "~"]],
    [
      "node 'a|b' \"a && b; c > d (e)\" '$HOME' '`x`' '~/x'",
      ["node", "a|b", "a && b; c > d (e)", "$HOME", "`x`", "~/x"],
    ],
    [
      "node a~b --price=5$ * ? [a] {b,c} #d %PATH% A=b",
      ["node", "a~b", "--price=5$", "*", "?", "[a]", "{b,c}", "#d", "%PATH%", "A=b"],
    ],
    ["'A=b'", ["A=b"]],
    ["é ü", ["é", "ü"]],
    ["node a\u00a0b\u3000c \u2003", ["node", "a\u00a0b\u3000c", "\u2003"]],
    [`node "a$" 'b$' "$'c'"`, ["node", "a$", "b$", "$'c'"]],
  ])("%s", (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  test.each<[string, string[]]>([
    [String.raw`C:\tools\node.exe C:\new\table.js`, [String.raw`C:\tools\node.exe`, String.raw`C:\new\table.js`]],
    [
      String.raw`"C:\Program Files\x\node.exe" \\server\share`,
      [String.raw`C:\Program Files\x\node.exe`, String.raw`\\server\share`],
    ],
    [String.raw`"C:\My Dir\" x`, ["C:\\My Dir\\", "x"]],
    [String.raw`C:\"My Dir"\x.exe`, [String.raw`C:\My Dir\x.exe`]],
    [`node '{"a":1}' "it's" ~x 100%`, ["node", '{"a":1}', "it's", "~x", "100%"]],
    ["node '%PATH%'", ["node", "%PATH%"]],
  ])("on Windows: %s", (line, expected) => {
    expect(words(line, "win32")).toEqual(expected);
  });
});

describe("refused, with what to do", () => {
  test.each<[string, RegExp]>([
    ["", /is empty: name a program/],
    ["   ", /is empty: name a program/],
    ["'' x", /is empty: name a program/],
    ["node 'x", /has a ' that is never closed/],
    ['node "x', /has a " that is never closed, at character 6: close it, or write it as \\"/],
    ["node\nx", /line break.*one line/],
    ["node '\r'", /line break.*one line/],
    ["node \0", /NUL/],
    ["a | b", /"\| b", but no shell is used: put it in quotes.*sh -c/],
    ["a&&b", /"&&b", but no shell/],
    ["a; b", /"; b", but no shell/],
    ["a > b", /"> b", but no shell/],
    ["a 2>&1", />&1.*no shell/],
    ["a < b", /"< b", but no shell/],
    ["a &", /"&", but no shell/],
    ["(a)", /"\(a\)", but no shell/],
    ["echo $(id)", /"\$\(id\)", but no shell is used and nothing is replaced.*env.*single quotes/],
    ["echo `id`", /nothing is replaced/],
    ["node $HOME/x.js", /"\$HOME\/x.js".*nothing is replaced/],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what people write
    ["node ${HOME}", /nothing is replaced/],
    ['node "$HOME/x.js"', /nothing is replaced/],
    ['node "`id`"', /nothing is replaced/],
    ["node $'a\\tb'", /nothing is replaced/],
    ['node $"a"', /nothing is replaced/],
    ["node ~/x.js", /~ is not replaced: write the whole path/],
    ["KEY=secret node x.js", /begins with "KEY=".*give the variable in env/],
  ])("%j", (line, message) => {
    expect(() => parseCommand(line, "linux")).toThrow(TypeError);
    expect(() => parseCommand(line, "linux")).toThrow(message);
  });

  test.each<[string, RegExp]>([
    ["node %APPDATA%\\x.js", /nothing is replaced/],
    ['node "%APPDATA%\\x.js"', /nothing is replaced/],
    [String.raw`node "{\"a\":1}"`, /on Windows a backslash is only a backslash.*single quotes/],
    [String.raw`node --json={\"a\":1}`, /on Windows a backslash is only a backslash/],
    [String.raw`node "a\" b"`, /never closed.*quotes of the other kind/],
    ["a | b", /cmd \/c/],
  ])("on Windows: %j", (line, message) => {
    expect(() => parseCommand(line, "win32")).toThrow(TypeError);
    expect(() => parseCommand(line, "win32")).toThrow(message);
  });

  test("what is before the program is not shown: it may be a secret", () => {
    expect(() => parseCommand("KEY=secret node x.js")).not.toThrow(/secret/);
  });

  test("nor is the rest of the line", () => {
    for (const line of ["node --key s3cret 'x", 'node --key s3cret "x']) {
      expect(() => parseCommand(line)).toThrow("at character 19");
      expect(() => parseCommand(line)).not.toThrow(/s3cret/);
    }
    expect(() => parseCommand('node s3cret "{\\"a\\":1}"', "win32")).not.toThrow(/s3cret/);
  });

  test("no string", () => {
    expect(() => parseCommand(5 as unknown as string)).toThrow(TypeError);
  });
});

describe("formatCommand", () => {
  test.each<[string, string[], string]>([
    ["npx", ["-y", "@scope/server@1.0", "--a=b"], "npx -y @scope/server@1.0 --a=b"],
    ["node", ["my server.js", "", "it's", "$HOME"], `node 'my server.js' '' "it's" '$HOME'`],
    ["node", ["a\nb\u001b[31m"], "node 'a b [31m'"],
    ["A=b", ["A=b"], "'A=b' A=b"],
    ["node", ["a\u202eb"], "node 'a b'"],
    ["npx", ["-y", "x", "--token", "abc", "https://u:p@h/"], "npx -y x --token *** https://***@h/"],
    ["npx x --token abc", [], "'npx x --token ***'"],
    [
      "/store/0123456789abcdef0123456789abcdef-node/bin/node",
      [],
      "/store/0123456789abcdef0123456789abcdef-node/bin/node",
    ],
  ])("%s %j", (command, args, expected) => {
    expect(formatCommand(command, args, "linux")).toBe(expected);
  });

  test("paths of Windows stay readable", () => {
    expect(formatCommand("C:\\node.exe", ["C:\\a b"], "win32")).toBe("C:\\node.exe 'C:\\a b'");
  });

  test("at most 200 characters", () => {
    const line = formatCommand("node", ["x y ".repeat(150)]);
    expect(line).toHaveLength(200);
    expect(line.endsWith("…")).toBe(true);
  });

  test.each<NodeJS.Platform>(["linux", "win32"])("parseCommand gives the same words back on %s", (platform) => {
    const word = fc.string({
      unit: fc.constantFrom(..."ab \"'\\$`%|&;<>()~=*é{}!^#"),
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: fc.constantFrom(..."a b'\"\\=~%$") }),
        fc.array(word, { maxLength: 4 }),
        (command, args) => {
          expect(parseCommand(formatCommand(command, args, platform), platform)).toEqual({ command, args });
        },
      ),
      { numRuns: 3000 },
    );
  });
});
