// Who is at a browser, remembered for a while: a cookie with an id that is new at every login, and what it stands for in the store.
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import type { RouteRequest } from "../route.ts";
import type { Cookies } from "./cookies.ts";
import type { Grants } from "./grant.ts";
import type { User } from "./options.ts";
import { createRecords, randomText } from "./records.ts";
import type { Settings } from "./settings.ts";

export interface Session {
  /** Not what the cookie holds, which only the browser knows. */
  readonly id: string;
  readonly user: User;
  /** When the user logged in, in ms since 1970. */
  readonly at: number;
}

export interface Sessions {
  find(request: RouteRequest): Promise<Session | undefined>;
  /** Ends the one that the browser has, if any. The value of Set-Cookie. */
  open(request: RouteRequest, user: User): Promise<string>;
}

const cookieName = "login";

/** @param grants who ends all that a user has allowed ends the logins with it: else it is allowed again by whoever has one */
export function createSessions(
  store: Store,
  { issuer, loginTtlS: ttlS }: Pick<Settings, "issuer" | "loginTtlS">,
  cookies: Cookies,
  grants: Pick<Grants, "isRevoked">,
): Sessions {
  const records = createRecords<Omit<Session, "id">>(store, issuer, "login");

  async function idIn(request: RouteRequest): Promise<string | undefined> {
    const secret = await cookies.read(request, cookieName);
    return secret === undefined ? undefined : digestOf(secret);
  }

  return {
    async find(request) {
      const id = await idIn(request);
      const held = id === undefined ? undefined : await records.get(id);
      if (id === undefined || !held) return undefined;
      const { user, at } = held.value;
      return (await grants.isRevoked(user.subject, at)) ? undefined : { id, user, at };
    },
    async open(request, { subject, claims }) {
      const before = await idIn(request);
      if (before !== undefined) await records.delete(before);
      const secret = randomText();
      const user: User = { subject, ...(claims && { claims }) };
      await records.put(await digestOf(secret), { user, at: Date.now() }, { ttlS });
      return cookies.write(cookieName, secret, ttlS);
    },
  };
}

const maxSubject = 512;

/** Throws a TypeError where a function of the application's gave something else. */
export function assertUser(given: unknown, of: string): asserts given is User {
  const { subject, claims } = (given ?? {}) as Partial<User>;
  const isGood = typeof subject === "string" && subject !== "" && subject.length <= maxSubject;
  if (!isGood || (claims !== undefined && (typeof claims !== "object" || claims === null)))
    throw new TypeError(
      `${of} must give a user: { subject }, a text of 1 to ${maxSubject} characters, and claims at most`,
    );
}
