// The server behind the HTTP suites: tools that answer at once, that tell something first, that wait to be let go, and that
// ask; and a record of what ran and of what was cancelled.
import { createServer, type Server, type ServerOptions } from "plenum";
import { z } from "zod";
import { createDeferred, type Deferred } from "../deferred.ts";
import { until, within } from "./harness.ts";

export interface Stage {
  readonly server: Server;
  /** Keys of calls of `hold` and `work` that began. */
  readonly begun: string[];
  /** Keys of those whose signal was aborted. */
  readonly aborted: string[];
  /** Keys of those that came to their end. */
  readonly done: string[];
  /** What was hidden from clients. */
  readonly errors: unknown[];
  /** Lets a call of `hold` go on, now or when it comes. */
  release(key: string): void;
  /** Waits until a call of `hold` is under way. */
  held(key: string): Promise<void>;
}

const text = z.string();

export function createStage(options: Partial<ServerOptions<undefined>> = {}): Stage {
  const begun: string[] = [];
  const aborted: string[] = [];
  const done: string[] = [];
  const errors: unknown[] = [];
  const gates = new Map<string, Deferred<void>>();
  const gate = (key: string): Deferred<void> => {
    const found = gates.get(key) ?? createDeferred();
    gates.set(key, found);
    return found;
  };
  const server = createServer({
    name: "stage",
    version: "1.0.0",
    onError: (error) => void errors.push(error),
    progressPerSecond: 100_000,
    ...options,
  });

  server.tool("echo", { input: z.object({ text }) }, ({ text }) => text);
  server.prompt("größe", {}, () => "42");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note://1", {}, () => "A note");
  server.resource("note://2", {}, () => "Another");
  server.tool("broken", {}, () => {
    throw new Error("the password is hunter2");
  });
  // Tells its progress, as often as it is told to, then ends.
  server.tool("tell", { input: z.object({ key: text, count: z.number() }) }, ({ key, count }, ctx) => {
    for (let n = 1; n <= count; n++) ctx.progress(n, count, key);
    return key;
  });
  // Tells its progress once where it is asked for, waits until it is released, and tells it again.
  server.tool("hold", { input: z.object({ key: text }) }, async ({ key }, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.push(key));
    ctx.progress(1, 2, key);
    begun.push(key);
    const gone = new Promise<never>((_, reject) => {
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
    });
    await Promise.race([gate(key).promise, gone]);
    ctx.progress(2, 2, key);
    done.push(key);
    return key;
  });
  // Ends the connection, then waits like the other.
  server.tool("work", { input: z.object({ key: text, retryMs: z.number().optional() }) }, async (args, ctx) => {
    begun.push(args.key);
    if (!ctx.sender?.disconnect) return "cannot";
    ctx.sender.disconnect(args.retryMs);
    await gate(args.key).promise;
    ctx.progress(1, 1, args.key);
    return args.key;
  });
  server.tool("ask", { input: z.object({ key: text }) }, async ({ key }, ctx) => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: key } }];
    const { content } = await ctx.sample({ messages, maxTokens: 10 });
    return JSON.stringify(content);
  });
  server.tool("whoami", {}, (_, ctx) => ({
    subject: ctx.auth?.subject ?? null,
    agent: ctx.sender?.header?.("x-agent") ?? null,
  }));

  return {
    server,
    begun,
    aborted,
    done,
    errors,
    release: (key) => gate(key).resolve(),
    held: (key) =>
      within(
        until(() => begun.includes(key), `${key} begins`),
        `${key} did not begin`,
      ),
  };
}

/** Params of tools/call. */
export const call = (name: string, args: Record<string, unknown> = {}, progressToken?: string) => ({
  name,
  arguments: args,
  ...(progressToken && { _meta: { progressToken } }),
});

/** What a client answers to `ask`. */
export const sampled = { role: "assistant", model: "m", content: { type: "text", text: "yes" } };
