// `plenum run`: a server in a file on stdio and over HTTP, as hosts and people start it, in every revision.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { connect, revisions } from "plenum";
import { httpTarget } from "plenum/http/client";
import { stdioTarget } from "plenum/stdio/client";
import { expect, onTestFinished, test } from "vitest";
import { ensureCli } from "../house/built.ts";
import { makeFolder, openTerminal, runCli } from "./stage.ts";

/** Prints while it is loaded and while it is called, and has a tool for each way to go wrong. */
const text = `import { createServer } from "plenum";
console.log("loading");
process.stdout.write("still loading\\n");
enum Size { Small = "small" }
const weather = createServer({
  name: "weather",
  version: "1.0.0",
  lifespan: () => ({ [Symbol.asyncDispose]: async () => console.error("closed") }),
});
weather.tool("size", { description: "Says a size" }, () => {
  console.log("called");
  return Size.Small;
});
weather.tool("drop", { description: "Leaves a promise alone" }, () => {
  void Promise.reject(new Error("nobody waits for me"));
  return "dropped";
});
weather.tool("crash", { description: "Throws later" }, () => {
  setTimeout(() => { throw new RangeError("nobody catches me"); }, 1);
  return "soon";
});
weather.tool("key", { description: "The variable KEY" }, () => process.env.KEY ?? "");
setInterval(() => {}, 1000);
export { weather };
`;

const makeServer = (): string => `${join(makeFolder({ "server.ts": text }), "server.ts")}:weather`;

async function start(
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ChildProcess & { said(): string }> {
  const child = spawn(process.execPath, [await ensureCli(), "run", ...words], {
    env: { PATH: process.env.PATH, HOME: makeFolder(), ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  return Object.assign(child, { said: () => said });
}

/** Starts it on a port that is free, and waits for where it is. */
async function startHttp(words: readonly string[]) {
  const child = await start([...words, "--port", "0", "--json"]);
  const lines = createInterface({ input: child.stdout as Readable });
  // What the file prints is not there: the first line is the event.
  const [line] = (await once(lines, "line")) as [string];
  const { event } = JSON.parse(line) as { readonly event: { readonly url: string; readonly sseUrl?: string } };
  return { child, ...event };
}

async function until(child: { said(): string }, pattern: RegExp): Promise<void> {
  await expect.poll(() => child.said(), { timeout: 20_000, interval: 20 }).toMatch(pattern);
}

const ended = async (child: ChildProcess): Promise<unknown> =>
  child.exitCode ?? child.signalCode ?? (await once(child, "exit"))[0];

test.each(revisions)("on stdio in %s, whatever the file prints", async (revision) => {
  let stderr = "";
  const target = stdioTarget({
    command: process.execPath,
    args: [await ensureCli(), "run", makeServer()],
    stderr: (chunk: string) => {
      stderr += chunk;
    },
  });
  const warnings: string[] = [];
  const client = await connect(target, { revision, onWarning: (problem) => warnings.push(problem) });
  expect((await client.callTool("size")).text).toBe("small");
  await client.close();
  expect(warnings).toEqual([]);
  expect(stderr).toBe("loading\nstill loading\ncalled\nclosed\n");
});

test("it ends when stdin does, with the lifespan closed", async () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
  const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
  const { code, stdout, stderr } = await runCli(["run", makeServer()], { input });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: "weather" } } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "loading\nstill loading\nclosed\n" });
});

test("at a terminal it says what it waits for, and Ctrl-C ends it with 0", async () => {
  const terminal = await openTerminal(["run", makeServer()]);
  await terminal.until(/waits for messages on stdin/);
  terminal.type("\x03");
  expect(await terminal.exited).toBe(0);
});

test("over HTTP in every revision, on this machine alone", async () => {
  const { child, url } = await startHttp([makeServer(), "-t", "http"]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  for (const revision of revisions) {
    const client = await connect(httpTarget({ url }), { revision });
    expect((await client.callTool("size")).text).toBe("small");
    await client.close();
  }
  await until(child, /server\.ts is served at http.*\/mcp\n/);
  child.kill("SIGINT");
  expect(await ended(child)).toBe(0);
  await until(child, /closed\n/);
});

test("HTTP+SSE besides, and a path of one's own", async () => {
  const server = makeServer();
  const { child, url, sseUrl = "" } = await startHttp([server, "-t", "sse", "--path", "/events"]);
  expect(sseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/events$/);
  await until(child, /server\.ts is served at http.*\/mcp and, for clients of 2024-11-05, at http.*\/events\n/);
  for (const [at, revision] of [
    [url, "2026-07-28"],
    [sseUrl, "2024-11-05"],
  ] as const) {
    const client = await connect(httpTarget({ url: at }), { revision });
    expect((await client.callTool("size")).text).toBe("small");
    await client.close();
  }
  child.kill("SIGTERM");
  expect(await ended(child)).toBe(0);
  const other = await startHttp([server, "-t", "http", "--path", "/weather"]);
  expect(other.url).toMatch(/:\d+\/weather$/);
});

test("an address that others reach needs names", async () => {
  const server = makeServer();
  const { code, stderr } = await runCli(["run", server, "-t", "http", "--host", "0.0.0.0", "--port", "0"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /Listening on "0\.0\.0\.0" makes this server reachable from elsewhere[^\n]*\n[^\n]*--allow-host/,
  );
  const { url } = await startHttp([
    server,
    "-t",
    "http",
    "--host",
    "0.0.0.0",
    "--allow-host",
    "mcp.test",
    "--allow-host",
    "127.0.0.1",
  ]);
  const { port } = new URL(url);
  const ask = async (host: string): Promise<number> => {
    const request = get({ host: "127.0.0.1", port, path: "/mcp", headers: { host } });
    const [response] = (await once(request, "response")) as [{ readonly statusCode: number; resume(): void }];
    response.resume();
    return response.statusCode;
  };
  expect(await ask("evil.test")).toBe(403);
  expect(await ask("mcp.test")).not.toBe(403);
});

test("a port that is taken", async () => {
  const taken = createNetServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { readonly port: number };
  const { code, stderr } = await runCli(["run", makeServer(), "-t", "http", "--port", String(port)]);
  expect(code).toBe(1);
  expect(stderr).toContain(`Another program listens on 127.0.0.1:${port} already\n`);
  expect(stderr).toContain("--port 0");
});

test.each([
  [["--port", "8080"], "--port is for a server over HTTP", "Add -t http."],
  [["-t", "http", "--port", "99999"], "Port must be a whole number", "plenum run --help"],
  [["-t", "http", "--path", "mcp"], '"path"', "plenum run --help"],
  [["-t", "sse", "--path", "/mcp"], "/mcp", "plenum run --help"],
  [["-t", "htp"], '-t cannot be "htp"', 'Did you mean "http"?'],
])("%j: says what is wrong with it", async (words, problem, hint) => {
  const { code, stderr } = await runCli(["run", makeServer(), ...words]);
  expect(code).toBe(1);
  expect(stderr).toContain(problem);
  expect(stderr).toContain(hint);
});

test("a promise that nobody waits for is told of, and the server goes on", async () => {
  const { child, url } = await startHttp([makeServer(), "-t", "http"]);
  const client = await connect(httpTarget({ url }));
  expect((await client.callTool("drop")).text).toBe("dropped");
  await until(
    child,
    /a promise was rejected, and nothing handles that: nobody waits for me\n {2}at .*server\.ts:\d+:\d+/,
  );
  expect((await client.callTool("size")).text).toBe("small");
  await client.close();
});

test("an exception that nobody caught ends it, and is told of", async () => {
  const { child, url } = await startHttp([makeServer(), "-t", "http"]);
  const client = await connect(httpTarget({ url }));
  await client.callTool("crash");
  expect(await ended(child)).toBe(1);
  await until(
    child,
    /an exception was not caught, so the server ends: RangeError: nobody catches me\n {2}at .*server\.ts:\d+/,
  );
  await client.close();
});

test("a file that serves itself is told apart", async () => {
  const own = `import { createServer } from "plenum"; import { serveStdio } from "plenum/stdio";
const it = createServer({ name: "it", version: "1.0.0" }); serveStdio(it); export default it;`;
  const child = await start([join(makeFolder({ "server.mjs": own }), "server.mjs")]);
  expect(await ended(child)).toBe(1);
  await until(child, /server\.mjs serves on stdin by itself\n.*node server\.mjs/);
});

test("a file that is not there", async () => {
  const { code, stderr } = await runCli(["run", "none.ts"], { cwd: makeFolder() });
  expect(stderr).toMatch(/error: File not found: .*none\.ts\n/);
  expect(code).toBe(1);
});
