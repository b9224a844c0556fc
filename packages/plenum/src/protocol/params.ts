// Params of one revision, for whatever both eras and both sides have in common: those of a request read and checked, those of a
// notification fitted and checked.
import type { JsonObject, Request } from "../jsonrpc/message.ts";
import { addMembers } from "../util/members.ts";
import { quote } from "../util/quote.ts";
import { McpError } from "./errors.ts";
import { metaOf } from "./meta.ts";
import type { Method } from "./methods.ts";
import type { Revision } from "./revisions.ts";
import { wireOf } from "./wire/wire.ts";

const none: JsonObject = Object.freeze({});

/**
 * Params without `_meta`, checked against the revision's shape. Throws McpError `invalid_params`.
 * @param copy makes what is in them theirs alone. Default: it is that of the request
 */
export function readParams(
  method: Method | undefined,
  request: Request,
  revision: Revision,
  copy?: (value: unknown) => unknown,
): { params: JsonObject; meta: JsonObject } {
  // Of a method that no revision defines only the `_meta` is known.
  const shape = method?.paramsShape ?? "RequestParams";
  const problem = wireOf(revision).check(shape, request.params ?? none, "params");
  if (problem)
    throw new McpError("invalid_params", `Invalid params for ${method?.name ?? quote(request.method)}: ${problem}`);
  if (!request.params) return { params: none, meta: none };
  if (request.params._meta === undefined && !copy) return { params: request.params, meta: none };
  return { params: addMembers({}, request.params, "_meta", copy), meta: metaOf(request.params) };
}

/** Notification params as the revision may carry them; undefined when it has no such notification. */
export function reviseNotification(method: Method, params: JsonObject, revision: Revision): JsonObject {
  const shape = method.paramsShape;
  const wire = wireOf(revision);
  const fitted = wire.fit(shape, params);
  const problem = wire.check(shape, fitted, "params");
  if (problem) throw new TypeError(`${method.name} is not valid in ${revision}: ${problem}`);
  return fitted;
}
