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
  const raw = Uint8Array.from(
    typeof secret === "string" ? toBytes(secret) : (secret ?? crypto.getRandomValues(new Uint8Array(32))),
  );
  if (raw.length < 16) throw new TypeError(`the secret has ${raw.length} bytes; it needs 16 or more`);

  let imported: Promise<CryptoKey> | undefined;
  function key(): Promise<CryptoKey> {
    imported ??= crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
    return imported;
  }

  return {
    async seal(purpose, payload) {
      const body = encodeBase64Url(toBytes(payload));
      // 43 characters of tag and the dot.
      const length = body.length + 44;
      if (length > maxLength)
        throw new RangeError(`the sealed string would have ${length} characters; at most ${maxLength} are allowed`);
      const tag = await crypto.subtle.sign("HMAC", await key(), toMessage(purpose, body));
      return `${body}.${encodeBase64Url(new Uint8Array(tag))}`;
    },
    async open(purpose, sealed) {
      const dot = sealed.indexOf(".");
      if (dot < 0 || sealed.length > maxLength) return undefined;
      const body = sealed.slice(0, dot);
      const tag = decodeBase64Url(sealed.slice(dot + 1));
      // `verify` compares the whole tag in constant time.
      const genuine = tag && (await crypto.subtle.verify("HMAC", await key(), tag, toMessage(purpose, body)));
      return genuine ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(decodeBase64Url(body)) : undefined;
    },
  };
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** As JSON, which keeps ("ab", "c") apart from ("a", "bc"). */
function toMessage(purpose: string, body: string): Uint8Array<ArrayBuffer> {
  return toBytes(JSON.stringify([purpose, body]));
}
