// Conversations that are recorded between a client and a server, and played again as either of them: on our servers and on others',
// over stdio and HTTP, in both eras. No secret that was said or given is in a file.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createServer, revisions } from "plenum";
import { type HttpServing, serveHttp } from "plenum/http/node";
import { parseConversation, revisionOf } from "plenum/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ensureCli } from "../house/built.ts";
import { publishedServer } from "../interop/harness.ts";
import { fixture, libraryUrl, makeFolder, type Ran, runCli } from "./stage.ts";

let program = "";
beforeAll(async () => {
  program = await ensureCli();
}, 120_000);

/** The words of a command whose server is `plenum` itself. */
const through = (command: readonly string[], ...plenum: string[]): string[] => [
  ...command,
  "--",
  process.execPath,
  program,
  ...plenum,
];

const everything = [process.execPath, fixture("everything.mjs")];

function read(path: string) {
  return parseConversation(readFileSync(path, "utf8"));
}

function plain({ code, stdout }: Ran): { code: number | null; stdout: string } {
  return { code, stdout };
}

test("a server in a file is recorded, too: its answers get to stdout", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const call = ["call", "add", "a=1", "b=2", "--timeout", "10"];
  const live = await runCli(through(call, "record", "-o", file, fixture("everything.mjs")));
  expect(live).toMatchObject({ code: 0 });
  expect(plain(await runCli(through(call, "replay", file)))).toEqual(plain(live));
});

test("one line is one line", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const { stderr } = await runCli(["record", "-o", file, "--", ...everything]);
  expect(stderr).toContain("1 line is in ");
});

describe.each(revisions)("%s", (revision) => {
  test("a call is recorded, and played again as a server and as a client", async () => {
    const file = join(makeFolder(), "talk.jsonl");
    const call = ["call", "slow", "ms=1", "--revision", revision, "--json"];
    const live = await runCli(through(call, "record", "-o", file, "--", ...everything));
    expect(live).toMatchObject({ code: 0 });
    expect(revisionOf(read(file))).toBe(revision);
    const played = await runCli(through(call, "replay", file));
    expect(plain(played)).toEqual(plain(live));
    const compared = await runCli(["replay", file, "--against", fixture("everything.mjs"), "--json"]);
    expect(compared).toMatchObject({ code: 0 });
    expect(compared.json()).toEqual([{ ok: true, result: { compared: expect.any(Number), differences: [] } }]);
  });
});

test("questions are asked and answered again", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const greet = async (...words: string[]): Promise<string> => {
    await using client = await connect(
      { command: process.execPath, args: [program, ...words] },
      { onElicit: () => ({ action: "accept", content: { name: "Ada", age: 36 } }) },
    );
    return (await client.callTool("greet")).text;
  };
  expect(await greet("record", "-o", file, "--", ...everything)).toBe("Hello Ada, 36");
  expect(await greet("replay", file)).toBe("Hello Ada, 36");
  const compared = await runCli(["replay", file, "--", ...everything]);
  expect(plain(compared)).toEqual({ code: 0, stdout: expect.stringMatching(/answers compared: all as recorded\.\n$/) });
});

test("what was not recorded is refused with the nearest that was", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  await runCli(through(["call", "add", "a=1", "b=2"], "record", "-o", file, "--", ...everything));
  const other = await runCli(through(["call", "add", "a=1", "b=3", "--stderr"], "replay", file));
  expect(other.code).toBe(4);
  expect(other.stderr).toMatch(/has no tools\/call .*"b":3.*The nearest is .*"b":2/);
  expect(other.stderr).toMatch(/warning: The recording has no/);
});

test("a server that has changed is found out", async () => {
  const folder = makeFolder({
    "changed.mjs": readFileSync(fixture("everything.mjs"), "utf8")
      .replace('from "plenum"', `from "${libraryUrl()}"`)
      .replace('from "plenum/stdio"', `from "${libraryUrl("transport/stdio/server.js")}"`)
      .replace('from "zod"', `from "${import.meta.resolve("zod")}"`)
      .replace("sum: a + b", "sum: a * b"),
  });
  const file = join(folder, "talk.jsonl");
  await runCli(through(["call", "add", "a=3", "b=4"], "record", "-o", file, "--", ...everything));
  const told = await runCli(["replay", file, "--against", join(folder, "changed.mjs")]);
  expect(told.code).toBe(6);
  expect(told.stdout).toMatch(/tools\/call .*"add"/);
  expect(told.stdout).toContain("/result/structuredContent/sum: recorded 7, now 12");
  expect(told.stdout).toMatch(/answers compared: 2 differences\.\n$/);
  const [envelope] = (await runCli(["replay", file, "--json", "--against", join(folder, "changed.mjs")])).json();
  expect(envelope).toMatchObject({
    ok: false,
    error: { code: "differences" },
    result: { differences: expect.arrayContaining([expect.objectContaining({ recorded: 7, live: 12 })]) },
  });
  const ignored = await runCli([
    ...["replay", file, "--ignore", "/result/structuredContent/sum", "--ignore", "/result/content/*/text"],
    ...["--against", join(folder, "changed.mjs")],
  ]);
  expect(ignored.code).toBe(0);
});

test("server-everything is recorded and played", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const { command, args } = publishedServer("everything");
  const call = ["call", "echo", "message=hello"];
  const live = await runCli(through(call, "record", "-o", file, "--", command, ...args));
  expect(plain(live)).toEqual({ code: 0, stdout: "Echo: hello\n" });
  expect(plain(await runCli(through(call, "replay", file)))).toEqual(plain(live));
  const compared = await runCli(["replay", file, "--", command, ...args]);
  expect(plain(compared)).toMatchObject({ code: 0 });
});

describe("over HTTP", () => {
  const server = createServer({ name: "remote", version: "1.0.0" });
  server.tool("tell", { input: z.object({ note: z.string() }) }, ({ note }, ctx) => {
    ctx.progress(1, 1);
    return `${note}, said ${ctx.sender?.header?.("x-team")} with ${ctx.sender?.header?.("authorization")}`;
  });
  // What is marked has to stand in a header, too.
  const input = {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  } as const;
  server.tool("route", { input }, ({ region }, ctx) => `${region}, ${ctx.sender?.header?.("mcp-param-region")}`);
  let serving: HttpServing;
  beforeAll(async () => {
    serving = await serveHttp(server, { port: 0 });
  });
  afterAll(() => serving.close());

  test.each(["2026-07-28", "2025-06-18"])("%s: a server at a URL, and what only it may know", async (revision) => {
    const file = join(makeFolder(), "talk.jsonl");
    const call = ["call", "tell", "note=hello", "--revision", revision];
    const live = await runCli(
      through(
        call,
        ...["record", "-o", file, "-H", "X-Team: the-blue-team", "-H", "Authorization: Bearer kept-to-ourselves"],
        String(serving.url),
      ),
    );
    expect(live).toMatchObject({ code: 0, stdout: "hello, said the-blue-team with Bearer kept-to-ourselves\n" });
    const text = readFileSync(file, "utf8");
    expect(text).not.toMatch(/the-blue-team|kept-to-ourselves/);
    expect(text).toContain("hello, said [redacted] with");
    const played = await runCli(through(call, "replay", file));
    expect(played.stdout).toMatch(/^hello, said \[redacted\] with .*\[redacted\]\n$/);
  });

  test("arguments that travel in headers do so through a recording, and when it is played", async () => {
    const file = join(makeFolder(), "talk.jsonl");
    const live = await runCli(through(["call", "route", "region=north"], "record", "-o", file, String(serving.url)));
    expect(plain(live)).toEqual({ code: 0, stdout: "north, north\n" });
    expect(await runCli(["replay", file, "--against", String(serving.url)])).toMatchObject({ code: 0 });
  });
});

test("secrets in arguments, answers and variables are not in the file, but where that is asked for", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "talks"));
  const secret = "correct-horse-battery";
  const call = ["call", "shapes", `text={"password":"${secret}"} Bearer ${secret}1 and VARIABLE=${secret}`];
  const record = ["record", "-e", `API_KEY=${secret}`, "--redact", "city", "--redact-path", "/params/arguments/tags/*"];
  const more = ["place.city=Atlantis", "tags=hush-hush", "--json"];
  const live = await runCli(through([...call, ...more], ...record, "-o", join(folder, "talks"), "--", ...everything));
  expect(live).toMatchObject({ code: 0 });
  expect(live.stdout).toContain(secret);
  const [name = ""] = readdirSync(join(folder, "talks"));
  const path = join(folder, "talks", name);
  const text = readFileSync(path, "utf8");
  expect(text).not.toContain(secret);
  expect(JSON.stringify(read(path).events.filter((event) => "from" in event && event.from === "client"))).not.toMatch(
    /Atlantis|hush-hush/,
  );
  // For its owner alone.
  expect(statSync(path).mode & 0o077).toBe(0);
  const kept = join(folder, "kept.jsonl");
  await runCli(through([...call, ...more], ...record, "--dangerously-keep-secrets", "-o", kept, "--", ...everything));
  expect(readFileSync(kept, "utf8")).toContain(secret);
});

test("a file that is there is not written over, unless that is said", async () => {
  const folder = makeFolder({ "talk.jsonl": "mine" });
  const file = join(folder, "talk.jsonl");
  const refused = await runCli(["record", "-o", file, "--", ...everything]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/is there already\nGive another name, a folder, or --force/);
  expect(readFileSync(file, "utf8")).toBe("mine");
  const forced = await runCli(["record", "-f", "-o", file, "--", ...everything]);
  expect(forced).toMatchObject({ code: 0, stdout: "" });
  expect(read(file).header.name).toContain("everything.mjs");
});

test("ended from outside, it ends the server, and what was said is kept", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const child = spawn(process.execPath, [program, "record", "-o", file, "--", ...everything], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => child.once("close", (code) => resolve(code)));
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGTERM");
  // That is how a recording ends.
  expect(await ended).toBe(0);
  expect(read(file).events).toMatchObject([{ from: "client" }, { from: "server" }, { closed: true }]);
});

test("a server that dies is lost, and what was said until then is kept", async () => {
  const folder = makeFolder({ "dies.mjs": 'process.stdin.once("data", () => process.exit(3));' });
  const file = join(folder, "talk.jsonl");
  const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const ran = await runCli(["record", "-o", file, "--", process.execPath, join(folder, "dies.mjs")], { input });
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toMatch(/The server was lost: .*3.*\nWhat was said until then is in/);
  expect(read(file).events).toMatchObject([
    { from: "client", message: { method: "ping" } },
    { closed: true, why: expect.stringContaining("3") },
  ]);
});

test("what is no message is answered, and what the server writes beside messages is told", async () => {
  const folder = makeFolder({
    "noisy.mjs": `process.stdin.once("data", () => {
      console.log("I am \x1b[31mup");
      console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }));
    });`,
  });
  const file = join(folder, "talk.jsonl");
  const input = 'nonsense\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const ran = await runCli(["record", "-o", file, "--", process.execPath, join(folder, "noisy.mjs")], { input });
  expect(ran.code).toBe(0);
  const answers = ran.stdout.trim().split("\n");
  expect(answers.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ error: expect.objectContaining({ code: -32700 }) }),
    { jsonrpc: "2.0", id: 1, result: {} },
  ]);
  expect(ran.stderr).toContain("The server wrote what is no message: I am \\x1b[31mup");
});

test.each([
  ["record", ["record", "--", "node", "x.js"], /record needs to know where to write: -o FILE/],
  ["record --json", ["record", "--json", "-o", "x", "--", "node", "x.js"], /record has no --json/],
  ["a folder that is not there", ["record", "-o", "/no/such/x", "--", "node", "x.js"], /cannot be written/],
  ["no file", ["replay", "/no/such/file"], /cannot be read/],
  ["no recording", ["replay", fixture("everything.mjs")], /line 1 of the conversation is no JSON/],
])("%s: says what to do", async (_, words, message) => {
  const { code, stderr } = await runCli(words);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});

test("replay as a server has no --json, and one server is enough to compare with", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  const header = {
    plenum: "conversation",
    version: 1,
    name: "x",
    startedAt: "2026-01-01T00:00:00.000Z",
    isRedacted: true,
  };
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  expect(await runCli(["replay", file, "--json"])).toMatchObject({ code: 1 });
  expect(await runCli(["replay", file, "--against", "x.ts", "--", "node", "x.js"])).toMatchObject({ code: 1 });
  // Nobody says anything.
  expect(await runCli(["replay", file])).toMatchObject({ code: 0, stdout: "" });
});

test("a recording that was cut off is told of, and one with nothing to compare, or out of order, proves nothing", async () => {
  const file = join(makeFolder(), "talk.jsonl");
  await runCli(through(["call", "add", "a=1", "b=2"], "record", "-o", file, "--", ...everything));
  const text = readFileSync(file, "utf8");
  const lines = text.trimEnd().split("\n");
  const against = ["replay", file, "--against", fixture("everything.mjs")];

  writeFileSync(file, text.trimEnd().slice(0, -5));
  const cut = await runCli(against);
  expect(cut).toMatchObject({ code: 0, stderr: expect.stringMatching(/warning: The last line of .* was cut off/) });

  writeFileSync(file, `${lines[0]}\n${lines[1]?.slice(0, 20)}`);
  const nothing = await runCli([...against, "--json"]);
  expect(nothing.code).toBe(6);
  expect(nothing.json()).toMatchObject([{ ok: false, error: { code: "nothing_compared" }, result: { compared: 0 } }]);

  writeFileSync(file, [lines[0], ...lines.slice(1).reverse(), ""].join("\n"));
  const reversed = await runCli(against);
  expect(reversed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/out of order: line \d+ answers what is asked/),
  });
});
