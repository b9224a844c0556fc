// A sealer whose secret is in the store: made by whoever needs it first, and the same for all who share the store.
import type { Store } from "../../store/store.ts";
import { decodeBase64Url } from "../../util/base64url.ts";
import { createSealer, type Sealer } from "../../util/seal.ts";
import { createRecords, randomText } from "./records.ts";

/** @param purpose of the secret: each has its own */
export function createStoredSealer(store: Store, issuer: string, purpose: string): () => Promise<Sealer> {
  const secrets = createRecords<string>(store, issuer, "secret");

  async function make(): Promise<Sealer> {
    // Of two who make one at once the first is right.
    if (!(await secrets.get(purpose))) await secrets.put(purpose, randomText(), { over: null });
    const secret = decodeBase64Url((await secrets.get(purpose))?.value ?? "");
    if (secret?.length !== 32) throw new Error("The secret of the authorization server's pages cannot be read");
    return createSealer([secret]);
  }

  let made: Promise<Sealer> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      // Not for good: the store may be there in a moment.
      made = undefined;
      throw error;
    });
    return made;
  };
}
