// Reading capabilities: one path grammar ("resources.subscribe") for the method table, the gates and the asks.
import { isObject } from "../jsonrpc/message.ts";
import type { ClientCapabilities } from "./model.ts";

/**
 * Whether the path is declared: every step is an object, and a leaf may be `true`. An absent one, `false` or a
 * number is not.
 */
export function hasCapability(capabilities: { readonly [key: string]: unknown }, path: string): boolean {
  const dot = path.indexOf(".");
  const step = dot < 0 ? path : path.slice(0, dot);
  const at = Object.hasOwn(capabilities, step) ? capabilities[step] : undefined;
  return isObject(at) ? dot < 0 || hasCapability(at, path.slice(dot + 1)) : at === true && dot < 0;
}

/**
 * Whether a client declared what an ask takes. An `elicitation` that names no mode means forms: that is all there was
 * when the capability was introduced.
 */
export function clientHas(capabilities: ClientCapabilities, path: string): boolean {
  if (path !== "elicitation.form") return hasCapability(capabilities, path);
  return (
    hasCapability(capabilities, path) ||
    (hasCapability(capabilities, "elicitation") && !hasCapability(capabilities, "elicitation.url"))
  );
}

/** The smallest capabilities that contain the path: what -32021 tells the client to declare. */
export function toCapabilities(path: string): ClientCapabilities {
  return path.split(".").reduceRight<{ [key: string]: unknown }>((inner, step) => ({ [step]: inner }), {});
}
