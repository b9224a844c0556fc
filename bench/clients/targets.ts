// The clients that are measured, each as one function: connect in a case, and give back how one call is made.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";

export type Case = "stdio" | "memory";
export type Call = () => Promise<unknown>;

/** One call of the tool `echo`; `close` ends the connection. */
export interface Ready {
  readonly call: Call;
  close(): Promise<unknown> | unknown;
}

export type Open = (kind: Case, command: readonly [string, ...string[]]) => Promise<Ready | undefined>;

const info = { name: "bench", version: "1.0.0" };
const args = { text: "hello" };
const params = { name: "echo", arguments: args };
const input = { text: z.string() };

/** Lines out, lines in, a map of ids: the least that a client can do. In memory: JSON there and back. */
const bare: Open = async (kind, [command, ...rest]) => {
  const waiting = new Map<number, (result: unknown) => void>();
  let nextId = 1;
  const settle = (line: string): void => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  const child = kind === "stdio" ? spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] }) : undefined;
  if (child) createInterface({ input: child.stdout }).on("line", settle);
  const answer = (line: string): void => {
    const { id, params: given } = JSON.parse(line);
    const result = { content: [{ type: "text", text: given.arguments.text }] };
    settle(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  const request = (method: string, given: object): Promise<unknown> =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      const line = JSON.stringify({ jsonrpc: "2.0", id, method, params: given });
      if (child) child.stdin.write(`${line}\n`);
      else queueMicrotask(() => answer(line));
    });
  if (child) await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info });
  return { call: () => request("tools/call", params), close: () => child?.stdin.end() };
};

const plenum =
  (revision: "2025-11-25" | "2026-07-28"): Open =>
  async (kind, [command, ...rest]) => {
    const { connect, createServer } = await import("plenum");
    const server = createServer({ ...info });
    server.tool("echo", { input: z.object(input) }, ({ text }) => text);
    const client = await connect(kind === "stdio" ? { command, args: rest } : server, { revision });
    return { call: () => client.callTool("echo", args), close: () => client.close() };
  };

const official1: Open = async (kind, [command, ...rest]) => {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client(info, { capabilities: {} });
  if (kind === "stdio") {
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    await client.connect(new StdioClientTransport({ command, args: rest }));
  } else {
    const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const server = new McpServer(info);
    server.registerTool("echo", { inputSchema: input }, ({ text }) => ({ content: [{ type: "text", text }] }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await client.connect(near);
  }
  return { call: () => client.callTool(params), close: () => client.close() };
};

const official2: Open = async (kind, [command, ...rest]) => {
  const { Client, InMemoryTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(info, { capabilities: {} });
  if (kind === "stdio") {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    await client.connect(new StdioClientTransport({ command, args: rest }));
  } else {
    const { McpServer } = await import("@modelcontextprotocol/server");
    const server = new McpServer(info);
    server.registerTool("echo", { inputSchema: z.object(input) }, ({ text }) => ({
      content: [{ type: "text", text }],
    }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far as never);
    await client.connect(near);
  }
  return { call: () => client.callTool(params), close: () => client.close() };
};

export const targets: Readonly<Record<string, Open>> = {
  bare,
  "plenum 2025-11-25": plenum("2025-11-25"),
  "plenum 2026-07-28": plenum("2026-07-28"),
  "official 1.x": official1,
  "official 2.x": official2,
};
