// The same framing and rules on other byte streams: a server behind a TCP or Unix socket.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer as createListener, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, jsonSchema, revisions } from "plenum";
import { serve } from "plenum/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { createStreamChannel } from "../../packages/plenum/src/transport/stdio/channel.ts";
import { covers } from "../requirements/covers.ts";
import { judgeSent } from "../suites/judge.ts";
import type { ChildMessage } from "./child.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that answers on every connection, and one connection to it. */
async function connectTo(where: "tcp" | "unix"): Promise<Socket> {
  const server = createServer({ name: "s", version: "1" });
  const input = jsonSchema<{ text: string }>({ type: "object", properties: { text: { type: "string" } } });
  server.tool("echo", { input }, ({ text }) => text);
  const listener = createListener({ allowHalfOpen: true }, (socket) => {
    serve(server, createStreamChannel({ input: socket, output: socket, maxBytes: 100_000 }));
  });
  const folder = mkdtempSync(join(tmpdir(), "plenum-"));
  await new Promise<void>((resolve) => {
    if (where === "tcp") listener.listen(0, "127.0.0.1", resolve);
    else listener.listen(join(folder, "socket"), resolve);
  });
  const address = listener.address();
  const socket = typeof address === "string" ? connect(address) : connect(address?.port ?? 0, "127.0.0.1");
  cleanups.push(() => {
    socket.destroy();
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  });
  socket.setNoDelay(true);
  return socket;
}

/** What comes, read strictly. */
class Reader {
  readonly #chunks: Buffer[] = [];
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#chunks.push(chunk));
  }

  get #text(): string {
    return Buffer.concat(this.#chunks).toString("latin1");
  }

  async until(part: string): Promise<void> {
    while (!this.#text.includes(part)) await once(this.#socket, "data");
  }

  /** All of it, when the far end has ended. */
  async all(): Promise<ChildMessage[]> {
    if (!this.#socket.readableEnded) await once(this.#socket, "end");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.#chunks));
    expect(text.endsWith("\n")).toBe(true);
    const lines = text.slice(0, -1).split("\n");
    return lines.flatMap((line) => JSON.parse(line) as ChildMessage | ChildMessage[]);
  }
}

const isHere = process.platform === "win32" ? (["tcp"] as const) : (["tcp", "unix"] as const);

describe.each(isHere)("over %s", (where) => {
  test.each(revisions)("the rules of stdio hold in %s", async (revision) => {
    covers(["transport-stream-framing", "stdio-newline-delimited", "stdio-no-embedded-newline", "rpc-utf8"], revision);
    const socket = await connectTo(where);
    const reader = new Reader(socket);
    const isModern = revision === "2026-07-28";
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const toLine = (id: string, method: string, params: object): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, ...(isModern && { _meta }) } });
    const call = (id: string, text: string): string => toLine(id, "tools/call", { name: "echo", arguments: { text } });
    const text = "a\nb\r\nc\u2028d é ☃ 🧊";
    const clientInfo = { name: "c", version: "1" };
    const lines = [
      ...(isModern
        ? [toLine("open", "server/discover", {})]
        : [toLine("open", "initialize", { protocolVersion: revision, capabilities: {}, clientInfo })]),
      ...(isModern ? [] : ['{"jsonrpc":"2.0","method":"notifications/initialized"}']),
      call("one", text),
      "",
      "{ no JSON",
      call("too long", "x".repeat(100_000)),
      `${call("two", text)}\r`,
      `[${call("three", "in a batch")}]`,
      call("four", text),
    ];
    const bytes = Buffer.from(lines.join("\n"));
    for (let at = 0; at < bytes.length; ) {
      // In pieces of odd sizes, one write each; the long line in larger ones.
      const size = at % 1000 < 900 ? 61 : 9001;
      socket.write(bytes.subarray(at, at + size));
      at += size;
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Its side ends only after the answers: what is in flight then is cut off.
    socket.write("\n");
    await reader.until('"id":"four"');
    socket.end();
    const messages = await reader.all();
    for (const message of messages) {
      const method = message.id !== "open" ? "tools/call" : isModern ? "server/discover" : "initialize";
      expect(judgeSent(message, revision, method)).toBeUndefined();
    }
    const textOf = (id: string): unknown =>
      (messages.find((message) => message.id === id)?.result?.content as { text: string }[] | undefined)?.[0]?.text;
    for (const id of ["one", "two", "four"]) expect(textOf(id)).toBe(text);
    expect(textOf("three")).toBe(revision === "2025-03-26" ? "in a batch" : undefined);
    expect(messages.flatMap(({ error }) => error?.code ?? []).sort()).toEqual(
      revision === "2025-03-26" ? [-32600, -32700] : [-32600, -32600, -32700],
    );
  });
});
