// Judges what one side sends: by our own wire shapes and, when they are at hand, by the official schemas in closed form.
import type { Revision } from "plenum";
import { findMethod, methodIn } from "../../packages/plenum/src/protocol/methods.ts";
import { addAsking } from "../../packages/plenum/src/protocol/wire/asking.ts";
import { wireOf } from "../../packages/plenum/src/protocol/wire/wire.ts";
import { isOfficialHere, pairsOf } from "../wire/official.ts";

addAsking();

/** A message as it comes from the wire: nothing about it is certain. */
export interface Judged {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * What is wrong with a message; undefined when it is right.
 * @param answered the method of the request that the message answers, if it is known
 * @param side who sent it
 */
export function judgeSent(
  message: Judged,
  revision: Revision,
  answered: string | undefined,
  side: "server" | "client" = "server",
): string | undefined {
  const other = side === "server" ? "client" : "server";
  if (message.jsonrpc !== "2.0") return "not JSON-RPC 2.0";
  if (message.error !== undefined) return judgeError(message);
  if (message.result !== undefined) {
    if (typeof message.result !== "object" || message.result === null || Array.isArray(message.result))
      return "no object";
    const method = answered === undefined ? undefined : methodIn(answered, revision, other);
    return method && judgeAs(revision, `${method.stem}Result`, message.result);
  }
  const name = String(message.method);
  const method = methodIn(name, revision, side);
  if (!method) return findMethod(name) ? "no message of this revision" : undefined;
  if ((message.id === undefined) !== (method.kind === "notification")) return `a ${method.kind} with the wrong id`;
  return judgeAs(revision, `${method.stem}Params`, message.params ?? {});
}

function judgeAs(revision: Revision, shape: string, value: unknown): string | undefined {
  const ours = wireOf(revision).check(shape, value);
  if (ours) return ours;
  // Closed: what the revision does not define must not be there either.
  return isOfficialHere
    ? pairsOf(revision)
        .find((pair) => pair.shape === shape)
        ?.refuse(value, revision !== "2026-07-28")
    : undefined;
}

function judgeError({ error, id }: Judged): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (!Number.isInteger(code) || typeof message !== "string") return "no error object";
  if (id !== undefined && typeof id !== "string" && !Number.isInteger(id)) return "a strange id";
  return /\n/.test(message) ? "more than one line" : undefined;
}
