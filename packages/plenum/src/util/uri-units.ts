// A URI as a row of numbers that can be compared one by one: percent-encoding is decoded, strictly, while an
// encoded delimiter stays distinct from a plain one (RFC 3986 §6.2.2).

/**
 * One number per character: twice the code point, plus one where an ASCII character other than the unreserved ones
 * was percent-encoded. Undefined for malformed percent-encoding, invalid UTF-8, half a surrogate pair, and raw
 * control characters.
 */
export function toUnits(text: string): Int32Array | undefined {
  const units = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    if (code === percent) {
      const octet = octetAt(text, at);
      const length = sequenceLength(octet);
      const decoded = length === 1 ? octet : decodeSequence(text, at, octet, length);
      if (decoded < 0) return undefined;
      units[count++] = decoded * 2 + (decoded < 0x80 && !isUnreserved(decoded) ? 1 : 0);
      at += 3 * length;
      continue;
    }
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) return undefined;
    units[count++] = code * 2;
    at += code > 0xffff ? 2 : 1;
  }
  return units.subarray(0, count);
}

/** The text of the units from `start` up to `end`. */
export function fromUnits(units: Int32Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCodePoint((units[at] ?? 0) >> 1);
  return text;
}

/** The unit of a plain ASCII character. */
export function toUnit(char: string): number {
  return char.charCodeAt(0) * 2;
}

const percent = 0x25;

/** The octet of the triplet at this place, or -1. */
function octetAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== percent) return -1;
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** How many octets a UTF-8 sequence has by its first one; 0 for an octet that starts none, 1 for none at all (-1). */
function sequenceLength(octet: number): number {
  if (octet >= 0xc2 && octet <= 0xdf) return 2;
  if (octet >= 0xe0 && octet <= 0xef) return 3;
  if (octet >= 0xf0 && octet <= 0xf4) return 4;
  return octet < 0x80 ? 1 : 0;
}

/** The code point of a sequence of more than one octet, or -1 (truncated, overlong, surrogate, out of range). */
function decodeSequence(text: string, at: number, first: number, length: number): number {
  if (length === 0) return -1;
  let code = first & (0xff >> (length + 1));
  for (let index = 1; index < length; index++) {
    const octet = octetAt(text, at + 3 * index);
    if ((octet & 0xc0) !== 0x80) return -1;
    code = code * 64 + (octet & 0x3f);
  }
  if (length === 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) return -1;
  if (length === 4 && (code < 0x10000 || code > 0x10ffff)) return -1;
  return code;
}

function isUnreserved(code: number): boolean {
  const lower = code | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x5f ||
    code === 0x7e
  );
}
