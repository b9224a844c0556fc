// Clients that nobody has to register: their id is an address, and what is found there says who they are. The address is a
// stranger's word, so it is fetched with care. Specification: basic/authorization/client-registration; the draft
// client-id-metadata-document.
import { createLru } from "../../util/lru.ts";
import { createRate } from "../../util/rate.ts";
import { createGuardedFetch, type Fetch, isLoopbackHost } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";
import type { Client } from "./client.ts";
import { type Metadata, readMetadata } from "./client-metadata.ts";
import { AuthFault } from "./fault.ts";
import type { Settings } from "./settings.ts";

export interface ClientDocuments {
  /** Rejects with an AuthFault, `invalid_client`, where the document cannot be had or is not as it should be. */
  read(id: string): Promise<Client>;
}

type Ground = Pick<Settings, "isLocal" | "fetch" | "blockPrivateAddresses" | "lookup">;

const maxBytes = 10_240;
const maxIdLength = 2000;
const timeoutMs = 5000;
/** Where the document does not say how long it is good. */
const defaultAgeS = 300;
const maxAgeS = 3600;
/** All that are kept, and what they may have together. */
const cached = { maxEntries: 500, maxWeight: 2_000_000 };
/** Whoever wants others to be asked a lot must find somebody else to ask them. */
const asked = { perSecond: 5, burst: 60 };

/** Whether an id is an address at all. Whether it may be one of a client is another question. */
export function isDocumentId(id: string): boolean {
  return /^https?:\/\//i.test(id);
}

function refuse(message: string): AuthFault {
  return new AuthFault("invalid_client", message);
}

/** What is wrong with the address of a document. */
export function checkDocumentId(id: string, isLocal: boolean): string | undefined {
  const url = id.length <= maxIdLength && URL.canParse(id) ? new URL(id) : undefined;
  const isHttp = isLocal && url?.protocol === "http:" && isLoopbackHost(url.hostname);
  if (!url || (url.protocol !== "https:" && !isHttp)) return "A client id that is a URL must be https";
  if (url.pathname === "/" || id.includes("#") || url.username || url.password)
    return "A client id that is a URL needs a path, and has no fragment and no password";
  // Dot segments, a host in upper case, a default port: what is written is not what is fetched.
  return url.href === id
    ? undefined
    : "A client id that is a URL is written as browsers write it, without dot segments";
}

export function createClientDocuments(ground: Ground): ClientDocuments {
  const { isLocal, lookup } = ground;
  const send: Fetch = ground.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const fetch: Fetch = async (url, init) => {
    const response = await send(url, init);
    // Not even within one host: the document is at the id, or nowhere.
    if (response.status !== 200) {
      await response.body?.cancel();
      throw refuse("There is no document at the client's id");
    }
    return response;
  };
  const guarded = createGuardedFetch({
    fetch,
    lookup,
    timeoutMs,
    maxBytes,
    blockPrivateAddresses: ground.blockPrivateAddresses,
  });
  // A server on this machine may ask this machine, and for all else it is a service like any other.
  const outside = createGuardedFetch({ fetch, lookup, timeoutMs, maxBytes, blockPrivateAddresses: true });
  const kept = createLru<{ readonly client: Client; readonly until: number }>(cached);
  const running = new Map<string, Promise<Client>>();
  const rate = createRate(asked);

  async function load(id: string): Promise<Client> {
    const { hostname } = new URL(id);
    const ask = isLoopbackHost(hostname) || !isLocal ? guarded : outside;
    const response = await ask(id, { headers: { accept: "application/json" } }).catch((error) => {
      if (error instanceof AuthFault) throw error;
      if (error instanceof OAuthError && error.code === "unsafe_url")
        throw refuse("The document at the client's id is too long, or at an address where this server must not go");
      throw refuse("The document at the client's id cannot be had");
    });
    const text = await response.text();
    const client = toClient(id, toMetadata(response, text));
    const ageS = toAgeS(response.headers.get("cache-control"));
    if (ageS > 0) kept.set(id, { client, until: Date.now() + ageS * 1000 }, text.length);
    return client;
  }

  return {
    async read(id) {
      const problem = checkDocumentId(id, isLocal);
      if (problem) throw refuse(problem);
      const found = kept.get(id);
      if (found && found.until > Date.now()) return found.client;
      const known = running.get(id);
      if (known) return known;
      if (!rate.take())
        throw new AuthFault("temporarily_unavailable", "Too many documents of clients are asked for", 503, {
          "retry-after": "10",
        });
      const loading = load(id).finally(() => running.delete(id));
      running.set(id, loading);
      return loading;
    },
  };
}

function toMetadata({ headers }: Response, text: string): Metadata {
  if (!/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(headers.get("content-type") ?? ""))
    throw refuse("What is at the client's id is not JSON");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Told below.
  }
  throw refuse("What is at the client's id is no JSON object");
}

function toClient(id: string, metadata: Metadata): Client {
  // Letter by letter: else one could speak for another.
  if (metadata.client_id !== id) throw refuse("The document at the client's id is of another client");
  if (metadata.client_name === undefined) throw refuse("The document at the client's id has no client_name");
  if (metadata.client_secret !== undefined || metadata.client_secret_expires_at !== undefined)
    throw refuse("A document that everybody can read has no secret in it");
  try {
    return { id, origin: "document", ...readMetadata(metadata, ["none", "private_key_jwt"]) };
  } catch (error) {
    throw error instanceof AuthFault ? refuse(`The document at the client's id: ${error.message}`) : error;
  }
}

/** As the document's server wants it, within bounds. RFC 9111 */
function toAgeS(control: string | null): number {
  if (control === null) return defaultAgeS;
  if (/(?:^|[\s,])(?:no-store|no-cache)\b/i.test(control)) return 0;
  const [, age] = /(?:^|[\s,])max-age *= *"?(\d{1,9})/i.exec(control) ?? [];
  return age === undefined ? defaultAgeS : Math.min(Number(age), maxAgeS);
}
