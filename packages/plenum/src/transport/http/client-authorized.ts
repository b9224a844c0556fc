// Requests that need leave: what gives it is asked before each of them, and told when the server says no. Loaded by who has one.
import { McpError } from "../../protocol/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import type { Asked, HeaderRecord, HttpAnswer } from "./client-carrier.ts";
import type { HttpAuth } from "./client-options.ts";

/** More than any way in takes: a nonce, a new token, a nonce for it, some scopes more. */
const maxAttempts = 8;

/**
 * The answer, also one that says no. Rejects with McpError `peer_error` where leave could not be had: it is no loss of the
 * connection, and asking again would ask the user again.
 * @param send sends it once, with these headers as well
 * @param leaves what is waited for is in it meanwhile
 */
export async function sendAuthorized(
  auth: HttpAuth,
  server: URL,
  { method, url, stop, isUnattended = false }: Asked,
  send: (headers: HeaderRecord) => Promise<HttpAnswer>,
  leaves: Set<Promise<unknown>>,
): Promise<HttpAnswer> {
  const { signal } = stop;
  const request = { method, url, server, signal, isUnattended };
  async function wait<T>(run: () => Promise<T>, status?: number): Promise<T> {
    const leave = (async () => run())();
    leaves.add(leave);
    try {
      return await untilAborted(leave, signal, (reason) => reason);
    } catch (error) {
      if (stop.isStopped || error instanceof McpError) throw error;
      const data = status === undefined ? undefined : { status };
      throw new McpError("peer_error", reasonOf(error), { cause: error, data });
    } finally {
      leaves.delete(leave);
    }
  }
  for (let attempt = 1; ; attempt++) {
    const headers = await wait(() => auth.authorize(request));
    const answer = await send(headers);
    const { status } = answer;
    if ((status !== 401 && status !== 403) || attempt === maxAttempts) return answer;
    const isAgain = await wait(() => auth.refused(request, answer, headers), status).catch((error: unknown) => {
      answer.discard();
      throw error;
    });
    if (!isAgain) return answer;
    answer.discard();
  }
}
