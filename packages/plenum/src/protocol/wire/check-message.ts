// Whether a message is one that a revision has, and of the shape that it gives it: for tools that watch others speak. Clients
// and servers check what they receive by themselves.
import { isObject, type Message, PreparedJson } from "../../jsonrpc/message.ts";
import { methodIn } from "../methods.ts";
import type { Revision } from "../revisions.ts";
import { addAsking } from "./asking.ts";
import { wireOf } from "./wire.ts";

export interface WireFault {
  /** `unknown_method`: this side does not send it in the revision. `shape`: it lacks something, or something is of another kind. */
  readonly kind: "unknown_method" | "shape";
  /** For people: what is wrong, and where in the message. */
  readonly message: string;
}

/**
 * The first fault of a message, or undefined. Members that the revision does not know are none.
 * @param from who sent it
 * @param answered the method of the request that it answers; a response without it is not looked into
 */
export function checkMessage(
  revision: Revision,
  from: "client" | "server",
  message: Message,
  answered?: string,
): WireFault | undefined {
  addAsking();
  if ("method" in message) {
    const method = methodIn(message.method, revision, from);
    if (!method) return { kind: "unknown_method", message: `${from}s of ${revision} do not send ${message.method}` };
    const isRequest = "id" in message;
    if (isRequest !== (method.kind === "request"))
      return { kind: "shape", message: `${message.method} is a ${method.kind}, with${isRequest ? "out" : ""} an id` };
    return toFault(wireOf(revision).check(method.paramsShape, message.params ?? {}, "params"));
  }
  if (!("result" in message) || answered === undefined) return undefined;
  const method = methodIn(answered, revision, from === "server" ? "client" : "server");
  if (!method) return undefined;
  const { result } = message;
  const value: unknown = result instanceof PreparedJson ? JSON.parse(result.text) : result;
  if (!isObject(value)) return { kind: "shape", message: "result must be an object" };
  return toFault(wireOf(revision).check(method.resultShape, value, "result"));
}

function toFault(message: string | undefined): WireFault | undefined {
  return message === undefined ? undefined : { kind: "shape", message };
}
