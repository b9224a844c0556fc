// Bytes that come in pieces, until they are whole. A piece takes two hundred bytes beside its own, and a peer can make each of
// them one byte long: so many are joined, and what is kept is hardly more than what has come.

/** Pieces that are kept apart. */
const maxApart = 1000;

export class Pieces {
  /** How many bytes there are. */
  size = 0;
  readonly #parts: Uint8Array[] = [];
  /** Of the parts, how many were joined. */
  #joined = 0;

  add(piece: Uint8Array): void {
    this.size += piece.byteLength;
    if (this.#parts.push(piece) - this.#joined === maxApart)
      this.#joined = this.#parts.push(join(this.#parts.splice(this.#joined)));
  }

  whole(): Uint8Array {
    const [only] = this.#parts;
    return only && this.#parts.length === 1 ? only : join(this.#parts);
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
