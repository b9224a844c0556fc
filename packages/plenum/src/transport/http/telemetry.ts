// Spans of OpenTelemetry for what is served over HTTP: with the API that was given, or with the application's own as soon as it
// is known whether there is one. Loaded only where there may be one.
import type { Endpoint } from "../../protocol/endpoint.ts";
import type { TelemetryApi } from "../../protocol/trace.ts";

/** @param isLooked the application's own API is looked for where none is given */
export function withTelemetry(
  endpoint: Endpoint,
  given: TelemetryApi | false | undefined,
  isLooked: boolean,
): Endpoint {
  if (given === false || !(given || isLooked)) return endpoint;
  // No call goes untraced where an API was given; where one is looked for, nobody waits for it.
  let current: Endpoint | undefined = given ? undefined : endpoint;
  const loading = import("../../protocol/trace.ts").then(async ({ loadTelemetry, traceCalls }) => {
    const api = given || (await loadTelemetry());
    current = api ? traceCalls(endpoint, api) : endpoint;
    return current;
  });
  loading.catch(() => {});
  return Object.assign(Object.create(endpoint) as Endpoint, {
    call: ((call) =>
      current ? current.call(call) : loading.then((traced) => traced.call(call))) satisfies Endpoint["call"],
  });
}
