// Requests of the stateless era, each on a stream of its own.
import type { Endpoint } from "../endpoint.ts";
import { type EachServing, type ServeOptions, toCommon } from "../serving.ts";
import { openStateless } from "./open.ts";

/** Serves the stateless era where every request has a stream of its own. */
export function serveEach(endpoint: Endpoint, options: ServeOptions = {}): EachServing {
  const stateless = openStateless({ ...toCommon(endpoint, options), oneStream: false });
  const unwatch = endpoint.watch((change) => {
    if (change.kind !== "closing") return stateless.changed(change);
    unwatch();
    stateless.close();
  });
  return {
    request: (request, exchange) => stateless.request(request, exchange),
    close() {
      unwatch();
      stateless.close();
    },
  };
}
