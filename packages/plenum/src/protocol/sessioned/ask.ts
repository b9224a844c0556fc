// How the sessioned era asks: a request to the client on the same connection, and a wait for its answer.
import type { Connection } from "../../jsonrpc/connection.ts";
import type { JsonObject, RequestId } from "../../jsonrpc/message.ts";
import { clientHas } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { McpError, resultOf } from "../errors.ts";
import { methodIn } from "../methods.ts";
import { reviseNotification } from "../revise.ts";
import { wireOf } from "../wire/wire.ts";
import type { Session } from "./session.ts";

export interface AskOptions {
  readonly about: RequestId;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export async function askClient(
  connection: Connection,
  session: Session,
  ask: Ask,
  options: AskOptions,
): Promise<JsonObject> {
  const method = methodIn(ask.method, session.revision, "server");
  if (!method) {
    throw new McpError(
      "missing_capability",
      `${ask.method} does not exist in ${session.revision}, which this client speaks`,
    );
  }
  // As its revision knows them: what only later ones define, such as `elicitation.url`, cannot be asked for in this one.
  const declared = wireOf(session.revision).fit("ClientCapabilities", session.client.capabilities);
  const missing = ask.needs.find((path) => !clientHas(declared, path));
  if (missing)
    throw new McpError(
      "missing_capability",
      `${ask.method} needs a client that declares ${missing}; this one does not`,
    );
  const params = reviseNotification(method, ask.params, session.revision);

  await untilReady(session, options.signal);
  const outcome = await connection.request(method.name, Object.keys(params).length > 0 ? params : undefined, options);
  const result = resultOf(outcome, ask.method);
  const problem = wireOf(session.revision).check(`${method.stem}Result`, result, "result");
  if (problem) throw new McpError("invalid_result", `The client's answer to ${ask.method} is not valid: ${problem}`);
  return result;
}

async function untilReady(session: Session, signal: AbortSignal): Promise<void> {
  if (session.initialized) return;
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    session.ready.promise.then(resolve, reject);
  });
}
