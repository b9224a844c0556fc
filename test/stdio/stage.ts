// For tests of the client's side of stdio: opens a server process that carries a mark in its environment, which all its
// descendants inherit, so that what is left of it can be found.
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Connection, createConnection, type Outcome } from "../../packages/plenum/src/jsonrpc/connection.ts";
import type { JsonObject } from "../../packages/plenum/src/jsonrpc/message.ts";
import { createRequests } from "../../packages/plenum/src/jsonrpc/requests.ts";
import {
  type StdioChannel,
  type StdioTargetOptions,
  stdioTarget,
} from "../../packages/plenum/src/transport/stdio/client.ts";
import { createDeferred } from "../deferred.ts";

export const serverFile: string = fileURLToPath(new URL("fixtures/child-server.mjs", import.meta.url));
export const parentFile: string = fileURLToPath(new URL("fixtures/child-parent.mjs", import.meta.url));

export interface Stage {
  readonly mark: string;
  readonly channel: StdioChannel;
  readonly connection: Connection;
  /** What the receiver was told. */
  readonly closed: Promise<unknown>;
  /** The result of a request. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  /** However it ends. */
  request(method: string, params?: JsonObject): Promise<Outcome>;
}

export interface StageOptions extends Partial<StdioTargetOptions> {
  readonly flags?: readonly string[];
}

export async function openStage({ flags = [], env, ...options }: StageOptions = {}): Promise<Stage> {
  const mark = randomUUID();
  const target = stdioTarget({
    command: process.execPath,
    args: [serverFile, ...flags],
    env: { ...env, PLENUM_MARK: mark },
    ...options,
  });
  const channel = await target.open();
  const closed = createDeferred<unknown>();
  const connection = createConnection(channel, {
    requests: createRequests,
    onRequest: () => ({ result: {} }),
    onNotification() {},
    onClose: closed.resolve,
  });
  connection.open();
  const request = (method: string, params?: JsonObject): Promise<Outcome> => connection.request(method, params);
  return {
    mark,
    channel,
    connection,
    closed: closed.promise,
    request,
    async ask(method, params) {
      const outcome = await request(method, params);
      if (outcome.kind !== "result") throw new Error(`${method}: ${JSON.stringify(outcome)}`);
      return outcome.result;
    },
  };
}

/** The processes that carry the mark and live. Linux only. */
export function findMarked(mark: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      // Of one that has ended and was not waited for, nothing can be read.
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "latin1").includes(mark) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** What the server noted: names and times, in order. */
export function readRecord(file: string): { name: string; time: number }[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [name = "", time] = line.split(" ");
    return { name, time: Number(time) };
  });
}

export interface Held {
  readonly exit: number;
  readonly signals: number;
  readonly children: number;
  readonly pipes: number;
}

/** What must not grow: listeners on the process, and handles of children. */
export function countHeld(): Held {
  const active = process.getActiveResourcesInfo();
  return {
    exit: process.listenerCount("exit"),
    signals: ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].reduce((sum, signal) => sum + process.listenerCount(signal), 0),
    children: active.filter((kind) => kind === "ProcessWrap").length,
    pipes: active.filter((kind) => kind === "PipeWrap").length,
  };
}
