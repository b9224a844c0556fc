// Chance that can be repeated: the same seed, the same choices.

export interface Random {
  /** A whole number from 0 up to, not with, the limit. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
  /** True in so many of a hundred cases. */
  percent(share: number): boolean;
}

/** A generator of Lehmer's kind: good enough to choose among attacks. */
export function createRandom(seed: number): Random {
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  const below = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * limit);
  };
  return {
    below,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    percent: (share) => below(100) < share,
  };
}
