// Servers over HTTP in a process of their own, and a line between client and server that can be cut.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Command, publishedServer } from "./harness.ts";
import { peerFile } from "./peers.ts";

const here = dirname(fileURLToPath(import.meta.url));
const node = (...args: string[]): Command => ({ command: process.execPath, args });
const startLimitMs = 30_000;

/** One request, as a server of servers/ tells of it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly session?: string;
  readonly revision?: string;
  readonly lastEventId?: string;
}

export interface Running {
  /** The address without a path. */
  readonly origin: string;
  readonly pid: number;
  readonly seen: readonly Seen[];
  stderr(): string;
  stop(): Promise<void>;
}

export const sdk1Http = (kind: "sessions" | "stateless" | "sse"): Promise<Running> =>
  startServer(node(join(here, "servers", "sdk1-http.mjs"), kind));

/** Needs the peers. */
export const sdk2Http = (kind: "both" | "modern" | "stateless"): Promise<Running> =>
  startServer(
    node(join(here, "servers", "sdk2-http.mjs"), peerFile("@modelcontextprotocol", "node", "dist", "index.mjs"), kind),
  );

/** The published server takes a port by its environment, and says nothing else that could be relied upon. */
export async function everythingHttp(kind: "streamableHttp" | "sse"): Promise<Running> {
  const port = await freePort();
  const { command, args } = publishedServer("everything", kind);
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, PORT: String(port) },
  });
  const running = follow(child, `http://127.0.0.1:${port}`, []);
  try {
    await until(() => child.exitCode !== null || isListening(port), `server-everything ${kind} listens`);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

async function startServer({ command, args }: Command): Promise<Running> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const seen: Seen[] = [];
  let rest = "";
  let setOrigin: (origin: string) => void = () => {};
  const origin = new Promise<string>((resolve) => {
    setOrigin = resolve;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const value = JSON.parse(line) as { origin: string } | Seen;
      if ("origin" in value) setOrigin(value.origin);
      else seen.push(value);
    }
  });
  const running = follow(child, "", seen);
  const first = await Promise.race([origin, once(child, "exit"), pause(startLimitMs, undefined, { ref: false })]);
  if (typeof first === "string") return { ...running, origin: first };
  await running.stop();
  throw new Error(`${args.join(" ")} did not start: ${running.stderr()}`);
}

function follow(child: ChildProcess, origin: string, seen: readonly Seen[]): Running {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("The server's process could not be started.");
  return {
    origin,
    pid,
    seen,
    stderr: () => stderr,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Waits for what must come, in a hook as in a test. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + startLimitMs; Date.now() < end; await pause(20)) if (await isSo()) return;
  throw new Error(`It did not happen within ${startLimitMs / 1000} s that ${what}.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1")
      .on("connect", () => {
        socket.destroy();
        resolve(true);
      })
      .on("error", () => resolve(false));
  });
}

export interface Line {
  readonly origin: string;
  /** Breaks all connections as a network does: without an end. New ones can be made. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP line to a server. */
export async function lineTo(origin: string): Promise<Line> {
  const { port } = new URL(origin);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(Number(port), "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}
