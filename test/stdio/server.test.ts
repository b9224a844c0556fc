// A server on stdio as a process: what is on its stdout, and how it ends.
import { type Revision, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { judgeSent } from "../suites/judge.ts";
import { type Child, startWorkshop } from "./child.ts";

const orderly = { code: 0, signal: null };

/** Far more than an exit takes, and far less than what it must not wait for. */
const promptMs = 10_000;

async function open(child: Child, revision: Revision): Promise<void> {
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  child.write(`${JSON.stringify({ jsonrpc: "2.0", id: "open", method: "initialize", params })}\n`);
  expect((await child.answer("open")).result?.protocolVersion).toBe(revision);
  child.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
}

function callLine(revision: Revision, id: string, name: string, args: object): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name, arguments: args, ...(revision === "2026-07-28" && { _meta }) };
  return `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`;
}

describe.each(revisions)("in %s", (revision) => {
  test("stdin is read, and nothing but valid messages is on stdout, whatever the program prints", async () => {
    covers(
      [
        "stdio-streams",
        "stdio-stdout-only-mcp",
        "stdio-stderr-log",
        "stdio-newline-delimited",
        "stdio-no-embedded-newline",
        "rpc-utf8",
      ],
      revision,
    );
    const child = await startWorkshop();
    if (revision !== "2026-07-28") await open(child, revision);
    const text = "a\nb\r\nc\u2028d é ☃ 🧊 \u0000";
    child.write(callLine(revision, "noise", "noise", {}) + callLine(revision, "one", "echo", { text }));
    expect(await child.text("noise")).toBe("quiet");
    const bytes = Buffer.from(callLine(revision, "two", "echo", { text }));
    // One message over many chunks, its characters cut.
    for (let at = 0; at < bytes.length; at += 7) {
      child.process.stdin.write(bytes.subarray(at, at + 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const id of ["one", "two"]) expect(await child.text(id)).toBe(text);
    child.process.stdin.end();
    expect(await child.exit).toEqual(orderly);

    expect(child.messages).toHaveLength(revision === "2026-07-28" ? 3 : 4);
    for (const message of child.messages) {
      const method = message.id === "open" ? "initialize" : "tools/call";
      expect(judgeSent(message, revision, method)).toBeUndefined();
    }
    for (const noise of ["ready\n", "log\n", "info ☃\n", "┌", "no newlinebytes\n", "last callback\n"]) {
      expect(child.stderr).toContain(noise);
    }
  });

  test("an array is a batch in 2025-03-26 and refused elsewhere", async () => {
    covers(["stdio-batch-frame", "stdio-single-frame"], revision);
    const child = await startWorkshop();
    if (revision !== "2026-07-28") await open(child, revision);
    const lines = ["a", "b"].map((id) => callLine(revision, id, "echo", { text: id }).trim());
    child.write(`[${lines.join(",")}]\n${callLine(revision, "after", "echo", { text: "after" })}`);
    child.process.stdin.end();
    await child.exit;
    const written = String(Buffer.concat(child.chunks)).trim().split("\n");
    const answers = written.map((line) => JSON.parse(line)).filter(({ id }) => id !== "open" && id !== "after");
    expect(answers).toHaveLength(1);
    if (revision === "2025-03-26") expect(answers[0].map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
    else expect(answers[0]).toMatchObject({ error: { code: -32600 } });
    expect(written.at(-1)).toContain("after");
  });
});

test("both eras are served on one pipe, and a broken line harms neither", async () => {
  const child = await startWorkshop();
  const first = child.call("echo", { text: "stateless" });
  await open(child, "2025-11-25");
  child.write('{"jsonrpc":\n');
  child.write(callLine("2025-11-25", "s", "echo", { text: "sessioned" }));
  const second = child.call("echo", { text: "stateless again" });
  expect(await child.text("s")).toBe("sessioned");
  expect(await child.text(first)).toBe("stateless");
  expect(await child.text(second)).toBe("stateless again");
  expect(child.messages.filter(({ error }) => error)).toMatchObject([{ error: { code: -32700 } }]);
});

test("stray writers are told when stdout, which is stderr for them, has drained", async () => {
  const child = await startWorkshop();
  child.process.stderr.pause();
  const id = child.call("flood");
  const echo = child.call("echo", { text: "not held up" });
  expect(await child.text(echo)).toBe("not held up");
  child.process.stderr.resume();
  expect(await child.text(id)).toBe("drained");
  expect(child.messages).toHaveLength(2);
});

test("after it was cancelled, nothing more is sent for a call", async () => {
  covers("stdio-cancel-silent");
  const child = await startWorkshop();
  const id = child.call("ticking");
  await child.notification("notifications/progress");
  child.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } })}\n`);
  // Lines are read in order: when this one is answered, the cancellation has been read.
  await child.text(child.call("echo", { text: "after" }));
  const seen = child.messages.length;
  await child.logged("ticked out");
  const last = child.call("echo", { text: "at last" });
  await child.text(last);
  expect(child.messages.slice(seen).map((message) => message.id)).toEqual([last]);
  expect(child.messages.some((message) => message.id === id)).toBe(false);
});

describe("when stdin ends, the process", () => {
  test("exits, also when it never got anything", async () => {
    const child = await startWorkshop({ KEEP_ALIVE: "1" });
    child.process.stdin.end();
    expect(await child.exit).toEqual(orderly);
    expect(child.chunks).toEqual([]);
    expect(child.stderr).toContain("closed\nexit 0\n");
  });

  test("exits promptly with an open subscription, and disposes of what lived as long as the server", async () => {
    covers("stdio-server-exits-on-eof");
    const child = await startWorkshop({ KEEP_ALIVE: "1", GRACE_MS: "60000" });
    const id = child.start("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await child.notification("notifications/subscriptions/acknowledged");
    const began = performance.now();
    child.process.stdin.end();
    expect(await child.exit).toEqual(orderly);
    expect(performance.now() - began).toBeLessThan(promptMs);
    expect(child.messages.some((message) => message.id === id && message.result)).toBe(true);
    expect(child.stderr).toContain("disposed");
  });

  test("first finishes the calls in flight, within the time they are given", async () => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    const id = child.call("slow", { ms: 300 });
    await child.logged("started");
    const began = performance.now();
    child.process.stdin.end();
    expect(await child.text(id)).toBe("slow but sure");
    expect(await child.exit).toEqual(orderly);
    expect(performance.now() - began).toBeLessThan(promptMs);
  });

  test("cancels a call that does not end, and answers it", async () => {
    const child = await startWorkshop({ GRACE_MS: "200", KEEP_ALIVE: "1" });
    const id = child.call("forever");
    await child.logged("started");
    child.process.stdin.end();
    expect((await child.answer(id)).error).toMatchObject({ code: -32603 });
    expect(await child.exit).toEqual(orderly);
    expect(child.stderr).toMatch(/aborted.*disposed.*exit 0/s);
  });

  test("writes large answers whole before it exits, however slowly they are taken", async () => {
    const child = await startWorkshop({ KEEP_ALIVE: "1" });
    const length = 3_000_000;
    const ids = [child.call("big", { length }), child.call("big", { length })];
    child.process.stdout.pause();
    child.process.stdin.end(callLine("2026-07-28", "last", "echo", { text: "no newline after this" }).trim());
    setTimeout(() => child.process.stdout.resume(), 500);
    expect(await child.exit).toEqual(orderly);
    expect(await child.text("last")).toBe("no newline after this");
    for (const id of ids) expect(await child.text(id)).toHaveLength(length);
  });

  test("exits even if what it lived with cannot be disposed of", async () => {
    const child = await startWorkshop({ STUCK: "1" });
    await child.text(child.call("echo", { text: "opens it" }));
    child.process.stdin.end();
    expect(await child.exit).toEqual(orderly);
    expect(child.stderr).not.toContain("disposed");
  });
});

describe("signals", () => {
  const isWindows = process.platform === "win32";

  test.skipIf(isWindows).each(["SIGTERM", "SIGINT"] as const)("%s ends it in order", async (signal) => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    const id = child.call("slow", { ms: 300 });
    await child.logged("started");
    child.process.kill(signal);
    expect(await child.text(id)).toBe("slow but sure");
    expect(await child.exit).toEqual(orderly);
    expect(child.stderr).toContain("disposed");
  });

  test.skipIf(isWindows)("the second one ends it at once", async () => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    const id = child.call("forever");
    await child.logged("started");
    child.process.kill("SIGTERM");
    // It has taken the first when it still answers.
    await child.text(child.call("echo", { text: "still there" }));
    child.process.kill("SIGTERM");
    expect(await child.exit).toEqual({ code: 143, signal: null });
    expect(child.messages.some((message) => message.id === id)).toBe(false);
    expect(child.stderr).not.toContain("disposed");
  });

  test.skipIf(isWindows)("one after the end of stdin cuts the time for calls short", async () => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    child.call("forever");
    await child.logged("started");
    const began = performance.now();
    child.process.stdin.end();
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.process.kill("SIGTERM");
    expect(await child.exit).toEqual(orderly);
    expect(performance.now() - began).toBeLessThan(promptMs);
    expect(child.stderr).toMatch(/aborted.*disposed/s);
  });
});

describe("a client that goes away", () => {
  test("ends the process, also when only stdout is gone", async () => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    child.call("forever");
    await child.logged("started");
    child.process.stdout.destroy();
    const began = performance.now();
    for (let i = 0; i < 5; i++) child.call("big", { length: 100_000 });
    expect(await child.exit).toEqual(orderly);
    expect(performance.now() - began).toBeLessThan(promptMs);
    expect(child.stderr).toMatch(/aborted.*disposed.*exit 0/s);
  });

  test("altogether does as well, while the program goes on printing", async () => {
    const child = await startWorkshop({ GRACE_MS: "60000", KEEP_ALIVE: "1" });
    child.call("big", { length: 3_000_000 });
    for (let i = 0; i < 20; i++) child.call("noise");
    for (const stream of [child.process.stdout, child.process.stderr, child.process.stdin]) stream.destroy();
    const began = performance.now();
    expect(await child.exit).toEqual(orderly);
    expect(performance.now() - began).toBeLessThan(promptMs);
  });
});

describe("an end from inside", () => {
  test("by the server closes the streams and leaves the process to its own devices", async () => {
    covers("stdio-server-shutdown");
    const child = await startWorkshop();
    const id = child.call("close");
    expect(await child.exit).toEqual(orderly);
    expect(child.messages.map((message) => message.id)).toEqual([id]);
    expect(child.stderr).toContain("closed\n");
  });

  test("by hand gives stdout back and closes nothing else", async () => {
    const child = await startWorkshop();
    child.call("hand");
    expect(await child.exit).toEqual(orderly);
    const lines = String(Buffer.concat(child.chunks)).trim().split("\n");
    expect(lines[0]).toContain("closing by hand");
    expect(lines.slice(1)).toEqual(["stdout is ours again"]);
    expect(child.stderr).not.toContain("disposed");
  });
});
