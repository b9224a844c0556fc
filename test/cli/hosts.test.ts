// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hosts write variables so
// `plenum hosts`, and servers of hosts as targets: found by host and name, or in a file, with what they need.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixture, makeFolder, type Ran, type RunOptions, runCli } from "./stage.ts";

const server = fixture("everything.mjs");
const node = process.execPath;

function makeHome(files: { readonly [path: string]: string }) {
  const home = realpathSync(makeFolder(files));
  const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    runCli(words, { cwd: home, ...options, env: { HOME: home, ...options.env } });
  return { home, run };
}

test("hosts, their files, their servers, without secrets; broken files are named", async () => {
  const { home, run } = makeHome({
    ".cursor/mcp.json":
      '{"mcpServers":{"a":{"command":"npx","args":["-y","x","--api-key","hush-1","--token=hush-2"],"env":{"K":"hush-3"}},"b":{"url":"https://u:hush-4@x.test/mcp?key=hush-5","headers":{"A":"hush-6"},"disabled":true}}}',
    ".codex/config.toml": '[mcp_servers.c]\ncommand = "c"\nenabled = false\n',
    ".config/goose/config.yaml":
      "extensions:\n  developer: { type: builtin, enabled: true }\n  d: { type: stdio, cmd: dd, args: [1], envs: { K: hush-7 } }\n",
    ".gemini/settings.json": "{ broken",
    ".claude.json": '{"mcpServers":{"e":{"type":"http","url":"https://e.test"}}}',
  });
  const { code, stdout, stderr } = await run(["hosts"]);
  expect(code).toBe(6);
  expect(stdout + stderr).not.toContain("hush");
  expect(stdout).toContain("npx -y x --api-key (hidden) --token=(hidden)");
  expect(stdout).toMatch(/b {2}https:\/\/x\.test\/mcp\?\(hidden\) {2}disabled/);
  expect(stdout).toMatch(/c {2}c {2}disabled/);
  expect(stdout).toContain("developer  brought by the host");
  expect(stdout).toContain("d  dd 1");
  expect(stdout).toMatch(/broken: .*settings\.json:1:\d+ cannot be read/);
  expect(stdout).not.toContain("Windsurf");
  const [envelope] = (await run(["hosts", "--json"])).json();
  expect(JSON.stringify(envelope)).not.toContain("hush");
  const { hosts } = (envelope as { result: unknown }).result as {
    hosts: { id: string; files: { path: string; servers: unknown[] }[] }[];
  };
  expect(hosts.map((host) => host.id)).toEqual(["claude-code", "cursor", "gemini", "codex", "goose"]);
  expect(hosts[1]?.files).toEqual([
    {
      path: join(home, ".cursor/mcp.json"),
      scope: "user",
      servers: [
        { name: "a", command: "npx -y x --api-key (hidden) --token=(hidden)", variables: ["K"], isDisabled: false },
        { name: "b", url: "https://x.test/mcp?(hidden)", isDisabled: true },
      ],
    },
  ]);
});

test("a project may have the file of a host that is not installed", async () => {
  const { run } = makeHome({});
  const cwd = makeFolder({ ".mcp.json": '{"mcpServers":{"a":{"command":"x"}}}' });
  const { stdout } = await run(["hosts"], { cwd });
  expect(stdout).toMatch(/^Claude Code {2}claude-code, not installed; project file\n.*\.mcp\.json\n {4}a {2}x$/m);
  expect(stdout).not.toContain("not found");
});

test("no hosts at all", async () => {
  const { run } = makeHome({});
  expect(await run(["hosts"])).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("No host") });
  expect((await run(["hosts", "--all"])).stdout).toContain("Zed  zed, not found");
});

/** By host: the file and its text, given the words that start the teller. */
const forms: readonly (readonly [host: string, path: string, write: (args: readonly string[]) => string])[] = [
  [
    "claude",
    ".config/Claude/claude_desktop_config.json",
    (args) => JSON.stringify({ mcpServers: { t: { command: node, args, env: { KEY: "@env:FROM" } } } }),
  ],
  [
    "claude-code",
    ".claude.json",
    (args) =>
      JSON.stringify({
        mcpServers: { t: { command: node, args, env: { KEY: "${FROM}", MORE: "${NONE:-fallback}" } } },
      }),
  ],
  [
    "cursor",
    ".cursor/mcp.json",
    (args) =>
      JSON.stringify({ mcpServers: { t: { command: node, args, env: { KEY: "${env:FROM}", MORE: "${userHome}" } } } }),
  ],
  [
    "code",
    ".config/Code/User/mcp.json",
    (args) =>
      JSON.stringify({
        servers: { t: { type: "stdio", command: node, args, env: { KEY: "${env:FROM}" }, envFile: "more.env" } },
      }),
  ],
  [
    "windsurf",
    ".codeium/windsurf/mcp_config.json",
    (args) => JSON.stringify({ mcpServers: { t: { command: node, args, env: { KEY: "${env:FROM}" } } } }),
  ],
  [
    "gemini-cli",
    ".gemini/settings.json",
    (args) => JSON.stringify({ mcpServers: { t: { command: node, args, env: { KEY: "$FROM", MORE: "$5" } } } }),
  ],
  [
    "codex",
    ".codex/config.toml",
    (args) =>
      `[mcp_servers.t]\ncommand = ${JSON.stringify(node)}\nargs = ${JSON.stringify(args)}\nenv_vars = ["FROM"]\nenv = { KEY = "@env:FROM" }\n`,
  ],
  [
    "zed",
    ".config/zed/settings.json",
    (args) =>
      `// mine\n${JSON.stringify({ context_servers: { t: { command: { path: node, args, env: { KEY: "@env:FROM" } } } } })}`,
  ],
  [
    "goose",
    ".config/goose/config.yaml",
    (args) =>
      `extensions:\n  t:\n    type: stdio\n    cmd: ${JSON.stringify(node)}\n    args: ${JSON.stringify(args)}\n    envs: { KEY: "@env:FROM" }\n`,
  ],
  [
    "opencode",
    ".config/opencode/opencode.json",
    (args) =>
      JSON.stringify({
        mcp: {
          t: { type: "local", command: [node, ...args], environment: { KEY: "{env:FROM}", MORE: "{file:more.txt}" } },
        },
      }),
  ],
  [
    "copilot-cli",
    ".copilot/mcp-config.json",
    (args) =>
      JSON.stringify({
        mcpServers: { t: { type: "local", command: node, args, env: { KEY: "${FROM}" }, tools: ["*"] } },
      }),
  ],
];

test.each(forms)("a server of %s is called by its name, with its variables", async (host, path, write) => {
  // Where node_modules are found.
  const program = fixture("teller.mjs");
  const { home, run } = makeHome({
    [path]: write([program, "a b"]),
    ".config/Code/User/more.env": "MORE=more\n",
    ".config/opencode/more.txt": "more\n",
  });
  const { code, stdout, stderr } = await run(["call", `${host}:t`, "tell", "--json"], { env: { FROM: "s3cret" } });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const told = JSON.parse(
    (JSON.parse(stdout) as { result: { content: { text: string }[] } }).result.content[0]?.text as string,
  );
  expect(told).toMatchObject({ KEY: "s3cret", args: ["a b"] });
  const more: { readonly [host: string]: string } = {
    "claude-code": "fallback",
    cursor: home,
    code: "more",
    "gemini-cli": "$5",
    opencode: "more",
  };
  expect(told.MORE).toBe(more[host]);
});

const two = JSON.stringify({
  mcpServers: { weather: { command: node, args: [server] }, other: { url: "https://x.test/mcp" } },
});

test("names that are not there, and files with one server or more", async () => {
  const { run } = makeHome({
    ".cursor/mcp.json": two,
    "one.json": JSON.stringify({ mcpServers: { only: { command: node, args: [server] } } }),
    "two.json": two,
    "none.json": "{}",
    "broken.toml": "a = = 1",
  });
  const fail = async (target: string): Promise<string> => {
    const { code, stderr } = await run(["list", target]);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await fail("cursor:wether")).toContain('Did you mean "weather"?');
  expect(await fail("cursor:zzzzzz")).toContain("It has weather, other.");
  expect(await fail("cursor:")).toContain("Cursor has 2 servers: weather, other");
  expect(await fail("zed:x")).toContain("Zed has no servers");
  expect(await fail("two.json")).toContain("two.json has 2 servers: weather, other");
  expect(await fail("two.json:x")).toContain('two.json has no server "x"');
  expect(await fail("none.json:x")).toContain("has no servers");
  expect(await fail("missing.json:x")).toContain("File not found");
  expect(await fail("broken.toml:x")).toMatch(/broken\.toml:1:\d+ cannot be read/);
  for (const target of ["one.json", "one.json:only", "two.json:weather", "cursor:weather"]) {
    expect(await run(["list", target])).toMatchObject({ code: 0, stdout: expect.stringContaining("add") });
  }
});

test("the project's file before the user's, and Claude Code's servers for one folder", async () => {
  const { home, run } = makeHome({ ".cursor/mcp.json": two });
  const project = realpathSync(
    makeFolder({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { weather: { command: "no-such-program" } } }) }),
  );
  expect(await run(["list", "cursor:weather"], { cwd: project })).toMatchObject({ code: 2 });
  expect(await run(["list", "cursor:weather"], { cwd: home })).toMatchObject({ code: 0 });
  const local = { projects: { [project]: { mcpServers: { mine: { command: node, args: [server] } } } } };
  const other = makeHome({ ".claude.json": JSON.stringify(local) });
  expect(await other.run(["list", "claude-code:mine"], { cwd: project })).toMatchObject({ code: 0 });
  expect(await other.run(["list", "claude-code:mine"])).toMatchObject({ code: 1 });
});

test("what only the host knows is said", async () => {
  const { run } = makeHome({
    ".config/Code/User/mcp.json": JSON.stringify({
      inputs: [{ id: "key" }],
      servers: { a: { url: "https://x.test", headers: { K: "${input:key}" } } },
    }),
    ".claude.json": JSON.stringify({ mcpServers: { a: { command: "${NOWHERE}" } } }),
    ".codex/config.toml": '[mcp_servers.a]\nurl = "https://x.test"\nbearer_token_env_var = "NOWHERE"\n',
    ".config/goose/config.yaml": "extensions:\n  a: { type: builtin }\n  b: { cmd: x, env_keys: [NOWHERE] }\n",
  });
  const say = async (target: string): Promise<string> => (await run(["list", target])).stderr;
  expect(await say("vscode:a")).toContain('vscode:a needs the input "key", which only the host can ask for');
  for (const target of ["claude-code:a", "codex:a", "goose:b"]) {
    expect(await say(target)).toContain(`${target} needs the variable NOWHERE, which is not set`);
  }
  expect(await say("goose:a")).toContain("names neither a command nor a URL");
});
