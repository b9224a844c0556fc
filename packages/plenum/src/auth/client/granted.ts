// What a client was granted at a server, for people to see: everything but the tokens.
import type { Saved } from "./saved.ts";

export interface Granted {
  readonly issuer: string;
  /** Undefined where neither the client asked for any, nor the authorization server told of any. */
  readonly scopes: readonly string[] | undefined;
  /** When the token ends, in milliseconds since 1970. Undefined where nobody said. */
  readonly expiresAt: number | undefined;
  /** Whether it can be renewed without asking anybody. */
  readonly isRenewable: boolean;
  readonly clientId: string;
}

/** @param server its name, as what is saved is found by it */
export async function readGranted({ origin, tokens }: Saved, server: string): Promise<Granted | undefined> {
  const from = await origin.get(server);
  const kept = from && (await tokens.get(from.issuer, from.resource ?? server));
  if (!from || !kept) return undefined;
  const { scope, expiresAt, refreshToken, clientId } = kept;
  return {
    issuer: from.issuer,
    scopes: scope?.split(" ").filter((one) => one !== ""),
    expiresAt,
    isRenewable: refreshToken !== undefined,
    clientId,
  };
}
