// The secrets that sealing takes, as bytes.

export type Secret = string | Uint8Array;

/**
 * The secrets as bytes, which what their owner does with them later does not change. Without any, one is made that no
 * other process knows. Throws a TypeError for one under 16 bytes, since what is sealed allows guessing at leisure.
 */
export function toSecrets(given?: Secret | readonly Secret[]): readonly Uint8Array<ArrayBuffer>[] {
  const all = given === undefined ? [crypto.getRandomValues(new Uint8Array(32))] : [given].flat();
  return (all.length > 0 ? all : [""]).map((secret) => {
    const raw = typeof secret === "string" ? new TextEncoder().encode(secret) : Uint8Array.from(secret as Uint8Array);
    if (raw.length < 16) throw new TypeError("the secret needs 16 bytes or more");
    return raw;
  });
}
