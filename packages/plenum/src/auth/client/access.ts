// What a client has for one server: its tokens, whose they are, and the one errand that is under way to get better ones.
// Specification: basic/authorization.
import { untilAborted } from "../../util/abort.ts";
import { toLine } from "../../util/quote.ts";
import { type Fetch, nameOf, toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError, readWords } from "../oauth-error.ts";
import type { AuthHeaders, AuthorizedRequest, Authorizer } from "./authorizer.ts";
import { readWanted, type Wanted } from "./challenge.ts";
import { assertCodeGrant, authorizeByCode } from "./code-grant.ts";
import { type Discovered, discover, toGuessError } from "./discovery.ts";
import { type DpopKey, openDpopKey } from "./dpop.ts";
import { type Errand, startErrand } from "./errand.ts";
import { askTokenEndpoint, type GrantRequest, toTokens, withResource } from "./grant.ts";
import type { OAuthOptions } from "./oauth-options.ts";
import { assertRedirectUri } from "./redirect.ts";
import { findClient, register } from "./registration.ts";
import type { Origin, Registration, Saved, Tokens } from "./saved.ts";
import { chooseScope, unite } from "./scopes.ts";

export interface AccessGround {
  readonly options: OAuthOptions;
  readonly saved: Saved;
  readonly fetch: Fetch;
}

/** Tokens, and whose they are. */
interface Held extends Origin {
  readonly tokens: Tokens;
}

/** What is known of the server, and where it said that. */
interface Found extends Discovered {
  readonly hint: string | undefined;
}

/**
 * What is under way. `early`: before the server says no. `renew`: because it did. `quiet`: the same, without asking the user.
 * Any other: more scopes, which its name says.
 */
type Kind = "early" | "renew" | "quiet" | `more: ${string}`;

/** `made`: there is a new token. `taken`: somebody else has got one meanwhile. `none`: nothing is better than before. */
type Gain = "made" | "taken" | "none";

/** What was done because of one request. */
interface Tried {
  renewals: number;
  stepUps: number;
  nonces: number;
}

/** Renewed before it ends: a request must not arrive when its token has ended on the way. */
const marginMs = 10_000;

/** Of who can wait. */
const patience = new AbortController().signal;

/** The authorization server does not know the client any more. */
const unknownClient: readonly unknown[] = ["invalid_client", "unauthorized_client"];

export interface Access extends Authorizer {
  /** Waits for what is under way, and forgets the tokens. */
  forget(): Promise<void>;
}

export function createAccess(server: URL, { options, saved, fetch }: AccessGround): Access {
  const name = nameOf(server);
  let held: Held | undefined;
  let found: Found | undefined;
  let dpop: { readonly issuer: string; readonly key: Promise<DpopKey> } | undefined;
  let loading: Promise<void> | undefined;
  let errand: { readonly kind: Kind; readonly doing: Errand<Gain> } | undefined;
  /** A token that could not be renewed before its end: what the server says of it is what counts. */
  let givenUp: string | undefined;
  /** A token that could not be saved: what is in the store is older. */
  let unsaved: string | undefined;
  const tries = new WeakMap<AuthorizedRequest, Tried>();

  // --- what is kept

  async function readSaved(): Promise<Held | undefined> {
    const origin = await saved.origin.get(name);
    const tokens = origin && (await saved.tokens.get(origin.issuer, origin.resource ?? name));
    return origin && tokens && { ...origin, tokens };
  }

  function load(): Promise<void> {
    loading ??= readSaved().then(
      (kept) => {
        held ??= kept;
      },
      (error) => {
        // It may be there the next time.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  /** @param before what they replace. Who stood still for so long that he was overtaken takes what the other has saved */
  async function keep({ as: { issuer }, resource, hint }: Found, tokens: Tokens, before?: Tokens): Promise<void> {
    held = { issuer, resource, hint, tokens };
    unsaved = tokens.accessToken;
    const key = [issuer, resource ?? name] as const;
    if (!before) await saved.tokens.put(tokens, ...key);
    else if (!(await saved.tokens.replace(before, tokens, ...key)))
      held = { ...held, tokens: (await saved.tokens.get(...key)) ?? tokens };
    await saved.origin.put({ issuer, resource, hint }, name);
    unsaved = undefined;
  }

  /** What somebody else has saved in place of these tokens. */
  function isOther(stored: Tokens | undefined, { accessToken }: Partial<Tokens> = {}): stored is Tokens {
    return stored !== undefined && stored.accessToken !== accessToken && unsaved === undefined;
  }

  /** Whether somebody else has saved others, in place of those that are held here. */
  async function takeSaved(): Promise<boolean> {
    const kept = await readSaved();
    if (!isOther(kept?.tokens, held?.tokens)) return false;
    held = kept;
    return true;
  }

  function openDpop(issuer: string): Promise<DpopKey> {
    if (dpop?.issuer === issuer) return dpop.key;
    const key = openDpopKey(saved.key, issuer);
    dpop = { issuer, key };
    key.catch(() => {
      if (dpop?.key === key) dpop = undefined;
    });
    return key;
  }

  // --- one for all who wait

  /** Undefined where another had to end first: what came of it is not known here, so that the request is sent again. */
  async function share(
    kind: Kind,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<Gain>,
  ): Promise<Gain | undefined> {
    if (errand && (errand.kind !== kind || errand.doing.isCalledOff)) {
      await untilAborted(errand.doing.ended, signal, (reason) => reason);
      return undefined;
    }
    errand ??= {
      kind,
      doing: startErrand((calledOff) =>
        run(calledOff).finally(() => {
          errand = undefined;
        }),
      ),
    };
    return errand.doing.join(signal);
  }

  /** Waits where a token is on its way that is wanted here, too. More scopes for somebody else are not. */
  async function wait({ signal }: AuthorizedRequest): Promise<void> {
    if (!errand || errand.kind.startsWith("more")) return;
    const { kind, doing } = errand;
    // Who is let in by the same visit is turned away with it, too: the user is not asked once for each.
    if (kind === "renew" && !doing.isCalledOff) await doing.join(signal);
    else await untilAborted(doing.ended, signal, (reason) => reason);
  }

  // --- what is done

  async function find(hint: string | undefined, signal: AbortSignal): Promise<Found> {
    // A token would travel to it in the clear.
    toSafeUrl(server.href);
    const { chooseIssuer } = options;
    found = { ...(await discover(server, hint, { fetch, chooseIssuer, signal })), hint };
    return found;
  }

  function canRenewEarly({ tokens: { accessToken, refreshToken, expiresAt } }: Held): boolean {
    const endsSoon = expiresAt !== undefined && expiresAt - Date.now() < marginMs;
    return endsSoon && accessToken !== givenUp && (refreshToken !== undefined || options.grant !== undefined);
  }

  async function renewEarly(signal: AbortSignal): Promise<Gain> {
    const from = held as Held;
    try {
      const at = found ?? (await find(from.hint, signal));
      // Only a server that says no says that its tokens come from elsewhere now.
      if (!isFrom(from, at)) throw new OAuthError("issuer_mismatch", `${name} has another authorization server now`);
      const gain = await refresh(at, from, signal);
      if (gain) return gain;
      if (options.grant) return await obtain(at, undefined, from.tokens.scope, signal);
      throw new OAuthError("token_failed", "The token cannot be renewed");
    } catch (error) {
      if (!signal.aborted) givenUp = from.tokens.accessToken;
      throw error;
    }
  }

  /** @param mayAsk somebody waits for it */
  async function renew(wanted: Wanted, mayAsk: boolean, signal: AbortSignal): Promise<Gain> {
    const before = held;
    if (await takeSaved()) return "taken";
    // Each time: a challenge may name another place than before, and metadata another authorization server.
    const at = await find(wanted.resourceMetadata, signal);
    // What another authorization server gave is of no use here, and is not shown here.
    const gain = before && isFrom(before, at) ? await refresh(at, before, signal) : undefined;
    if (gain) return gain;
    if (!mayAsk && !options.grant) return "none";
    return obtain(at, wanted.scope, undefined, signal);
  }

  /**
   * Undefined where there is no refreshing any more, and somebody has to be asked. Of all processes that share the store one
   * refreshes, and its request is not left in the middle: a token that is rotated must not be sent twice, nor its successor lost.
   */
  async function refresh(at: Found, from: Held, signal: AbortSignal): Promise<Gain | undefined> {
    if (from.tokens.refreshToken === undefined) return undefined;
    const { issuer } = at.as;
    const resource = at.resource ?? name;
    const readStored = async () => (unsaved === undefined ? saved.tokens.get(issuer, resource) : undefined);
    const takeOther = (stored: Tokens | undefined): boolean => {
      if (!isOther(stored, from.tokens)) return false;
      held = { ...from, tokens: stored };
      return true;
    };
    return saved.alone(issuer, resource, signal, async () => {
      const stored = await readStored();
      if (takeOther(stored)) return "taken";
      const { refreshToken, clientId, registration } = stored ?? from.tokens;
      const client = findClient(at.as, options) ?? registration;
      if (refreshToken === undefined || client?.client_id !== clientId) return undefined;
      const asked = await toRequest(at, client, undefined, signal);
      const parameters = withResource(new URLSearchParams({ refresh_token: refreshToken }), at);
      try {
        const given = await askTokenEndpoint(asked, "refresh_token", parameters);
        await keep(at, toTokens(given, asked, from.tokens), stored);
        return "made";
      } catch (error) {
        if (takeOther(await readStored())) return "taken";
        const code = error instanceof OAuthError ? error.error : undefined;
        if (unknownClient.includes(code) && !findClient(at.as, options)) {
          await forgetClient(issuer, clientId);
          return undefined;
        }
        // Any other trouble may pass, and with it the token would be lost.
        if (code !== "invalid_grant") throw error;
        // It is used up, and not sent again. What somebody else has saved by now stays.
        const rest = { ...(stored ?? from.tokens), refreshToken: undefined };
        if (stored) await saved.tokens.replace(stored, rest, issuer, resource);
        if (held === from) held = { ...from, tokens: rest };
        return undefined;
      }
    });
  }

  /**
   * A new token, whatever it takes.
   * @param challenged what the server asks for
   * @param kept what is asked for besides, since it was before
   */
  async function obtain(
    at: Found,
    challenged: string | undefined,
    kept: string | undefined,
    signal: AbortSignal,
  ): Promise<Gain> {
    const { grant, redirect, scopes: given } = options;
    const { scopesSupported: supported } = at;
    const known = at.as.scopes_supported;
    const scope = chooseScope({ given, challenged, supported, known, granted: kept, isLasting: !grant });
    if (grant) {
      const asked = await toRequest(at, findClient(at.as, options) as Registration, scope, signal);
      const given = await grant.request(asked).catch((error) => {
        throw toGuessError(error, at, "token_failed");
      });
      await keep(at, toTokens(given, asked));
      return "made";
    }
    if (!redirect)
      throw new OAuthError(
        "no_redirect",
        `${name} wants the user to log in, and nobody can be asked: give oauth({ redirect: … })`,
      );
    assertCodeGrant(at, options.dpop);
    const visit = await redirect.begin((await knownClient(at))?.redirect_uris);
    try {
      assertRedirectUri(visit.uri);
      const client = await clientFor(at, visit.uri, signal);
      const asked = await toRequest(at, client, scope, signal);
      const tokens = toTokens(await authorizeByCode(asked, visit), asked);
      await keep(at, tokens);
      return "made";
    } catch (error) {
      if (error instanceof OAuthError && unknownClient.includes(error.error)) await forgetClient(at.as.issuer);
      throw error;
    } finally {
      await visit.close?.();
    }
  }

  /** Asks for more, as often as it is worth it. */
  async function stepUp(request: AuthorizedRequest, wanted: Wanted, used: string | undefined): Promise<boolean> {
    if (wanted.error !== "insufficient_scope" || used === undefined) return false;
    if (!held || held.tokens.accessToken !== used) return true;
    const { maxStepUps = 2 } = options;
    const tried = triedFor(request);
    const granted = unite(held.tokens.scope);
    // Who has all that is wanted already gets no more by asking again.
    if (tried.stepUps >= maxStepUps || unite(granted, wanted.scope) === granted)
      throw new OAuthError(
        "insufficient_scope",
        `${name} wants more than it was granted${wanted.scope ? ` (${toLine(wanted.scope, 200)})` : ""}`,
        { error: wanted.error },
      );
    if (request.isUnattended && !options.grant) return false;
    const all = unite(granted, wanted.scope);
    const gain = await share(`more: ${all}`, request.signal, async (signal) =>
      obtain(await find(wanted.resourceMetadata, signal), wanted.scope, all, signal),
    );
    if (gain) tried.stepUps++;
    return true;
  }

  // --- who this client is

  async function toRequest(
    at: Found,
    client: Registration,
    scope: string | undefined,
    signal: AbortSignal,
  ): Promise<GrantRequest> {
    await assertOwner(at.as.issuer);
    const key = options.dpop ? await openDpop(at.as.issuer) : undefined;
    return { ...at, client, key: options.clientKey, scope, dpop: key?.handle(), fetch, signal };
  }

  /** A secret that is not said to be of one authorization server is of the first: no other is shown it, whatever a server says. */
  async function assertOwner(issuer: string): Promise<void> {
    const { client } = options;
    if (client?.secret === undefined || client.issuer !== undefined) return;
    if (await saved.owner.replace(undefined, issuer, client.id)) return;
    const owner = await saved.owner.get(client.id);
    // What cannot be read is as good as nothing.
    if (owner === undefined) await saved.owner.put(issuer, client.id);
    else if (owner !== issuer)
      throw new OAuthError(
        "client_mismatch",
        `The client secret is of ${owner}, as far as is known; ${name} names ${issuer}, to which it is not shown. Say whose it is: oauth({ client: { issuer: … } })`,
      );
  }

  /** To the authorization server, as far as that is known. */
  async function knownClient({ as }: Found): Promise<Registration | undefined> {
    return findClient(as, options) ?? (await saved.registration.get(as.issuer));
  }

  async function clientFor(at: Found, uri: string, signal: AbortSignal): Promise<Registration> {
    const known = await knownClient(at);
    if (known && (isGood(known, uri) || findClient(at.as, options))) return known;
    const made = await register(at.as, [uri], options, { fetch, signal }).catch((error) => {
      throw toGuessError(error, at, "registration_failed");
    });
    await saved.registration.put(made, at.as.issuer);
    return made;
  }

  /** What was given by hand stays. */
  async function forgetClient(issuer: string, id?: string): Promise<void> {
    const kept = await saved.registration.get(issuer);
    if (kept && (id === undefined || kept.client_id === id)) await saved.registration.delete(issuer);
  }

  function triedFor(request: AuthorizedRequest): Tried {
    const tried = tries.get(request) ?? { renewals: 0, stepUps: 0, nonces: 0 };
    tries.set(request, tried);
    return tried;
  }

  return {
    async authorize(request): Promise<AuthHeaders> {
      await load();
      await wait(request);
      const isBusy = errand?.kind.startsWith("more");
      // Where that fails the old one is sent, and what the server says of it is what counts.
      if (held && !isBusy && canRenewEarly(held)) await share("early", request.signal, renewEarly).catch(() => {});
      if (!held) return {};
      const { tokens, issuer } = held;
      if (tokens.type === "bearer") return { authorization: `Bearer ${tokens.accessToken}` };
      const key = await openDpop(issuer);
      const proof = await key.prove(request.method, request.url, tokens.accessToken);
      return { authorization: `DPoP ${tokens.accessToken}`, dpop: proof };
    },

    async refused(request, answer, sent) {
      await load();
      const tried = triedFor(request);
      const nonce = answer.header("dpop-nonce");
      const key = nonce === undefined ? undefined : await dpop?.key;
      if (nonce !== undefined) key?.heard(request.url, nonce);
      const wanted = readWanted(answer.header("www-authenticate"));
      // One for each token: some give a new one each time.
      if (wanted.error === "use_dpop_nonce" && key) return ++tried.nonces <= 2 + tried.renewals + tried.stepUps;
      const used = tokenIn(sent);
      if (answer.status === 403) return stepUp(request, wanted, used);
      // Somebody else has got a new one meanwhile.
      if (held && held.tokens.accessToken !== used) return true;
      if (tried.renewals > 0) {
        // Another process may have ended it by getting a newer one, which it is about to save.
        if (held && (await saved.alone(held.issuer, held.resource ?? name, request.signal ?? patience, takeSaved)))
          return true;
        // Not even a new one will do.
        const { error, words } = readWords(wanted.error, wanted.description, used === undefined ? [] : [used]);
        const why = words === undefined ? "" : ` It says: ${words}`;
        throw new OAuthError(
          "unauthorized",
          `${name} refuses a token that ${held?.issuer} made for it a moment ago: the two do not agree, and their owner has to mend it.${why}`,
          { error },
        );
      }
      const mayAsk = !request.isUnattended;
      const gain = await share(mayAsk ? "renew" : "quiet", request.signal, (signal) => renew(wanted, mayAsk, signal));
      if (gain === "made") tried.renewals++;
      return gain !== "none";
    },

    async forget() {
      await load();
      // It would save what it has got.
      while (errand) await errand.doing.ended;
      const from = held ?? (await saved.origin.get(name));
      held = undefined;
      unsaved = undefined;
      // Where they came from stays: that is no secret, and may be wanted for others.
      if (from) await saved.tokens.delete(from.issuer, from.resource ?? name);
    },
  };
}

function isFrom({ issuer, resource }: Held, at: Found): boolean {
  return issuer === at.as.issuer && resource === at.resource;
}

function tokenIn({ authorization }: AuthHeaders): string | undefined {
  return authorization?.slice(authorization.indexOf(" ") + 1);
}

/** Made for this redirect URI, and with a secret that has not ended. */
function isGood({ redirect_uris: uris, client_secret_expires_at: end = 0 }: Registration, uri: string): boolean {
  return (uris?.includes(uri) ?? false) && (end === 0 || end * 1000 > Date.now() + marginMs);
}
