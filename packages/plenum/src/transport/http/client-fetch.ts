// HTTP by fetch: where there is nothing leaner, and where an application gives its own.
import { untilAborted } from "../../util/abort.ts";
import type { Stop } from "../../util/stop.ts";
import type { Asked, Carrier, HttpAnswer } from "./client-carrier.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export function createFetchCarrier(fetch: Fetch): Carrier {
  return {
    send: (asked) => send(fetch, asked),
    // Its connections are the runtime's.
    close() {},
  };
}

async function send(fetch: Fetch, { url, method, headers, body, stop }: Asked): Promise<HttpAnswer> {
  stop.throwIfStopped();
  // One signal for each request: runtimes listen to the one that they are given for longer than the request lasts.
  const controller = new AbortController();
  const { signal } = controller;
  const end = stop.onStop(() => controller.abort(stop.reason));
  try {
    const fetching = fetch(url.href, {
      method,
      headers: new Headers(headers),
      signal,
      // Where a request goes is never the server's choice alone: it carries what only this origin may see.
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    // Not everybody's fetch heeds its signal.
    const response = await untilAborted(fetching, signal, (reason) => {
      fetching.then((late) => toAnswer(late, stop).discard()).catch(() => {});
      return reason;
    });
    return toAnswer(assertResponse(response), stop);
  } finally {
    end();
  }
}

/** An application's fetch may give anything. */
function assertResponse(response: Response | undefined): Response {
  if (typeof response?.status !== "number" || typeof response.headers?.get !== "function")
    throw new Error("fetch gave something else than a Response");
  if (response.type === "error") throw new Error("fetch gave a network error");
  return response;
}

/** @param stop ends the reading of its body */
export function toAnswer(response: Response, stop: Stop): HttpAnswer {
  return {
    status: response.type === "opaqueredirect" ? 0 : response.status,
    statusText: response.statusText ?? "",
    header: (name) => response.headers.get(name) ?? undefined,
    read: (onBytes) => read(response, onBytes, stop),
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}

async function read(response: Response, onBytes: (bytes: Uint8Array) => void, stop: Stop): Promise<void> {
  if (!response.body) {
    // Some runtimes have no streams.
    const text = (await response.text?.()) ?? "";
    if (text !== "") onBytes(new TextEncoder().encode(text));
    return;
  }
  const reader = response.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  const end = stop.onStop(cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      stop.throwIfStopped();
      if (done) return;
      onBytes(value);
    }
  } finally {
    end();
    cancel();
  }
}
