// Short strings that a peer may carry but not change: HMAC-SHA-256 over a purpose and a payload. The payload can be
// read by everyone; a string sealed for one purpose does not open for another.

export interface Sealer {
  /** `tag.payload`, the tag in hexadecimal. */
  seal(purpose: string, payload: string): Promise<string>;
  /** The payload, or undefined for whatever no secret of ours sealed for this purpose. Never throws. */
  open(purpose: string, sealed: string): Promise<string | undefined>;
}

/**
 * The first secret seals, all open.
 * @param maxLength of a string that is looked at, in characters: longer ones do not open
 */
export function createSealer(secrets: readonly Uint8Array<ArrayBuffer>[], maxLength = 4096): Sealer {
  const imported: Promise<CryptoKey>[] = [];

  async function sign(at: number, purpose: string, payload: string): Promise<string> {
    imported[at] ??= crypto.subtle.importKey(
      "raw",
      secrets[at] as Uint8Array<ArrayBuffer>,
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    // As JSON, which keeps ("ab", "c") apart from ("a", "bc"), and halves of surrogate pairs from one another.
    const tag = await crypto.subtle.sign("HMAC", await imported[at], toBytes(JSON.stringify([purpose, payload])));
    const hex = Array.from(new Uint8Array(tag), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex}.${payload}`;
  }

  return {
    seal: (purpose, payload) => sign(0, purpose, payload),
    async open(purpose, sealed) {
      if (sealed.length > maxLength) return undefined;
      const payload = sealed.slice(65);
      for (const at of secrets.keys()) if (isSame(await sign(at, purpose, payload), sealed)) return payload;
      return undefined;
    },
  };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** In time that does not tell where the first difference is. */
export function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
