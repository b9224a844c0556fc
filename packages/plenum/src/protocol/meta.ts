// `_meta`: the keys MCP itself uses, the grammar of keys, which prefixes are reserved, and trace context.
// Specification: basic/index § _meta.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Revision } from "./revisions.ts";

/** The keys MCP itself puts into `_meta`. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

// Labels joined by dots and a slash, all of it optional; then a name, which may be empty behind a prefix or without.
const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const keyForm = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`);

/** Whether a `_meta` key follows the grammar. */
export function isMetaKey(key: string): boolean {
  return keyForm.test(key);
}

function isOurs(label: string | undefined): boolean {
  return label === "modelcontextprotocol" || label === "mcp";
}

function labelsOf(key: string): string[] {
  return key.includes("/") ? (key.split("/", 1)[0] as string).split(".") : [];
}

/** Whether the key belongs to MCP: in 2025-06-18 any label of its prefix but the last decides, from 2025-11-25 the second. */
export function isReservedMetaKey(key: string, revision: Revision): boolean {
  const labels = labelsOf(key);
  return revision <= "2025-06-18" ? labels.slice(0, -1).some(isOurs) : isOurs(labels[1]);
}

/** For `_meta` of one's own. Throws a TypeError for a key that breaks the grammar or belongs to MCP. */
export function assertOwnMeta(meta: JsonObject | undefined, what: string): void {
  for (const key of Object.keys(meta ?? {})) {
    // By either rule: the key goes to peers of all revisions.
    const labels = labelsOf(key);
    if (isOurs(labels[1]) || labels.slice(0, -1).some(isOurs)) {
      throw new TypeError(`${what}: _meta key "${key}" is reserved for MCP`);
    }
    if (!isMetaKey(key)) throw new TypeError(`${what}: _meta key "${key}" is not of the form name or com.example/name`);
  }
}

/** The identifier of an extension: a `_meta` key with both a prefix and a name. Throws a TypeError for another. */
export function assertExtensionId(id: string): void {
  if (!isMetaKey(id) || !/.\/./.test(id)) throw new TypeError(`extension "${id}" is not of the form com.example/name`);
}

const traceForms: { readonly [key: string]: RegExp } = {
  traceparent: /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/,
  tracestate: /^[\x20-\x7e\t]{0,8192}$/,
  baggage: /^[\x20-\x7e\t]{0,8192}$/,
};

/** The W3C trace context in `_meta`, without members that break their format: they are another party's, and hostile. */
export function traceContextOf(meta: JsonObject): { readonly [key: string]: string } {
  const found: { [key: string]: string } = {};
  for (const [key, form] of Object.entries(traceForms)) {
    const value = meta[key];
    if (typeof value === "string" && form.test(value)) found[key] = value;
  }
  return found;
}

const none: JsonObject = Object.freeze({});

/** The `_meta` of params or of a result; an empty object when there is none. */
export function metaOf(value: JsonObject | undefined): JsonObject {
  return value && isObject(value._meta) ? value._meta : none;
}
