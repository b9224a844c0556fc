// Short strings that a peer may carry but not change: HMAC-SHA-256 over a purpose and a payload. The payload can be
// read by everyone; a string sealed for one purpose does not open for another.
import { decodeBase64Url, encodeBase64Url } from "./base64.ts";

export interface Sealer {
  /** `payload.tag`, both base64url. Throws a RangeError when that would be longer than `maxLength`. */
  seal(purpose: string, payload: string): Promise<string>;
  /** The payload, or undefined for whatever this secret did not seal for this purpose. Never throws. */
  open(purpose: string, sealed: string): Promise<string | undefined>;
}

export interface SealerOptions {
  /** Longest sealed string, in characters. Default: 4096. */
  readonly maxLength?: number;
}

/**
 * Without a secret, a random one is used, which no other process knows. Throws a TypeError for a secret under
 * 16 bytes, since a sealed string allows guessing at leisure.
 */
export function createSealer(secret?: Uint8Array | string, { maxLength = 4096 }: SealerOptions = {}): Sealer {
  const raw = Uint8Array.from(typeof secret === "string" ? new TextEncoder().encode(secret) : (secret ?? random()));
  if (raw.length < 16) throw new TypeError(`the secret has ${raw.length} bytes; it needs 16 or more`);

  let imported: Promise<CryptoKey> | undefined;
  function key(): Promise<CryptoKey> {
    imported ??= crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
    return imported;
  }

  return {
    async seal(purpose, payload) {
      const bytes = new TextEncoder().encode(payload);
      // 43 characters of tag and the dot.
      const length = Math.ceil((bytes.length * 4) / 3) + 44;
      if (length > maxLength)
        throw new RangeError(`the sealed string would have ${length} characters; at most ${maxLength} are allowed`);
      const tag = await crypto.subtle.sign("HMAC", await key(), toMessage(purpose, bytes));
      return `${encodeBase64Url(bytes)}.${encodeBase64Url(new Uint8Array(tag))}`;
    },
    async open(purpose, sealed) {
      if (sealed.length > maxLength) return undefined;
      const dot = sealed.indexOf(".");
      if (dot === -1) return undefined;
      const bytes = decodeBase64Url(sealed.slice(0, dot));
      const tag = decodeBase64Url(sealed.slice(dot + 1));
      if (bytes === undefined || tag === undefined) return undefined;
      // `verify` compares the whole tag in constant time.
      const genuine = await crypto.subtle.verify("HMAC", await key(), tag, toMessage(purpose, bytes));
      return genuine ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : undefined;
    },
  };
}

function random(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}

/** The length in front keeps ("ab", "c") apart from ("a", "bc"). */
function toMessage(purpose: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(purpose);
  const message = new Uint8Array(4 + name.length + payload.length);
  new DataView(message.buffer).setUint32(0, name.length);
  message.set(name, 4);
  message.set(payload, 4 + name.length);
  return message;
}
