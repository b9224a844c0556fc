// OAuth as one value: it finds out who authorizes for a server, gets tokens, keeps them fresh, and gets better ones when a server
// wants more. Specification: basic/authorization.
import { createMemoryStore } from "../../store/memory.ts";
import { createLru } from "../../util/lru.ts";
import { createGuardedFetch, nameOf } from "../guarded-fetch.ts";
import { type Access, createAccess } from "./access.ts";
import type { AuthorizedRequest, Authorizer } from "./authorizer.ts";
import { type Granted, readGranted } from "./granted.ts";
import { assertOptions, type OAuthOptions } from "./oauth-options.ts";
import { createSaved } from "./saved.ts";

/** What is kept in the store is found again: a client of ever new servers only forgets those it has not called for longest. */
const maxServers = 1000;

/** What `auth` of a client takes, and a way to log out. */
export interface OAuthAuthorizer extends Authorizer {
  /**
   * Forgets the tokens for a server, here and in the store: the next request that needs one asks for it anew. Waits for what is
   * under way. Nobody is told: the authorization server still takes them from who has copied them.
   * @param server its address, as it is connected to
   */
  forget(server: string | URL): Promise<void>;
  /**
   * What the store holds for a server, without the tokens; undefined where it holds none. Asks nobody: a token may have been
   * taken back meanwhile.
   * @param server its address, as it is connected to
   */
  granted(server: string | URL): Promise<Granted | undefined>;
}

/** Throws a TypeError for options that make no sense. Nothing is sent before a server wants a token. */
export function oauth(options: OAuthOptions = {}): OAuthAuthorizer {
  assertOptions(options);
  const saved = createSaved(options.store ?? createMemoryStore(), options.dpop);
  const fetch = createGuardedFetch(options);
  const servers = createLru<Access>({ maxEntries: maxServers, maxWeight: maxServers });
  const accessTo = ({ server }: Pick<AuthorizedRequest, "server">): Access => {
    const key = nameOf(server);
    const known = servers.get(key);
    if (known) return known;
    const access = createAccess(server, { options, saved, fetch });
    servers.set(key, access, 1);
    return access;
  };
  const extension = options.grant?.extension;
  return {
    ...(extension !== undefined && { extensions: { [extension]: {} } }),
    authorize: (request) => accessTo(request).authorize(request),
    refused: (request, answer, sent) => accessTo(request).refused(request, answer, sent),
    forget: async (server) => accessTo({ server: new URL(server) }).forget(),
    granted: async (server) => readGranted(saved, nameOf(new URL(server))),
  };
}
