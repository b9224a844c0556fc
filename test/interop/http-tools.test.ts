// Tools that people point at servers, against a Plenum server over Streamable HTTP and the older HTTP+SSE: the Inspector's
// command line, mcporter, and mcp-remote, which carries a stdio client to a server over HTTP.

import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Client, Revision } from "plenum";
import { type AccessEntry, type HttpServing, serveHttp } from "plenum/http/node";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ensureApart, installMs } from "../apart.ts";
import { type Command, connectFully, type Heard, makeFolder, type Obj } from "./harness.ts";
import { createOurServer } from "./our-surface.ts";
import { peerProgram, peers } from "./peers.ts";

const runLimitMs = 30_000;
const folder = makeFolder();
/** The tools keep what they know in the user's folders; these are not to be found, or changed, by a test. */
const env = {
  HOME: folder.path,
  USERPROFILE: folder.path,
  XDG_CONFIG_HOME: folder.path,
  MCP_REMOTE_CONFIG_DIR: join(folder.path, "mcp-remote"),
};

let served: HttpServing;
let seen: AccessEntry[] = [];
const at = (path: "/mcp" | "/sse"): string => new URL(path, served.url).href;
/** The revisions that requests named, of those that were answered. */
const revisionsSeen = (): (string | undefined)[] => [
  ...new Set(seen.filter(({ rpcMethod }) => rpcMethod?.startsWith("tools/")).map(({ revision }) => revision)),
];
const pathsSeen = (): string[] => [...new Set(seen.map(({ path }) => path))];

beforeAll(async () => {
  await ensureApart(peers);
  const onAccess = (entry: AccessEntry) => seen.push(entry);
  served = await serveHttp(
    createOurServer(() => {}),
    { port: 0, sse: true, onAccess },
  );
}, installMs);
afterAll(async () => {
  await served?.close(0);
  folder.remove();
});
beforeEach(() => {
  seen = [];
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
function run({ command, args }: Command): Promise<Ended> {
  const child = spawn(command, args, {
    cwd: folder.path,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: runLimitMs,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

async function runJson(command: Command): Promise<Obj> {
  const { code, stdout, stderr } = await run(command);
  expect(code, `${stdout}${stderr}`).toBe(0);
  return JSON.parse(stdout) as Obj;
}

function inspectorCli(...args: string[]): Command {
  const program = ["@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"];
  return peerProgram(program, "--cli", "--format", "json", ...args);
}

describe.each([
  { name: "in sessions", path: "/mcp", flags: ["--transport", "http"], revision: "2025-11-25" },
  { name: "in 2026-07-28", path: "/mcp", flags: ["--protocol-era", "modern"], revision: "2026-07-28" },
  { name: "over HTTP+SSE", path: "/sse", flags: ["--transport", "sse"], revision: undefined },
] as const)("the Inspector, $name", ({ path, flags, revision }) => {
  const inspector = (...args: string[]) => inspectorCli(at(path), ...flags, "--method", ...args);
  const inspect = async (...args: string[]): Promise<Obj> => (await runJson(inspector(...args))).result as Obj;

  test("lists the tools, and has nothing to say against them", async () => {
    const { tools } = await inspect("tools/list", "--strict");
    const names = (tools as Obj[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["echo", "add", "slow", "ask", "sample", "roots", "fail", "log", "touch", "grow"]),
    );
    if (path === "/sse") expect(pathsSeen()).toEqual(expect.arrayContaining(["/sse", "/messages"]));
    else expect(revisionsSeen()).toEqual([revision]);
  });

  test("calls tools", async () => {
    expect(await inspect("tools/call", "--tool-name", "add", "--tool-args-json", '{"a":1,"b":2}')).toMatchObject({
      content: [{ type: "text", text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
    const slow = ["--tool-name", "slow", "--tool-args-json", '{"steps":3,"delayMs":10}'];
    expect(await inspect("tools/call", ...slow)).toMatchObject({ content: [{ type: "text", text: "done 3" }] });
    const failed = await run(inspector("tools/call", "--tool-name", "fail"));
    expect(failed.code).not.toBe(0);
    expect(`${failed.stdout}${failed.stderr}`).toContain("It failed.");
  });

  test("reads resources and gets prompts", async () => {
    expect(await inspect("resources/list")).toMatchObject({ resources: [{ uri: "memo://one" }] });
    expect(await inspect("resources/templates/list")).toMatchObject({
      resourceTemplates: [{ uriTemplate: "memo://{id}" }],
    });
    expect(await inspect("resources/read", "--uri", "memo://seven")).toMatchObject({
      contents: [{ uri: "memo://seven", mimeType: "text/plain", text: "Memo seven" }],
    });
    expect(await inspect("prompts/list")).toMatchObject({ prompts: [{ name: "greet" }] });
    expect(await inspect("prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada")).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Greet Ada" } }],
    });
  });
});

test("the Inspector finds out that the server speaks 2026-07-28", async () => {
  await runJson(inspectorCli(at("/mcp"), "--protocol-era", "auto", "--method", "tools/list"));
  expect(revisionsSeen()).toEqual(["2026-07-28"]);
});

describe.each(["/mcp", "/sse"] as const)("mcporter, at %s", (path) => {
  const mcporter = (command: string, ...args: string[]): Command =>
    peerProgram(
      ["mcporter", "dist", "cli.js"],
      command,
      ...["--http-url", at(path), "--allow-http", "--no-oauth", "--name", "peer"],
      ...args,
    );

  test("lists the tools", async () => {
    const listed = await runJson(mcporter("list", "--json"));
    expect(listed).toMatchObject({ status: "ok", instructions: "Use it to test a client." });
    expect((listed.tools as Obj[]).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["echo", "add", "slow", "ask", "sample", "roots", "fail", "log", "touch", "grow"]),
    );
    if (path === "/sse") expect(pathsSeen()).toEqual(expect.arrayContaining(["/sse", "/messages"]));
    else expect(revisionsSeen()).toEqual(["2025-11-25"]);
  });

  test("calls tools", async () => {
    const call = (tool: string, args: Obj, output: string) =>
      mcporter("call", "--tool", tool, "--args", JSON.stringify(args), "--output", output);
    expect(await runJson(call("add", { a: 1, b: 2 }, "json"))).toEqual({ sum: 3 });
    const slow = await run(call("slow", { steps: 3, delayMs: 10 }, "text"));
    expect(slow).toMatchObject({ code: 0, stdout: "done 3\n" });
    const failed = await run(call("fail", {}, "json"));
    expect(`${failed.stdout}${failed.stderr}`).toContain("It failed.");
  });
});

interface Bridge {
  readonly name: string;
  readonly path: "/mcp" | "/sse";
  readonly flags: readonly string[];
  /** What the stdio client is held to, what it agrees on, and what comes to the server. */
  readonly held?: Revision;
  readonly near: Revision;
  readonly far: Revision | undefined;
}

const bridges: readonly Bridge[] = [
  { name: "in 2026-07-28", path: "/mcp", flags: ["http-only"], near: "2026-07-28", far: "2026-07-28" },
  ...(["2025-11-25", "2025-06-18", "2025-03-26"] as const).map((revision) => ({
    name: `in ${revision}`,
    path: "/mcp" as const,
    flags: ["http-only"],
    held: revision,
    near: revision,
    far: revision,
  })),
  {
    name: "which speaks 2026-07-28 for an older client",
    path: "/mcp",
    flags: ["http-only", "--protocol", "auto"],
    held: "2025-11-25",
    near: "2025-11-25",
    far: "2026-07-28",
  },
  { name: "over HTTP+SSE", path: "/sse", flags: ["sse-only"], near: "2025-11-25", far: undefined },
  {
    name: "over HTTP+SSE, in 2024-11-05",
    path: "/sse",
    flags: ["sse-only"],
    held: "2024-11-05",
    near: "2024-11-05",
    far: undefined,
  },
  {
    name: "over HTTP+SSE, when it has tried the newer one",
    path: "/sse",
    flags: ["http-first"],
    near: "2025-11-25",
    far: undefined,
  },
];

describe.each(bridges)("mcp-remote $name", ({ path, flags, held, near, far }) => {
  test("carries all that a client over stdio says and hears", { timeout: 60_000 }, async () => {
    const bridge = peerProgram(["mcp-remote", "dist", "proxy.js"], at(path), "--transport", ...flags);
    const { client, heard } = await connectFully(bridge, held && { revision: held }, env);
    onTestFinished(() => client.close());
    expect(client.revision).toBe(near);
    expect(client.server.info).toMatchObject({ name: "ours", version: "1.0.0" });
    await carries(client, heard);
    if (far) expect(revisionsSeen()).toEqual([far]);
    else expect(pathsSeen()).toContain("/messages");
  });
});

async function carries(client: Client, heard: Heard): Promise<void> {
  expect((await client.listTools().all()).map(({ name }) => name)).toContain("echo");
  expect((await client.callTool("echo", { text: "Grüße 👋" })).text).toBe("Grüße 👋");
  expect((await client.readResource("memo://one")).contents).toMatchObject([{ text: "One" }]);
  expect((await client.getPrompt("greet", { name: "Ada" })).messages).toHaveLength(1);
  const updates: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => updates.push(progress);
  expect((await client.callTool("slow", { steps: 3, delayMs: 20 }, { onProgress })).text).toBe("done 3");
  expect(updates).toEqual([1, 2, 3]);
  if (client.revision >= "2025-06-18") {
    heard.answer = { action: "accept", content: { name: "Ada" } };
    expect((await client.callTool("ask")).text).toBe("Hello, Ada");
  }
  expect((await client.callTool("sample", { prompt: "Say something" })).text).toBe("parrot: Polly");
  expect((await client.callTool("roots")).text).toBe("file:///work\nfile:///home");
  await client.setLogLevel("debug");
  await client.callTool("log", { message: "hello" });
  await expect.poll(() => heard.logs).toContainEqual({ level: "info", logger: "interop", data: "hello" });
  await client.subscribe("memo://one");
  // The tool may answer before it has made the subscription on the other side.
  await expect
    .poll(
      async () => {
        await client.callTool("touch");
        return heard.updates;
      },
      { timeout: 10_000, interval: 200 },
    )
    .toContain("memo://one");
}
