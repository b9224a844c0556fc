// What a fuzzed call is run on: a client in memory, and ears for what a server does not tell its caller: the errors that it masks, what
// it refuses arguments with, and promises that nobody waits for.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { AuthInfo, Call, Endpoint, Result } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import type { Revision } from "../protocol/revisions.ts";
import { createMaker } from "./made-values.ts";
import type { Random } from "./random.ts";
import { createTestClient, type TestClient } from "./test-client.ts";

export interface StageOptions {
  readonly revision: Revision | undefined;
  readonly auth: Partial<AuthInfo> | undefined;
  readonly timeoutMs: number;
}

/** What came of a call. */
export interface Ran {
  readonly outcome: "answered" | "refused" | "masked" | "hung" | "broken" | "stray";
  readonly message: string;
  /** What was thrown, where that is known. */
  readonly cause: unknown;
}

export interface FuzzStage {
  readonly client: TestClient;
  /** Never rejects. @param random for what the tool may ask */
  call(tool: string, args: JsonObject, random: Random): Promise<Ran>;
  close(): Promise<void>;
}

const maskedForm = /^Internal error \(([\da-f-]{36})\)/;
const reportForm = /^plenum: .* failed \(([\da-f-]{36})\)$/;

export async function openStage(server: Endpoint, { timeoutMs, revision, auth }: StageOptions): Promise<FuzzStage> {
  let refusal: McpError | undefined;
  const heard = Object.create(server, {
    call: {
      value: async (call: Call): Promise<Result> => {
        try {
          return await server.call(call);
        } catch (error) {
          if (error instanceof McpError && error.code === "invalid_arguments") refusal = error;
          throw error;
        }
      },
    },
  }) as Endpoint;
  let random: Random | undefined;
  const client = await createTestClient(heard, {
    ...(revision && { revision }),
    ...(auth && { auth }),
    // A fuzzed tool may ask more often than a person would like.
    asksPerMinute: 1e9,
    elicit: ({ schema }) => (random && toObject(createMaker(schema).makeValid(random)?.value)) ?? "decline",
    visit: () => "accept",
    sample: () => "made up",
    roots: [],
  });
  const ears = openEars();

  const judge = (error: unknown, text: string | undefined): Ran => {
    if (refusal) return { outcome: "refused", message: refusal.message, cause: refusal };
    const told = text ?? (error instanceof Error ? error.message : String(error));
    const errorId = maskedForm.exec(told)?.[1] ?? /\(([\da-f-]{36})\)/.exec(told)?.[1];
    const cause = errorId === undefined ? undefined : ears.reports.get(errorId);
    if (cause !== undefined || (text !== undefined && maskedForm.test(told))) {
      const shown =
        cause instanceof Error ? `${cause.name}: ${cause.message}` : cause === undefined ? told : String(cause);
      return { outcome: "masked", message: shown, cause };
    }
    if (error === undefined) return { outcome: "answered", message: told, cause: undefined };
    const { code, rpcCode } = error as Partial<McpError>;
    if (code === "timeout") return { outcome: "hung", message: told, cause: error };
    if (code === "invalid_result") return { outcome: "broken", message: told, cause: error };
    return { outcome: rpcCode === -32603 ? "masked" : "answered", message: told, cause: error };
  };

  return {
    client,
    async call(tool, args, given) {
      refusal = undefined;
      random = given;
      ears.strays.length = 0;
      ears.reports.clear();
      const ran = await client.callTool(tool, args, { timeoutMs, maxTimeoutMs: timeoutMs }).then(
        ({ text, isError }) => judge(undefined, isError ? text : ""),
        (error: unknown) => judge(error, undefined),
      );
      // What nobody waits for is told at the end of a turn.
      await new Promise((resolve) => setTimeout(resolve));
      if (ears.strays.length === 0) return ran;
      const [stray] = ears.strays;
      return { outcome: "stray", message: stray instanceof Error ? stray.message : String(stray), cause: stray };
    },
    async close() {
      await client.close();
      ears.close();
    },
  };
}

function toObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
}

interface Ears {
  /** What was masked, by the id that the caller was told. */
  readonly reports: Map<string, unknown>;
  readonly strays: unknown[];
  close(): void;
}

interface Emitter {
  listeners(name: string): ((...given: unknown[]) => void)[];
  removeAllListeners(name: string): void;
  on(name: string, listener: (...given: unknown[]) => void): void;
}

/** Servers report to the console where they are not told otherwise; and runtimes end, or a test fails, for a stray rejection. */
function openEars(): Ears {
  const reports = new Map<string, unknown>();
  const strays: unknown[] = [];
  const print = console.error;
  console.error = (...given: unknown[]) => {
    const errorId = typeof given[0] === "string" ? reportForm.exec(given[0])?.[1] : undefined;
    if (errorId === undefined) print.apply(console, given);
    else reports.set(errorId, given[1]);
  };
  const { process } = globalThis as unknown as { readonly process?: Partial<Emitter> };
  const emitter = process?.listeners && process.removeAllListeners && process.on ? (process as Emitter) : undefined;
  const event = "unhandledRejection";
  const others = emitter?.listeners(event) ?? [];
  emitter?.removeAllListeners(event);
  emitter?.on(event, (reason) => strays.push(reason));
  return {
    reports,
    strays,
    close() {
      console.error = print;
      emitter?.removeAllListeners(event);
      for (const other of others) emitter?.on(event, other);
    },
  };
}
