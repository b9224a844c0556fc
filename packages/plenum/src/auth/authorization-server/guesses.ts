// Guesses at a client's secret: so many in a minute, and then none is looked at for a while, the right one neither. Whoever shows
// no secret is not kept out by who guesses at one. RFC 6749 § 2.3.1. Each process counts for itself.
import { createLru } from "../../util/lru.ts";
import { AuthFault } from "./fault.ts";

export interface Guesses {
  /** Throws an AuthFault where there were too many for this client. */
  assertFew(clientId: string): void;
  /** One was wrong. */
  add(clientId: string): void;
}

const windowMs = 60_000;

export function createGuesses(perMinute = 60): Guesses {
  const counted = createLru<{ readonly since: number; readonly count: number }>({
    maxEntries: 10_000,
    maxWeight: 10_000,
  });
  const countOf = (id: string, now: number): { readonly since: number; readonly count: number } => {
    const known = counted.get(id);
    return known && now - known.since < windowMs ? known : { since: now, count: 0 };
  };
  return {
    assertFew(id) {
      const { since, count } = countOf(id, Date.now());
      if (count < perMinute) return;
      const waitS = Math.ceil((since + windowMs - Date.now()) / 1000);
      throw new AuthFault("temporarily_unavailable", "Too many wrong secrets were shown for this client", 429, {
        "retry-after": String(Math.max(1, waitS)),
      });
    },
    add(id) {
      const { since, count } = countOf(id, Date.now());
      counted.set(id, { since, count: count + 1 }, 1);
    },
  };
}
