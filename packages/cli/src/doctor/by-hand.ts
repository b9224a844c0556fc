// A server's process that is spoken to line by line, so that it can be sent what no client sends, and watched as it ends.
import type { JsonObject, Revision } from "plenum";
import { startServer } from "plenum/stdio/process";
import type { CommandSpec } from "../target/spec.ts";
import { isObject, statelessMeta } from "./visit.ts";

export interface ByHand {
  readonly isOver: boolean;
  /** What it has written to stderr so far. */
  readonly stderr: string;
  /** Writes text as it is. */
  write(text: string | Uint8Array): void;
  /** Whether a response with this id comes in time. */
  answered(id: string): Promise<boolean>;
  /** The text of a request that every server of the revision answers. */
  question(id: string, padding?: string): string;
  /** Ends its input. How long it took to exit, or undefined where it did not in time. */
  endInput(withinMs: number): Promise<number | undefined>;
  /** Whether something that it has started still runs. Undefined where that cannot be told. */
  hasOrphans(): boolean | undefined;
  kill(): Promise<void>;
}

/** Starts it and says hello. Rejects where it does not start; one that does not answer is found out by `answered`. */
export async function startByHand(spec: CommandSpec, revision: Revision, timeoutMs: number): Promise<ByHand> {
  const { command, args, env, cwd } = spec;
  const child = await startServer({ command, args, env, ...(cwd !== undefined && { cwd }) });
  const pid = child.pid as number;
  let isOver = false;
  let stdout = "";
  let stderr = "";
  const ids = new Set<unknown>();
  const wakers = new Set<() => void>();
  const wake = (): void => {
    for (const one of wakers) one();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    const lines = stdout.split("\n");
    stdout = lines.pop() ?? "";
    for (const line of lines) ids.add(idOfLine(line));
    wake();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-200_000);
  });
  // It may be gone before it has read all.
  child.stdin.on("error", () => {});
  child.once("exit", () => {
    isOver = true;
    wake();
  });
  const until = (isThere: () => boolean, ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        wakers.delete(look);
        resolve(isThere());
      };
      const look = (): void => {
        if (isThere() || isOver) finish();
      };
      const timer = setTimeout(finish, ms);
      wakers.add(look);
      look();
    });
  const isStateless = revision >= "2026-07-28";
  const hasGroup = process.platform !== "win32";
  const hand: ByHand = {
    get isOver() {
      return isOver;
    },
    get stderr() {
      return stderr;
    },
    write(text) {
      if (!isOver) child.stdin.write(text);
    },
    answered: (id) => until(() => ids.has(id), timeoutMs),
    question(id, padding) {
      const own = padding === undefined ? {} : { "com.example/padding": padding };
      const _meta = isStateless ? { ...statelessMeta(revision), ...own } : own;
      return toLine({ id, method: isStateless ? "server/discover" : "ping", params: { _meta } });
    },
    async endInput(withinMs) {
      const startedAt = Date.now();
      child.stdin.end();
      return (await until(() => isOver, withinMs)) ? Date.now() - startedAt : undefined;
    },
    hasOrphans() {
      if (!hasGroup || !isOver) return undefined;
      try {
        process.kill(-pid, 0);
        return true;
      } catch {
        return false;
      }
    },
    async kill() {
      const isLeft = !isOver || hand.hasOrphans();
      if (isLeft) {
        try {
          process.kill(hasGroup ? -pid : pid, "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
      await until(() => isOver, timeoutMs);
      child.stdout.destroy();
      child.stderr?.destroy();
      child.stdin.destroy();
    },
  };
  if (!isStateless) {
    const clientInfo = { name: "plenum-doctor", version: "0" };
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    hand.write(toLine({ id: "hello", method: "initialize", params }));
    if (await hand.answered("hello")) hand.write(toLine({ method: "notifications/initialized" }));
  }
  return hand;
}

function toLine(message: JsonObject): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}

function idOfLine(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && ("result" in value || "error" in value) ? value.id : undefined;
  } catch {
    return undefined;
  }
}
