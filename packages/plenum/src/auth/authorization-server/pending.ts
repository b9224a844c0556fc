// Authorization requests that wait for their user: each bound to one browser, answered once, and gone after ten minutes.
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import { createRecords, type Held, randomText } from "./records.ts";

/** What a client asks for, found to be good. */
export interface Asked {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The client's, as it came. */
  readonly state?: string | undefined;
  readonly scopes: readonly string[];
  readonly resource: string;
  /** S256. */
  readonly codeChallenge: string;
  /** What the client wants to be shown: "none", "login", "consent". */
  readonly prompts: readonly string[];
}

export interface Pending {
  readonly id: string;
  readonly asked: Asked;
  /** In ms since 1970. */
  readonly at: number;
  /** The user has just logged in for it, with a form. */
  readonly isFresh: boolean;
}

export interface Pendings {
  /** @param browser the id in its cookie */
  open(asked: Asked, browser: string): Promise<Pending>;
  /** Undefined for what is not known any more, was answered, or belongs to another browser. */
  find(id: string, browser: string): Promise<Pending | undefined>;
  /** Says that the user has just logged in for it. */
  freshen(id: string): Promise<void>;
  /** Whether it is the caller's to answer: true once. */
  take(id: string): Promise<boolean>;
}

interface Open extends Omit<Pending, "id"> {
  /** The digest of its id. */
  readonly browser: string;
}

type Kept = Open | "answered";

export const pendingS = 600;

export function createPendings(store: Store, issuer: string): Pendings {
  const records = createRecords<Kept>(store, issuer, "request");

  async function findOpen(id: string): Promise<Held<Open> | undefined> {
    const held = /^[\w-]{43}$/.test(id) ? await records.get(id) : undefined;
    return held && held.value !== "answered" ? (held as Held<Open>) : undefined;
  }

  /** For as long as it had left. */
  function replace(id: string, held: Held<Open>, value: Kept): Promise<boolean> {
    const leftS = held.value.at / 1000 + pendingS - Date.now() / 1000;
    return records.put(id, value, { over: held, ttlS: Math.max(leftS, 0.001) });
  }

  return {
    async open(asked, browser) {
      const id = randomText();
      const value: Open = { asked, at: Date.now(), isFresh: false, browser: await digestOf(browser) };
      await records.put(id, value, { ttlS: pendingS });
      return { id, asked, at: value.at, isFresh: false };
    },
    async find(id, browser) {
      const held = await findOpen(id);
      if (held?.value.browser !== (await digestOf(browser))) return undefined;
      const { asked, at, isFresh } = held.value;
      return { id, asked, at, isFresh };
    },
    async freshen(id) {
      const held = await findOpen(id);
      if (held) await replace(id, held, { ...held.value, isFresh: true });
    },
    async take(id) {
      const held = await findOpen(id);
      return held !== undefined && replace(id, held, "answered");
    },
  };
}
