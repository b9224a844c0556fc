// A server whose tools send more than anybody reads, or wait until they are told to stop; and what becomes of its requests.
import { createServer as createNodeServer, type Server as NodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "plenum";
import { type AccessEntry, type HttpOptions, toNodeHandler } from "plenum/http/node";
import { onTestFinished } from "vitest";
import { modern, type Obj, request } from "../fuzz/target.ts";
import type { Stage } from "./attack-stage.ts";

export interface Flood extends Stage {
  readonly log: AccessEntry[];
  /** What listens. */
  readonly node: NodeServer;
  /** Calls that have begun and not ended. */
  running(): number;
  aborted(): number;
}

/** A server whose tools send more than anybody reads, or wait for ever. */
export async function openFlood(options: HttpOptions = {}): Promise<Flood> {
  const log: AccessEntry[] = [];
  let running = 0;
  let aborted = 0;
  const server = createServer({
    name: "flood",
    version: "1",
    onError: () => {},
    progressPerSecond: 1e9,
    logsPerSecond: 1e9,
  });
  const target = { server, ran: 0 };
  server.tool("echo", { input: { type: "object" } }, ({ message }) => {
    target.ran++;
    return String(message);
  });
  server.tool("flood", { input: { type: "object" } }, async ({ times }, ctx) => {
    running++;
    try {
      for (let i = 0; i < Number(times) && !ctx.signal.aborted; i++) {
        ctx.progress(i + 1, undefined, "x".repeat(10_000));
        if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return "done";
    } finally {
      running--;
    }
  });
  server.tool("wait", { input: { type: "object" } }, async (_, ctx) => {
    running++;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 30_000);
      ctx.signal.addEventListener("abort", () => {
        aborted++;
        clearTimeout(timer);
        resolve();
      });
    });
    running--;
    return "waited";
  });
  server.tool("big", { input: { type: "object" } }, () => "x".repeat(3_000_000));
  const handler = toNodeHandler(server, { onAccess: (entry) => void log.push(entry), path: "/mcp", ...options });
  const node = createNodeServer(handler);
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close(0);
    node.closeAllConnections();
    node.close();
  });
  const { port } = node.address() as AddressInfo;
  return { port, target, node, log, running: () => running, aborted: () => aborted };
}

/** A call of the newest revision that sends so many notifications of 10 kB. */
export function floodCall(times: number): Obj {
  const params = { name: "flood", arguments: { times }, _meta: { progressToken: "p" } };
  return request(modern, "tools/call", params, 1);
}
