// The commands that call a server, on servers that somebody else wrote, over every transport: what is printed, and the exit code.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Command, makeFolder, ourServer, publishedServer, sdk1Server, sdk2Server } from "../interop/harness.ts";
import { everythingHttp, type Running, sdk1Http } from "../interop/http-harness.ts";
import { type Envelope, fixture, libraryUrl, makeFolder as makeTestFolder, runCli } from "./stage.ts";

interface Peer {
  readonly title: string;
  /** The words of a command, with this server as its target. */
  words(command: string, ...rest: string[]): string[];
}

const overStdio = (title: string, { command, args }: Command): Peer => ({
  title,
  words: (name, ...rest) => [name, ...rest, "--", command, ...args],
});

let sessions: Running | undefined;
let events: Running | undefined;
beforeAll(async () => {
  [sessions, events] = await Promise.all([sdk1Http("sessions"), sdk1Http("sse")]);
}, 60_000);
afterAll(() => Promise.all([sessions?.stop(), events?.stop()]));

const peers: Peer[] = [
  overStdio("ours, over stdio", ourServer),
  overStdio("SDK 1.x, over stdio", sdk1Server),
  overStdio("SDK 2.x, over stdio", sdk2Server),
  {
    title: "SDK 1.x, over HTTP",
    words: (name, ...rest) => [name, `${sessions?.origin}/mcp`, ...rest],
  },
  {
    title: "SDK 1.x, over HTTP+SSE",
    words: (name, ...rest) => [name, `${events?.origin}/sse`, ...rest],
  },
];

describe.concurrent.each(peers)("$title", ({ words }) => {
  const json = async (...given: Parameters<Peer["words"]>) => {
    const ran = await runCli([...words(given[0], "--json", ...given.slice(1))]);
    return { code: ran.code, envelope: ran.json()[0] };
  };

  test("list", async ({ expect }) => {
    const { code, envelope } = await json("list");
    expect(code).toBe(0);
    expect(envelope).toMatchObject({ ok: true, result: { revision: expect.stringMatching(/^20\d\d-/) } });
    const { tools, templates, prompts } = (envelope as Envelope).result as Record<string, { name: string }[]>;
    expect(tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "add", "slow", "fail"]));
    expect(templates).toHaveLength(1);
    expect(prompts?.map(({ name }) => name)).toEqual(["greet"]);
    const text = await runCli(words("list", "--tools"));
    expect(text.stdout).toContain("  add a=NUMBER b=NUMBER\n");
    expect(text.stdout).not.toContain("greet");
  });

  test("call, with text where the schema wants text and numbers where it wants numbers", async ({ expect }) => {
    expect(await json("call", "add", "a=1", "b=2.5")).toMatchObject({
      code: 0,
      envelope: { ok: true, result: { structuredContent: { sum: 3.5 } } },
    });
    expect(await runCli(words("call", "echo", "text=42"))).toMatchObject({ code: 0, stdout: "42\n" });
    expect(await runCli(words("call", "echo", '{"text": "exact"}'))).toMatchObject({ code: 0, stdout: "exact\n" });
  });

  test("call: what goes wrong has its exit code", async ({ expect }) => {
    expect(await json("call", "fail")).toMatchObject({
      code: 5,
      envelope: { ok: false, result: { isError: true }, error: { code: "tool_error", message: "It failed." } },
    });
    const misspelt = await runCli(words("call", "ecoh", "text=a"));
    // Some report an unknown tool as an error of the protocol, some as a tool's.
    expect([4, 5]).toContain(misspelt.code);
    const { code, stderr } = await runCli(words("call", "add", "a=1"));
    expect(code).toBe(1);
    expect(stderr).toContain('The tool needs "b"');
  });

  test("read", async ({ expect }) => {
    const { code, envelope } = await json("read", "memo://one");
    expect({ code, envelope }).toMatchObject({
      code: 0,
      envelope: { ok: true, result: { contents: [{ uri: "memo://one" }] } },
    });
    const [contents] = ((envelope as Envelope).result as { contents: { text: string }[] }).contents;
    expect((await runCli(words("read", "memo://one"))).stdout).toBe(contents?.text);
  });

  test("prompt and complete", async ({ expect }) => {
    const { code, envelope } = await json("prompt", "greet", "name=Ada");
    expect(code).toBe(0);
    expect(JSON.stringify(envelope?.result)).toContain("Ada");
    expect(await runCli(words("complete", "greet", "name=A"))).toMatchObject({ code: 0, stdout: "Ada\nAlan\n" });
    expect((await runCli(words("prompt", "greet"))).code).toBe(1);
  });

  test("ping", async ({ expect }) => {
    const { code, envelope } = await json("ping", "-c", "2");
    expect({ code, envelope }).toMatchObject({
      code: 0,
      envelope: { ok: true, result: { pingMs: [expect.any(Number), expect.any(Number)] } },
    });
  });
});

describe("published servers", () => {
  const folder = makeFolder();
  afterAll(() => folder.remove());

  test("server-everything: an image goes into a file, a resource link is a line", async () => {
    const { command, args } = publishedServer("everything");
    const path = join(folder.path, "image.png");
    const saved = await runCli(["call", "get-tiny-image", "--output", folder.path, "--json", "--", command, ...args]);
    expect(saved).toMatchObject({ code: 0 });
    const { saved: paths } = (saved.json()[0] as Envelope).result as { saved: string[] };
    const image = paths.find((one) => one.endsWith(".png")) as string;
    expect(readFileSync(image).subarray(1, 4).toString()).toBe("PNG");
    const shown = await runCli(["call", "get-tiny-image", "--", command, ...args]);
    expect(shown.stdout).toMatch(/\[image image\/png, [\d.]+ k?B\]/);
    expect(path).not.toBe(image);
  });

  test("server-everything over HTTP: the same", async () => {
    const server = await everythingHttp("streamableHttp");
    try {
      const { code, stdout } = await runCli(["call", `${server.origin}/mcp`, "echo", "message=hello"]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "Echo: hello\n" });
    } finally {
      await server.stop();
    }
  });

  test("server-filesystem: a file of the folder that it is given, and none outside", async () => {
    const shared = join(folder.path, "shared");
    mkdirSync(shared);
    writeFileSync(join(shared, "a.txt"), "What is in it.");
    const { command, args } = publishedServer("filesystem", shared);
    const inside = await runCli(["call", "read_text_file", `path=${join(shared, "a.txt")}`, "--", command, ...args]);
    expect(inside).toMatchObject({ code: 0, stdout: "What is in it.\n" });
    const outside = await runCli(["call", "read_text_file", "path=/etc/passwd", "--", command, ...args]);
    expect(outside.code).toBe(5);
  });

  test("server-memory: nested arguments as JSON, and a variable for the server", async () => {
    const { command, args } = publishedServer("memory");
    const env = ["--env", `MEMORY_FILE_PATH=${join(folder.path, "memory.jsonl")}`];
    const entities = 'entities=[{"name": "Ada", "entityType": "person", "observations": ["writes"]}]';
    expect((await runCli(["call", "create_entities", entities, ...env, "--", command, ...args])).code).toBe(0);
    const { stdout } = await runCli(["call", "read_graph", ...env, "--", command, ...args]);
    expect(stdout).toContain("Ada");
  });
});

describe("exit codes", () => {
  test("1: words that are not understood", async () => {
    for (const words of [
      ["call"],
      ["list", "nowhere"],
      ["list", fixture("none.mjs")],
      ["call", fixture("everything.mjs"), "add", "a"],
      ["list", "--revisoin", "x"],
    ]) {
      const ran = await runCli([...words, "--json"]);
      expect(ran.code, words.join(" ")).toBe(1);
      expect(ran.json()[0]).toMatchObject({
        ok: false,
        error: { exitCode: 1, message: expect.any(String), hint: expect.any(String) },
      });
    }
  });

  test("2: a server that cannot be reached", async () => {
    for (const words of [
      ["list", "http://127.0.0.1:9/mcp"],
      ["list", "--", process.execPath, "-e", "process.exit(3)"],
      ["list", "--", "no-such-program-anywhere"],
    ]) {
      const ran = await runCli(words);
      expect({ code: ran.code, words, stderr: ran.stderr }).toMatchObject({ code: 2 });
      expect(ran.stderr).not.toMatch(/^ {4}at /m);
    }
  });

  test("4: an error of the protocol", async () => {
    const ran = await runCli(["read", fixture("everything.mjs"), "none://here", "--json"]);
    expect(ran.code).toBe(4);
    expect(ran.json()[0]).toMatchObject({ ok: false, error: { code: "resource_not_found", exitCode: 4 } });
  });
});

test("a revision can be pinned, and one that the server does not speak is an error", async () => {
  const [envelope] = (await runCli(["list", fixture("everything.mjs"), "--revision", "2025-03-26", "--json"])).json();
  expect(envelope).toMatchObject({ result: { revision: "2025-03-26" } });
  const { command, args } = sdk1Server;
  const refused = await runCli(["list", "--revision", "2026-07-28", "--", command, ...args]);
  expect(refused.code).toBe(4);
});

test("what a server says cannot move the cursor of a terminal", async () => {
  const folder = makeTestFolder({
    "server.mjs": `import { createServer } from "${libraryUrl()}";
const server = createServer({ name: "evil\\u001b[2J", version: "1" });
server.tool("x", { description: "a\\u001b]0;title\\u0007b" }, () => "red \\u001b[31m text\\u009b1A");
export default server;`,
  });
  const target = join(folder, "server.mjs");
  for (const words of [
    ["call", target, "x"],
    ["list", target],
    ["list", target, "--long"],
  ]) {
    const { code, stdout, stderr } = await runCli(words);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("\\x1b");
    expect([...(stdout + stderr)].filter((one) => one < " " && one !== "\n")).toEqual([]);
  }
});
