// How the sessioned era asks: a request to the client on the same connection, and a wait for its answer.
import type { Connection, Exchange, Outcome } from "../../jsonrpc/connection.ts";
import type { JsonObject } from "../../jsonrpc/message.ts";
import { clientHas } from "../capabilities.ts";
import type { Ask } from "../endpoint.ts";
import { assertOpen, McpError, resultOf } from "../errors.ts";
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
    throw new McpError("missing_capability", `${session.revision} has no ${ask.method}`);
  }
  // As its revision knows them: what only later ones define, such as `elicitation.url`, cannot be asked for in this one.
  const declared = wireOf(session.revision).fit("ClientCapabilities", session.client.capabilities);
  const missing = ask.needs.find((path) => !clientHas(declared, path));
  if (missing) throw new McpError("missing_capability", `${ask.method} needs the client capability ${missing}`);
  const params = reviseNotification(method, ask.params, session.revision);

  const { id: about, signal } = exchange;
  await untilReady(session, ask, signal, timeoutMs);
  assertOpen(exchange);
  const given = Object.keys(params).length > 0 ? params : undefined;
  const outcome = await connection.request(method.name, given, { about, signal, timeoutMs });
  const result = resultOf(outcome, ask.method);
  const problem = wireOf(session.revision).check(`${method.stem}Result`, result, "result");
  if (problem) throw new McpError("invalid_result", `The client's answer is not valid: ${problem}`);
  return result;
}

/** Waits for `notifications/initialized`, as long as an answer may take. */
async function untilReady(session: Session, ask: Ask, signal: AbortSignal, timeoutMs: number): Promise<void> {
  if (session.initialized) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let go = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      go = resolve;
      const fail = (outcome: Outcome): void => {
        try {
          resultOf(outcome, ask.method);
        } catch (error) {
          reject(error);
        }
      };
      const stop = (): void => fail({ kind: "aborted", reason: signal.reason });
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      if (timeoutMs > 0 && timeoutMs < 2 ** 31)
        timer = setTimeout(fail, timeoutMs, { kind: "timeout", afterMs: timeoutMs });
      session.waiting.add(go);
    });
  } finally {
    clearTimeout(timer);
    session.waiting.delete(go);
  }
}
