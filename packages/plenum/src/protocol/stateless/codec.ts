// How the stateless era reads a request's `_meta` and writes results: `resultType` on each, the server's name in
// `_meta`, cache hints where the method has them. Specification: basic/index § _meta, server/utilities/caching.
import { isObject, type JsonObject, PreparedJson } from "../../jsonrpc/message.ts";
import { toFixed } from "../../util/fixed.ts";
import { addMembers } from "../../util/members.ts";
import type { Caller, Description, Endpoint, Result } from "../endpoint.ts";
import { metaKeys, metaOf } from "../meta.ts";
import type { Method } from "../methods.ts";
import type { ClientCapabilities, Implementation } from "../model.ts";
import { isStable, reviseResult } from "../revise.ts";
import type { Revision } from "../revisions.ts";

/** Who calls, as the request says; undefined where it does not. */
export function readCaller(meta: JsonObject, revision: Revision): Caller | undefined {
  const capabilities = meta[metaKeys.clientCapabilities];
  if (!isObject(capabilities)) return undefined;
  return {
    capabilities: capabilities as ClientCapabilities,
    info: meta[metaKeys.clientInfo] as Implementation | undefined,
    revision,
  };
}

const prepared = new WeakMap<Result, { readonly info: Implementation | undefined; readonly text: PreparedJson }>();

export function encodeResult(
  method: Method | undefined,
  result: Result,
  revision: Revision,
  endpoint: Endpoint,
): JsonObject | PreparedJson {
  if (!isStable(result)) return dress(method, result, revision, endpoint);
  const { info } = endpoint.describe();
  const kept = prepared.get(result);
  if (kept?.info === info) return kept.text;
  const text = new PreparedJson(JSON.stringify(dress(method, result, revision, endpoint)));
  prepared.set(result, { info, text });
  return text;
}

function dress(method: Method | undefined, result: Result, revision: Revision, endpoint: Endpoint): Result {
  const { info } = endpoint.describe();
  const resultType = result.resultType ?? "complete";
  // A result that says itself how long it may be kept knows better; one that is not final is not kept at all.
  const hints = method?.cached && resultType === "complete" ? endpoint.cacheHints() : undefined;
  const dressed = addMembers({ resultType, ...hints }, result, "resultType");
  dressed._meta = toMeta(result, info);
  return reviseResult(method, dressed, revision);
}

const names = new WeakMap<Implementation, JsonObject>();

/** `_meta` with the server's name. Most results have none of their own: theirs is made once. */
function toMeta(result: Result, info: Implementation): JsonObject {
  if (result._meta !== undefined) return { ...metaOf(result), [metaKeys.serverInfo]: info };
  let meta = names.get(info);
  if (!meta) {
    meta = toFixed({ [metaKeys.serverInfo]: info });
    names.set(info, meta);
  }
  return meta;
}

export function toDiscoverResult({ capabilities, instructions }: Description, supported: readonly Revision[]): Result {
  return { supportedVersions: supported, capabilities, instructions };
}
