// How the sessioned era asks: a request to the client on the same connection, and a wait for its answer. Loaded by the
// first ask or step, and by the first result that asks.
import type { Connection, Outcome } from "../../jsonrpc/connection.ts";
import type { Exchange } from "../../jsonrpc/exchange.ts";
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import type { Ask } from "../endpoint.ts";
import { assertOpen, McpError } from "../errors.ts";
import { resultOf } from "../outcome.ts";
import { missingOf, stems, toParams } from "../question.ts";
import { addAsking } from "../wire/asking.ts";
import { wireOf } from "../wire/wire.ts";
import type { Session } from "./session.ts";

export { runRounds } from "../rounds.ts";
export { runStep } from "../step.ts";

/** How often a handler may ask in a call that has ended, before it is held for good. */
const maxLate = 1000;
const late = new WeakMap<Exchange, number>();

/** Who swallows the error, and asks again and again, would use up the machine. */
async function hold(exchange: Exchange): Promise<void> {
  const times = (late.get(exchange) ?? 0) + 1;
  late.set(exchange, times);
  if (times > maxLate) await new Promise(() => {});
}

export async function askClient(
  connection: Connection,
  session: Session | undefined,
  ask: Ask,
  exchange: Exchange,
  timeoutMs: number,
): Promise<JsonObject> {
  if (exchange.ended) await hold(exchange);
  if (!session) throw new McpError("missing_capability", `${ask.method} needs an open session`);
  const { client, revision } = session;
  addAsking();
  const wire = wireOf(revision);
  const stem = stems[ask.method];
  if (!wire.has(`${stem}Params`)) throw new McpError("missing_capability", `${revision} has no ${ask.method}`);
  // What only later revisions define, such as `elicitation.url`, cannot be asked for in this one.
  const [missing] = missingOf(client, ask);
  if (missing) throw new McpError("missing_capability", `${ask.method} needs the client capability ${missing}`);
  const params = toParams(ask, revision);
  session.roots ??= {};
  const { roots } = session;
  // A copy, since a handler may change what it gets.
  if (ask.method === "roots/list" && roots.answer) return structuredClone(roots.answer);

  const { id: about, signal } = exchange;
  await untilReady(session, ask, signal, timeoutMs);
  assertOpen(exchange);
  rememberPage(session, params.elicitationId);
  const given = Object.keys(params).length > 0 ? params : undefined;
  const outcome = await connection.request(ask.method, given, { about, signal, timeoutMs });
  // A mistake of the handler's, as in what `toParams` refuses.
  if (outcome.kind === "unsent") throw outcome.cause;
  const result = resultOf(outcome, ask.method);
  const problem = wire.check(`${stem}Result`, result, "result");
  if (problem) throw new McpError("invalid_result", `The client's answer is not valid: ${problem}`);
  // Kept where the client says when it changes: see the notification in open.ts.
  if (ask.method === "roots/list" && client.capabilities.roots?.listChanged === true)
    roots.answer = structuredClone(result);
  return result;
}

// Of more than these nobody remembers which client was asked.
const maxPages = 1000;

/** The client was told of a page under this id. */
function rememberPage(session: Session, id: unknown): void {
  if (typeof id !== "string") return;
  session.pages ??= new Set();
  const { pages } = session;
  pages.add(id);
  for (const oldest of pages) if (pages.size > maxPages) pages.delete(oldest);
}

/** The same for the pages that an error names. */
export function rememberPages(session: Session, { data }: McpError): void {
  const { elicitations } = isObject(data) ? data : {};
  for (const page of Array.isArray(elicitations) ? elicitations : []) rememberPage(session, page?.elicitationId);
}

/**
 * A page is dealt with: the client is told, if it was told of the page. In a turn of its own, since the answer that names
 * the page may be on its way still.
 */
export function tellPage(
  connection: Connection,
  session: Session | undefined,
  { elicitationId }: { readonly elicitationId: string },
): void {
  setTimeout(() => {
    // Before the client has said it is ready it is sent nothing of this kind.
    if (session?.initialized && session.pages?.delete(elicitationId))
      connection.notify("notifications/elicitation/complete", { elicitationId });
  });
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
      session.waiting ??= new Set();
      session.waiting.add(go);
    });
  } finally {
    clearTimeout(timer);
    session.waiting?.delete(go);
  }
}
