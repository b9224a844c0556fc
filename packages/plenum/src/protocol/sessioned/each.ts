// Requests of the sessioned era, each by itself.
import type { Connection } from "../../jsonrpc/connection.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Revision } from "../revisions.ts";
import { type EachServing, type ServeOptions, toCommon } from "../serving.ts";
import { Sessioned } from "./open.ts";

/** For what no revision sends without a session: questions, and changes that nobody asked about. */
const noConnection: Connection = {
  open() {},
  closed: true,
  inFlight: 0,
  request: async () => ({ kind: "lost", cause: undefined }),
  notify() {},
  touch: () => false,
  drop() {},
  hold: () => () => {},
  cancel: () => false,
  close() {},
};

/**
 * Serves a sessioned revision without sessions: a handshake opens nothing, and calls come without one. The client is
 * nobody that can be asked.
 */
export function serveUnbound(endpoint: Endpoint, revision: Revision, options: ServeOptions = {}): EachServing {
  const common = toCommon(endpoint, options);
  return {
    request: (request, exchange) =>
      new Sessioned(common, noConnection, request.method === "initialize" ? undefined : revision).request(
        request,
        exchange,
      ),
    close() {},
  };
}
