// What a thrown error is to people and scripts: a message, what to do, and an exit code. Errors are told apart by their shape,
// not their class: a server that is loaded from a file brings a library of its own.
import { toAskHint } from "./ask/given.ts";
import { exitCodes, Failure } from "./failure.ts";
import { type Output, toHarmless } from "./output.ts";

/** Prints it, and gives the exit code. */
export function showFailure(error: unknown, output: Output, isDebug: boolean): number {
  const failure = toFailure(error);
  const { message, hint, code, data } = failure;
  const exitCode = exitCodes[failure.exit];
  if (output.isJson) output.raw(`${JSON.stringify({ ok: false, error: { code, exitCode, message, hint, data } })}\n`);
  process.stderr.write(`${output.paintNote("red", "error:")} ${toHarmless(message)}\n`);
  if (hint) process.stderr.write(`${toHarmless(hint)}\n`);
  if (isDebug) process.stderr.write(`${stackOf(error)}\n`);
  return exitCode;
}

/** Every error that a command may throw as a Failure. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { name, code, message, rpcCode, data } = shapeOf(error);
  if (name === "OAuthError") {
    return new Failure("unauthorized", message, {
      code,
      data,
      hint: "plenum login TARGET logs in again.",
      cause: error,
    });
  }
  if (name !== "McpError" || code === undefined) {
    return new Failure("usage", message, {
      code: "unexpected",
      hint: "With --debug you see where it comes from.",
      cause: error,
    });
  }
  const known = mcpFailures[code];
  return new Failure(known?.[0] ?? "protocol", rpcCode === undefined ? message : `${message} (${rpcCode})`, {
    code,
    data,
    hint: toAskHint(message) ?? known?.[1] ?? "With --trace you see every message.",
    cause: error,
  });
}

const mcpFailures: { readonly [code: string]: readonly [exit: Failure["exit"], hint: string] } = {
  connection_lost: [
    "unreachable",
    "Is the server running, and is the address or the command right? plenum doctor TARGET looks closer.",
  ],
  timeout: ["unreachable", "Give it longer with --timeout SECONDS, or look at what it does with --trace."],
  unsupported_version: ["protocol", "Without --revision the newest that both sides know is taken."],
  insufficient_scope: ["unauthorized", "plenum login TARGET asks for more."],
};

interface Shape {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly data?: unknown;
}

function shapeOf(error: unknown): Shape {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, code, rpcCode, data } = error as Error & Partial<Shape>;
  return { name, message, rpcCode, data, code: typeof code === "string" ? code : undefined };
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
