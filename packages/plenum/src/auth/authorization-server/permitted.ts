// Which clients may go which way.
import type { Client } from "./client.ts";
import { AuthFault } from "./fault.ts";

export interface Condition {
  /** It was given by the application: who registers itself gets nothing without a user. */
  readonly isGiven?: boolean;
  /** It can show who it is. */
  readonly isConfidential?: boolean;
}

/** Throws an AuthFault, `unauthorized_client`. */
export function assertPermitted(client: Client, grantType: string, { isGiven, isConfidential }: Condition = {}): void {
  const isFine =
    client.grantTypes.includes(grantType) &&
    (!isGiven || client.origin === "given") &&
    (!isConfidential || client.authMethod !== "none");
  if (!isFine) throw new AuthFault("unauthorized_client", "The client may not get tokens in this way");
}
