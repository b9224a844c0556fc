// Where each host's file is on each system, and what an entry in it looks like: on a machine that is only said to be one.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findFiles, planChange } from "./change.ts";
import { loadFormat } from "./document.ts";
import { hostAliases, hostIds, hostNames, toHostId } from "./entry.ts";
import { mergeEntry } from "./form.ts";
import type { Place } from "./place.ts";
import { type JsonObject, toRecord } from "./record.ts";
import { findInstalled, findProjectFile, findUserFile, getHost, isInstalled, readHostFile } from "./survey.ts";
import { hosts } from "./table.ts";

const mac: Place = { platform: "darwin", home: "/Users/ann", env: {}, cwd: "/Users/ann/work" };
const windows: Place = {
  platform: "win32",
  home: "C:\\Users\\ann",
  env: { APPDATA: "C:\\Users\\ann\\AppData\\Roaming" },
  cwd: "C:\\work",
};
const linux: Place = { platform: "linux", home: "/home/ann", env: {}, cwd: "/home/ann/work" };

const support = "/Users/ann/Library/Application Support";
const roaming = "C:\\Users\\ann\\AppData\\Roaming";

/** By host: macOS, Windows, Linux. */
const userFiles: { readonly [id: string]: readonly [string, string, string] } = {
  "claude-desktop": [
    `${support}/Claude/claude_desktop_config.json`,
    `${roaming}\\Claude\\claude_desktop_config.json`,
    "/home/ann/.config/Claude/claude_desktop_config.json",
  ],
  "claude-code": ["/Users/ann/.claude.json", "C:\\Users\\ann\\.claude.json", "/home/ann/.claude.json"],
  cursor: ["/Users/ann/.cursor/mcp.json", "C:\\Users\\ann\\.cursor\\mcp.json", "/home/ann/.cursor/mcp.json"],
  vscode: [`${support}/Code/User/mcp.json`, `${roaming}\\Code\\User\\mcp.json`, "/home/ann/.config/Code/User/mcp.json"],
  windsurf: [
    "/Users/ann/.codeium/windsurf/mcp_config.json",
    "C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json",
    "/home/ann/.codeium/windsurf/mcp_config.json",
  ],
  gemini: [
    "/Users/ann/.gemini/settings.json",
    "C:\\Users\\ann\\.gemini\\settings.json",
    "/home/ann/.gemini/settings.json",
  ],
  codex: ["/Users/ann/.codex/config.toml", "C:\\Users\\ann\\.codex\\config.toml", "/home/ann/.codex/config.toml"],
  zed: [
    "/Users/ann/.config/zed/settings.json",
    `${roaming}\\Zed\\settings.json`,
    "/home/ann/.config/zed/settings.json",
  ],
  goose: [
    "/Users/ann/.config/goose/config.yaml",
    `${roaming}\\Block\\goose\\config\\config.yaml`,
    "/home/ann/.config/goose/config.yaml",
  ],
  opencode: [
    "/Users/ann/.config/opencode/opencode.json",
    "C:\\Users\\ann\\.config\\opencode\\opencode.json",
    "/home/ann/.config/opencode/opencode.json",
  ],
  copilot: [
    "/Users/ann/.copilot/mcp-config.json",
    "C:\\Users\\ann\\.copilot\\mcp-config.json",
    "/home/ann/.copilot/mcp-config.json",
  ],
};

test("there is a row for each host, and each name leads to one", () => {
  expect(hosts.map((host) => host.id)).toEqual(hostIds);
  expect(Object.keys(userFiles)).toEqual(hostIds);
  for (const name of hostNames) expect(hostIds).toContain(toHostId(name));
  expect(Object.keys(hostAliases).some((alias) => hostIds.includes(alias))).toBe(false);
});

test.each(hosts.map((host) => [host.id, host] as const))("%s: its file on macOS, Windows and Linux", (id, host) => {
  expect([mac, windows, linux].map((place) => findUserFile(host, place).path)).toEqual(userFiles[id]);
});

test("variables move files, unless they are no absolute paths", () => {
  const at = (id: string, place: Place, env: Place["env"]): string => findUserFile(getHost(id), { ...place, env }).path;
  expect(at("claude-desktop", linux, { XDG_CONFIG_HOME: "/x" })).toBe("/x/Claude/claude_desktop_config.json");
  expect(at("claude-desktop", linux, { XDG_CONFIG_HOME: "x" })).toBe(
    "/home/ann/.config/Claude/claude_desktop_config.json",
  );
  expect(at("claude-desktop", mac, { XDG_CONFIG_HOME: "/x" })).toBe(`${support}/Claude/claude_desktop_config.json`);
  expect(at("claude-desktop", windows, {})).toBe(`${roaming}\\Claude\\claude_desktop_config.json`);
  expect(at("claude-desktop", windows, { APPDATA: "D:\\data" })).toBe("D:\\data\\Claude\\claude_desktop_config.json");
  expect(at("codex", linux, { CODEX_HOME: "/c" })).toBe("/c/config.toml");
  expect(at("codex", windows, { CODEX_HOME: "D:\\c" })).toBe("D:\\c\\config.toml");
  expect(at("copilot", linux, { COPILOT_HOME: "/c" })).toBe("/c/mcp-config.json");
});

test("files of projects", () => {
  const files = hosts.map((host) => [host.id, findProjectFile(host, windows)?.path]);
  expect(Object.fromEntries(files)).toEqual({
    "claude-desktop": undefined,
    "claude-code": "C:\\work\\.mcp.json",
    cursor: "C:\\work\\.cursor\\mcp.json",
    vscode: "C:\\work\\.vscode\\mcp.json",
    windsurf: undefined,
    gemini: "C:\\work\\.gemini\\settings.json",
    codex: "C:\\work\\.codex\\config.toml",
    zed: "C:\\work\\.zed\\settings.json",
    goose: undefined,
    opencode: "C:\\work\\opencode.json",
    copilot: "C:\\work\\.mcp.json",
  });
});

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "plenum-hosts-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

const begun = {
  json: '{\n  // kept\n  "theme": "dark"\n}\n',
  toml: '# kept\ntheme = "dark"\n',
  yaml: "# kept\ntheme: dark\n",
};

/** What stands in the file for one command and one URL. */
const entries: { readonly [id: string]: readonly [JsonObject, JsonObject | undefined] } = (() => {
  const local = { command: "/bin/node", args: ["a b", "c"], env: { K: "v" } };
  const url = "https://x.test/mcp";
  const headers = { "X-K": "v" };
  const common = [local, { url, headers }] as const;
  return {
    "claude-desktop": [local, undefined],
    "claude-code": [
      { type: "stdio", ...local },
      { type: "http", url, headers },
    ],
    cursor: common,
    vscode: [
      { type: "stdio", ...local },
      { type: "http", url, headers },
    ],
    windsurf: [local, { serverUrl: url, headers }],
    gemini: [local, { httpUrl: url, headers }],
    codex: [local, { url, http_headers: headers }],
    zed: common,
    goose: [
      {
        enabled: true,
        type: "stdio",
        name: "it",
        cmd: "/bin/node",
        args: ["a b", "c"],
        envs: { K: "v" },
        timeout: 300,
      },
      { enabled: true, type: "streamable_http", name: "it", uri: url, headers, timeout: 300 },
    ],
    opencode: [
      { type: "local", command: ["/bin/node", "a b", "c"], environment: { K: "v" }, enabled: true },
      { type: "remote", url, headers, enabled: true },
    ],
    copilot: [
      { type: "stdio", ...local, tools: ["*"] },
      { type: "http", url, headers, tools: ["*"] },
    ],
  };
})();

const systems = ["darwin", "linux"] as const;
const cases = hosts.flatMap((host) => systems.map((platform) => [host.id, platform, host] as const));

test.each(cases)("%s on %s: an entry is written into its file, and read from it", async (id, platform, host) => {
  const place: Place = { platform, home: makeHome(), env: {}, cwd: makeHome() };
  expect(isInstalled(host, place)).toBe(false);
  expect(() => findFiles([id], false, place)).toThrow(`${host.title} not found`);
  const { path } = findUserFile(host, place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, begun[host.format]);
  expect(findInstalled(place).map((one) => one.id)).toContain(id);
  const [file] = findFiles([id], false, place);
  if (!file) throw new Error("no file");
  const { form, rootKey, format } = host;
  const record = { kind: "command", command: "/bin/node", args: ["a b", "c"], env: { K: "v" } } as const;
  const remote = { kind: "url", url: "https://x.test/mcp", headers: { "X-K": "v" } } as const;
  const write = async (name: string, entry: JsonObject): Promise<void> => {
    await (await planChange(file, name, (_, existing) => mergeEntry(form, existing, entry))).write();
  };
  await write("it", form.toCommand("it", record));
  const toUrl = form.toUrl?.("it", remote);
  if (toUrl) await write("far", toUrl);
  const text = readFileSync(path, "utf8");
  expect(text).toContain("kept");
  const value = (await loadFormat(format)).parse(text) as { [name: string]: unknown };
  const [local, far] = entries[id] as (typeof entries)[string];
  expect(value).toEqual({ theme: "dark", [rootKey]: { it: local, ...(far && { far }) } });
  const read = await readHostFile(file, place);
  expect(read.find((entry) => entry.name === "it")?.record).toMatchObject(record);
  if (far) expect(read.find((entry) => entry.name === "far")?.record).toMatchObject(remote);
  // One and then the other way: nothing of the old kind is left.
  if (toUrl) await write("it", toUrl);
  const turned = (await readHostFile(file, place)).find((entry) => entry.name === "it");
  if (toUrl) expect(turned?.record.kind).toBe("url");
  await write("it", form.toCommand("it", record));
  expect((await readHostFile(file, place)).find((entry) => entry.name === "it")?.record.kind).toBe("command");
});

test("Zed on macOS: the folder of its data counts where there is no other", () => {
  const place: Place = { ...mac, home: makeHome() };
  mkdirSync(join(place.home, "Library/Application Support/Zed"), { recursive: true });
  expect(findUserFile(getHost("zed"), place).path).toBe(
    join(place.home, "Library/Application Support/Zed/settings.json"),
  );
  mkdirSync(join(place.home, ".config/zed"), { recursive: true });
  expect(findUserFile(getHost("zed"), place).path).toBe(join(place.home, ".config/zed/settings.json"));
});

test("OpenCode: the file that is there is taken, whatever it ends with", () => {
  const place: Place = { ...linux, home: makeHome() };
  mkdirSync(join(place.home, ".config/opencode"), { recursive: true });
  writeFileSync(join(place.home, ".config/opencode/opencode.jsonc"), "{}");
  expect(findUserFile(getHost("opencode"), place).path).toMatch(/opencode\.jsonc$/);
});

test("an entry that is there keeps what is not ours", () => {
  const { form } = getHost("copilot");
  const fresh = form.toCommand("x", { kind: "command", command: "new", args: [], env: { B: "2", C: "3" } });
  const old = {
    command: "old",
    env: { A: "1", B: "1" },
    tools: ["one"],
    timeout: 5,
    url: "https://x.test",
    note: "mine",
  };
  expect(mergeEntry(form, old, fresh)).toEqual({
    type: "stdio",
    command: "new",
    args: [],
    env: { A: "1", B: "2", C: "3" },
    tools: ["one"],
    timeout: 5,
    note: "mine",
  });
});

test("entries in words that hosts once had are read too", () => {
  expect(toRecord({ command: { path: "x", args: ["y"], env: { K: 1 } } })).toMatchObject({
    command: "x",
    args: ["y"],
    env: { K: "1" },
  });
  expect(toRecord({ url: "https://x.test/sse", type: "sse" })).toMatchObject({
    kind: "url",
    url: "https://x.test/sse",
  });
  expect(toRecord({ enabled: true, type: "builtin", name: "developer" })).toEqual({ kind: "other" });
  expect(toRecord(null)).toEqual({ kind: "other" });
});
