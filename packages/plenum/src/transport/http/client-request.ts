// One request of the client: the headers that the application gives, and redirects within the server's origin.
import { McpError } from "../../protocol/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { type Asked, type Carrier, type HeaderRecord, type HttpAnswer, isOk } from "./client-carrier.ts";
import { nameOfUrl, noHeaders, type TargetSettings } from "./client-options.ts";

/**
 * The answer, whatever its status, but for redirects. Rejects with a plain Error when the server cannot be reached, and
 * with McpError `peer_error` for a redirect that is not followed.
 */
export type Requester = (asked: Asked) => Promise<HttpAnswer>;

const loadTrouble = () => import("./client-trouble.ts");

/** @param leaves has those in it that are waited for */
export function createRequester(
  settings: TargetSettings,
  carrier: Carrier,
  leaves: Set<Promise<unknown>> = new Set(),
): Requester {
  /** @param given by the application, or by what gives leave */
  async function send(asked: Asked, given: HeaderRecord): Promise<HttpAnswer> {
    const sent = { url: asked.url, given, own: asked.headers };
    let next: Asked = given === noHeaders ? asked : { ...asked, headers: { ...given, ...asked.headers } };
    for (let redirects = 0; ; redirects++) {
      let answer: HttpAnswer;
      try {
        answer = await carrier.send(next);
      } catch (error) {
        // What an application's fetch has to say (authorization, say) is for its caller.
        if (asked.stop.isStopped || error instanceof McpError) throw error;
        const name = nameOfUrl(settings.url);
        throw await loadTrouble().then(
          ({ toUnreached }) => toUnreached(error, name, sent),
          // Where no file can be had either, there is no more to say.
          () => new Error(`${name} could not be reached`, { cause: error }),
        );
      }
      if (isOk(answer)) return answer;
      answer.sent = sent;
      const { status } = answer;
      if (status !== 0 && (status < 300 || status >= 400 || status === 304)) return answer;
      answer.discard();
      const { toNext } = await loadTrouble();
      next = { ...next, url: toNext(answer, next.url, settings.url, redirects) };
    }
  }

  return async (asked) => {
    const due = headersOf(settings);
    const given = due instanceof Promise ? await untilAborted(due, asked.stop.signal, (reason) => reason) : due;
    const { auth, url } = settings;
    if (!auth) return send(asked, given);
    const { sendAuthorized } = await import("./client-authorized.ts");
    return sendAuthorized(auth, url, asked, (headers) => send(asked, { ...given, ...headers }), leaves);
  };
}

function headersOf(settings: TargetSettings): HeaderRecord | Promise<HeaderRecord> {
  const due = settings.headers();
  if (!(due instanceof Promise)) return due;
  return due.catch((error) => {
    // What an application has to say to its caller, and what it did wrong.
    if (error instanceof McpError || error instanceof TypeError) throw error;
    throw new Error(`the headers to send could not be had: ${reasonOf(error)}`, { cause: error });
  });
}
