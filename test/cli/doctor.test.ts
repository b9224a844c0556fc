// `plenum doctor`: servers that are right, servers of others, and servers with every fault that it looks for.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { checks } from "../../packages/cli/src/doctor/checks.ts";
import { ensureCli } from "../house/built.ts";
import { publishedServer } from "../interop/harness.ts";
import { fixture, libraryUrl, makeFolder, openTerminal, type RunOptions, runCli } from "./stage.ts";
import { readXml } from "./xml.ts";

interface Entry {
  readonly check: string;
  readonly severity: string;
  readonly status: string;
  readonly message: string;
  readonly where: string | null;
  readonly remedy: string | null;
  readonly revision: string | null;
}

interface Diagnosis {
  readonly code: number | null;
  readonly entries: readonly Entry[];
  /** The ids of checks that found something, each once. */
  readonly failed: readonly string[];
  find(check: string): Entry | undefined;
}

async function diagnose(words: readonly string[], options?: RunOptions): Promise<Diagnosis> {
  const { code, stdout, stderr, json } = await runCli(["doctor", "--json", ...words], {
    timeoutMs: 60_000,
    ...options,
  });
  const [envelope] = stdout === "" ? [] : json();
  if (!Array.isArray(envelope?.result)) throw new Error(`no report: ${stdout}${stderr}`);
  const entries = envelope.result as Entry[];
  const failed = [...new Set(entries.filter(({ status }) => status === "failed").map(({ check }) => check))];
  return { code, entries, failed, find: (check) => entries.find((one) => one.check === check) };
}

const onStdio = (...faults: string[]): string[] => ["--", process.execPath, fixture("doctor/stdio.mjs"), ...faults];

/** A server over HTTP with faults, until the end of the test; its port. */
const startHttp = (...faults: string[]): Promise<number> => startServer("doctor/http.mjs", ...faults);

async function startServer(name: string, ...words: string[]): Promise<number> {
  // What it serves with is the built library.
  await ensureCli();
  const child: ChildProcess = spawn(process.execPath, [fixture(name), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const failed = once(child, "exit").then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`)));
  const [port] = (await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), failed])) as [Buffer];
  failed.catch(() => {});
  return Number(port.toString());
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/** Checks that were seen to fire, in all tests of this file. */
const fired = new Set<string>();

function expectFired({ failed }: Diagnosis, ids: readonly string[]): void {
  expect(failed).toEqual(expect.arrayContaining([...ids]));
  for (const id of ids) fired.add(id);
}

const idsOf = (topic: string): string[] => checks.map(({ id }) => id).filter((id) => id.startsWith(`${topic}/`));

describe("servers that are right", () => {
  // How long a process takes to start is the machine's doing; one in memory is always soon enough.
  const untimed = ["--skip", "connects/start-time"];
  const timeless = checks.filter(({ id }) => id !== "connects/start-time");

  test("one of ours on stdio, in a file, and at a terminal", async () => {
    const server = fixture("everything.mjs");
    const [inFile, onStdio] = await Promise.all([
      runCli(["doctor", server]),
      runCli(["doctor", "--", process.execPath, server]),
    ]);
    for (const { code, stdout, stderr } of [inFile, onStdio]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(
        "settles on 2026-07-28; speaks 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05",
      );
      expect(stdout).not.toContain("✗");
    }
    expect(inFile.stdout).toContain("✓ It answers soon after it is started");
    expect(inFile.stdout).not.toContain("stdout");
    expect(onStdio.stdout).toContain("✓ Only messages of the protocol are on stdout");
    const terminal = await openTerminal(["doctor", server]);
    await terminal.until(/Connecting in 2025-06-18/);
    await terminal.until(/Checking tools\/name-length/);
    await terminal.until(/checks: \d+ passed/);
    expect(await terminal.exited).toBe(0);
  });

  test("one by hand on stdio has nothing that even --strict minds", async () => {
    const words = ["--strict", "--call", "--env", "API_KEY=0123456789", ...untimed, ...onStdio()];
    const { code, entries, failed } = await diagnose(words);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    // Not one of them was left out.
    expect(entries.map(({ check, status }) => ({ check, status }))).toEqual(
      timeless.filter(({ appliesTo }) => appliesTo !== "http").map(({ id }) => ({ check: id, status: "passed" })),
    );
  });

  test("one by hand over HTTP has nothing that even --strict minds", async () => {
    const { code, entries, failed } = await diagnose(["--strict", "--call", ...untimed, urlOf(await startHttp())]);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    expect(entries.map(({ check, status }) => ({ check, status }))).toEqual(
      timeless
        .filter(({ appliesTo }) => appliesTo !== "stdio")
        .map(({ id }) => ({ check: id, status: id === "http/header-mismatch" ? "skipped" : "passed" })),
    );
  });

  test("one of ours over HTTP, with and without sessions", async () => {
    const { code, failed, find } = await diagnose([
      "--only",
      "http,connects,errors,messages",
      urlOf(await startServer("doctor/ours-http.mjs")),
    ]);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    for (const id of ["http/header-mismatch", "http/session-id", "http/rebinding"])
      expect(find(id)).toMatchObject({ status: "passed" });
  });

  test("one over HTTP that asks for a token, and says where to get it", async () => {
    const port = await startHttp("auth");
    const { code, failed, find } = await diagnose([
      "-H",
      "Authorization: Bearer secret",
      "--only",
      "http",
      urlOf(port),
    ]);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    expect(find("http/authorization")?.message).toBe("401 leads to the authorization server");
  });
});

describe("servers of others", () => {
  test.concurrent.each([
    ["everything", []],
    ["filesystem", [fixture("doctor")]],
    ["memory", []],
  ])("server-%s", async (name, args) => {
    const { command, args: words } = publishedServer(name, ...args);
    const { code, entries, find } = await diagnose(["--", command, ...words]);
    expect(code).toBe(0);
    expect(find("connects/revisions")).toMatchObject({
      status: "passed",
      message: "settles on 2025-11-25; speaks 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05",
    });
    for (const id of ["messages/schema", "messages/ids", "stdio/stdout", "stdio/exit", "errors/unknown-method"])
      expect(find(id)).toMatchObject({ status: "passed" });
    // What they do wrong: a cursor that was made up is answered with a page, and what has no params is not answered.
    expect(find("capabilities/cursor")).toMatchObject({ status: "failed", severity: "note", where: "tools/list" });
    expect(find("errors/malformed-params")).toMatchObject({ status: "failed", severity: "note" });
    for (const { status, remedy } of entries) expect(remedy !== null).toBe(status === "failed");
  });
});

describe("faults", () => {
  test("of tools, schemas, resources and prompts", async () => {
    const diagnosis = await diagnose(["--only", "tools,schemas,cost,resources,prompts", ...onStdio("surface")]);
    expect(diagnosis.code).toBe(6);
    expectFired(diagnosis, ["tools", "schemas", "cost", "resources", "prompts"].flatMap(idsOf));
    const { entries, find } = diagnosis;
    const about = (check: string) =>
      entries.filter((one) => one.check === check).map(({ where, severity }) => ({ where, severity }));
    // Each at the tool that has it, and at no other.
    const only = (tool: string, severity: string) => [{ where: `tool "acme_${tool}"`, severity }];
    expect(about("tools/unique-names")).toEqual(only("same", "error"));
    expect(find("tools/name-length")?.message).toContain("80 characters");
    expect(about("tools/name-characters")).toEqual(only("with space", "error"));
    expect(about("tools/hidden-text")).toEqual(only("hidden", "error"));
    expect(about("tools/parameter-descriptions").map(({ where }) => where)).toContain('tool "acme_bare_parameter"');
    expect(about("schemas/input")).toContainEqual({ where: 'tool "acme_invalid"', severity: "error" });
    expect(about("schemas/output")).toEqual(only("output", "error"));
    expect(about("schemas/references")).toEqual(only("reference", "error"));
    expect(about("schemas/root")).toEqual(only("root", "error"));
    expect(about("schemas/property-names")).toEqual(only("property", "error"));
    expect(about("schemas/array-items")).toEqual(only("array", "error"));
    expect(about("schemas/object-properties")).toEqual(only("object", "warning"));
    expect(about("schemas/types")).toEqual(only("types", "warning"));
    expect(about("schemas/boolean-schemas")).toEqual(only("boolean", "warning"));
    expect(about("schemas/enums")).toEqual(only("enum", "warning"));
    expect(about("schemas/recursion")).toEqual(only("recursive", "warning"));
    expect(about("schemas/size")).toEqual(only("large", "warning"));
    expect(about("schemas/additional-properties")).toEqual(only("open", "note"));
    expect(about("schemas/gemini-keywords")).toEqual(only("keywords", "note"));
    expect(find("cost/tokens")?.message).toMatch(/about 1\d,\d{3} tokens .*by estimate\. The largest: acme_large /);
  });

  test("of a server that takes everything", async () => {
    const diagnosis = await diagnose(["--only", "connects,errors,capabilities", ...onStdio("lenient")]);
    expect(diagnosis.code).toBe(6);
    expectFired(diagnosis, [
      ...["connects/identity", "connects/ping", "connects/version-fallback"],
      ...["errors/unknown-method", "errors/unknown-tool", "errors/missing-argument", "errors/unknown-resource"],
      ...["errors/unknown-prompt", "capabilities/cursor", "capabilities/undeclared"],
    ]);
    expect(diagnosis.find("errors/unknown-tool")).toMatchObject({
      severity: "error",
      message: "A call of a tool that does not exist succeeds.",
      where: "tools/call",
      remedy: expect.stringContaining("-32602"),
      revision: "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05",
    });
  });

  test("of a server that says too much, and other things every time", async () => {
    const lists = ["stable", "same-tools", "lists", "empty", "pages"];
    const sent = ["ids", "unknown-methods", "undeclared-asks", "schema"];
    const words = ["--only", "connects,capabilities,errors/leaks,messages,stdio/stdout"];
    const diagnosis = await diagnose([...words, ...onStdio(...lists, ...sent, "stdout", "leaks", "modest")]);
    expect(diagnosis.code).toBe(6);
    expectFired(diagnosis, [
      ...["stdio/stdout", "errors/leaks", "connects/revisions", "connects/newest"],
      ...lists.map((name) => `capabilities/${name}`),
      ...sent.map((name) => `messages/${name}`),
    ]);
    const { find } = diagnosis;
    expect(find("stdio/stdout")?.message).toContain('"Server is running!"');
    expect(find("messages/schema")).toMatchObject({
      where: "notifications/message",
      revision: "2024-11-05, 2025-03-26",
    });
    expect(find("connects/revisions")?.message).toBe(
      "It settles on 2024-11-05, though it speaks 2025-03-26 when asked for it.",
    );
  });

  test.concurrent("of a process that does not stand much", async () => {
    const words = ["--only", "stdio,errors/malformed-params", "--revision", "2025-11-25", "--timeout", "8"];
    const faults = onStdio("fragile", "pieces", "exit", "secrets");
    const diagnosis = await diagnose([...words, "--env", "API_KEY=0123456789", ...faults]);
    expect(diagnosis.code).toBe(6);
    expectFired(diagnosis, [...idsOf("stdio").filter((id) => id !== "stdio/stdout"), "errors/malformed-params"]);
    const { find, entries } = diagnosis;
    expect(find("stdio/garbage")?.message).toBe("Lines that are no JSON end the server.");
    expect(find("stdio/exit")?.message).toContain("It still runs 5 s after the end of its input");
    expect(find("errors/malformed-params")?.message).toContain("end the server");
    expect(find("stdio/secrets")?.message).toContain("the value of API_KEY");
    expect(JSON.stringify(entries)).not.toContain("0123456789");
  });

  test.concurrent("of a process that dies of a call: the other checks go on", async () => {
    const { failed, find, entries } = await diagnose(["--only", "errors,tools,resources", ...onStdio("mortal")]);
    expect(failed).toEqual(["errors/unknown-tool", "errors/missing-argument"]);
    expect(find("errors/unknown-tool")?.message).toContain("The server ended while this was checked");
    expect(
      entries.filter(({ check }) => /^(tools|resources)/.test(check)).every(({ status }) => status === "passed"),
    ).toBe(true);
  });

  test.concurrent("of a process that leaves another behind", async () => {
    const { find } = await diagnose(["--only", "stdio/exit", ...onStdio("orphans")]);
    expect(find("stdio/exit")).toMatchObject({
      status: "failed",
      message: "It exits, but leaves a process behind that it has started.",
    });
  });

  test.concurrent("of a process that takes its time", async () => {
    const diagnosis = await diagnose(["--only", "connects/start-time", ...onStdio("start-time")]);
    expectFired(diagnosis, ["connects/start-time"]);
    expect(diagnosis.find("connects/start-time")).toMatchObject({ severity: "warning" });
    expect(diagnosis.code).toBe(0);
  });

  test("of results that break their schema, once they may be called for", async () => {
    const faulty = onStdio("calls");
    expect((await diagnose(["--only", "calls", ...faulty])).find("calls/results")?.status).toBe("skipped");
    const diagnosis = await diagnose(["--only", "calls", "--call", ...faulty]);
    expectFired(diagnosis, ["calls/results"]);
    expect(diagnosis.find("calls/results")).toMatchObject({ where: 'tool "count_notes"' });
  });

  test("of a server over HTTP that is open to all", async () => {
    const diagnosis = await diagnose(["--only", "http", urlOf(await startHttp("open"))]);
    expect(diagnosis.code).toBe(6);
    expectFired(
      diagnosis,
      idsOf("http").filter((id) => !["http/tls", "http/authorization", "http/header-mismatch"].includes(id)),
    );
    const { entries } = diagnosis;
    const messages = entries.filter(({ check }) => check === "http/session-id").map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringMatching(/^It has \d characters: it can be guessed\.$/),
      "It counts up: the next one can be guessed.",
    ]);
    expect(diagnosis.find("http/rebinding")).toMatchObject({ severity: "error" });
    expect(diagnosis.find("http/content-type")).toMatchObject({
      severity: "error",
      message: expect.stringContaining("500"),
    });
    expect(diagnosis.find("http/cors")).toMatchObject({ severity: "note", message: expect.stringContaining("405") });
  });

  test("of a server over HTTP that hides its sessions from pages, at an address for all", async () => {
    const port = await startHttp("expose", "everywhere");
    const diagnosis = await diagnose(["--only", "http", `http://0.0.0.0:${port}/mcp`]);
    expect(diagnosis.code).toBe(6);
    expectFired(diagnosis, ["http/tls"]);
    expect(diagnosis.find("http/cors")).toMatchObject({ severity: "warning" });
    expect(diagnosis.find("http/rebinding")).toMatchObject({ status: "skipped" });
  });

  test("of a server of HTTP+SSE that is open to all", async () => {
    const { find } = await diagnose(["--only", "http", `http://127.0.0.1:${await startServer("doctor/sse.mjs")}/sse`]);
    expect(find("http/rebinding")).toMatchObject({ status: "failed", severity: "error" });
    expect(find("http/protocol-version")).toMatchObject({ status: "skipped" });
  });

  test("of a server over HTTP that does not look at headers", async () => {
    const diagnosis = await diagnose(["--only", "http/header-mismatch", urlOf(await startHttp("stateless"))]);
    expectFired(diagnosis, ["http/header-mismatch"]);
  });

  test.each([
    ["no-challenge", "401 comes without WWW-Authenticate"],
    ["other-resource", "The metadata names the resource"],
  ])("of a login that leads nowhere: %s", async (fault, message) => {
    const diagnosis = await diagnose(["--only", "http/authorization", urlOf(await startHttp("auth", fault))]);
    expectFired(diagnosis, ["http/authorization"]);
    expect(diagnosis.find("http/authorization")?.message).toContain(message);
  });

  test("every check was seen to find something", () => {
    expect(checks.map(({ id }) => id).filter((id) => !fired.has(id))).toEqual([]);
  });
});

describe("what it prints, and how it ends", () => {
  const surface = ["--only", "tools/name-length,schemas/root,schemas/types,cost", ...onStdio("surface")];

  test("text by topic, with what to do; in ASCII where the locale is not UTF-8", async () => {
    const { code, stdout } = await runCli(["doctor", ...surface]);
    expect(code).toBe(6);
    expect(stdout).toContain("  ✗ Names of tools have at most 64 characters  tools/name-length\n");
    expect(stdout).toContain("→ Move the choice into a property");
    expect(stdout).toMatch(/^4 checks: 0 passed, 2 with errors, 2 with warnings$/m);
    const plain = await runCli(["doctor", ...surface], { env: { LANG: "C" } });
    expect(plain.stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(plain.stdout).toContain("  x  Names of tools have at most 64 characters");
  });

  test("JSON without an envelope, and with one", async () => {
    const { code, stdout } = await runCli(["doctor", "--format", "json", ...surface]);
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toContainEqual({
      check: "schemas/root",
      severity: "error",
      status: "failed",
      message: expect.stringContaining("anyOf"),
      where: 'tool "acme_root"',
      remedy: expect.any(String),
      revision: null,
    });
    const [envelope] = (await runCli(["doctor", "--json", ...surface])).json();
    expect(envelope).toMatchObject({ ok: false, result: JSON.parse(stdout), error: { code: "problems" } });
  });

  test("JUnit, to a file", async () => {
    const folder = makeFolder();
    const words = ["doctor", "--format", "junit", "--output", "doctor.xml", ...surface];
    const { code, stdout, stderr } = await runCli(words, { cwd: folder });
    expect({ code, stdout, stderr }).toEqual({ code: 6, stdout: "", stderr: "The report is in doctor.xml.\n" });
    const report = readXml(readFileSync(join(folder, "doctor.xml"), "utf8"));
    expect(report).toMatchObject({ name: "testsuites", attributes: { tests: "4", failures: "2" } });
    const cases = report.children.flatMap(({ children }) => children);
    expect(
      cases.map(({ attributes, children }) => [attributes.name?.split(":")[0], children.map(({ name }) => name)]),
    ).toEqual([
      ["tools/name-length", ["failure"]],
      ["schemas/root", ["failure"]],
      ["schemas/types", ["system-out"]],
      ["cost/tokens", ["system-out"]],
    ]);
    const failure = cases[1]?.children[0];
    expect(failure?.attributes.message).toContain('tool "acme_root": anyOf stands at the root');
    expect(failure?.text).toContain("OpenAI, Anthropic and Gemini");
  });

  test("notes do not fail, not even with --strict", async () => {
    const cwd = makeFolder({
      "server.mjs": `import { createServer } from ${JSON.stringify(libraryUrl())};
export const server = createServer({ name: "x", version: "1" });
server.tool("look", { description: "Looks at what there is in the world" }, () => "?");
`,
    });
    const { code, entries } = await diagnose(["--strict", "server.mjs"], { cwd });
    const found = entries.filter(({ status }) => status === "failed").map(({ severity }) => severity);
    expect([code, ...new Set(found)]).toEqual([0, "note"]);
  });

  test("warnings do not fail, but with --strict they do", async () => {
    const words = ["--only", "schemas/types", ...onStdio("surface")];
    expect((await diagnose(words)).code).toBe(0);
    expect((await diagnose(["--strict", ...words])).code).toBe(6);
  });

  test("--skip leaves out, and a check that there is not is told", async () => {
    const { entries } = await diagnose([
      "--only",
      "tools",
      "--skip",
      "tools/count",
      "--skip",
      "tools/titles",
      ...onStdio(),
    ]);
    expect(entries.map(({ check }) => check)).toEqual(idsOf("tools").filter((id) => !/count|titles/.test(id)));
    const { code, stderr } = await runCli(["doctor", "--only", "tools/name-lenght", ...onStdio()]);
    expect(code).toBe(1);
    expect(stderr).toContain('Did you mean "tools/name-length"?');
  });

  test("--list says what is looked at, and needs no server", async () => {
    const { code, stdout } = await runCli(["doctor", "--list", "--only", "cost"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        "cost/tokens\n  The list of tools is cheap.\n  Looks at names, descriptions and input schemas, at 4 characters a token.\n",
    });
    const [envelope] = (await runCli(["doctor", "--list", "--json"])).json();
    expect(envelope?.result).toMatchObject(checks.map(({ id, looksAt }) => ({ id, looksAt })));
    const without = await runCli(["doctor"]);
    expect(without.code).toBe(1);
    expect(without.stderr).toContain("doctor needs TARGET");
  });

  test("no connection at all is exit code 2, with what was seen", async () => {
    const nobody = await diagnose(["--", "plenum-no-such-program"]);
    expect(nobody.code).toBe(2);
    expect(nobody.find("connects/revisions")).toMatchObject({
      status: "failed",
      message: expect.stringContaining("was not found"),
    });
    const stranger = await diagnose(["--timeout", "3", "--revision", "2025-11-25", ...onStdio("wrong-ids")]);
    expect(stranger.code).toBe(2);
    expect(stranger.find("messages/ids")).toMatchObject({
      message: 'It sent a response to id "another", which nobody asked.',
    });
  });

  test("where nobody answers, that is all it says, with how the process ended", async () => {
    const script = "process.stderr.write('no FOO'); process.exitCode = 3";
    const [dead, deaf] = await Promise.all([
      runCli(["doctor", "--", process.execPath, "-e", script]),
      runCli(["doctor", "--only", "http", "http://127.0.0.1:1/mcp"]),
    ]);
    expect([dead.code, deaf.code]).toEqual([2, 2]);
    expect(dead.stdout).toMatch(/exited with code 3\. Its last words: "no FOO"/);
    expect(deaf.stdout).toContain("ECONNREFUSED");
    for (const { stdout } of [dead, deaf]) {
      expect(stdout).toMatch(/^connects\n {2}✗ It can be connected to/);
      expect(stdout).toMatch(/\n\n1 check: 0 passed, 1 with errors\n$/);
      expect(stdout).not.toMatch(/skipped|✓|! /);
    }
  });

  test("a server over HTTP that lets nobody in is looked at all the same", async () => {
    const server = createHttpServer((_, response) => response.writeHead(404).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { find, code } = await diagnose([urlOf(port)]);
    expect(code).toBe(2);
    expect(find("http/tls")).toMatchObject({ status: "passed" });
  });

  test("Ctrl-C ends it", async () => {
    const terminal = await openTerminal(["doctor", ...onStdio("start-time")]);
    await terminal.until(/Connecting/);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
  });
});
