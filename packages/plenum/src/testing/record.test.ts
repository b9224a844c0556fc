// What a recording holds: from either end of a channel, of several channels, of what is no message, and whatever becomes of its sink.
import { connect, createServer } from "plenum";
import { createMemoryPair, memoryTarget } from "plenum/memory";
import { serve } from "plenum/protocol";
import { expect, test, vi } from "vitest";
import type { Channel } from "../jsonrpc/channel.ts";
import { parseConversation } from "./conversation.ts";
import { recordChannel, recordTarget } from "./record.ts";
import { replayTarget } from "./replay-target.ts";

function createSubject() {
  const server = createServer({ name: "subject", version: "1.0.0" });
  server.tool("echo", {}, () => "echo");
  return server;
}

/** Waits until so much has come. */
const until = (list: readonly unknown[], length: number): Promise<unknown> => vi.waitUntil(() => list.length >= length);

test("the end of a server: what it receives is the client's, and lists that were made ahead are JSON", async () => {
  const lines: string[] = [];
  const [near, far] = createMemoryPair();
  serve(
    createSubject(),
    recordChannel(far, (line) => lines.push(line), { side: "server", name: "ours" }),
  );
  const heard: unknown[] = [];
  near.open({ receive: (incoming) => heard.push(incoming), closed() {} });
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "by hand", version: "1" } };
  near.send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  await until(heard, 1);
  near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  near.send([
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
    { jsonrpc: "2.0", id: 3, method: "ping" },
  ]);
  near.send({ jsonrpc: "2.0" } as never);
  await until(heard, 3);
  near.close();
  await until(lines, 9);
  const { header, events } = parseConversation(lines);
  expect(header).toMatchObject({ name: "ours", isRedacted: true });
  expect(Date.parse(header.startedAt)).toBeLessThanOrEqual(Date.now());
  expect(events.map((event) => ("from" in event ? event.from : "closed" in event && "closed"))).toEqual([
    ...["client", "server", "client", "client", "client", "server", "server", "closed"],
  ]);
  expect(events[3]).toMatchObject({ message: [{ method: "tools/list" }, { method: "ping" }] });
  expect(events[4]).toHaveProperty("invalid");
  expect(JSON.stringify(events)).toContain('"name":"echo"');
  expect(events.every(({ at }, place) => at >= (events[place - 1]?.at ?? 0))).toBe(true);
});

test("each channel of a target has its number, and is played in its turn", async () => {
  const lines: string[] = [];
  const target = recordTarget(memoryTarget(createSubject()), (line) => lines.push(line));
  for (let times = 0; times < 2; times++) {
    const client = await connect(target, { revision: "2025-06-18" });
    if (times === 1) await client.callTool("echo");
    await client.close();
  }
  const conversation = parseConversation(lines);
  expect(new Set(conversation.events.map(({ channel }) => channel))).toEqual(new Set([undefined, 2]));
  const played = replayTarget(conversation);
  const first = await connect(played, { revision: "2025-06-18" });
  await expect(first.callTool("echo")).rejects.toThrow(/has no tools\/call/);
  await first.close();
  const second = await connect(played, { revision: "2025-06-18" });
  expect((await second.callTool("echo")).text).toBe("echo");
  await second.close();
});

test("traffic does not depend on what becomes of a recording", async () => {
  const target = recordTarget(memoryTarget(createSubject()), () => {
    throw new Error("the disk is full");
  });
  const client = await connect(target);
  expect((await client.callTool("echo")).text).toBe("echo");
  await client.close();
});

test("what came to nothing and what was lost is told, without secrets", async () => {
  const lines: string[] = [];
  let receiver: Parameters<Channel["open"]>[0] | undefined;
  const channel = recordChannel(
    {
      oneStream: false,
      open: (given) => {
        receiver = given;
      },
      send() {},
      close() {},
    },
    (line) => lines.push(line),
  );
  channel.open({ receive() {}, closed() {} });
  channel.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  receiver?.failed?.(1, new Error("401, token=abc"));
  receiver?.receive({ kind: "invalid", answer: undefined, text: "password=abc up" });
  receiver?.closed(new Error("gone"));
  const { events } = parseConversation(lines);
  expect(events).toMatchObject([
    { from: "client", message: { method: "ping" } },
    { failed: 1, why: "401, token=[redacted]" },
    { from: "server", invalid: "password=[redacted] up" },
    { closed: true, why: "gone" },
  ]);
});
