// `plenum dev` between a client and its server: whatever a call may do passes both ways, as if they spoke with each other.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Revision } from "plenum";
import { expect, test } from "vitest";
import { isAlive, openDev, openDevHttp, toServer, until } from "./dev-stage.ts";
import { fixture, runCli } from "./stage.ts";

const eras: readonly Revision[] = ["2025-11-25", "2026-07-28"];

const form = `{ type: "object", properties: { name: { type: "string" } }, required: ["name"] }`;

const asking = (version: string): string =>
  toServer(
    version,
    `let runs = 0;
server.tool("greet", {}, async (_, ctx) => {
  const first = await ctx.elicit("First name?", ${form});
  const run = await ctx.step("count", () => ({ runs: ++runs }));
  const last = await ctx.elicit("Last name?", ${form});
  return \`\${first.content.name} \${last.content.name}, \${run.runs} of \${runs}, by ${version}\`;
});
server.tool("both", {}, async (_, ctx) => {
  const names = await Promise.all([ctx.elicit("First name?", ${form}), ctx.elicit("Last name?", ${form})]);
  return names.map(({ content }) => content.name).join(" ");
});
server.tool("poem", {}, async (_, ctx) => {
  const messages = [{ role: "user", content: { type: "text", text: "A poem" } }];
  return (await ctx.sample({ messages, maxTokens: 100 })).content.text;
});
server.tool("failing-step", {}, async (_, ctx) => {
  try {
    await ctx.step("fail", () => { throw new ToolError("as it should"); });
  } catch (error) {
    return [error instanceof ToolError, error.message, error.cause instanceof ToolError].join();
  }
});
server.tool("odd-step", {}, async (_, ctx) => {
  try {
    await ctx.step("ask inside", () => ctx.elicit("?", ${form}));
  } catch (error) {
    return [error.name, error.message].join();
  }
});`,
  );

const answer = (message: string) => ({
  action: "accept" as const,
  content: { name: message.startsWith("First") ? "Ada" : "Lovelace" },
});

test.each(eras)("handlers ask and take steps (%s)", async (revision) => {
  const { client } = await openDev(
    { "server.ts": asking("1") },
    {
      revision,
      onElicit: ({ message }) => answer(message),
      onSample: () => ({ model: "m", role: "assistant", content: { type: "text", text: "Roses" } }),
    },
  );
  expect((await client.callTool("greet")).text).toBe("Ada Lovelace, 1 of 1, by 1");
  expect((await client.callTool("poem")).text).toBe("Roses");
  expect((await client.callTool("failing-step")).text).toBe("true,as it should,true");
  expect((await client.callTool("odd-step")).text).toMatch(/^TypeError,.*not inside/);
});

test("questions that are put together travel together", async () => {
  const options = {
    revision: "2026-07-28" as const,
    maxRounds: 1,
    onElicit: ({ message }: { message: string }) => answer(message),
  };
  const { client } = await openDev({ "server.ts": asking("1") }, options);
  expect((await client.callTool("both")).text).toBe("Ada Lovelace");
});

test("a client that cannot be asked is no error of the server's", async () => {
  const { client } = await openDev({ "server.ts": asking("1") }, { revision: "2026-07-28" });
  await expect(client.callTool("greet")).rejects.toMatchObject({ rpcCode: -32021 });
});

test.each(eras)("who is asked has the time to answer, whatever is reloaded meanwhile (%s)", async (revision) => {
  const { client, save, heard } = await openDev(
    { "server.ts": asking("1") },
    {
      revision,
      words: ["--grace", "0.5"],
      async onElicit({ message }) {
        if (message.startsWith("First")) {
          save(asking("2"));
          await heard(/reloaded/);
          // Longer than calls are given that ask nobody.
          await new Promise((resolve) => setTimeout(resolve, 800));
        }
        return answer(message);
      },
    },
  );
  const { text } = await client.callTool("greet");
  // A session's call goes on where it was; in the other era the next round is the new version's.
  expect(text).toBe(`Ada Lovelace, 1 of 1, by ${revision === "2026-07-28" ? "2" : "1"}`);
});

const talking = toServer(
  1,
  `server.tool("talk", {}, async (_, ctx) => {
  for (const step of [1, 2, 3]) ctx.progress(step, 3, "step " + step);
  ctx.log.debug("unwanted");
  ctx.log.warning({ code: 7 }, "talk");
  return "said";
});
let go;
server.tool("chat", {}, async (_, ctx) => {
  ctx.log.debug("before");
  console.log("chatting");
  await new Promise((resolve) => { go = resolve; });
  ctx.log.debug("after");
  return "";
});
server.tool("go", {}, () => { go(); return ""; });
server.tool("wait", {}, (_, ctx) => new Promise((_, reject) => {
  console.log("waiting");
  ctx.signal.addEventListener("abort", () => {
    console.log("aborted: " + ctx.signal.reason.message);
    reject(ctx.signal.reason);
  });
}));
server.tool("fail", {}, () => { throw new Error("a secret"); });
server.tool("tell", {}, () => { throw new ToolError("not a secret"); });
server.tool("crash", {}, () => { setTimeout(() => process.exit(3)); return new Promise(() => {}); });
server.tool("big", {}, () => ({ content: [], structuredContent: { big: 1n } }));
server.tool("pids", {}, () => process.pid + " " + process.ppid);
server.tool("any", { output: { anyOf: [{ type: "object" }, { type: "string" }] } }, () => ({ a: 1 }));
server.handle("my/method", (params) => ({ got: params }));`,
);

test.each(eras)("progress, log messages and cancellation (%s)", async (revision) => {
  const log: unknown[] = [];
  const { client, heard } = await openDev(
    { "server.ts": talking },
    { revision, logLevel: "info", onLog: (entry) => log.push(entry) },
  );
  const progress: unknown[] = [];
  await client.callTool("talk", {}, { onProgress: (update) => progress.push(update) });
  expect(progress).toMatchObject([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
  expect(log).toEqual([{ level: "warning", logger: "talk", data: { code: 7 } }]);
  const stop = new AbortController();
  const calling = client.callTool("wait", {}, { signal: stop.signal });
  await heard(/waiting/);
  stop.abort(new Error("enough"));
  await expect(calling).rejects.toThrow();
  await heard(/aborted: /);
});

test("a client may change its mind about log messages while a call runs", async () => {
  const log: unknown[] = [];
  const { client, heard } = await openDev(
    { "server.ts": talking },
    { revision: "2025-11-25", logLevel: "info", onLog: ({ data }) => log.push(data) },
  );
  const calling = client.callTool("chat");
  await heard(/chatting/);
  await client.setLogLevel("debug");
  await client.callTool("go");
  await calling;
  expect(log).toEqual(["after"]);
});

test.each(eras)("results and errors are those of the server (%s)", async (revision) => {
  const { client, heard } = await openDev({ "server.ts": talking }, { revision });
  expect(await client.callTool("tell")).toMatchObject({ isError: true, text: "not a secret" });
  const { text } = await client.callTool("fail");
  const [, id = "?"] = /^Internal error \((.*)\)$/.exec(text) ?? [];
  // What the client is not told stands where the server itself reports it.
  await heard(new RegExp(`${id}[\\s\\S]*a secret`));
  const unwritable = await client.callTool("big").catch((error: Error) => error.message);
  const [, otherId = "?"] = /Internal error \(([\w-]+)\)/.exec(String(unwritable)) ?? [];
  await heard(new RegExp(`${otherId}[\\s\\S]*BigInt`));
  await expect(client.callTool("none")).rejects.toMatchObject({ rpcCode: -32602 });
  expect(await client.request("my/method", { a: 1 })).toMatchObject({ got: { a: 1 } });
  await expect(client.request("my/other")).rejects.toMatchObject({ rpcCode: -32601 });
  // A revision that knows objects alone wraps what may be something else.
  const { structuredContent } = await client.request("tools/call", { name: "any", arguments: {} });
  expect(structuredContent).toEqual(revision === "2025-11-25" ? { result: { a: 1 } } : { a: 1 });
});

test.each(eras)("a server that crashes is started again, and the call in it is told so (%s)", async (revision) => {
  const { client, states, heard } = await openDev({ "server.ts": talking }, { revision });
  const waiting = client.callTool("wait");
  waiting.catch(() => {});
  await heard(/waiting/);
  await expect(client.callTool("crash")).rejects.toThrow("The server ended while this call ran: it exited with code 3");
  await expect(waiting).rejects.toThrow("The server ended while this call ran");
  expect((await client.callTool("version")).text).toBe("1");
  expect(states).toEqual(["connecting", "open"]);
});

test("a call that outlives the grace is ended, and its handler told so", async () => {
  const { client, save, heard } = await openDev({ "server.ts": talking }, { words: ["--grace", "0.2"] });
  const calling = client.callTool("wait");
  calling.catch(() => {});
  await heard(/waiting/);
  save(toServer(2));
  await heard(/reloaded/);
  await expect(calling).rejects.toThrow("The server was reloaded while this call ran");
  await heard(/aborted: The server was reloaded while this call ran/);
  expect((await client.callTool("version")).text).toBe("2");
});

test("when the host goes, all processes end", async () => {
  const { client, save, heard } = await openDev({ "server.ts": talking });
  const first = Number((await client.callTool("pids")).text.split(" ")[0]);
  save(`${talking}// again`);
  await heard(/reloaded/);
  const second = Number((await client.callTool("pids")).text.split(" ")[0]);
  expect(second).not.toBe(first);
  await client.close();
  for (const pid of [first, second]) await until(() => !isAlive(pid));
});

test("when it is killed, the process of the server ends by itself", async () => {
  // What keeps a process alive by itself, as an open database does.
  const { open } = await openDevHttp({ "server.ts": `${talking}setInterval(() => {}, 1000);` });
  const { client } = await open();
  const [worker, supervisor] = (await client.callTool("pids")).text.split(" ").map(Number);
  process.kill(supervisor as number, "SIGKILL");
  await until(() => !isAlive(worker as number));
});

test.each(eras)("over HTTP handlers see the headers of the request (%s)", async (revision) => {
  const { url } = await openDevHttp({
    "server.ts": toServer(
      1,
      `const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
server.tool("tenant", { input }, ({ region }, ctx) => region + " " + ctx.sender.header("x-tenant") + " " + ctx.sender.header("none"));`,
    ),
  });
  const words = ["call", url, "tenant", "region=north", "--header", "X-Tenant: blue", "--revision", revision];
  expect(await runCli(words)).toMatchObject({ code: 0, stdout: "north blue undefined\n" });
});

test("a package may be lent for the run", { timeout: 60_000 }, async () => {
  const files = {
    "words/package.json": '{ "name": "some-words", "version": "1.0.0", "type": "module", "exports": "./words.js" }',
    "words/words.js": 'export const word = "lent";',
    "project/server.ts": `import { word } from "some-words";\n${toServer(1, 'server.tool("word", {}, () => word);')}`,
  };
  const { client, folder } = await openDev(files, { file: "project/server.ts", words: ["--with", "./words"] });
  expect((await client.callTool("word")).text).toBe("lent");
  // Nothing is installed in the project.
  expect(readdirSync(join(folder, "project"))).toEqual(["server.ts"]);
});

test("what makes no sense is said at once", async () => {
  const file = fixture("everything.mjs");
  const rows: [words: string[], said: string][] = [
    [[], "FILE"],
    [["none.ts"], "File not found"],
    [[file, "--grace", "0"], "--grace must be"],
    [[file, "--port", "1"], "--port is for a server over HTTP"],
    [[file, "--with", "--global"], "names no package"],
    [[file, "-t", "http", "--host", "0.0.0.0"], "--allow-host"],
  ];
  for (const [words, said] of rows) {
    const ran = await runCli(["dev", ...words]);
    expect(ran).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(said) });
  }
});

test("a file that talks to its parent, where it finds one, does not end dev", async () => {
  const talking = `server.tool("send", {}, () => { process.send?.("ready"); return typeof process.send; });`;
  const { client } = await openDev({ "server.ts": toServer("1", talking) });
  expect((await client.callTool("send")).text).toBe("undefined");
  expect((await client.callTool("send")).text).toBe("undefined");
});

test("a call that is cancelled while there is no server never runs", async () => {
  const slow = `await new Promise((resolve) => setTimeout(resolve, 500));
let runs = 0;
server.tool("crash", {}, () => process.exit(3));
server.tool("run", {}, () => ++runs + " runs");`;
  const { client, heard } = await openDev({ "server.ts": toServer("1", slow) });
  await expect(client.callTool("crash")).rejects.toThrow("exited with code 3");
  const stop = new AbortController();
  const cancelled = client.callTool("run", {}, { signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  await expect(cancelled).rejects.toThrow();
  await heard(/reloaded \(2\)/);
  expect((await client.callTool("run")).text).toBe("1 runs");
});

test("calls are answered while files change without end, as where a file writes what it imports", async () => {
  const writing = `import { writeFileSync } from "node:fs";
const file = new URL("./made.mjs", import.meta.url);
const write = () => writeFileSync(file, "export const n = " + process.hrtime.bigint() + "n;");
write();
await import(file);
setInterval(write, 20);
await new Promise((resolve) => setTimeout(resolve, 200));
server.tool("v", {}, () => "answered");`;
  const { client } = await openDev({ "server.ts": toServer("1", writing) });
  expect((await client.callTool("v")).text).toBe("answered");
}, 8000);
