// Base64 and base64url (RFC 4648 §4, §5) between bytes and text, with nothing but web standards. Decoding is strict,
// so that every value has exactly one spelling.

const standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const urlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const standardValues = toValues(standard);
const urlSafeValues = toValues(urlSafe);

/** Base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const native: unknown = Reflect.get(bytes, "toBase64");
  if (typeof native === "function") return String(native.call(bytes));
  // A call takes a limited number of arguments; 0x8000 is far below every engine's limit.
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + 0x8000) as unknown as number[]);
  return btoa(binary);
}

/** The bytes, or undefined for a foreign character, wrong padding, or bits that are lost at the end. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0) return undefined;
  return decode(text, text.length - paddingOf(text), standardValues);
}

/** Base64url without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** As `decodeBase64`, for base64url without padding. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  return decode(text, text.length, urlSafeValues);
}

/** Whether `decodeBase64` would succeed. Allocates nothing. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  const length = text.length - paddingOf(text);
  for (let at = 0; at < length; at++) if (valueAt(text, at, standardValues) === foreign) return false;
  return endsClean(text, length, standardValues);
}

const foreign = 0xff;

function toValues(alphabet: string): Uint8Array {
  const values = new Uint8Array(128).fill(0xff);
  for (let index = 0; index < alphabet.length; index++) values[alphabet.charCodeAt(index)] = index;
  return values;
}

function valueAt(text: string, at: number, values: Uint8Array): number {
  return values[text.charCodeAt(at)] ?? foreign;
}

function paddingOf(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}

/** Whether the last, partial group of four holds whole bytes and nothing more. */
function endsClean(text: string, length: number, values: Uint8Array): boolean {
  const rest = length % 4;
  if (rest === 0) return true;
  if (rest === 1) return false;
  return (valueAt(text, length - 1, values) & (rest === 2 ? 0b1111 : 0b11)) === 0;
}

function decode(text: string, length: number, values: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (!endsClean(text, length, values)) return undefined;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let written = 0;
  let buffer = 0;
  let bits = 0;
  for (let at = 0; at < length; at++) {
    const value = valueAt(text, at, values);
    if (value === foreign) return undefined;
    buffer = ((buffer << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[written++] = buffer >> bits;
    }
  }
  return bytes;
}
