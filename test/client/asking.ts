// What the suites about questions have in common: which revisions have which, what a client declared and answered.
import { type Client, type ElicitResult, type JsonObject, type Revision, revisions, type SampleResult } from "plenum";
import type { Traffic } from "./traffic.ts";

export const withForms: readonly Revision[] = revisions.filter((revision) => revision >= "2025-06-18");
export const withPages: readonly Revision[] = revisions.filter((revision) => revision >= "2025-11-25");
export const withoutForms: readonly Revision[] = revisions.filter((revision) => revision < "2025-06-18");

export const accept = (content: JsonObject): ElicitResult => ({ action: "accept", content });

/** How often something happened on the server's side. */
export async function seen(client: Client): Promise<JsonObject> {
  return JSON.parse((await client.callTool("seen")).text);
}

/** What the client declared: in the handshake, or on each request. */
export function declared(traffic: Traffic): unknown[] {
  const opening = traffic.sent("initialize");
  if (opening.length > 0) return opening.map(({ params }) => params?.capabilities);
  return traffic
    .sent()
    .filter(({ id }) => id !== undefined)
    .map(({ params }) => Object(params?._meta)["io.modelcontextprotocol/clientCapabilities"]);
}

/** What the client answered to the server's questions, in the order in which they were put. */
export function answers(traffic: Traffic): unknown[] {
  return traffic.sent().flatMap(({ method, result, params }) => {
    if (method === undefined && result) return [result];
    return params?.inputResponses ? Object.values(params.inputResponses) : [];
  });
}

/** A model that has little to say. */
export function onSample(): SampleResult {
  return { role: "assistant", content: { type: "text", text: "-" }, model: "dummy-1" };
}
