// `plenum install` and `uninstall` as a person runs them, on homes of every host: what is written, what stays, what is refused.
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { ensureCli } from "../house/built.ts";
import { fixture, makeFolder, type Ran, type RunOptions, runCli } from "./stage.ts";

const server = fixture("everything.mjs");
const cursor = ".cursor/mcp.json";

/** A home with these files, and how to run in it. */
function makeHome(files: { readonly [path: string]: string } = {}) {
  const home = makeFolder(files);
  const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    runCli(words, { cwd: home, ...options, env: { HOME: home, ...options.env } });
  return { home, run, read: (path: string): string => readFileSync(join(home, path), "utf8") };
}

/** On Linux: the file of each host, with something of the user's in it, and the key of its servers. */
const homes: readonly (readonly [host: string, path: string, text: string, key: string])[] = [
  [
    "claude-desktop",
    ".config/Claude/claude_desktop_config.json",
    '{\n  "globalShortcut": "", // kept\n  "mcpServers": {}\n}',
    "mcpServers",
  ],
  ["claude-code", ".claude.json", '{\n\t"numStartups": 3, /* kept */\n\t"projects": {}\n}\n', "mcpServers"],
  ["cursor", cursor, '{\r\n  // kept\r\n  "mcpServers": { "other": { "command": "x" } }\r\n}\r\n', "mcpServers"],
  [
    "vscode",
    ".config/Code/User/mcp.json",
    '\ufeff{\n    // kept\n    "inputs": [],\n    "servers": {\n        "other": { "command": "x" }, // trailing\n    },\n}\n',
    "servers",
  ],
  ["windsurf", ".codeium/windsurf/mcp_config.json", "", "mcpServers"],
  ["gemini", ".gemini/settings.json", "// kept\n", "mcpServers"],
  [
    "codex",
    ".codex/config.toml",
    '# kept\nmodel = "o3" # kept too\n\n[mcp_servers.other]\ncommand = "x"\n',
    "mcp_servers",
  ],
  ["zed", ".config/zed/settings.json", '{\n  // kept\n  "theme": "One Dark",\n}\n', "context_servers"],
  [
    "goose",
    ".config/goose/config.yaml",
    "# kept\nGOOSE_MODEL: x # kept too\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n",
    "extensions",
  ],
  [
    "opencode",
    ".config/opencode/opencode.jsonc",
    '{\n  "$schema": "https://opencode.ai/config.json", // kept\n}\n',
    "mcp",
  ],
  ["copilot", ".copilot/mcp-config.json", '{"mcpServers":{}}', "mcpServers"],
];

function parse(path: string, text: string): { [name: string]: unknown } {
  if (path.endsWith(".toml")) return parseToml(text);
  if (path.endsWith(".yaml")) return parseYaml(text);
  // What remains when comments and trailing commas are gone is what any parser reads.
  const plain = text
    .replace(/^\ufeff/, "")
    .replace(/\/\*.*?\*\/|(?<!:)\/\/[^\n]*/g, "")
    .replace(/,(\s*[}\]])/g, "$1");
  return JSON.parse(plain);
}

test.each(homes)("%s: in, changed, and out again", async (host, path, text, key) => {
  const { home, run, read } = makeHome({ [path]: text });
  const main = await ensureCli();
  const installed = await run(["install", server, "--host", host, "-n", "it", "-v", " A = 1=2 ", "-v", "B=@env:B"]);
  expect(installed).toMatchObject({ code: 0 });
  expect(installed.stdout).toContain(join(home, path));
  const after = read(path);
  expect(after.startsWith("\ufeff")).toBe(text.startsWith("\ufeff"));
  expect(/[^\r]\n/.test(after)).toBe(!text.includes("\r\n"));
  expect(after.match(/kept|trailing/g)).toEqual(text.match(/kept|trailing/g));
  const { [key]: servers, ...rest } = parse(path, after);
  const { it, ...others } = servers as { [name: string]: { [name: string]: unknown } };
  const { [key]: oldServers, ...oldRest } =
    text.includes("{") || text.includes(":") || text.includes("=") ? parse(path, text) : {};
  expect(rest).toEqual(oldRest);
  expect(others).toEqual(oldServers ?? {});
  const words = [process.execPath, main, "run", server];
  expect(it?.cmd ?? it?.command).toEqual(host === "opencode" ? words : words[0]);
  if (host !== "opencode") expect(it?.args).toEqual(words.slice(1));
  expect(it?.env ?? it?.envs ?? it?.environment).toEqual({ A: "1=2", B: "@env:B" });
  expect(read(`${path}.plenum.bak`)).toBe(text);
  // Once more: variables are merged, new ones win.
  expect(await run(["install", server, "--host", host, "-n", "it", "-v", "A=3", "-v", "C=4"])).toMatchObject({
    code: 0,
  });
  const again = (parse(path, read(path))[key] as { [name: string]: { [name: string]: unknown } }).it;
  expect(again?.env ?? again?.envs ?? again?.environment).toEqual({ A: "3", B: "@env:B", C: "4" });
  expect(await run(["uninstall", "it", "--host", host])).toMatchObject({ code: 0 });
  const { [key]: left = {}, ...same } = parse(path, read(path));
  expect([left, same]).toEqual([oldServers ?? {}, oldRest]);
  expect(read(path).match(/kept|trailing/g)).toEqual(text.match(/kept|trailing/g));
  expect(readdirSync(dirname(join(home, path))).filter((name) => /tmp$|lock$/.test(name))).toEqual([]);
});

test.each(homes)("%s: a broken file is named with its line, and is not touched", async (host, path) => {
  const broken = path.endsWith(".yaml")
    ? "a: 1\nb: [\n"
    : path.endsWith(".toml")
      ? "a = 1\nb = = 2\n"
      : '{\n  "a": 1\n  "b": 2\n}\n';
  const { home, run, read } = makeHome({ [path]: broken });
  for (const words of [
    ["install", server],
    ["uninstall", "everything"],
  ]) {
    const { code, stderr } = await run([...words, "--host", host]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/:[23]:\d+ cannot be read: /);
    expect(stderr).toContain(join(home, path));
    expect(stderr).toContain("Nothing was changed.");
  }
  expect(read(path)).toBe(broken);
  expect(readdirSync(dirname(join(home, path)))).toEqual([path.split("/").at(-1)]);
});

test("a host that is not there is not found; those that are there are named", async () => {
  const none = makeHome();
  expect(await none.run(["install", server])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Claude Desktop not found"),
  });
  const some = makeHome({ [cursor]: "{}" });
  const { code, stderr } = await some.run(["install", server]);
  expect(code).toBe(1);
  expect(stderr).toContain("On this machine there is cursor. Choose with --host: --host cursor");
  expect(readdirSync(none.home)).toEqual([]);
});

test("a host's folder without a file: it is made; several hosts by one command, or none", async () => {
  const { home, run, read } = makeHome({
    ".cursor/x": "",
    ".config/Claude/y": "",
    ".codex/config.toml": "broken = = 1",
  });
  const refused = await run(["install", server, "--host", "cursor", "--host", "codex"]);
  expect(refused.code).toBe(1);
  expect(existsSync(join(home, cursor))).toBe(false);
  expect(await run(["install", server, "-n", "everything", "--host", "cursor", "--host", "claude"])).toMatchObject({
    code: 0,
  });
  expect(JSON.parse(read(cursor)).mcpServers.everything.args).toEqual([await ensureCli(), "run", server]);
  expect(JSON.parse(read(".config/Claude/claude_desktop_config.json")).mcpServers).toHaveProperty("everything");
});

test("the file of a project", async () => {
  const { home, run, read } = makeHome();
  const project = makeFolder({ "src/server.mjs": "export default 1" });
  const words = ["install", "src/server.mjs:tools", "--dev", "--project", "--host", "vscode"];
  expect(await run(words, { cwd: project })).toMatchObject({ code: 0 });
  const { servers } = JSON.parse(readFileSync(join(project, ".vscode/mcp.json"), "utf8"));
  expect(servers[basename(project)].args.slice(1)).toEqual(["dev", `${join(project, "src/server.mjs")}:tools`]);
  expect(await run(["install", server, "--project"], { cwd: project })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("has no file for projects"),
  });
  expect(await run(["uninstall", basename(project), "--project", "--host", "vscode"], { cwd: project })).toMatchObject({
    code: 0,
  });
  expect(existsSync(join(home, ".config"))).toBe(false);
  expect(() => read(".vscode/mcp.json")).toThrow();
});

test("names: given, of the package, else of the file, or of its folder where the file's says nothing", async () => {
  const { run, read } = makeHome({ [cursor]: "{}" });
  const files = ["a/src/server.mjs", "b/index.mjs", "b/tides.mjs"];
  const cwd = makeFolder({
    "a/package.json": '{"name":"@me/weather"}',
    "b/package.json": '{"type":"module"}',
    ...Object.fromEntries(files.map((file) => [file, ""])),
  });
  for (const words of [...files.map((file) => [file]), ["b/tides.mjs", "-n", "My server"]]) {
    expect(await run(["install", ...words, "--host", "cursor"], { cwd })).toMatchObject({ code: 0 });
  }
  expect(Object.keys(JSON.parse(read(cursor)).mcpServers)).toEqual(["weather", "b", "tides", "My server"]);
});

test("another server of that name is left alone, or replaced by force with all that it had", async () => {
  const { run, read } = makeHome({ [cursor]: "{}" });
  const cwd = makeFolder({ "a.mjs": "", "b.mjs": "" });
  const install = (...words: string[]): Promise<Ran> =>
    run(["install", "--host", "cursor", "-n", "it", ...words], { cwd });
  const entry = () => JSON.parse(read(cursor)).mcpServers.it;
  const refused = {
    code: 1,
    stderr: expect.stringMatching(/Cursor has another server that is called "it".*\n.*--name OTHER.*--force/),
  };
  expect(await install("a.mjs", "-v", "HUSH=x")).toMatchObject({ code: 0 });
  const before = read(cursor);
  for (const words of [["b.mjs"], ["a.mjs:admin"], ["https://example.com/mcp"], ["--", "node", "b.mjs"]]) {
    expect(await install(...words)).toMatchObject(refused);
  }
  expect(read(cursor)).toBe(before);
  expect(await install("a.mjs", "--dev", "-v", "B=2")).toMatchObject({ code: 0 });
  expect(entry()).toMatchObject({ args: [await ensureCli(), "dev", join(cwd, "a.mjs")], env: { HUSH: "x", B: "2" } });
  expect(await install("b.mjs", "--force")).toMatchObject({ code: 0 });
  expect(entry()).toEqual({ command: process.execPath, args: [await ensureCli(), "run", join(cwd, "b.mjs")] });
  expect(await install("--force", "-v", "A=@env:A", "--", "npx", "w")).toMatchObject({ code: 0 });
  expect(await install("-v", "B=2", "--", "npx", "w")).toMatchObject({ code: 0 });
  expect(entry().env).toEqual({ A: "@env:A", B: "2" });
  expect(await install("--force", "https://example.com/mcp?key=1", "-H", "A: 1")).toMatchObject({ code: 0 });
  expect(await install("https://example.com/mcp?key=2")).toMatchObject({ code: 0 });
  expect(entry()).toEqual({ url: "https://example.com/mcp?key=2", headers: { A: "1" } });
});

test("variables from a file, and -v wins", async () => {
  const { run, read } = makeHome({ [cursor]: "{}", ".env": "# mine\nexport A=\"x y\"\nB=1 # one\nC='#'\n" });
  expect(await run(["install", server, "-n", "it", "--host", "cursor", "-f", ".env", "-v", "B=2"])).toMatchObject({
    code: 0,
  });
  expect(JSON.parse(read(cursor)).mcpServers.it.env).toEqual({ A: "x y", B: "2", C: "#" });
  const bad = await run(["install", server, "--host", "cursor", "-v", "NOVALUE"]);
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('"NOVALUE" is no KEY=VALUE') });
  expect(await run(["install", server, "--host", "cursor", "-f", "none"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("File not found"),
  });
});

test("a secret in clear gets a warning that does not show it", async () => {
  const { run } = makeHome({ [cursor]: "{}" });
  const install = (...words: string[]) => run(["install", server, "--host", "cursor", ...words]);
  const clear = await install("-v", "API_KEY=sk-123456789");
  expect(clear.stderr).toContain("API_KEY looks like a secret");
  expect(clear.stderr).toContain("@keychain:API_KEY");
  expect(clear.stdout + clear.stderr).not.toContain("sk-123456789");
  for (const value of ["API_KEY=@env:API_KEY", "API_KEY=@keychain:x", "LEVEL=debug", "CITY=Oslo"]) {
    expect((await install("-v", value)).stderr).not.toContain("looks like");
  }
});

test("--dry-run shows a difference without secrets, and writes nothing", async () => {
  const text = `{\n  "token": "hush-1",\n  "mcpServers": {\n    "other": { "command": "x", "env": { "K": "hush-2" } },\n    "it": { "command": "old", "args": [${JSON.stringify(server)}], "env": { "K": "hush-3", "L": "hush-4" } }\n  }\n}\n`;
  const { home, run, read } = makeHome({ [cursor]: text });
  const words = ["install", server, "-n", "it", "--host", "cursor", "--dry-run", "-v", "L=hush-5", "-v", "R=@file:~/r"];
  const { code, stdout, stderr } = await run(words);
  expect(code).toBe(0);
  expect(stdout).toContain(`--- ${join(home, cursor)}\n+++ ${join(home, cursor)}\n@@ `);
  expect(stdout).toMatch(/^-.*"command": "old"/m);
  expect(stdout).toMatch(/^\+.*"R": *"@file:~\/r"/m);
  expect(stdout + stderr).not.toContain("hush");
  const [envelope] = (await run([...words, "--json"])).json();
  expect(envelope).toMatchObject({
    ok: true,
    result: { isDryRun: true, changes: [{ host: "cursor", isChanged: true }] },
  });
  expect(JSON.stringify(envelope)).not.toContain("hush");
  expect((await run(["uninstall", "other", "--host", "cursor", "--dry-run"])).stdout).not.toContain("hush");
  expect(read(cursor)).toBe(text);
  expect(readdirSync(join(home, ".cursor"))).toEqual(["mcp.json"]);
});

test("servers at URLs, each host in its own words", async () => {
  const files = Object.fromEntries(homes.map(([, path, text]) => [path, text]));
  const { run, read } = makeHome(files);
  const url = "https://mcp.example.com/mcp";
  const hosts = homes.map(([host]) => host).filter((host) => host !== "claude-desktop");
  const words = ["install", url, "-H", "X-Team: blue", ...hosts.flatMap((host) => ["--host", host])];
  expect(await run(words)).toMatchObject({ code: 0 });
  const found = homes
    .slice(1)
    .map(([host, path, , key]) => [host, (parse(path, read(path))[key] as { [name: string]: unknown }).example]);
  const headers = { "X-Team": "blue" };
  expect(Object.fromEntries(found)).toMatchObject({
    "claude-code": { type: "http", url, headers },
    cursor: { url, headers },
    vscode: { type: "http", url, headers },
    windsurf: { serverUrl: url, headers },
    gemini: { httpUrl: url, headers },
    codex: { url, http_headers: headers },
    zed: { url, headers },
    goose: { type: "streamable_http", uri: url, headers },
    opencode: { type: "remote", url, headers },
    copilot: { type: "http", url, headers, tools: ["*"] },
  });
  const refused = await run(["install", url]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Claude Desktop has no servers at URLs in its file"),
  });
  expect(refused.stderr).toContain("mcp-remote");
  expect(await run(["install", url, "--host", "cursor", "-H", "A: @env:X"])).toMatchObject({ code: 1 });
});

test("a command; with references it is started by plenum, which resolves them", async () => {
  const { run, read } = makeHome({ [cursor]: "{}" });
  const install = (...words: string[]) => run(["install", "--host", "cursor", ...words]);
  expect(await install("-n", "files", "--", "npx", "-y", "some server")).toMatchObject({ code: 0 });
  expect(await install("-n", "weather", "-v", "KEY=@keychain:weather", "--", "npx", "-y", "w")).toMatchObject({
    code: 0,
  });
  expect(JSON.parse(read(cursor)).mcpServers).toEqual({
    files: { command: "npx", args: ["-y", "some server"] },
    weather: {
      command: process.execPath,
      args: [await ensureCli(), "secret", "exec", "--", "npx", "-y", "w"],
      env: { KEY: "@keychain:weather" },
    },
  });
  expect(await install("--", "npx")).toMatchObject({ code: 1, stderr: expect.stringContaining("--name") });
  expect(await install(server, "--", "npx")).toMatchObject({ code: 1 });
  expect(await install()).toMatchObject({ code: 1 });
});

test("files that are not there, and hosts that nobody knows", async () => {
  const { run } = makeHome({ [cursor]: "{}" });
  expect(await run(["install", "none.ts", "--host", "cursor"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("File not found: "),
  });
  expect(await run(["install", ".", "--host", "cursor"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Not a file: "),
  });
  expect(await run(["install", server, "--host", "curser"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Did you mean "cursor"?'),
  });
});

test("hosts have other names, which are taken and not proposed", async () => {
  const { run, read } = makeHome({ ".config/Code/User/mcp.json": "{}" });
  expect(await run(["install", server, "--host", "code", "-n", "it"])).toMatchObject({ code: 0 });
  expect(Object.keys(JSON.parse(read(".config/Code/User/mcp.json")).servers)).toEqual(["it"]);
  expect(await run(["uninstall", "it", "--host", "vs-code"])).toMatchObject({ code: 0 });
  for (const words of [
    ["install", "--help"],
    ["uninstall", "--help"],
    ["install", server, "--host", "nobody"],
  ]) {
    const { stdout, stderr } = await run(words);
    expect(stdout + stderr).toMatch(/opencode,\s+copilot/);
    expect(stdout + stderr).not.toMatch(/vs-code|gemini-cli|codex-cli|copilot-cli/);
  }
});

test("uninstall names what is there instead", async () => {
  const { run, read } = makeHome({ [cursor]: '{"mcpServers":{"weather":{"command":"x"},"b":{"command":"y"}}}' });
  expect(await run(["uninstall", "wether", "--host", "cursor"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Did you mean "weather"?'),
  });
  expect(await run(["uninstall", "zzz", "--host", "cursor"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It has weather, b."),
  });
  expect(await run(["uninstall", "weather", "--host", "cursor"])).toMatchObject({ code: 0 });
  expect(read(cursor)).toBe('{"mcpServers":{"b":{"command":"y"}}}');
});

test("an entry that is disabled stays so, and keeps what is not ours", async () => {
  const { run, read } = makeHome({
    [cursor]: `{"mcpServers":{"it":{"disabled":true,"note":1,"command":"x","args":[${JSON.stringify(server)}],"env":{"A":"1"}}}}`,
  });
  const { stderr } = await run(["install", server, "-n", "it", "--host", "cursor"]);
  expect(stderr.match(/it is disabled in Cursor/g)).toHaveLength(1);
  expect(JSON.parse(read(cursor)).mcpServers.it).toMatchObject({
    disabled: true,
    note: 1,
    env: { A: "1" },
    command: process.execPath,
  });
});

test("a file that is a link stays one", async () => {
  const dotfiles = makeFolder({ "cursor.json": "{ // mine\n}\n" });
  const { home, run } = makeHome({ ".cursor/x": "" });
  symlinkSync(join(dotfiles, "cursor.json"), join(home, cursor));
  expect(await run(["install", server, "--host", "cursor"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(dotfiles, "cursor.json"), "utf8")).toMatch(/\/\/ mine[\s\S]*everything/);
});

test("where nothing can be written it says so", async () => {
  const { home, run } = makeHome({ ".cursor": "a file, not a folder" });
  const { code, stderr } = await run(["install", server, "--host", "cursor"]);
  expect(code).toBe(1);
  expect(stderr).toContain("a part of the path is no folder");
  expect(readFileSync(join(home, ".cursor"), "utf8")).toBe("a file, not a folder");
});

test("twenty at once: all are there", async () => {
  const { home, run, read } = makeHome({ ".codex/config.toml": "# kept\n" });
  const names = Array.from({ length: 20 }, (_, index) => `server-${index}`);
  const all = await Promise.all(
    names.map((name) => run(["install", server, "-n", name, "--host", "codex", "-v", `N=${name}`])),
  );
  expect(all.map((one) => one.code)).toEqual(names.map(() => 0));
  const { mcp_servers } = parseToml(read(".codex/config.toml")) as {
    mcp_servers: { [name: string]: { env: unknown } };
  };
  expect(Object.keys(mcp_servers).toSorted()).toEqual(names.toSorted());
  for (const name of names) expect(mcp_servers[name]?.env).toEqual({ N: name });
  expect(readdirSync(join(home, ".codex")).toSorted()).toEqual(["config.toml", "config.toml.plenum.bak"]);
});
