// `npm start`: what it prints works as it is printed, the lines for a shell and the entries for hosts.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "plenum";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../house/source.ts";
import { findUrl, type Program, startOnNode } from "../runtimes/program.ts";

const run = promisify(execFile);
const path = "examples/notes-http.ts";

interface Entry<T> {
  readonly mcpServers: { readonly notes: T };
}

describe("npm start", () => {
  let program: Program;
  beforeAll(async () => {
    program = await startOnNode(path, { find: (output) => (/^Ctrl\+C/m.test(output) ? findUrl(output) : undefined) });
  }, 60_000);
  afterAll(() => program?.stop());

  /** What stands below a heading, which is a line that begins so. */
  const below = (heading: string): string => {
    const parts = program.output().split("\n\n");
    const at = parts.findIndex((part) => part.startsWith(heading));
    expect(at, heading).toBeGreaterThan(0);
    return parts[at + 1] ?? "";
  };
  const shell = async (lines: string): Promise<string> => {
    expect(lines).toMatch(/^(post\(\) \{ )?curl /);
    const { stdout, stderr } = await run("sh", ["-c", lines], { timeout: 20_000 });
    expect(stderr).toBe("");
    return stdout;
  };

  test("runs this example", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
    expect(scripts.start).toBe(`node --conditions=plenum-source --import tsx ${path}`);
  });

  test("prints the address, and nothing that does not fit a terminal but paths", () => {
    expect(program.output().split("\n")[0]).toMatch(/ http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const wide = program
      .output()
      .split("\n")
      .filter((line) => line.length > 120 && !line.includes(root));
    expect(wide).toEqual([]);
  });

  test("its lines for the oldest revision open a session by HTTP+SSE", async () => {
    const lines = (await shell(below("In 2024-11-05"))).split("\n");
    expect(lines).toContain("event: endpoint");
    const answer = lines.find((line) => line.startsWith("data: {"))?.slice(6) ?? "{}";
    expect(JSON.parse(answer)).toMatchObject({
      id: 1,
      result: { protocolVersion: "2024-11-05", serverInfo: { name: "notes" } },
    });
  });

  test("its lines for the revision of most hosts open a session and list the tools", async () => {
    const answer = JSON.parse(await shell(below("In 2025-11-25")));
    expect(answer).toMatchObject({ id: 2, result: { tools: [{ name: "create_note" }] } });
  });

  test("its lines for the newest revision write a note, which a host with the printed entry reads", async () => {
    const answer = JSON.parse(await shell(below("In 2026-07-28")));
    expect(answer).toMatchObject({ id: 1, result: { structuredContent: { id: "3", uri: "note:///3" } } });
    const { notes } = (JSON.parse(below("For a host that speaks HTTP")) as Entry<{ type: string; url: string }>)
      .mcpServers;
    expect(notes.type).toBe("http");
    const client = await connect(notes.url);
    const { contents } = await client.readResource("note:///3");
    await client.close();
    expect(contents).toMatchObject([{ text: "Hello" }]);
  });

  test("examples/hello-client.ts looks around in it", async () => {
    const args = ["--conditions=plenum-source", "--import", "tsx", "examples/hello-client.ts", program.url];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: root, timeout: 20_000 });
    expect([stderr, stdout.split("\n")[0]]).toEqual(["", "notes 1.0.0 speaks 2026-07-28"]);
    expect(stdout).toContain("resource  note:///1");
  });

  test("a host that starts servers itself finds the same notes by the printed entry", async () => {
    const { notes } = (
      JSON.parse(below("For a host that starts")) as Entry<{ command: string; args: readonly string[] }>
    ).mcpServers;
    // From any folder: hosts have their own.
    const client = await connect({ ...notes, cwd: "/" });
    const { contents } = await client.readResource("note:///1");
    await client.close();
    expect(contents).toMatchObject([{ text: "This is note 1" }]);
  });

  test("Ctrl+C ends it, without a complaint", async () => {
    const said = program.output();
    expect(await program.stop("SIGINT")).toEqual({ code: 0, signal: null });
    expect(program.output()).toBe(said);
  });
});

test("where the usual port is taken it takes another, but not another than it is told to", async () => {
  const unasked = { env: { PORT: undefined } };
  const [first, second] = [await startOnNode(path, unasked), await startOnNode(path, unasked)];
  expect(first.url).not.toBe(second.url);
  expect(second.output()).toMatch(/^Port 3000 is taken: another is used\.\n/);
  await expect(startOnNode(path, { env: { PORT: new URL(first.url).port } })).rejects.toThrow("the port is taken");
  await Promise.all([first.stop(), second.stop()]);
});

test("a port that is none is refused in one line", async () => {
  const failure = await run(process.execPath, ["--conditions=plenum-source", "--import", "tsx", path], {
    cwd: root,
    env: { ...process.env, PORT: "abc" },
    timeout: 20_000,
  }).catch((error: { code: number; stderr: string }) => error);
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringMatching(/^PORT=abc: .*whole number.*\n$/) });
});
