// Our client against servers over HTTP that others made: with the official SDKs of both lines, and server-everything. In every
// revision they speak, over Streamable HTTP and the older HTTP+SSE.

import type { Client, Revision } from "plenum";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ensureApart, installMs } from "../apart.ts";
import { codeOf, connectFully, type Heard } from "./harness.ts";
import { everythingHttp, lineTo, type Running, type Seen, sdk1Http, sdk2Http, until } from "./http-harness.ts";
import { peers } from "./peers.ts";
import { describeServer, type Twin } from "./server-behaviour.ts";

beforeAll(() => ensureApart(peers), installMs);

/** A server that runs until the tests of the block are over. */
function running(start: () => Promise<Running>): () => Running {
  let server: Running | undefined;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error("The server is not there yet.");
    return server;
  };
}

const methodsOf = (seen: readonly Seen[]): string[] => seen.map(({ method, path }) => `${method} ${path}`);
const isStream = ({ method }: Seen): boolean => method === "GET";

interface Kind {
  readonly name: string;
  readonly serverName: Twin["serverName"];
  readonly start: () => Promise<Running>;
  readonly path: string;
  /** What the client is held to, and what is agreed on. */
  readonly revisions: readonly { readonly held?: Revision; readonly revision: Revision }[];
  readonly isMute?: boolean;
}

const held = (...revisions: Revision[]) => revisions.map((revision) => ({ held: revision, revision }));

const kinds: readonly Kind[] = [
  {
    name: "SDK 1.x with sessions",
    serverName: "official-1x",
    start: () => sdk1Http("sessions"),
    path: "/mcp",
    revisions: [{ revision: "2025-11-25" }, ...held("2025-11-25", "2025-06-18", "2025-03-26")],
  },
  {
    name: "SDK 1.x without sessions",
    serverName: "official-1x",
    start: () => sdk1Http("stateless"),
    path: "/mcp",
    revisions: [{ revision: "2025-11-25" }, ...held("2025-06-18", "2025-03-26")],
    isMute: true,
  },
  {
    name: "SDK 1.x over HTTP+SSE",
    serverName: "official-1x",
    start: () => sdk1Http("sse"),
    path: "/sse",
    revisions: [{ revision: "2025-11-25" }, ...held("2024-11-05")],
  },
  {
    name: "SDK 2.x in both eras",
    serverName: "official-2x",
    start: () => sdk2Http("both"),
    path: "/mcp",
    revisions: [{ revision: "2026-07-28" }, ...held("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")],
  },
  {
    name: "SDK 2.x in 2026-07-28 only",
    serverName: "official-2x",
    start: () => sdk2Http("modern"),
    path: "/mcp",
    revisions: [{ revision: "2026-07-28" }],
  },
  {
    name: "SDK 2.x without sessions",
    serverName: "official-2x",
    start: () => sdk2Http("stateless"),
    path: "/mcp",
    revisions: held("2025-11-25", "2025-06-18", "2025-03-26"),
    isMute: true,
  },
];

describe.each(kinds)("over HTTP", ({ name, serverName, start, path, revisions, isMute = false }) => {
  const server = running(start);
  for (const { held: offered, revision } of revisions) {
    let from = 0;
    describeServer({
      name: `${name}, ${offered ? `held to ${offered}` : "found out"}`,
      serverName,
      revision,
      isMute,
      connect: () => {
        from = server().seen.length;
        return connectFully(server().origin + path, offered && { revision: offered });
      },
      stderr: () => server().stderr(),
      // What a server tells a session before its stream is there may be lost.
      listening: async () => {
        if (revision === "2026-07-28" || isMute) return;
        await until(() => server().seen.slice(from).some(isStream), "the client opens its stream");
      },
    });
  }
});

describe("a session", () => {
  const server = running(() => sdk1Http("sessions"));

  test("is ended when the client closes", async () => {
    const { client } = await connectFully(`${server().origin}/mcp`);
    await client.callTool("echo", { text: "x" });
    await expect.poll(() => server().seen.filter(isStream)).toHaveLength(1);
    await client.close();
    const last = server().seen.at(-1);
    expect(last).toMatchObject({ method: "DELETE", path: "/mcp", session: expect.any(String), revision: "2025-11-25" });
  });

  test("that the server has forgotten is opened anew, and what it refused for that is sent again", async () => {
    const { client, heard } = await connectFully(`${server().origin}/mcp`);
    onTestFinished(() => client.close());
    await client.listTools().all();
    const ids = () => new Set(server().seen.flatMap(({ session }) => session ?? []));
    const before = ids().size;
    await fetch(`${server().origin}/forget`, { method: "POST" });
    expect(await client.listPrompts().all()).toHaveLength(1);
    expect((await client.callTool("echo", { text: "still there" })).text).toBe("still there");
    expect(ids().size).toBe(before + 1);
    expect(heard.warnings).toEqual([]);
  });
});

describe.each([
  ["SDK 1.x", () => sdk1Http("sessions")],
  ["SDK 2.x", () => sdk2Http("both")],
] as const)("a stream of %s that breaks", (name, start) => {
  const server = running(start);

  test("is taken up again where it was, of a call and of the session", async () => {
    const line = await lineTo(server().origin);
    const { client, heard } = await connectFully(`${line.origin}/mcp`, { revision: "2025-11-25" });
    onTestFinished(async () => {
      await client.close();
      await line.close();
    });
    await expect.poll(() => server().seen.some(isStream)).toBe(true);
    const updates: number[] = [];
    const { text } = await client.callTool(
      "slow",
      { steps: 12, delayMs: 50 },
      {
        onProgress: ({ progress }) => {
          updates.push(progress);
          if (progress === 2) line.cut();
        },
      },
    );
    expect(text).toBe("done 12");
    expect(updates).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(server().seen.some(({ lastEventId }) => lastEventId !== undefined)).toBe(true);
    // The stream of the session is there again too.
    await expect.poll(() => server().seen.filter(isStream).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    await client.callTool("grow");
    await expect.poll(() => heard.changes, { timeout: 10_000 }).toContain("tools");
    expect(client.state).toBe("open");
  });

  if (name === "SDK 1.x")
    test("because the server ends it is asked for again when the server says", async () => {
      const { client } = await connectFully(`${server().origin}/mcp`);
      onTestFinished(() => client.close());
      const from = server().seen.length;
      expect((await client.callTool("cut")).text).toBe("after the cut");
      expect(
        server()
          .seen.slice(from)
          .filter(({ lastEventId }) => lastEventId !== undefined),
      ).toHaveLength(1);
    });
});

test("a stream of 2026-07-28 that breaks loses its call, and the client says so", async () => {
  const server = await sdk2Http("both");
  const line = await lineTo(server.origin);
  const { client } = await connectFully(`${line.origin}/mcp`);
  onTestFinished(async () => {
    await client.close();
    await line.close();
    await server.stop();
  });
  expect(client.revision).toBe("2026-07-28");
  const options = { onProgress: () => line.cut() };
  expect(await codeOf(client.callTool("slow", { steps: 50, delayMs: 50 }, options))).toBe("connection_lost");
  await expect.poll(() => server.stderr()).toContain("cancelled");
  expect((await client.callTool("echo", { text: "still there" })).text).toBe("still there");
});

test("what speaks HTTP+SSE only is found, and the way to it is remembered", async () => {
  const server = await sdk1Http("sse");
  onTestFinished(() => server.stop());
  const url = `${server.origin}/sse`;
  const first = await connectFully(url);
  expect((await first.client.callTool("echo", { text: "x" })).text).toBe("x");
  await first.client.close();
  const methods = methodsOf(server.seen);
  expect(methods[0]).toBe("POST /sse");
  expect(
    methods
      .slice(methods.indexOf("GET /sse"))
      .slice(1)
      .every((one) => one === "POST /messages"),
  ).toBe(true);
  const from = server.seen.length;
  const second = await connectFully(url);
  await second.client.close();
  expect(methodsOf(server.seen.slice(from))[0]).toBe("GET /sse");
});

describe.each([
  ["streamableHttp", "/mcp"],
  ["sse", "/sse"],
] as const)("server-everything over %s", (kind, path) => {
  const server = running(() => everythingHttp(kind));
  let client: Client;
  let heard: Heard;

  beforeAll(async () => {
    ({ client, heard } = await connectFully(server().origin + path));
  });
  afterAll(() => client?.close());

  test("speaks 2025-11-25, and says who it is", () => {
    expect(client.revision).toBe("2025-11-25");
    expect(client.server.info).toMatchObject({ name: "mcp-servers/everything" });
  });

  test("asks for roots by itself, and has more tools then", async () => {
    await expect
      .poll(() => heard.logs.map(({ data }) => data), { timeout: 10_000 })
      .toContain("Roots updated: 2 root(s) received from client");
    // It tells so too early for a client whose stream is not there yet.
    if (kind === "sse") expect(heard.changes).toContain("tools");
    expect((await client.listTools().all()).map(({ name }) => name)).toContain("trigger-elicitation-request");
  });

  test("answers", async () => {
    expect((await client.callTool("echo", { message: "hi" })).text).toBe("Echo: hi");
    expect((await client.listResources().all()).length).toBeGreaterThan(0);
    expect((await client.readResource("demo://resource/dynamic/text/7")).contents).toMatchObject([
      { text: expect.stringContaining("Resource 7") },
    ]);
    const { messages } = await client.getPrompt("args-prompt", { city: "Oslo" });
    expect(messages).toMatchObject([{ content: { text: "What's weather in Oslo?" } }]);
    const completion = await client.complete(
      { type: "ref/prompt", name: "completable-prompt" },
      { name: "name", value: "" },
      { arguments: { department: "Sales" } },
    );
    expect(completion.values).toEqual(["David", "Eve", "Frank"]);
  });

  test("tells its progress", async () => {
    const updates: number[] = [];
    await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.3, steps: 3 },
      { onProgress: ({ progress }) => updates.push(progress) },
    );
    expect(updates).toEqual([1, 2, 3]);
  });

  test("asks for a form and for a model", async () => {
    heard.answer = { action: "decline" };
    expect((await client.callTool("trigger-elicitation-request")).text).toContain("User declined");
    const { text } = await client.callTool("trigger-sampling-request", { prompt: "Hello", maxTokens: 10 });
    expect(text).toContain('"text": "Polly"');
  });

  test("logs, and tells of resources that are watched", async () => {
    await client.setLogLevel("debug");
    const uri = "demo://resource/dynamic/text/1";
    await client.subscribe(uri);
    await client.callTool("toggle-subscriber-updates");
    await expect.poll(() => heard.updates, { timeout: 10_000 }).toContain(uri);
    await client.callTool("toggle-simulated-logging");
    await expect
      .poll(() => heard.logs.some(({ data }) => /level[- ]message/.test(String(data))), { timeout: 10_000 })
      .toBe(true);
    expect(heard.warnings).toEqual([]);
  });
});
