// Which headers an HTTP request has. Handlers read headers one by one, at once, and a worker cannot ask for one and wait: it is
// given all of them. The library tells no names, so that Node does, in a header of our own that no client can set.
import { channel } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { Sender } from "plenum";
import type { SenderData } from "./messages.ts";

const namesHeader = "plenum-dev-header-names";

/** For every HTTP server of this process; the returned function ends it. */
export function tellHeaderNames(): () => void {
  const started = channel("http.server.request.start");
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    delete request.headers[namesHeader];
    request.headers[namesHeader] = Object.keys(request.headers).join(" ");
  };
  started.subscribe(onRequest);
  return () => void started.unsubscribe(onRequest);
}

export function toSenderData(sender: Sender): SenderData {
  const { auth, mirrorsParams } = sender;
  const names = sender.header?.(namesHeader)?.split(" ") ?? [];
  const found = names.map((name) => [name, sender.header?.(name)] as const);
  const headers = sender.header && Object.fromEntries(found.filter(([, value]) => value !== undefined));
  return {
    auth,
    mirrorsParams,
    headers: headers as SenderData["headers"],
    canDisconnect: sender.disconnect !== undefined,
  };
}
