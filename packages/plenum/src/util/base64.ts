// Base64 (RFC 4648 §4) between bytes and text, with nothing but web standards. Decoding is strict,
// so that every value has exactly one spelling.

/** Base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const native = (bytes as { toBase64?(): string }).toBase64?.();
  if (native !== undefined) return native;
  // A call takes a limited number of arguments; 0x8000 is far below every engine's limit.
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + 0x8000) as unknown as number[]);
  return btoa(binary);
}

/** The bytes, or undefined for a foreign character, wrong padding, or bits that are lost at the end. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64(text)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Whether `decodeBase64` would succeed. */
export function isBase64(text: string): boolean {
  // Looks for one character, so that long text takes no stack. The last one before the padding has bits to spare,
  // which must be zero.
  const end = text.search(/[^A-Za-z\d+/]/);
  return text.length % 4 === 0 && (end < 0 || /^([AQgw]=|[AEIMQUYcgkosw048])=$/.test(text.slice(end - 1)));
}
