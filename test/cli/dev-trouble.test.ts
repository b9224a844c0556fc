// `plenum dev` where something is in the way: a supervisor that is killed, a port that is held, a file that serves itself.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureCli } from "../house/built.ts";
import { isAlive, openDev, openDevHttp, toServer, until } from "./dev-stage.ts";
import { makeFolder } from "./stage.ts";

const blocking = toServer(
  1,
  `server.tool("pids", {}, () => process.pid + " " + process.ppid);
server.tool("block", {}, () => { console.error("blocked"); for (;;); });`,
);

test("a worker that is blocked ends when its supervisor is killed", async () => {
  const { open, heard } = await openDevHttp({ "server.ts": blocking });
  const { client } = await open();
  const [worker = 0, supervisor = 0] = (await client.callTool("pids")).text.split(" ").map(Number);
  onTestFinished(() => {
    if (isAlive(worker)) process.kill(worker, "SIGKILL");
  });
  client.callTool("block").catch(() => {});
  await heard(/blocked/);
  process.kill(supervisor, "SIGKILL");
  await until(() => !isAlive(worker));
});

test("a file that holds a port is reloaded: the version before gives it up first", async () => {
  const port = await freePort();
  const holding = `import { createServer as createTcp } from "node:net";\ncreateTcp().listen(${port}, "127.0.0.1");\n`;
  const { client, save, heard } = await openDev({ "server.ts": holding + toServer(1) });
  expect((await client.callTool("version")).text).toBe("1");
  save(holding + toServer(2));
  await heard(/EADDRINUSE[\s\S]*The version before still holds that port/);
  await heard(/reloaded \(2\)/);
  expect((await client.callTool("version")).text).toBe("2");
  const waiting = `import { once } from "node:events";
import { createServer as createTcp } from "node:net";
const tcp = createTcp().listen(${port}, "127.0.0.1");
await once(tcp, "listening");\n`;
  save(waiting + toServer(3));
  await heard(/EADDRINUSE[\s\S]*The version before still holds that port/);
  await heard(/reloaded \(3\)/);
  expect((await client.callTool("version")).text).toBe("3");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a file that serves on stdin by itself is refused in the words of run, and one that only reads is not", async () => {
  const serving = toServer(1, 'import { serveStdio } from "plenum/stdio";\nserveStdio(server);');
  const { client, save, heard } = await openDev({ "server.ts": serving });
  await heard(/server\.ts serves on stdin by itself\n.*node server\.ts/);
  await expect(client.callTool("version")).rejects.toThrow("server.ts serves on stdin by itself");
  save(toServer(2, 'process.stdin.on("data", () => {});'));
  await heard(/loaded/);
  expect((await client.callTool("version")).text).toBe("2");
});

test("what a step gives back is refused in the words of the library", async () => {
  const steps = `server.tool("big", {}, async (_, ctx) => {
  const said = [];
  for (const value of [1n, () => {}]) await ctx.step("big", () => value).catch((error) => said.push(error.message));
  return said.join("\\n");
});`;
  const { client } = await openDev({ "server.ts": toServer(1, steps) });
  const words = 'What the step "big" gives back must be a JSON value';
  expect((await client.callTool("big")).text).toBe(`${words}\n${words}`);
});

test("SIGHUP ends it in order: the server is closed, and what was lent is gone", { timeout: 60_000 }, async () => {
  const folder = makeFolder({
    "words/package.json": '{ "name": "some-words", "version": "1.0.0", "type": "module", "exports": "./words.js" }',
    "words/words.js": 'export const word = "lent";',
    "server.ts": `import { writeFileSync } from "node:fs";\nimport "some-words";\n${toServer(
      1,
      'const close = server.close;\nserver.close = async () => { writeFileSync("closed", ""); await close(); };',
    )}`,
    "tmp/none": "",
  });
  const args = [await ensureCli(), "dev", "server.ts", "-t", "http", "--port", "0", "--with", "./words"];
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: folder, TMPDIR: join(folder, "tmp") };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
  await until(() => said.includes("loaded in") && said.includes("Serving at"));
  const lent = (): string[] => readdirSync(join(folder, "tmp")).filter((name) => name.startsWith("plenum-with-"));
  expect(lent()).toHaveLength(1);
  child.kill("SIGHUP");
  expect(await ended).toBe(0);
  expect(lent()).toEqual([]);
  expect(existsSync(join(folder, "closed"))).toBe(true);
});
