// One request of the client: the headers that the application gives, redirects within the server's origin, and what is said
// of a server that cannot be reached.
import { McpError } from "../../protocol/errors.ts";
import { untilAborted } from "../../util/abort.ts";
import { reasonOf } from "../../util/call-back.ts";
import { type Asked, type Carrier, type HeaderRecord, type HttpAnswer, isOk } from "./client-carrier.ts";
import { nameOfUrl, noHeaders, type TargetSettings } from "./client-options.ts";
import { keepSecrets, redact, secretsIn } from "./client-secrets.ts";

/**
 * The answer, whatever its status, but for redirects. Rejects with a plain Error when the server cannot be reached, and
 * with McpError `peer_error` for a redirect that is not followed.
 */
export type Requester = (asked: Asked) => Promise<HttpAnswer>;

const maxRedirects = 5;

export function createRequester(settings: TargetSettings, carrier: Carrier): Requester {
  return async (asked) => {
    const { stop } = asked;
    const due = headersOf(settings);
    const given = due instanceof Promise ? await untilAborted(due, stop.signal, (reason) => reason) : due;
    const secrets = (): readonly string[] => secretsIn(asked.url, given, asked.headers);
    let next: Asked = given === noHeaders ? asked : { ...asked, headers: { ...given, ...asked.headers } };
    for (let redirects = 0; ; redirects++) {
      let answer: HttpAnswer;
      try {
        answer = await carrier.send(next);
      } catch (error) {
        // What an application's fetch has to say (authorization, say) is for its caller.
        if (stop.isStopped || error instanceof McpError) throw error;
        // The URL itself may name a session.
        const why = redact(whyOf(error), secrets());
        throw new Error(`${nameOfUrl(settings.url)} could not be reached: ${why}`, { cause: error });
      }
      if (isOk(answer)) return answer;
      keepSecrets(answer, secrets());
      const { status } = answer;
      if (status !== 0 && (status < 300 || status >= 400 || status === 304)) return answer;
      answer.discard();
      next = { ...next, url: toNext(answer, next.url, settings.url, redirects) };
    }
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

/** Runtimes wrap the reason once or twice. */
function whyOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 3 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  const text = reasonOf(inner);
  const { code } = inner as { code?: unknown };
  // What the TLS library says is for those who know it from the inside.
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "what answers there does not speak TLS as it should. If it is a server of http, the URL begins with http://";
  const advice = typeof code === "string" ? advices[code] : undefined;
  return (text || (typeof code === "string" ? code : reasonOf(error))) + (advice ?? "");
}

const advices: { readonly [code: string]: string | undefined } = {
  ECONNREFUSED: ". Is the server running, and is this its port?",
  ENOTFOUND: ". Is the name of the host right?",
};

function toNext(answer: HttpAnswer, at: URL, first: URL, redirects: number): URL {
  const from = nameOfUrl(first);
  const { status } = answer;
  const location = answer.header("location");
  if (status === 0 || location === undefined)
    throw new McpError("peer_error", `${from} redirects to where this runtime does not tell: give the URL behind it`);
  let next: URL;
  try {
    next = new URL(location, at);
  } catch {
    throw new McpError("peer_error", `${from} redirects to what is no URL`);
  }
  if (next.origin !== first.origin || next.username || next.password) {
    const where = next.origin === "null" ? next.protocol : next.origin;
    throw new McpError(
      "peer_error",
      `${from} redirects to ${where}, which is another origin and is not followed. If you trust it, give its URL instead`,
      { data: { status } },
    );
  }
  if (status !== 307 && status !== 308)
    throw new McpError(
      "peer_error",
      `${from} redirects with HTTP ${status}, which would change the request; only 307 and 308 are followed`,
      { data: { status } },
    );
  if (redirects >= maxRedirects) throw new McpError("peer_error", `${from} redirects more than ${maxRedirects} times`);
  return next;
}
