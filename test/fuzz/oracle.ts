// What a message deserves, by the rules of JSON-RPC and MCP, written a second time and independently of the source.
import type { Revision } from "plenum";
import { methodsIn, modern, type Obj, prefix } from "./target.ts";

export type Verdict =
  | { readonly kind: "silence" }
  /** Exactly this error; without an id when it has none. */
  | { readonly kind: "error"; readonly code: number; readonly id?: unknown }
  /** Exactly one answer with this id: a result where one is possible, or an error with one of the codes. */
  | { readonly kind: "answer"; readonly id: unknown; readonly codes: readonly number[]; readonly request: Obj }
  /** One array with what its members deserve, or nothing when that is nothing. */
  | { readonly kind: "batch"; readonly members: readonly Verdict[] };

const silence: Verdict = { kind: "silence" };
const deepest = 128;

export function isObject(value: unknown): value is Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param session the revision of the open session, if there is one */
export function judgeText(text: string, session: Revision | undefined): Verdict {
  if (depthOf(text) > deepest) return { kind: "error", code: -32600 };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "error", code: -32700 };
  }
  if (!Array.isArray(value)) return judgeMessage(value, session);
  if (value.length === 0 || value.length > 1000 || session !== "2025-03-26") return { kind: "error", code: -32600 };
  const members = value.map((member) => judgeMessage(member, session));
  const opens = members.some((member) => member.kind === "answer" && member.request.method === "initialize");
  const calls = value.filter((member) => isCall(member)).length;
  const responses = value.filter((member) => isResponse(member)).length;
  if (opens || (calls > 0 && responses > 0)) return { kind: "error", code: -32600 };
  return { kind: "batch", members };
}

function judgeMessage(value: unknown, session: Revision | undefined): Verdict {
  if (!isObject(value)) return { kind: "error", code: -32600 };
  const hasId = Object.hasOwn(value, "id");
  const hasMethod = Object.hasOwn(value, "method");
  const answers = Object.hasOwn(value, "result") || Object.hasOwn(value, "error");
  // Whatever looks like a response or a notification is never answered.
  if (!hasMethod && answers) return silence;
  if (hasMethod && !hasId) return silence;
  const id = isId(value.id) ? { id: value.id } : {};
  if (!isCall(value)) return { kind: "error", code: -32600, ...id };
  return judgeRequest(value, session);
}

function judgeRequest(request: Obj, session: Revision | undefined): Verdict {
  const { id, method, params } = request as { id: unknown; method: string; params?: Obj };
  const error = (code: number): Verdict => ({ kind: "error", code, id });
  const meta = isObject(params?._meta) ? params._meta : {};
  const version = `${prefix}protocolVersion`;
  const capabilities = `${prefix}clientCapabilities`;
  const stateless = methodsIn(modern).filter((name) => !methodsIn("2025-11-25").includes(name));
  if (Object.hasOwn(meta, version) || Object.hasOwn(meta, capabilities) || stateless.includes(method)) {
    if (typeof meta[version] !== "string") return error(-32602);
    if (meta[version] !== modern) return error(-32022);
    if (!isObject(meta[capabilities])) return error(-32602);
    if (!methodsIn(modern).includes(method)) return error(-32601);
    return { kind: "answer", id, codes: [-32602], request };
  }
  if (method === "initialize") {
    return session ? error(-32600) : { kind: "answer", id, codes: [-32602], request };
  }
  if (!session && method !== "ping") return error(-32602);
  if (!methodsIn(session ?? "2025-11-25").includes(method)) return error(-32601);
  const reads = method === "resources/read" || method === "resources/subscribe";
  return { kind: "answer", id, codes: reads ? [-32602, -32002] : [-32602], request };
}

function isId(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/** A request or a notification that is right in its envelope. */
function isCall(value: unknown): boolean {
  if (!isObject(value) || value.jsonrpc !== "2.0" || typeof value.method !== "string") return false;
  if (Object.hasOwn(value, "id") && !isId(value.id)) return false;
  if (Object.hasOwn(value, "result") || Object.hasOwn(value, "error")) return false;
  return !Object.hasOwn(value, "params") || isObject(value.params);
}

function isResponse(value: unknown): boolean {
  if (!isObject(value) || value.jsonrpc !== "2.0" || Object.hasOwn(value, "method")) return false;
  const { id, error, result } = value;
  if (Object.hasOwn(value, "result")) return isId(id) && isObject(result) && !Object.hasOwn(value, "error");
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== "string") return false;
  return id === undefined || id === null || isId(id);
}

/** The deepest nesting of brackets outside strings, whether the text is JSON or not. */
function depthOf(text: string): number {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/gs, "").replace(/".*$/s, "");
  let depth = 0;
  let most = 0;
  for (const character of outside) {
    if (character === "{" || character === "[") most = Math.max(most, ++depth);
    else if (character === "}" || character === "]") depth--;
  }
  return most;
}
