// Base64 for URLs (RFC 4648 §5), without padding. Decoding is strict: every value has exactly one spelling.
import { decodeBase64, encodeBase64 } from "./base64.ts";

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes, or undefined for whatever `encodeBase64Url` does not write. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (/[+/=]/.test(text)) return undefined;
  const padding = "=".repeat(-text.length & 3);
  return decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}
