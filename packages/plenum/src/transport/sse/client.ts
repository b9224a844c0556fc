// HTTP+SSE, the transport of 2024-11-05, on the client's side: one stream of events from the server, whose first event
// names the URL that messages are posted to. Later revisions deprecate it; servers that speak nothing else are still
// there. Specification: basic/transports § HTTP with SSE of 2024-11-05.
import { Stop } from "../../util/stop.ts";
import { type HeaderRecord, isOk, typeOf } from "../http/client-carrier.ts";
import { nameOfUrl, type TargetSettings } from "../http/client-options.ts";
import { readRefusal, toRefused } from "../http/client-refusal.ts";
import type { Requester } from "../http/client-request.ts";
import { readEvents } from "../http/event-reader.ts";

export interface OldTransport {
  /** Resolves when the server has taken the message; its answer comes on the stream. Rejects when it has not. */
  post(text: string, headers: HeaderRecord, what: string, stop: Stop): Promise<void>;
}

export interface OldTransportOptions {
  readonly settings: TargetSettings;
  readonly request: Requester;
  /** Ends the stream, and with it the session. */
  readonly stop: Stop;
  readonly onData: (data: string) => void;
  /** The stream is over. Only after it was opened. */
  readonly onEnd: (cause: unknown) => void;
}

/** How long a server may take to name its endpoint. */
const endpointMs = 10_000;

/** Rejects when the URL is none of an HTTP+SSE server, and says why. */
export function openOldTransport(options: OldTransportOptions): Promise<OldTransport> {
  const { settings, request, onData, onEnd } = options;
  const stop = new Stop();
  options.stop.onStop(() => stop.stop(options.stop.reason));
  let isOpen = false;

  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(new Error(`no endpoint event came in ${endpointMs} ms`)), endpointMs);

    function fail(cause: unknown): void {
      clearTimeout(timer);
      stop.stop();
      if (isOpen) onEnd(cause);
      else reject(cause);
    }

    function open(endpoint: string): void {
      const url = toEndpoint(endpoint, settings.url);
      clearTimeout(timer);
      isOpen = true;
      resolve(createPoster(request, url));
    }

    async function follow(): Promise<void> {
      const headers = { accept: "text/event-stream" };
      const answer = await request({ method: "GET", url: settings.url, headers, stop });
      if (!isOk(answer)) throw toRefused(await readRefusal(answer), "GET");
      if (typeOf(answer) !== "text/event-stream") {
        answer.discard();
        throw new Error("GET was answered with something else than a stream of events");
      }
      await readEvents(answer, {
        maxEventBytes: settings.maxEventBytes,
        stop,
        onRetry() {},
        onEvent({ event, data }) {
          if (event === "endpoint") {
            if (!isOpen) open(data);
          } else if (!isOpen) throw new Error("the stream does not begin with an endpoint event");
          else if ((event === undefined || event === "message") && data !== "") onData(data);
        },
      });
      throw new Error("the server ended the stream of events");
    }

    follow().catch(fail);
  });
}

/** Messages hold what only this server may see: the endpoint must be of its origin. */
function toEndpoint(endpoint: string, base: URL): URL {
  let url: URL;
  try {
    url = new URL(endpoint, base);
  } catch {
    throw new Error("the server's endpoint event names no URL");
  }
  if (url.origin !== base.origin || url.username || url.password)
    throw new Error(`the server's endpoint is at ${url.origin}, which is another origin than ${nameOfUrl(base)}`);
  url.hash = "";
  return url;
}

function createPoster(request: Requester, url: URL): OldTransport {
  return {
    async post(body, own, what, stop) {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...own };
      const answer = await request({ method: "POST", url, headers, body, stop });
      if (!isOk(answer)) throw toRefused(await readRefusal(answer), what);
      answer.discard();
    },
  };
}
