// How the sessioned era writes results: the fitted result and nothing else around it.
import { isObject, type JsonObject, PreparedJson } from "../../jsonrpc/message.ts";
import type { Description, Result } from "../endpoint.ts";
import type { Method } from "../methods.ts";
import { anyRoot, isStable, reviseResult } from "../revise.ts";
import { factsOf, type Revision } from "../revisions.ts";
import { addRetelling } from "../wire/retell.ts";

const prepared = new WeakMap<Result, Map<Revision, PreparedJson>>();

/** Loaded by the first result that must be wrapped: few tools give structured content that is no object. */
let wrapping: typeof import("./wrap.ts") | undefined;

export async function loadWrapping(): Promise<void> {
  wrapping = await import("./wrap.ts");
}

/** Undefined where `loadWrapping` must come first. */
export function encodeResult(
  method: Method | undefined,
  result: Result,
  revision: Revision,
): JsonObject | PreparedJson | undefined {
  if (!isStable(result)) return revise(method, result, revision);
  const texts = prepared.get(result) ?? new Map<Revision, PreparedJson>();
  const known = texts.get(revision);
  if (known) return known;
  const revised = revise(method, result, revision);
  if (!revised) return undefined;
  const text = new PreparedJson(JSON.stringify(revised));
  prepared.set(result, texts.set(revision, text));
  return text;
}

function revise(method: Method | undefined, result: Result, revision: Revision): Result | undefined {
  addRetelling();
  if (method?.name === "initialize")
    return reviseResult(method, toInitializeResult(result as unknown as Description, revision), revision);
  if (!isWrapped(method?.name, result, revision)) return reviseResult(method, result, revision);
  return wrapping && reviseResult(method, wrapping.wrapStructured(method?.name, result), revision);
}

/** Whether there is structured content, or a schema of some, that the revision carries in an object only. */
function isWrapped(method: string | undefined, result: Result, revision: Revision): boolean {
  if (factsOf(revision).structured !== "object") return false;
  const { structuredContent, tools } = result;
  if (method === "tools/call" && structuredContent !== undefined)
    return !isObject(structuredContent) || anyRoot in result;
  const isBare = ({ outputSchema }: JsonObject): boolean => isObject(outputSchema) && outputSchema.type !== "object";
  return method === "tools/list" && Array.isArray(tools) && tools.some(isBare);
}

function toInitializeResult({ info, capabilities, instructions }: Description, revision: Revision): Result {
  return { protocolVersion: revision, capabilities, serverInfo: info, instructions };
}
