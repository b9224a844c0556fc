// How the sessioned era asks: a request to the client on the same connection, and a wait for its answer.
import type { Connection, Exchange } from "../../jsonrpc/connection.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import { clientHas } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { McpError, resultOf } from "../errors.ts";
import { methodIn } from "../methods.ts";
import { reviseNotification } from "../revise.ts";
import { wireOf } from "../wire/wire.ts";
import type { Session } from "./session.ts";

export async function askClient(
  connection: Connection,
  session: Session,
  ask: Ask,
  exchange: Exchange,
  timeoutMs: number,
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

  const { id: about, signal } = exchange;
  await untilReady(session, ask, signal, timeoutMs);
  if (exchange.ended) throw new McpError("aborted", `${ask.method} was aborted`);
  const given = Object.keys(params).length > 0 ? params : undefined;
  const outcome = await connection.request(method.name, given, { about, signal, timeoutMs });
  const result = resultOf(outcome, ask.method);
  const problem = wireOf(session.revision).check(`${method.stem}Result`, result, "result");
  if (problem) throw new McpError("invalid_result", `The client's answer to ${ask.method} is not valid: ${problem}`);
  return result;
}

/** Waits for `notifications/initialized`, as long as an answer may take. */
async function untilReady(session: Session, ask: Ask, signal: AbortSignal, timeoutMs: number): Promise<void> {
  if (session.initialized) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(new McpError("aborted", `${ask.method} was aborted`, { cause: signal.reason }));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      const late = new McpError("timeout", `${ask.method} waited ${timeoutMs} ms for notifications/initialized`);
      if (timeoutMs > 0 && timeoutMs < 2 ** 31) timer = setTimeout(reject, timeoutMs, late);
      session.ready.promise.then(resolve);
    });
  } finally {
    clearTimeout(timer);
  }
}
