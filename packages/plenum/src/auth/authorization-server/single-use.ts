// What may be shown once: remembered, by all who share the store, for as long as it would be good.
import type { JWTPayload } from "jose";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import { createRecords } from "./records.ts";

/** Clocks may be apart, and what has ended by one may be good by another. */
const marginS = 30;

/**
 * Whether a JWT that is good is shown for the first time. Without a name of its own (`jti`) it is not known to be.
 * @param issuer this server
 */
export async function isFirstUse(store: Store, issuer: string, { iss, jti, exp = 0 }: JWTPayload): Promise<boolean> {
  if (typeof jti !== "string" || jti === "") return false;
  const ttlS = Math.max(0, Math.ceil(exp - Date.now() / 1000)) + marginS;
  const id = await digestOf(JSON.stringify([iss, jti]));
  return createRecords<true>(store, issuer, "used").put(id, true, { over: null, ttlS });
}
