// Clients that have registered themselves, as they are kept: so many and no more. Anybody can register, so that of too many those
// go first that never got a token, the oldest of them first.
import type { Store } from "../../store/store.ts";
import type { Client } from "./client.ts";
import { AuthFault } from "./fault.ts";
import { changeRecord, createRecords } from "./records.ts";
import type { Settings } from "./settings.ts";

export interface Registered {
  get(id: string): Promise<Client | undefined>;
  /** Rejects with an AuthFault where there is no room. */
  add(client: Client): Promise<void>;
  /** It got a token: it stays. */
  keep(client: Client): Promise<void>;
}

interface Kept {
  readonly client: Client;
  /** When it last got a token, in seconds since 1970, or a day before the next. */
  readonly usedAt?: number;
}

/** All of them, oldest first; the store cannot list what it has. */
interface Index {
  readonly entries: readonly Entry[];
}

type Entry = readonly [id: string, seenAt: number, isUsed: 0 | 1];

const dayS = 86_400;
/** For one that never got a token: who registers is about to ask for one. */
const freshTtlS = dayS;

export function createRegistered(
  store: Store,
  { issuer, registration, refreshTokenTtlS }: Pick<Settings, "issuer" | "registration" | "refreshTokenTtlS">,
): Registered {
  const clients = createRecords<Kept>(store, issuer, "client");
  const indexes = createRecords<Index>(store, issuer, "clients");
  // Longer than whatever it was given, by the day within which its last use is not written down.
  const usedTtlS = Math.max(3 * refreshTokenTtlS, 90 * dayS);
  const max = registration?.max ?? 0;

  const isThere = ([, seenAt, isUsed]: Entry, now: number): boolean => seenAt + (isUsed ? usedTtlS : freshTtlS) > now;

  return {
    get: async (id) => (await clients.get(id))?.value.client,

    async add(client) {
      let gone: string[] = [];
      await changeRecord(
        indexes,
        "all",
        (index) => {
          const now = nowS();
          const there = (index?.entries ?? []).filter((entry) => isThere(entry, now));
          const fresh = there.filter(([, , isUsed]) => !isUsed);
          const excess = there.length + 1 - max;
          if (excess > fresh.length) throw full();
          gone = fresh.slice(0, Math.max(0, excess)).map(([id]) => id);
          const added: Entry = [client.id, now, 0];
          return { entries: [...there.filter(([id]) => !gone.includes(id)), added] };
        },
        usedTtlS,
      );
      await clients.put(client.id, { client }, { over: null, ttlS: freshTtlS });
      for (const id of gone) await clients.delete(id);
    },

    async keep({ id, origin }) {
      if (origin !== "registered") return;
      const held = await clients.get(id);
      const now = nowS();
      if (!held || now - (held.value.usedAt ?? 0) < dayS) return;
      // Not where it has just been changed: whoever did that has done this as well, or it had to go.
      if (!(await clients.put(id, { ...held.value, usedAt: now }, { over: held, ttlS: usedTtlS }))) return;
      const entry: Entry = [id, now, 1];
      await changeRecord(
        indexes,
        "all",
        (index) => ({ entries: [...(index?.entries ?? []).filter(([one]) => one !== id), entry] }),
        usedTtlS,
      );
    },
  };
}

function full(): AuthFault {
  return new AuthFault("temporarily_unavailable", "There is no room for more clients", 503, { "retry-after": "3600" });
}

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}
