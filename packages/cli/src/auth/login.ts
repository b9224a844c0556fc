// What a login takes: OAuth with the tokens of this machine's user, and the client that a server was given by hand.
// Loaded by a server that says no, or by one that there is a login for.
import { type OAuthAuthorizer, oauth, type Redirect } from "plenum/auth/client";
import { fileTokens } from "plenum/auth/node";
import { resolveEnv } from "../secrets/references.ts";
import { tokenPath } from "./token-file.ts";

/** A client that the authorization server knows already: `--client-id`, `--client-secret`. */
export interface KnownClient {
  readonly id: string;
  /** As it was typed: a reference stays one. */
  readonly secret?: string | undefined;
}

export interface LoginOptions {
  /** The server's URL. */
  readonly url: string;
  /** Undefined: nobody is to log in, and the client does not matter. */
  readonly redirect?: Redirect | undefined;
  /** In place of those that the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Default: the one of the last login there. */
  readonly client?: KnownClient | undefined;
}

export interface Login extends OAuthAuthorizer {
  /** From now on this client is the one of the server. */
  keepClient(): Promise<void>;
  /** Forgets the client that was given by hand. */
  forgetClient(): Promise<void>;
}

export async function openLogin({ url, redirect, scopes, client }: LoginOptions): Promise<Login> {
  const store = fileTokens(tokenPath());
  const { origin, pathname } = new URL(url);
  const key = `plenum-cli:client:${origin}${pathname}`;
  const known = client ?? (redirect && parseClient(await store.get(key)));
  const authorizer = oauth({
    store,
    ...(redirect && { redirect }),
    clientName: "Plenum command line",
    ...(scopes && scopes.length > 0 && { scopes }),
    ...(known && { client: { id: known.id, ...(await toSecret(known)) } }),
  });
  return {
    ...authorizer,
    async keepClient() {
      if (client) await store.put(key, JSON.stringify(client));
    },
    forgetClient: () => store.delete(key),
  };
}

async function toSecret({ secret }: KnownClient): Promise<{ readonly secret?: string }> {
  if (secret === undefined) return {};
  const resolved = await resolveEnv({ "--client-secret": secret });
  return { secret: resolved["--client-secret"] as string };
}

function parseClient(text: string | undefined): KnownClient | undefined {
  if (text === undefined) return undefined;
  const { id, secret } = JSON.parse(text) as Partial<KnownClient>;
  return typeof id === "string" ? { id, secret } : undefined;
}
