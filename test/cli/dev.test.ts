// `plenum dev`: reloads under clients that do not notice.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, Revision } from "plenum";
import { expect, test } from "vitest";
import { isAlive, openDev, openDevHttp, toServer, until } from "./dev-stage.ts";
import { makeFolder, openTerminal } from "./stage.ts";

const eras: readonly Revision[] = ["2025-11-25", "2026-07-28"];

/** Calls a tool again and again until it is stopped, and keeps what came of it. */
function keepCalling(client: Client, tool: string): { answers: number[]; failures: unknown[]; stop(): Promise<void> } {
  const answers: number[] = [];
  const failures: unknown[] = [];
  let isStopped = false;
  const calling = (async () => {
    while (!isStopped) {
      try {
        const { text, isError } = await client.callTool(tool, {}, { timeoutMs: 20_000 });
        if (isError) failures.push(text);
        else answers.push(Number(text));
      } catch (error) {
        failures.push(error);
      }
      // The machine is to have time for the rest, too.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    answers,
    failures,
    async stop() {
      isStopped = true;
      await calling;
    },
  };
}

/** Saves version after version, each when the one before has answered, while clients call all the time. */
async function reloadUnderCalls(
  clients: readonly Client[],
  reloads: number,
  save: (version: number) => void,
): Promise<void> {
  const quick = clients.map((client) => keepCalling(client, "version"));
  // They take longer than a reload does: calls in flight are part of every one.
  const slow = clients.map((client) => keepCalling(client, "slow"));
  for (let version = 1; version <= reloads; version++) {
    save(version);
    await until(() => quick.every(({ answers, failures }) => answers.at(-1) === version || failures.length > 0));
  }
  await Promise.all([...quick, ...slow].map(({ stop }) => stop()));
  for (const { answers, failures } of [...quick, ...slow]) {
    expect(failures).toEqual([]);
    // Ever newer.
    expect(answers).toEqual([...answers].sort((a, b) => a - b));
  }
  for (const { answers } of quick) expect(new Set(answers).size).toBe(reloads + 1);
}

const saying = `server.use((call, next) => {
  if (call.method === "initialize") console.log("initialize was seen");
  return next(call);
});`;

test("100 reloads under a client that calls all the time", { timeout: 240_000 }, async () => {
  const { client, states, save, said } = await openDev(
    { "server.ts": toServer(0, saying) },
    { revision: "2025-11-25" },
  );
  await reloadUnderCalls([client], 100, (version) => save(toServer(version, saying)));
  expect(states).toEqual(["connecting", "open"]);
  expect(said().match(/initialize was seen/g)).toHaveLength(1);
  expect(said()).not.toContain("error");
});

test("reloads under two clients over HTTP, one of each era", { timeout: 120_000 }, async () => {
  const { open, save, said } = await openDevHttp({ "server.ts": toServer(0, saying) });
  const opened = await Promise.all(eras.map((revision) => open({ revision })));
  await reloadUnderCalls(
    opened.map(({ client }) => client),
    25,
    (version) => save(toServer(version, saying)),
  );
  for (const { states } of opened) expect(states).toEqual(["connecting", "open"]);
  expect(said().match(/initialize was seen/g)).toHaveLength(1);
});

test("a file that the server imports is watched", async () => {
  const part = 'import { part } from "./parts/part.ts";';
  const files = {
    "server.ts": `${part}\n${toServer(1, "server.tool('part', {}, () => part);")}`,
    "parts/part.ts": 'export const part: string = "one";',
  };
  const { client, folder, heard } = await openDev(files);
  expect((await client.callTool("part")).text).toBe("one");
  writeFileSync(join(folder, "parts", "part.ts"), 'export const part: string = "two";');
  await heard(/reloaded/);
  expect((await client.callTool("part")).text).toBe("two");
});

test("a version that does not load is shown, and the one before goes on until it is mended", async () => {
  const { client, states, save, heard } = await openDev({ "server.ts": toServer(1) });
  expect((await client.callTool("version")).text).toBe("1");
  save(toServer(2, "const = 3;"));
  const [shown] = await heard(/error: server.ts does not load[\s\S]*?server\.ts:8:7/);
  expect(shown).toContain("The version before goes on serving");
  expect((await client.callTool("version")).text).toBe("1");
  save(toServer(3, 'throw new RangeError("out of luck");'));
  await heard(/does not load[\s\S]*?out of luck[\s\S]*?server\.ts:8/);
  expect((await client.callTool("version")).text).toBe("1");
  save(toServer(4));
  await heard(/reloaded/);
  expect((await client.callTool("version")).text).toBe("4");
  expect(states).toEqual(["connecting", "open"]);
});

test.each(eras)("a file that is broken from the start serves nothing, until it is mended (%s)", async (revision) => {
  const changed: string[] = [];
  const files = { "server.ts": 'import "./missing.ts";\nexport default 1;' };
  const { client, save, heard } = await openDev(files, { revision, onListChanged: (kind) => changed.push(kind) });
  await heard(/error: server.ts does not load. Calls fail until it is mended[\s\S]*?missing\.ts/);
  expect(await client.listTools().all()).toEqual([]);
  await expect(client.callTool("version")).rejects.toThrow(
    /no server to answer this: server.ts does not load.*missing\.ts/,
  );
  // What was missing comes; it is no file of the server's yet.
  save(toServer(1), "missing.ts");
  await heard(/exports no/);
  save(toServer(1));
  await heard(/loaded/);
  expect((await client.callTool("version")).text).toBe("1");
  await until(() => changed.length > 0);
  expect(changed).toEqual(["tools"]);
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["version", "slow"]);
});

test.each(eras)("clients are told of the lists that have changed, and of no others (%s)", async (revision) => {
  const changed: string[] = [];
  const { client, save, heard } = await openDev(
    { "server.ts": toServer(1) },
    { revision, onListChanged: (kind) => changed.push(kind) },
  );
  await client.listTools().all();
  save(toServer(2));
  await heard(/reloaded/);
  save(toServer(3, 'server.prompt("greet", {}, () => "Hello");'));
  await until(() => changed.length > 0);
  expect(changed).toEqual(["prompts"]);
  expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["greet"]);
  save(
    toServer(4, 'server.resource("note://a", { name: "a" }, () => "A"); server.prompt("greet", {}, () => "Hello");'),
  );
  await until(() => changed.length > 1);
  expect(changed).toEqual(["prompts", "resources"]);
  // What the server itself changes is passed on.
  save(toServer(5, 'server.tool("grow", {}, () => { server.tool("grown", {}, () => ""); return "more"; });'));
  await until(() => changed.length > 4);
  expect(changed.slice(2).sort()).toEqual(["prompts", "resources", "tools"]);
  await client.callTool("grow");
  await until(() => changed.length > 5);
  expect(changed.at(-1)).toBe("tools");
});

const watchable = (version: number): string =>
  toServer(
    version,
    `server.resource("note://a", { name: "a" }, () => "A${version}");
server.tool("touch", {}, () => { server.resourceUpdated("note://a"); return "touched"; });`,
  );

const wires = ["stdio", "http"] as const;

test.each(wires.flatMap((wire) => eras.map((revision) => [wire, revision] as const)))(
  "a subscription outlives reloads (%s, %s)",
  async (wire, revision) => {
    const updated: string[] = [];
    const options = { revision, onResourceUpdated: (uri: string) => void updated.push(uri) };
    const files = { "server.ts": watchable(1) };
    const stage = wire === "stdio" ? await openDev(files, options) : await openDevHttp(files);
    const { client } = "client" in stage ? stage : await stage.open(options);
    await client.subscribe("note://a");
    await client.callTool("touch");
    await until(() => updated.length === 1);
    stage.save(watchable(2));
    // It may be another now: that is told, too.
    await until(() => updated.length === 2);
    expect((await client.readResource("note://a")).contents[0]).toMatchObject({ text: "A2" });
    await client.callTool("touch");
    await until(() => updated.length === 3);
    expect(new Set(updated)).toEqual(new Set(["note://a"]));
  },
);

test("changes while a version is loaded lead to one more reload, and the last one counts", async () => {
  const { client, save, heard, said } = await openDev({ "server.ts": toServer(1) });
  await heard(/loaded/);
  const late = 'console.log("loading"); await new Promise((resolve) => setTimeout(resolve, 300));';
  save(toServer(2, late));
  await heard(/loading/);
  save(toServer(3, late));
  save(toServer(4, late));
  await heard(/reloaded \(2\)/);
  await heard(/reloaded \(3\)/);
  expect((await client.callTool("version")).text).toBe("4");
  expect(said().match(/loading/g)).toHaveLength(2);
});

test("a file may go and come back", async () => {
  const { client, folder, save, heard } = await openDev({ "server.ts": toServer(1) });
  await heard(/loaded/);
  rmSync(join(folder, "server.ts"));
  expect((await client.callTool("version")).text).toBe("1");
  save(toServer(2));
  await heard(/reloaded/);
  expect((await client.callTool("version")).text).toBe("2");
});

test("at a terminal r reloads and q quits, however many processes have ended meanwhile", async () => {
  const cwd = makeFolder({
    "server.ts": toServer(1, 'process.on("exit", () => console.error("ending", process.pid));'),
  });
  const terminal = await openTerminal(["dev", "server.ts", "-t", "http", "--port", "0"], { cwd });
  await terminal.until(/plenum list http:\/\/127\.0\.0\.1:\d+\/mcp/);
  await terminal.until(/server\.ts: loaded/);
  for (const count of [2, 3, 4]) {
    terminal.type("r");
    await terminal.until(new RegExp(`server\\.ts: reloaded \\(${count}\\)`));
    const [pid] = /\d+/.exec(await terminal.until(/ending \d+\D/)) ?? [];
    await expect.poll(() => isAlive(Number(pid)), { timeout: 10_000 }).toBe(false);
  }
  terminal.type("q");
  expect(await terminal.exited).toBe(0);
});
