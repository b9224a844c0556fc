// Random choices that a seed repeats: whoever knows the seed gets the same ones.

export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both of them included. */
  integer(min: number, max: number): number;
  /** One of them. */
  pick<T>(list: readonly T[]): T;
  /** True this often: 0 is never, 1 always. */
  chance(share: number): boolean;
}

/** @param words what tells one sequence from another: a seed, a name, a number */
export function createRandom(...words: readonly (string | number)[]): Random {
  let state = hash(words.join("\n"));
  // Mulberry32: short, and good enough to find faults with.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick: (list) => list[integer(0, list.length - 1)] as (typeof list)[number],
    chance: (share) => next() < share,
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
