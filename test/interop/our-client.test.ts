// Our client against servers over stdio that are made with the official SDK of both lines, in every revision they speak.
import { join } from "node:path";
import { connect, type Revision } from "plenum";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type Command,
  connectFully,
  counted,
  isAlive,
  makeFolder,
  ourServer,
  publishedServer,
  sdk1Server,
  sdk2Server,
  touchyServer,
} from "./harness.ts";
import { describeServer, type Twin } from "./server-behaviour.ts";

const folder = makeFolder();
afterAll(() => folder.remove());

const sessioned = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
const twinsOf = (
  name: string,
  server: Command,
  serverName: Twin["serverName"],
  found: Revision,
  heldTo: readonly Revision[],
): Twin[] => {
  const twin = (how: string, revision: Revision, held?: Revision): Twin => ({
    name: `${name}, ${how}`,
    serverName,
    revision,
    connect: () => connectFully(server, held && { revision: held }),
    stderr: (heard) => heard.stderr,
  });
  return [twin("found out", found), ...heldTo.map((revision) => twin(`held to ${revision}`, revision, revision))];
};

const twins: readonly Twin[] = [
  ...twinsOf("SDK 1.x", sdk1Server, "official-1x", "2025-11-25", sessioned),
  ...twinsOf("SDK 2.x", sdk2Server, "official-2x", "2026-07-28", ["2026-07-28", ...sessioned]),
  ...twinsOf("Plenum", ourServer, "ours", "2026-07-28", []),
];

for (const twin of twins) describeServer(twin);

describe.each([
  ["SDK 1.x", sdk1Server, "2025-11-25"],
  ["SDK 2.x", sdk2Server, "2026-07-28"],
] as const)("a server of %s, and a client that answers nothing", (_, server, revision) => {
  test("is told so, and does not ask", async () => {
    const client = await connect({ ...server });
    onTestFinished(() => client.close());
    expect(client.revision).toBe(revision);
    for (const [name, args] of [["ask"], ["sample", { prompt: "?" }], ["roots"]] as const) {
      const call = client.callTool(name, args);
      // In 2026-07-28 it is error -32021; before, the SDK makes a result of it.
      if (revision === "2026-07-28") await expect(call, name).rejects.toMatchObject({ rpcCode: -32021 });
      else expect(await call, name).toMatchObject({ isError: true });
    }
  });
});

describe("one process", () => {
  test.each([
    ["SDK 1.x", sdk1Server, "2025-11-25"],
    ["SDK 2.x", sdk2Server, "2026-07-28"],
    ["server-everything", publishedServer("everything"), "2025-11-25"],
    ["server-filesystem", publishedServer("filesystem", folder.path), "2025-11-25"],
    ["server-memory", publishedServer("memory"), "2025-11-25"],
  ] as const)("is started for %s, whatever it speaks, and is gone at the end", async (_, server, revision) => {
    const command = counted(server, folder.path);
    const env = { MEMORY_FILE_PATH: join(folder.path, "counted.jsonl") };
    const client = await connect({ command: command.command, args: command.args, env });
    expect(client.revision).toBe(revision);
    expect(await client.listTools().all()).not.toEqual([]);
    expect(command.pids()).toHaveLength(1);
    expect(command.pids().every(isAlive)).toBe(true);
    await client.close();
    expect(command.pids()).toHaveLength(1);
    expect(command.pids().some(isAlive)).toBe(false);
  });

  test("is started for a server that says nothing before `initialize`", async () => {
    const command = counted(touchyServer("is-silent"), folder.path);
    const client = await connect({ command: command.command, args: command.args }, { probeTimeoutMs: 1000 });
    onTestFinished(() => client.close());
    expect(client.revision).toBe("2025-11-25");
    expect((await client.callTool("hello")).text).toBe("Hello");
    expect(command.pids()).toHaveLength(1);
  });

  test("and then another, if the first one dies of being asked what it speaks", async () => {
    const command = counted(touchyServer("exits"), folder.path);
    const client = await connect({ command: command.command, args: command.args });
    onTestFinished(() => client.close());
    expect(client.revision).toBe("2025-11-25");
    expect((await client.callTool("hello")).text).toBe("Hello");
    expect(command.pids()).toHaveLength(2);
    expect(command.pids().map(isAlive)).toEqual([false, true]);
    // What was learned is remembered: the next connection does not ask.
    const again = await connect({ command: command.command, args: command.args });
    onTestFinished(() => again.close());
    expect(command.pids()).toHaveLength(3);
  });
});
