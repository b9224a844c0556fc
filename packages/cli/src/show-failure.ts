// What a thrown error is to people and scripts: a message, what to do, and an exit code. Errors are told apart by their shape,
// not their class: a server that is loaded from a file brings a library of its own.
import { redacted, redactJson, redactText } from "plenum/redact";
import { toAskHint } from "./ask/given.ts";
import { exitCodes, Failure } from "./failure.ts";
import { formatJson, type Output, toHarmless } from "./output.ts";
import { printNote } from "./streams.ts";
import { knownSecrets } from "./target/secrets.ts";

/** Prints it, and gives the exit code. */
export function showFailure(error: unknown, output: Output, isDebug: boolean): number {
  const failure = toFailure(error);
  const { code } = failure;
  const exitCode = exitCodes[failure.exit];
  // A server says in its errors what it likes, such as what it was given.
  const secrets = knownSecrets();
  const message = redactText(failure.message, secrets);
  const hint = failure.hint && hideSecrets(failure.hint, secrets);
  const data = redactJson(failure.data, { secrets });
  if (output.isJson) output.raw(`${formatJson({ ok: false, error: { code, exitCode, message, hint, data } })}\n`);
  printNote(`${output.paintNote("red", "error:")} ${toHarmless(message)}\n`);
  if (hint) printNote(`${toHarmless(hint)}\n`);
  if (isDebug) printNote(`${toHarmless(redactText(stackOf(error), secrets))}\n`);
  return exitCode;
}

/** Hints are our own words, which tell of tokens and headers: a guess would take those words out. */
function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text);
}

/** Every error that a command may throw as a Failure. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const shape = shapeOf(error);
  const { name, code, message, rpcCode, data } = shape;
  if (code === "ENOENT" && (error as NodeJS.ErrnoException).syscall === "uv_cwd") {
    return new Failure("usage", "The folder you are in is gone", {
      code: "no_folder",
      hint: "Change to another one.",
      cause: error,
    });
  }
  if (name === "OAuthError") return toUnauthorized(error, shape);
  if (name !== "McpError" || code === undefined) {
    return new Failure("usage", message, {
      code: "unexpected",
      hint: "With --debug you see where it comes from.",
      cause: error,
    });
  }
  const refused = toRefused(error, shape);
  if (refused) return refused;
  const known = mcpFailures[code];
  const said = withoutAdvice(message);
  return new Failure(
    known?.[0] ?? "protocol",
    rpcCode === undefined || said.includes(String(rpcCode)) ? said : `${said} (${rpcCode})`,
    {
      code,
      data,
      hint: toAskHint(message) ?? known?.[1] ?? "With --trace you see every message.",
      cause: error,
    },
  );
}

/** The library tells programmers what to give it; here it is options that one gives. */
function withoutAdvice(message: string): string {
  return (
    message
      .replace(/\. To answer that, give connect \w+$/, "")
      .replace(/: give \{ url, auth: .*$/s, "")
      // Nothing was lost that never was.
      .replace(/^The connection was lost before \S+ was answered: (?=\S+ could not be reached)/, "")
      .replace(/ Is the server running, and is this its port\?$/, "")
  );
}

/** A server that lets nobody in, or not far enough: said by a status of HTTP, or by what should have got us in. */
function toRefused(error: unknown, { code, message, rpcCode, data, cause }: Shape): Failure | undefined {
  if (cause instanceof Failure) return cause;
  if (cause !== undefined && shapeOf(cause).name === "OAuthError") return toUnauthorized(cause, shapeOf(cause));
  const status = (data as { readonly status?: unknown } | null | undefined)?.status;
  // An error of the protocol may have such data, too: that one has a number.
  if (code !== "peer_error" || rpcCode !== undefined || (status !== 401 && status !== 403)) return undefined;
  return new Failure("unauthorized", withoutAdvice(message), {
    code: status === 401 ? "unauthorized" : "forbidden",
    data,
    hint:
      status === 401
        ? "Log in with plenum login URL, or give what lets you in: --header 'Authorization: Bearer …'."
        : "Another login may be let in: plenum login URL --force. Else its owner can say why.",
    cause: error,
  });
}

function toUnauthorized(error: unknown, { code = "", message, data }: Shape): Failure {
  const hint = loginHints[code] ?? "plenum login URL --force logs in anew.";
  return new Failure("unauthorized", message, { code, data, hint, cause: error });
}

const byClient = "Where its owner gave you a client id, log in with plenum login URL --client-id ID.";
const byToken = "Where its owner gave you a token, send it: --header 'Authorization: Bearer …'.";
const loginHints: { readonly [code: string]: string } = {
  discovery_failed: byToken,
  no_client: byClient,
  registration_failed: `${byClient} ${byToken}`,
};

const mcpFailures: { readonly [code: string]: readonly [exit: Failure["exit"], hint: string] } = {
  connection_lost: [
    "unreachable",
    "Is the server running, and is the address or the command right? plenum doctor TARGET looks closer.",
  ],
  resource_not_found: ["protocol", "plenum list TARGET shows the resources that there are."],
  method_not_found: ["protocol", "plenum list TARGET shows what the server has."],
  timeout: ["unreachable", "Give it longer with --timeout SECONDS, or look at what it does with --trace."],
  unsupported_version: ["protocol", "Without --revision the newest that both sides know is taken."],
  insufficient_scope: ["unauthorized", "plenum login URL asks for more."],
};

interface Shape {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

function shapeOf(error: unknown): Shape {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, code, rpcCode, data, cause } = error as Error & Partial<Shape>;
  return { name, message, rpcCode, data, cause, code: typeof code === "string" ? code : undefined };
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
