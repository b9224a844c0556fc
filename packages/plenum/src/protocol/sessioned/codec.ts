// How the sessioned era writes results: the fitted result and nothing else around it.
import { type JsonObject, PreparedJson } from "../../jsonrpc/message.ts";
import type { Description, Result } from "../endpoint.ts";
import type { Method } from "../methods.ts";
import { isStable, reviseResult } from "../revise.ts";
import type { Revision } from "../revisions.ts";

const prepared = new WeakMap<Result, Map<Revision, PreparedJson>>();

export function encodeResult(
  method: Method | undefined,
  result: Result,
  revision: Revision,
): JsonObject | PreparedJson {
  if (!isStable(result)) return reviseResult(method, result, revision);
  const texts = prepared.get(result) ?? new Map<Revision, PreparedJson>();
  const known = texts.get(revision);
  if (known) return known;
  const text = new PreparedJson(JSON.stringify(reviseResult(method, result, revision)));
  prepared.set(result, texts.set(revision, text));
  return text;
}

export function toInitializeResult({ info, capabilities, instructions }: Description, revision: Revision): Result {
  return { protocolVersion: revision, capabilities, serverInfo: info, instructions };
}
