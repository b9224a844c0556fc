// Who asks the token endpoint: a client shows who it is, in the one way that is registered for it. RFC 6749 § 2.3, RFC 7523.
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import type { Store } from "../../store/store.ts";
import { decodeBase64 } from "../../util/base64.ts";
import { digestOf } from "../../util/digest.ts";
import { createLru, type Lru } from "../../util/lru.ts";
import { createRate, type Rate } from "../../util/rate.ts";
import { isSame } from "../../util/seal.ts";
import type { Fetch } from "../guarded-fetch.ts";
import { issuerKeys } from "../issuer-keys.ts";
import type { RouteRequest } from "../route.ts";
import { peekSigned, readSigned } from "../signed.ts";
import type { Client, Clients } from "./client.ts";
import { AuthFault } from "./fault.ts";
import type { Guesses } from "./guesses.ts";
import { isFirstUse } from "./single-use.ts";

export interface ClientAuthGround {
  readonly clients: Clients;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly store: Store;
  /** A guarded one. */
  readonly fetch: Fetch;
  /** Default: as many as anybody likes. */
  readonly guesses?: Guesses;
}

/** What a client has shown. */
type Shown =
  | { readonly method: "none"; readonly id: string }
  | {
      readonly method: "client_secret_basic" | "client_secret_post";
      readonly id: string;
      /** As it was meant, in each way that it can be read. */
      readonly secrets: readonly string[];
    }
  | { readonly method: "private_key_jwt"; readonly id: string; readonly assertion: string };

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const maxIdLength = 2048;
/** An assertion is for one request: what is good for long is worth stealing. */
const maxAssertionS = 600;
/** Nobody's secret: whoever is not known is looked at for as long as who is. */
const noHash = "A".repeat(43);

/**
 * Who it is. Rejects with an AuthFault: `invalid_client`, which does not tell a client that is not known from one that shows
 * something wrong, or `invalid_request` for a request that shows several things.
 */
export async function authenticateClient(
  request: RouteRequest,
  form: URLSearchParams,
  ground: ClientAuthGround,
): Promise<Client> {
  const header = request.header("authorization");
  const shown = toShown(header, form);
  const isGuess = shown !== undefined && "secrets" in shown;
  if (isGuess) ground.guesses?.assertFew(shown.id);
  const client = shown && shown.id.length <= maxIdLength ? await ground.clients.find(shown.id) : undefined;
  if (shown && (await isProven(shown, client, ground)) && client) return client;
  if (isGuess) ground.guesses?.add(shown.id);
  throw new AuthFault(
    "invalid_client",
    "The client is not known here, or has not shown who it is",
    401,
    header === undefined ? {} : { "www-authenticate": 'Basic realm="token endpoint", charset="UTF-8"' },
  );
}

/** Undefined where nothing is shown, or nothing that can be read. */
function toShown(header: string | undefined, form: URLSearchParams): Shown | undefined {
  // What stands there without a value does not stand there. RFC 6749 § 3.1
  const parameter = (name: string): string | undefined => form.get(name) || undefined;
  const given = parameter("client_id");
  const secret = parameter("client_secret");
  const assertion = parameter("client_assertion");
  const ways = [header, secret, assertion].filter((way) => way !== undefined);
  if (ways.length > 1) throw new AuthFault("invalid_request", "A client shows who it is in one way, not in several");
  const shown = header !== undefined ? toBasic(header) : toPosted(given, secret, assertion, form);
  if (shown && given !== undefined && given !== shown.id)
    throw new AuthFault("invalid_request", "client_id is of another client than what was shown");
  return shown;
}

function toPosted(
  id: string | undefined,
  secret: string | undefined,
  assertion: string | undefined,
  form: URLSearchParams,
): Shown | undefined {
  if (assertion !== undefined) {
    const { subject } = peekSigned(assertion) ?? {};
    const isOurs = form.get("client_assertion_type") === assertionType;
    return isOurs && subject ? { method: "private_key_jwt", id: subject, assertion } : undefined;
  }
  if (id === undefined) return undefined;
  return secret === undefined ? { method: "none", id } : { method: "client_secret_post", id, secrets: [secret] };
}

/** Both halves are written as in forms. Many leave that out, and where their secret is the right one as it stands, that is enough. */
function toBasic(header: string): Shown | undefined {
  const [, encoded = ""] = /^basic +(\S+)$/i.exec(header) ?? [];
  const bytes = decodeBase64(encoded.padEnd(Math.ceil(encoded.length / 4) * 4, "="));
  const text = bytes && toText(bytes);
  const at = text?.indexOf(":") ?? -1;
  if (text === undefined || at < 1) return undefined;
  const [id, secret] = [text.slice(0, at), text.slice(at + 1)];
  const secrets = new Set([decodeForm(secret) ?? secret, secret]);
  return { method: "client_secret_basic", id: decodeForm(id) ?? id, secrets: [...secrets] };
}

function toText(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

async function isProven(shown: Shown, client: Client | undefined, ground: ClientAuthGround): Promise<boolean> {
  const isAsRegistered = client?.authMethod === shown.method;
  if (shown.method === "none") return isAsRegistered;
  if (shown.method === "private_key_jwt") return isAsRegistered && isSigned(shown.assertion, client, ground);
  const hash = isAsRegistered ? client.secretHash : undefined;
  let isRight = false;
  for (const secret of shown.secrets) isRight = isSame(await digestOf(secret), hash ?? noHash) || isRight;
  return isRight && hash !== undefined;
}

async function isSigned(assertion: string, client: Client, ground: ClientAuthGround): Promise<boolean> {
  const { issuer, tokenEndpoint, store, fetch } = ground;
  let claims: JWTPayload | undefined;
  try {
    const keys = keysOf(client, fetch);
    claims =
      keys &&
      (await readSigned(assertion, keys, {
        issuer: client.id,
        subject: client.id,
        audiences: [issuer, tokenEndpoint],
        requiredClaims: ["jti"],
        maxLifetimeS: maxAssertionS,
      }));
  } catch {
    throw new AuthFault("invalid_client", "The keys of the client cannot be had, or are none", 401);
  }
  if (!claims) return false;
  if (client.origin !== "given" && !boundsOf(fetch).assertions.take())
    throw new AuthFault("temporarily_unavailable", "Too many clients show who they are at once", 503, {
      "retry-after": "10",
    });
  return isFirstUse(store, issuer, claims);
}

/** Anybody can register: what all those together may cause is bounded. */
interface Bounds {
  /** Keys that were fetched. */
  readonly kept: Lru<JWTVerifyGetKey>;
  /** Whom they name is not asked a lot. */
  readonly fetches: Rate;
  /** Each that is good is remembered for minutes, in a store that has an end. */
  readonly assertions: Rate;
}

/** Of each server its own: who may be asked differs. */
const bounds = new WeakMap<Fetch, Bounds>();

function boundsOf(fetch: Fetch): Bounds {
  const known = bounds.get(fetch) ?? {
    kept: createLru<JWTVerifyGetKey>({ maxEntries: 64, maxWeight: 64 }),
    fetches: createRate({ perSecond: 5, burst: 60 }),
    assertions: createRate({ perSecond: 50, burst: 500 }),
  };
  bounds.set(fetch, known);
  return known;
}

function keysOf({ id, jwks, jwksUri, origin }: Client, fetch: Fetch): JWTVerifyGetKey | undefined {
  // Few, and at hand: not worth keeping.
  if (jwks) return issuerKeys({ issuer: id, jwks, fetch });
  if (jwksUri === undefined) return undefined;
  const { kept, fetches } = boundsOf(fetch);
  const known = kept.get(jwksUri);
  if (known) return known;
  const bounded: Fetch = async (url, init) => {
    if (!fetches.take()) throw new Error("Too many keys of clients are asked for");
    return fetch(url, init);
  };
  const keys = issuerKeys({ issuer: id, jwksUri, fetch: origin === "given" ? fetch : bounded });
  kept.set(jwksUri, keys, 1);
  return keys;
}
