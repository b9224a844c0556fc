// What users have allowed clients, and what clients hold for it: codes, access tokens, refresh tokens. All that comes of one
// permission is a family: it lives, and is revoked, together. OAuth 2.1 § 4.1.3, § 4.3; RFC 9068 (access tokens as JWT).
//
// Of what is secret the store has digests only. A refresh token is `seed.secret`: the family's id is the digest of the seed, so that
// whoever reads an access token, which names its family, cannot pretend to have had a refresh token of it.
import type { JWTPayload } from "jose";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import type { Client } from "./client.ts";
import { rememberS } from "./consent.ts";
import { AuthFault } from "./fault.ts";
import type { CodeGrant, Grant, Grants } from "./grant.ts";
import type { Keys } from "./keys.ts";
import { createRecords, type Held, randomText } from "./records.ts";
import { chooseResource, type Settings } from "./settings.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";

/** What a client is given. */
export interface Issued {
  readonly accessToken: string;
  readonly expiresInS: number;
  readonly scopes: readonly string[];
  readonly refreshToken?: string;
}

export interface Redemption {
  readonly code: string;
  readonly client: Client;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
  readonly resource: string | undefined;
}

export interface Renewal {
  readonly token: string;
  readonly client: Client;
  /** Undefined: what was granted. */
  readonly scopes: readonly string[] | undefined;
  readonly resource: string | undefined;
}

export interface NewGrant {
  readonly grant: Grant;
  readonly isLasting: boolean;
  readonly family?: string | undefined;
}

export interface Refreshable {
  readonly family: string;
  readonly grant: Grant;
}

export interface GrantBook extends Grants {
  /** Rejects with an AuthFault, `invalid_grant`. A code that comes a second time is known to others: what came of it is revoked. */
  redeemCode(redemption: Redemption): Promise<Issued>;
  /** Each refresh token is good once. One that comes a second time is known to others: its family is revoked. */
  refresh(renewal: Renewal): Promise<Issued>;
  issue(granted: NewGrant): Promise<Issued>;
  /** What a refresh token stands for that is good now. */
  findRefresh(token: string): Promise<Refreshable | undefined>;
  /** The claims of an access token that is good now: signed here, within its time, not revoked. */
  findAccess(token: string): Promise<AccessClaims | undefined>;
  revokeFamily(family: string): Promise<void>;
  /** All that a user has allowed until now. */
  revokeSubject(subject: string): Promise<void>;
  isAlive(family: string): Promise<boolean>;
  /** Under what the third party's tokens are kept that a family stands on. */
  upstreamOf(family: string): Promise<string | undefined>;
}

export interface AccessClaims extends JWTPayload {
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly client_id: string;
  readonly family: string;
  readonly scope?: string;
}

/** A code that is good, or was: then with what came of it, unless nothing did. */
type Code =
  | { readonly grant: CodeGrant; readonly since: number }
  | { readonly clientId: string; readonly family?: string };

interface Family {
  readonly grant: Grant;
  /** When the user said so, in milliseconds since 1970. */
  readonly since: number;
  /** The digest of the secret of its refresh token; without one it has none. */
  readonly refresh?: string;
}

const codeTtlS = 60;
/** For how long a second use of a code is noticed. */
const usedCodeTtlS = 3600;
const accessType = "at+jwt";

/** @param upstream what grants of a third party's users stand on: they are good for as long as its tokens are */
export function createGrants(
  store: Store,
  keys: Keys,
  settings: Settings,
  upstream?: Pick<UpstreamTokens, "isAlive" | "forget">,
): GrantBook {
  const { issuer, accessTokenTtlS, refreshTokenTtlS } = settings;
  const codes = createRecords<Code>(store, issuer, "code");
  const families = createRecords<Family>(store, issuer, "family");
  const cutoffs = createRecords<number>(store, issuer, "cutoff");
  // What an access token belongs to must not end before it.
  const lastingTtlS = Math.max(refreshTokenTtlS, accessTokenTtlS + 60);

  async function toIssued(grant: Grant, family: string, audience: string, scopes: readonly string[]): Promise<Issued> {
    const now = Math.floor(Date.now() / 1000);
    const { nbf: _, cnf: __, scope: ___, scp: ____, ...told } = grant.claims ?? {};
    const accessToken = await keys.sign(
      {
        // First: what an application tells of a user changes nothing of what the token is.
        ...told,
        iss: issuer,
        sub: grant.subject,
        aud: audience,
        iat: now,
        exp: now + accessTokenTtlS,
        jti: randomText(16),
        client_id: grant.clientId,
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
        family,
      },
      { typ: accessType },
    );
    return { accessToken, expiresInS: accessTokenTtlS, scopes };
  }

  /** A new family, alive from now on. */
  async function found(
    grant: Grant,
    since: number,
    isLasting: boolean,
  ): Promise<{ family: string; refreshToken?: string }> {
    const seed = randomText(16);
    const family = await digestOf(seed);
    const secret = randomText();
    const value: Family = { grant, since, ...(isLasting && { refresh: await digestOf(secret) }) };
    const ttlS = isLasting ? lastingTtlS : accessTokenTtlS + 60;
    if (!(await families.put(family, value, { over: null, ttlS }))) throw new Error("A random number came twice");
    return { family, ...(isLasting && { refreshToken: `${seed}.${secret}` }) };
  }

  async function isRevoked(subject: string, since: number): Promise<boolean> {
    const cutoff = await cutoffs.get(await digestOf(subject));
    return cutoff !== undefined && since <= cutoff.value;
  }

  const isCutOff = ({ grant, since }: Family): Promise<boolean> => isRevoked(grant.subject, since);

  async function standsFirm({ upstream: key }: Grant): Promise<boolean> {
    return key === undefined || (upstream !== undefined && (await upstream.isAlive(key)));
  }

  /** With what it stands on. */
  async function drop(family: string): Promise<void> {
    const key = upstream && (await families.get(family))?.value.grant.upstream;
    await families.delete(family);
    if (key !== undefined) await upstream?.forget(key);
  }

  async function findFamily(family: string): Promise<Held<Family> | undefined> {
    const held = await families.get(family);
    if (!held) return undefined;
    if (!(await isCutOff(held.value)) && (await standsFirm(held.value.grant))) return held;
    await drop(family);
    return undefined;
  }

  /** @returns undefined also for one whose secret is an older one: that is told by `isStale` */
  async function readRefresh(
    token: string,
  ): Promise<{ family: string; held: Held<Family>; isStale: boolean } | undefined> {
    const [, seed, secret] = /^([\w-]{22})\.([\w-]{43})$/.exec(token) ?? [];
    if (seed === undefined || secret === undefined) return undefined;
    const family = await digestOf(seed);
    const held = await findFamily(family);
    if (held?.value.refresh === undefined) return undefined;
    // Digests: how long it takes to compare them tells nothing of what they are of.
    return { family, held, isStale: held.value.refresh !== (await digestOf(secret)) };
  }

  /** The resource of a grant, or of who redeems it where the grant is for any. */
  function toAudience(grant: Grant, asked: string | undefined): string {
    if (grant.resource === undefined) return chooseResource(settings, asked);
    const granted = chooseResource(settings, grant.resource);
    if (asked !== undefined && chooseResource(settings, asked) !== granted)
      throw new AuthFault("invalid_target", "The grant is for another resource");
    return granted;
  }

  const noCode = (): AuthFault =>
    new AuthFault("invalid_grant", "The code is not known, was used, has ended, or is of another client");
  const noRefresh = (): AuthFault =>
    new AuthFault("invalid_grant", "The refresh token is not known, was used, has ended, or is of another client");

  return {
    async issueCode(grant) {
      const code = randomText();
      await codes.put(await digestOf(code), { grant, since: Date.now() }, { over: null, ttlS: codeTtlS });
      return code;
    },

    async redeemCode({ code, client, redirectUri, verifier, resource }) {
      const id = await digestOf(code);
      const held = await codes.get(id);
      if (!held) throw noCode();
      const { value } = held;
      if (!("grant" in value)) {
        // Only its own client can do harm to what came of it.
        if (value.family !== undefined && value.clientId === client.id) await drop(value.family);
        throw noCode();
      }
      const { grant, since } = value;
      if (grant.clientId !== client.id) throw noCode();
      const { redirectUri: _, codeChallenge: __, ...kept } = grant;
      const problem = await checkCode(grant, redirectUri, verifier);
      if (problem || (await isCutOff(value)) || !(await standsFirm(grant))) {
        // Whatever was wrong, there is no second guess.
        await codes.put(id, { clientId: client.id }, { over: held, ttlS: usedCodeTtlS });
        throw problem ?? noCode();
      }
      const audience = toAudience(grant, resource);
      // The family is there before the code says so: who comes second always finds what to revoke.
      const { family, refreshToken } = await found(kept, since, client.grantTypes.includes("refresh_token"));
      if (!(await codes.put(id, { clientId: client.id, family }, { over: held, ttlS: usedCodeTtlS }))) {
        await drop(family);
        const other = (await codes.get(id))?.value;
        if (other && "family" in other && other.family !== undefined) await drop(other.family);
        throw noCode();
      }
      return {
        ...(await toIssued(kept, family, audience, kept.scopes)),
        ...(refreshToken !== undefined && { refreshToken }),
      };
    },

    async refresh({ token, client, scopes, resource }) {
      const read = await readRefresh(token);
      if (!read || read.held.value.grant.clientId !== client.id) throw noRefresh();
      const { family, held, isStale } = read;
      if (isStale) {
        await drop(family);
        throw noRefresh();
      }
      const { grant } = held.value;
      // Before it is used up: what was asked for in the wrong way can be asked for again.
      const audience = toAudience(grant, resource);
      if (scopes?.some((scope) => !grant.scopes.includes(scope)))
        throw new AuthFault("invalid_scope", "More than what was granted cannot be had with a refresh token");
      const secret = randomText();
      const next: Family = { ...held.value, refresh: await digestOf(secret) };
      if (!(await families.put(family, next, { over: held, ttlS: lastingTtlS }))) {
        // Somebody was faster with the same token, and only one of the two is who it was given to.
        await drop(family);
        throw noRefresh();
      }
      const issued = await toIssued(grant, family, audience, scopes ?? grant.scopes);
      return { ...issued, refreshToken: `${token.slice(0, token.indexOf("."))}.${secret}` };
    },

    async issue({ grant, isLasting, family: known }) {
      const audience = toAudience(grant, undefined);
      if (known !== undefined) {
        if (!(await findFamily(known)))
          throw new AuthFault("invalid_grant", "What it goes on with was revoked, or has ended");
        return toIssued(grant, known, audience, grant.scopes);
      }
      const { family, refreshToken } = await found(grant, Date.now(), isLasting);
      return {
        ...(await toIssued(grant, family, audience, grant.scopes)),
        ...(refreshToken !== undefined && { refreshToken }),
      };
    },

    async findRefresh(token) {
      const read = await readRefresh(token);
      return read && !read.isStale ? { family: read.family, grant: read.held.value.grant } : undefined;
    },

    async findAccess(token) {
      const claims = (await keys.open(token, { typ: accessType })) as AccessClaims | undefined;
      return claims && typeof claims.family === "string" && (await findFamily(claims.family)) ? claims : undefined;
    },

    revokeFamily: drop,

    async revokeSubject(subject) {
      await cutoffs.put(await digestOf(subject), Date.now(), {
        ttlS: Math.max(lastingTtlS, settings.loginTtlS, rememberS),
      });
    },

    isRevoked,

    isAlive: async (family) => (await findFamily(family)) !== undefined,

    upstreamOf: async (family) => (await findFamily(family))?.value.grant.upstream,
  };
}

/** That it is redeemed by who asked for it: the same redirect URI, and the verifier that only that one has. */
async function checkCode(
  { redirectUri: asked, codeChallenge }: CodeGrant,
  redirectUri: string | undefined,
  verifier: string | undefined,
): Promise<AuthFault | undefined> {
  // OAuth 2.1 has left it out of this request, since the verifier does more; where it is sent it must be right.
  if (redirectUri !== undefined && redirectUri !== asked)
    return new AuthFault("invalid_grant", "redirect_uri is not the one that the code was sent to");
  // RFC 7636 § 4.1
  if (verifier === undefined || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier))
    return new AuthFault(
      "invalid_grant",
      "code_verifier is missing, or not 43 to 128 letters of those that it may have",
    );
  return (await digestOf(verifier)) === codeChallenge
    ? undefined
    : new AuthFault("invalid_grant", "code_verifier is not the one that the code was asked for with");
}
