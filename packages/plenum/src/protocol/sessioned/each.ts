// Requests of the sessioned era, each by itself.
import type { Endpoint } from "../endpoint.ts";
import type { Revision } from "../revisions.ts";
import { type EachServing, noConnection, type ServeOptions, toCommon } from "../serving.ts";
import { Sessioned } from "./open.ts";

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
