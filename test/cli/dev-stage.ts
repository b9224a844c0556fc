// What tests of `plenum dev` stand on: a file with a server, the built program that serves it, and clients of the library.
import { spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, type ClientOptions, connect } from "plenum";
import { stdioTarget } from "plenum/stdio/client";
import { onTestFinished } from "vitest";
import { ensureCli } from "../house/built.ts";
import { makeFolder } from "./stage.ts";

/** A server whose tool `version` says which one it is. */
export function toServer(version: number | string, more = ""): string {
  return `import { createServer, ToolError } from "plenum";
const server = createServer({ name: "worked-on", version: "${version}" });
server.tool("version", {}, () => "${version}");
server.tool("slow", {}, async () => {
  await new Promise((resolve) => setTimeout(resolve, 150));
  return "${version}";
});
${more}
export default server;
`;
}

export interface Stage {
  readonly folder: string;
  /** All that was written to stderr. */
  readonly said: () => string;
  /** Settles when stderr has what matches, from where the last one was found; rejects with it after 20 s. */
  heard(pattern: RegExp): Promise<RegExpExecArray>;
  /** Saves the server's file, as some editors do: beside it, then in its place. */
  save(text: string, name?: string): void;
}

function createStage(folder: string): Stage & { take(text: string): void } {
  let said = "";
  let seen = 0;
  const wakers = new Set<() => void>();
  return {
    folder,
    said: () => said,
    take(text) {
      said += text;
      for (const wake of wakers) wake();
    },
    heard(pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(said.slice(seen));
          if (!match) return;
          seen += match.index + match[0].length;
          finish();
          resolve(match);
        };
        const timer = setTimeout(() => {
          finish();
          reject(new Error(`${pattern} was not said. Said: ${said}`));
        }, 20_000);
        const finish = (): void => {
          clearTimeout(timer);
          wakers.delete(look);
        };
        wakers.add(look);
        look();
      });
    },
    save(text, name = "server.ts") {
      writeFileSync(join(folder, `${name}~`), text);
      renameSync(join(folder, `${name}~`), join(folder, name));
    },
  };
}

export interface DevOptions extends ClientOptions {
  /** Default "server.ts". */
  readonly file?: string;
  /** Beyond `dev FILE`. */
  readonly words?: readonly string[];
}

export interface DevStage extends Stage {
  readonly client: Client;
  /** The states that the client's connection was in. */
  readonly states: readonly string[];
}

/** `plenum dev server.ts` as a host starts it, and a client of it. */
export async function openDev(files: { readonly [path: string]: string }, options: DevOptions = {}): Promise<DevStage> {
  const { file = "server.ts", words = [], ...clientOptions } = options;
  const stage = createStage(makeFolder(files));
  const { folder, take } = stage;
  const program = await ensureCli();
  const args = [program, "dev", file, ...words];
  const target = stdioTarget({ command: process.execPath, args, cwd: folder, env: { HOME: folder }, stderr: take });
  const { client, states } = await open(target, clientOptions);
  return { ...stage, client, states };
}

/** The same over HTTP: any number of clients. */
export async function openDevHttp(
  files: { readonly [path: string]: string },
  words: readonly string[] = [],
): Promise<Stage & { readonly url: string; open(options?: ClientOptions): ReturnType<typeof open> }> {
  const stage = createStage(makeFolder(files));
  const program = await ensureCli();
  const args = [program, "dev", "server.ts", "-t", "http", "--port", "0", "--no-open", ...words];
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: stage.folder,
    env: { PATH, HOME: stage.folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  child.stderr.setEncoding("utf8").on("data", stage.take);
  const [, url = ""] = await stage.heard(/Serving at (\S+)/);
  return { ...stage, url, open: (options = {}) => open({ url }, options) };
}

async function open(
  target: Parameters<typeof connect>[0],
  options: ClientOptions,
): Promise<{ readonly client: Client; readonly states: readonly string[] }> {
  const states: string[] = [];
  const client = await connect(target, {
    restart: false,
    onWarning() {},
    ...options,
    onStateChange: (state) => states.push(state),
  });
  onTestFinished(() => client.close());
  return { client, states };
}

/** Waits for what a condition gives. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const giveUp = Date.now() + 20_000; Date.now() < giveUp; ) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`It never came: ${look}`);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
