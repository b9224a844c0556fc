// Short strings that a peer may carry but not change: HMAC-SHA-256 over a purpose and a payload. The payload can be
// read by everyone; a string sealed for one purpose does not open for another.

export interface Sealer {
  /** `tag.payload`, the tag in hexadecimal. */
  seal(purpose: string, payload: string): Promise<string>;
  /** The payload, or undefined for whatever this secret did not seal for this purpose. Never throws. */
  open(purpose: string, sealed: string): Promise<string | undefined>;
}

/**
 * Without a secret, a random one is used, which no other process knows. Throws a TypeError for a secret under
 * 16 bytes, since a sealed string allows guessing at leisure.
 * @param maxLength of a string that is looked at, in characters: longer ones do not open
 */
export function createSealer(secret?: Uint8Array | string, maxLength = 4096): Sealer {
  const raw = typeof secret === "string" ? toBytes(secret) : (secret ?? crypto.getRandomValues(new Uint8Array(32)));
  if (raw.length < 16) throw new TypeError("the secret needs 16 bytes or more");
  // A copy: what its owner does with the bytes later is of no concern.
  const copy = Uint8Array.from(raw);
  let imported: Promise<CryptoKey> | undefined;

  async function sign(purpose: string, payload: string): Promise<string> {
    imported ??= crypto.subtle.importKey("raw", copy, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    // As JSON, which keeps ("ab", "c") apart from ("a", "bc"), and halves of surrogate pairs from one another.
    const tag = await crypto.subtle.sign("HMAC", await imported, toBytes(JSON.stringify([purpose, payload])));
    const hex = Array.from(new Uint8Array(tag), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex}.${payload}`;
  }

  return {
    seal: sign,
    async open(purpose, sealed) {
      if (sealed.length > maxLength) return undefined;
      const payload = sealed.slice(65);
      return isSame(await sign(purpose, payload), sealed) ? payload : undefined;
    },
  };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** In time that does not tell where the first difference is. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
