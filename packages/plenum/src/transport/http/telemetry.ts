// Spans of OpenTelemetry for what is served over HTTP: with the API that was given, or with the application's own as soon as it
// is known whether there is one.
import type { Endpoint } from "../../protocol/endpoint.ts";
import { loadTelemetry, type TelemetryApi, traceCalls } from "../../protocol/trace.ts";

/** @param isLooked the application's own API is looked for where none is given */
export function withTelemetry(
  endpoint: Endpoint,
  given: TelemetryApi | false | undefined,
  isLooked: boolean,
): Endpoint {
  if (given) return traceCalls(endpoint, given);
  if (given === false || !isLooked) return endpoint;
  let current = endpoint;
  void loadTelemetry().then((api) => {
    if (api) current = traceCalls(endpoint, api);
  });
  return Object.assign(Object.create(endpoint) as Endpoint, {
    call: ((call) => current.call(call)) satisfies Endpoint["call"],
  });
}
