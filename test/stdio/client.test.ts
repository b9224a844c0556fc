// The client's side of stdio with real processes: what a child is started with, what becomes of its stderr, and what
// is said when it cannot be started or goes away.
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { McpError } from "plenum";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/plenum/src/jsonrpc/message.ts";
import { type StdioTargetOptions, stdioTarget } from "../../packages/plenum/src/transport/stdio/client.ts";
import { covers } from "../requirements/covers.ts";
import { countHeld, findMarked, openStage, serverFile } from "./stage.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "plenum-stdio-")));
afterAll(() => rmSync(folder, { recursive: true }));
const idle = countHeld();
const onLinux = process.platform === "linux";

describe("a server is started", () => {
  test("with its arguments, its environment and nothing of ours beyond the list", async () => {
    covers("stdio-client-launches");
    process.env.PLENUM_SECRET = "s3cret";
    try {
      const flags = ["a b", "$HOME", "*", '"', "", "|", "ü"];
      const stage = await openStage({ flags, env: { GIVEN: "yes", TERM: undefined } });
      const who = await stage.ask("who");
      const env = who.env as Record<string, string>;
      expect(who.args).toEqual(flags);
      expect(who.pid).toBe(stage.channel.pid);
      expect(env).toMatchObject({ GIVEN: "yes", PLENUM_MARK: stage.mark, PATH: process.env.PATH });
      const allowed = ["HOME", "LOGNAME", "PATH", "SHELL", "USER", "GIVEN", "PLENUM_MARK"];
      // What the system adds by itself is not ours.
      const others = Object.keys(env).filter((name) => !allowed.includes(name) && name !== "__CF_USER_TEXT_ENCODING");
      expect(others).toEqual([]);
      expect(JSON.stringify(env)).not.toContain("s3cret");
      if (onLinux) expect(findMarked(stage.mark)).toEqual([stage.channel.pid]);
      stage.channel.close();
      await stage.channel.ended;
    } finally {
      delete process.env.PLENUM_SECRET;
    }
  });

  test("once for each channel", async () => {
    covers("stdio-client-launches");
    const target = stdioTarget({ command: process.execPath, args: [serverFile] });
    const [one, two] = await Promise.all([target.open(), target.open()]);
    expect(one.pid).not.toBe(two.pid);
    one.close();
    two.close();
    await Promise.all([one.ended, two.ended]);
  });

  test.each([folder, pathToFileURL(folder)])("in the folder %s", async (cwd) => {
    const stage = await openStage({ cwd });
    expect((await stage.ask("who")).cwd).toBe(folder);
    stage.channel.close();
    await stage.channel.ended;
  });

  test("by a path relative to that folder", async () => {
    writeFileSync(join(folder, "run"), `#!/bin/sh\nexec "${process.execPath}" "${serverFile}" "$@"\n`);
    chmodSync(join(folder, "run"), 0o755);
    const stage = await openStage({ command: "./run", args: ["x"], cwd: folder });
    expect((await stage.ask("who")).args).toEqual(["x"]);
    stage.channel.close();
    await stage.channel.ended;
  });
});

describe("stderr", () => {
  const text = `${"ü".repeat(500)}\n`;

  test.each(["inherit", "ignore", "capture", "function"] as const)(
    "%s: heavy output neither blocks nor disturbs",
    async (kind) => {
      covers(["stdio-stderr-client", "stdio-stderr-not-error"]);
      const told: string[] = [];
      const passed: string[] = [];
      const write = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
        passed.push(Buffer.from(chunk as Uint8Array).toString("latin1"));
        return true;
      });
      try {
        const stage = await openStage({ stderr: kind === "function" ? (piece) => told.push(piece) : kind });
        let isClosed = false;
        stage.closed.then(() => {
          isClosed = true;
        });
        // Far more than a pipe holds.
        await stage.ask("stderr", { text, times: 4000 });
        expect(await stage.ask("echo", { text: "alive" })).toEqual({ text: "alive" });
        expect(isClosed).toBe(false);
        stage.channel.close();
        await stage.channel.ended;
      } finally {
        write.mockRestore();
      }
      expect(told.join("")).toBe(kind === "function" ? text.repeat(4000) : "");
      const all = Buffer.from(passed.join(""), "latin1").toString();
      expect(all).toBe(kind === "inherit" ? text.repeat(4000) : "");
    },
  );

  test("what is ignored has no last words", async () => {
    const stage = await openStage({ stderr: "ignore" });
    await stage.request("exit", { code: 1, words: "fatal: x" });
    expect(String(await stage.closed)).toMatch(/exited with code 1\.$/);
    await stage.channel.ended;
  });
});

describe("a server that cannot be started", () => {
  async function failure(options: StdioTargetOptions): Promise<McpError> {
    const error = await stdioTarget(options)
      .open()
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(McpError);
    expect((error as McpError).code).toBe("connection_lost");
    expect((error as McpError).message).not.toMatch(/\n/);
    await expect.poll(countHeld).toEqual(idle);
    return error as McpError;
  }
  const file = (name: string, text: string, mode: number): string => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
    return join(folder, name);
  };

  test("not on PATH", async () => {
    const { message } = await failure({ command: "no-such-program", env: { PATH: "/nowhere:/else" } });
    expect(message).toBe('"no-such-program" was not found: is it installed and on PATH? PATH was "/nowhere:/else".');
    expect((await failure({ command: "no-such-program", env: { PATH: undefined } })).message).toMatch(
      /PATH was not set/,
    );
  });

  test("a path that leads nowhere", async () => {
    const { message } = await failure({ command: "./none", cwd: folder });
    expect(message).toBe(`"./none" was not found: there is no such program at "${folder}/none".`);
  });

  test("a whole command line in place of a program", async () => {
    expect((await failure({ command: "npx -y server" })).message).toMatch(/Arguments are given apart, in args\.$/);
  });

  test("a folder that is not there, or is none", async () => {
    const missing = await failure({ command: process.execPath, cwd: "/no/such/folder" });
    expect(missing.message).toMatch(/the folder cwd, "\/no\/such\/folder", does not exist or is no folder/);
    const none = await failure({ command: process.execPath, cwd: file("plain", "", 0o644) });
    expect(none.message).toMatch(/the folder cwd, .* is no folder/);
  });

  test("not a program", async () => {
    const { message } = await failure({ command: file("server.js", "", 0o644) });
    expect(message).toMatch(/server\.js" may not be run: it is not marked as a program.*chmod \+x.*node/);
    expect((await failure({ command: `${folder}/` })).message).toMatch(/it is a folder/);
  });

  test("a script whose interpreter is missing", async () => {
    const { message } = await failure({ command: file("script", "#!/no/such/python3\n", 0o755) });
    expect(message).toMatch(/the program that its first line names, "\/no\/such\/python3", was not found/);
  });

  test("more arguments than the system takes", async () => {
    const { message } = await failure({ command: process.execPath, args: Array(64).fill("x".repeat(100_000)) });
    expect(message).toMatch(/arguments and environment are larger than the system allows/);
  });
});

describe("a server that goes away by itself", () => {
  async function cause(method: string, params: JsonObject, flags: readonly string[] = []): Promise<string> {
    const stage = await openStage({ flags, closeMs: 100, killMs: 100 });
    const open = stage.request("hang");
    stage.request(method, params);
    const error = await stage.closed;
    // Those that waited for an answer are told the same.
    expect(await open).toEqual({ kind: "lost", cause: error });
    expect(error).toBeInstanceOf(Error);
    const { message } = error as Error;
    expect(message.startsWith(`${process.execPath} ${serverFile}`)).toBe(true);
    expect(message.length).toBeLessThan(600);
    await stage.channel.ended;
    if (onLinux) expect(findMarked(stage.mark)).toEqual([]);
    return message.slice(message.indexOf("child-server.mjs") + "child-server.mjs".length);
  }

  test("exits", async () => {
    covers("stdio-server-shutdown");
    expect(await cause("exit", { code: 0 })).toBe(" exited with code 0.");
  });

  test("exits with last words, on one line", async () => {
    const words = "starting\n\u001b[31mError\u001b[0m: Cannot find module 'x'\n    at y\n\nNode.js v20.0.0\n";
    expect(await cause("exit", { code: 1, words })).toBe(
      ` exited with code 1. Its last words: "Error: Cannot find module 'x'"`,
    );
    expect(await cause("exit", { code: 2, words: "x".repeat(100_000) })).toMatch(/^ exited with code 2\. .*"…x{299}"$/);
  });

  test.each(["SIGSEGV", "SIGKILL", "SIGTERM"])("is killed by %s", async (signal) => {
    expect(await cause("die", { signal })).toBe(` was killed by ${signal}.`);
  });

  test.each([[[]], [["--ignore-eof", "--trap"]]])("closes its output and stays, with flags %j", async (flags) => {
    covers("stdio-server-shutdown");
    expect(await cause("close-output", {}, flags)).toBe(
      `${flags.map((flag) => ` ${flag}`).join("")} closed its output.`,
    );
  });

  test("closes its input and stays", async () => {
    const stage = await openStage({ flags: ["--ignore-eof", "--trap"], closeMs: 50, killMs: 50 });
    await stage.request("echo", { text: "" });
    stage.request("close-input");
    // Nobody knows before something is written.
    const writing = setInterval(() => stage.request("echo", { text: "" }), 20);
    expect(await stage.closed).toBeInstanceOf(Error);
    clearInterval(writing);
    await stage.channel.ended;
    if (onLinux) expect(findMarked(stage.mark)).toEqual([]);
  });

  test("before anybody listens", async () => {
    const target = stdioTarget({
      command: process.execPath,
      args: ["-e", "console.error('too soon'); process.exit(3)"],
    });
    const channel = await target.open();
    await channel.ended;
    const told = await new Promise((closed) => channel.open({ receive() {}, closed }));
    expect(String(told)).toMatch(/exited with code 3\. Its last words: "too soon"$/);
  });

  test("what it said before is delivered", async () => {
    const stage = await openStage();
    const text = "x".repeat(1_000_000);
    const answer = stage.ask("echo", { text });
    stage.request("exit", { code: 0 });
    expect((await answer).text).toBe(text);
    await stage.closed;
    await stage.channel.ended;
  });
});

test("closed by us there is no cause, and another can be opened", async () => {
  const stage = await openStage();
  await stage.ask("who");
  const told = new Promise((resolve) => {
    stage.closed.then(resolve);
  });
  stage.channel.close();
  stage.channel.close();
  expect(await told).toBeUndefined();
  await stage.channel.ended;
});
