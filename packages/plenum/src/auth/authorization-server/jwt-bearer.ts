// A token for the word of somebody whom this server trusts: an identity provider's on a user (ID-JAG), a platform's on a program.
// Specification: the extension enterprise-managed-authorization § 5; RFC 7523 § 2.1, RFC 7521 § 5.2.
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { issuerKeys } from "../issuer-keys.ts";
import { peekSigned, readSigned, type SignedOptions } from "../signed.ts";
import type { Client } from "./client.ts";
import { AuthFault } from "./fault.ts";
import type { Grant } from "./grant.ts";
import type { MachineGround } from "./machine-ground.ts";
import type { TrustedIssuer } from "./options.ts";
import { assertPermitted, type Condition } from "./permitted.ts";
import { chooseResource, chooseScopes, type Settings } from "./settings.ts";
import { isFirstUse } from "./single-use.ts";
import type { GrantType } from "./token-request.ts";

export const jwtBearerType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The header `typ` of an identity provider's word. */
export const idJagTyp = "oauth-id-jag+jwt";

/** What a kind of assertion has to be like, and what it is good for. */
interface Kind {
  readonly condition: Condition;
  readonly signed: Omit<SignedOptions, "issuer" | "audiences">;
  readonly isUsedOnce: boolean;
  /** Throws an AuthFault where it is not good for that. */
  toGrant(subject: string, claims: JWTPayload, client: Client, form: URLSearchParams, settings: Settings): Grant;
}

const kinds: { readonly [K in NonNullable<TrustedIssuer["kind"]>]: Kind } = {
  "id-jag": {
    condition: { isConfidential: true },
    signed: {
      typ: idJagTyp,
      requiredClaims: ["sub", "iat", "jti", "client_id", "resource"],
      // What is used once need not be good for long.
      maxLifetimeS: 3600,
    },
    isUsedOnce: true,
    toGrant(subject, claims, client, form, settings) {
      if (claims.client_id !== client.id) throw refused();
      return {
        clientId: client.id,
        subject,
        scopes: narrow(claims.scope, form.get("scope") ?? undefined, settings),
        resource: toResource(claims.resource, form.get("resource") || undefined, settings),
      };
    },
  },
  workload: {
    // The assertion itself says who the client is.
    condition: { isGiven: true },
    // Platforms give one that a program reads from a file, again and again.
    signed: { requiredClaims: ["sub"], maxLifetimeS: 86_400 },
    isUsedOnce: false,
    toGrant(subject, _claims, client, form, settings) {
      if (subject !== client.id) throw refused();
      return {
        clientId: client.id,
        subject,
        scopes: chooseScopes(settings, form.get("scope") ?? undefined),
        resource: chooseResource(settings, form.get("resource") || undefined),
      };
    },
  },
};

interface Trusted extends TrustedIssuer {
  readonly keys: JWTVerifyGetKey;
}

/** Throws a TypeError for issuers that could be taken for one another. */
export function createJwtBearer({ settings, store, fetch }: MachineGround): GrantType {
  assertTold(settings.trustedIssuers);
  const trusted = settings.trustedIssuers.map((one): Trusted => ({ ...one, keys: issuerKeys({ ...one, fetch }) }));

  return async ({ client, form }) => {
    const assertion = form.get("assertion");
    if (!assertion) throw new AuthFault("invalid_request", "The request has no assertion");
    const { issuer, typ } = peekSigned(assertion) ?? {};
    const name = isIdJag(typ) ? "id-jag" : "workload";
    const kind = kinds[name];
    assertPermitted(client, jwtBearerType, kind.condition);
    // One that is trusted with another kind of word is not trusted with this.
    const found = trusted.find((one) => one.issuer === issuer && kindOf(one) === name);
    if (!found) throw refused();
    const claims = await readSigned(assertion, found.keys, {
      ...kind.signed,
      issuer: found.issuer,
      audiences: [settings.issuer],
    }).catch(() => {
      throw new AuthFault("temporarily_unavailable", "The keys of the issuer cannot be had", 503);
    });
    const subject = claims && (found.subject ? found.subject(claims) : claims.sub);
    if (!claims || typeof subject !== "string" || subject === "") throw refused();
    const grant = kind.toGrant(subject, claims, client, form, settings);
    // Last of all: what is refused for another reason is not used up.
    if (kind.isUsedOnce && !(await isFirstUse(store, settings.issuer, claims))) throw refused();
    return { grant, isLasting: false };
  };
}

function isIdJag(typ: string | undefined): boolean {
  return typ?.toLowerCase().replace(/^application\//, "") === idJagTyp;
}

function kindOf({ kind = "id-jag" }: TrustedIssuer): NonNullable<TrustedIssuer["kind"]> {
  return kind;
}

/** One sentence for all: who tries learns nothing. */
function refused(): AuthFault {
  return new AuthFault("invalid_grant", "The assertion is not good here: unknown, of another, ended, or used already");
}

/** What the identity provider allows, as far as it is known here, and of that what is asked for. */
function narrow(allowed: unknown, asked: string | undefined, settings: Settings): readonly string[] {
  if (typeof allowed !== "string") return chooseScopes(settings, asked);
  const defaultScopes = allowed.split(" ").filter((scope) => Object.hasOwn(settings.scopes, scope));
  const scopes = Object.fromEntries(defaultScopes.map((scope) => [scope, ""]));
  const chosen = chooseScopes({ scopes, defaultScopes }, asked);
  if (chosen.length === 0 && (asked ?? allowed) !== "")
    throw new AuthFault("invalid_scope", "Nothing is left of the scopes that the assertion allows");
  return chosen;
}

/** All that the assertion is for is served from here, and of that what is asked for. */
function toResource(allowed: unknown, asked: string | undefined, settings: Settings): string {
  const resources = [allowed].flat().map((one) => chooseResource(settings, typeof one === "string" ? one : ""));
  return chooseResource({ resources }, asked);
}

function assertTold(issuers: readonly TrustedIssuer[]): void {
  const names = issuers.map((one) => `${kindOf(one)} ${one.issuer}`);
  if (new Set(names).size < names.length)
    throw new TypeError("createAuthorizationServer: a trusted issuer stands there twice");
  for (const kind of Object.keys(kinds)) {
    const alike = issuers.filter((one) => kindOf(one) === kind);
    if (alike.length > 1 && !alike.every(({ subject }) => subject))
      throw new TypeError(
        'createAuthorizationServer: with several trusted issuers each needs "subject", since two of them may call different people by one name',
      );
  }
}
