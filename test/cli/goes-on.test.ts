// Commands that go on, and their end: Ctrl-C, a time, a number of events, a server that is lost. And Ctrl-C in a call.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createServer } from "plenum";
import { serveHttp } from "plenum/http/node";
import { expect, onTestFinished, test } from "vitest";
import { ensureCli } from "../house/built.ts";
import { sdk1Server } from "../interop/harness.ts";
import { fixture, openTerminal, runCli } from "./stage.ts";

const node = process.execPath;
const logging = ["--", node, fixture("logging.mjs")];

test("logs: in the newest revision in which the server logs by itself, with its stderr", async () => {
  const ran = await runCli(["logs", "--level", "warning", "--count", "3", "--json", ...logging]);
  expect(ran.code).toBe(0);
  const entry = (count: number) => ({ event: { level: "warning", logger: "by hand", data: { count } } });
  expect(ran.json().slice(0, 3)).toEqual([entry(1), entry(2), entry(3)]);
  expect(ran.stderr).toContain("told logging/setLevel");
});

test("logs ends well at Ctrl-C, and the server with it", async () => {
  const terminal = await openTerminal(["logs", ...logging]);
  await terminal.until(/debug by hand: {"count":2}/);
  terminal.type("\x03");
  expect(await terminal.exited).toBe(0);
});

test("logs that lose their server say so", async () => {
  const dies =
    "process.stdin.once('data', d => { const { id } = JSON.parse(String(d).split('\\n')[0]); console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: { logging: {} }, serverInfo: { name: 'dies', version: '1' } } })); setTimeout(() => process.exit(7), 300) })";
  const ran = await runCli(["logs", "--", node, "-e", dies]);
  expect(ran.code).toBe(2);
});

test.each(["2025-11-25", "2026-07-28"])(
  "subscribe in %s: resources, with what they become, and lists",
  async (revision) => {
    const server = createServer({ name: "notes", version: "1.0.0" });
    let text = "first";
    server.tool("old", {}, () => "");
    server.resource("note://today", { name: "today" }, () => text);
    const http = await serveHttp(server);
    onTestFinished(() => http.close(0));
    const terminal = await openTerminal([
      "subscribe",
      http.url,
      "note://today",
      "--read",
      "--count",
      "2",
      "--revision",
      revision,
    ]);
    await terminal.until(/Waiting for changes/);
    text = "second";
    server.resourceUpdated("note://today");
    await terminal.until(/note:\/\/today changed\s+second/);
    server.tool("new", {}, () => "");
    await terminal.until(/The list of tools changed/);
    expect(await terminal.exited).toBe(0);
  },
);

test("Ctrl-C cancels a call: the server is told, and the exit code is 130", async () => {
  const { command, args } = sdk1Server;
  const terminal = await openTerminal(["call", "slow", "steps=100", "delayMs=50", "--stderr", "--", command, ...args]);
  await terminal.until(/step 2/);
  terminal.type("\x03");
  await terminal.until(/cancelled/);
  expect(await terminal.exited).toBe(130);
});

test("SIGTERM does the same to one without a terminal, and the exit code is 143", async () => {
  const words = ["call", fixture("everything.mjs"), "slow", "ms=100000"];
  const ran = await runCli(words, { onStart: (pid) => setTimeout(() => process.kill(pid, "SIGTERM"), 1500) });
  expect(ran.code).toBe(143);
});

test("a reader that goes away is no error", async () => {
  const program = await ensureCli();
  const long = `call ${fixture("everything.mjs")} shapes text=${"x".repeat(100_000)}`;
  const script = `${process.execPath} ${program} ${long} | head -c 1; echo " $PIPESTATUS"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script]);
  expect({ stdout, stderr }).toEqual({ stdout: "{ 0\n", stderr: "" });
});
