// The way to a third-party authorization server and back (proxy mode). To the third party all clients are one, which its users have
// allowed once and for all: so it is never asked before the user has allowed this client here, and its answer is taken only from the
// browser in which that was done. Specification: security best practices § Confused Deputy Problem.
import * as oauth from "oauth4webapi";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import type { Fetch } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";
import type { RouteRequest } from "../route.ts";
import type { Cookies } from "./cookies.ts";
import { AuthFault } from "./fault.ts";
import type { UpstreamOptions, User } from "./options.ts";
import { type Asked, pendingS } from "./pending.ts";
import { createRecords } from "./records.ts";
import { assertUser } from "./session.ts";
import { createUpstreamServer, toUpstreamScopes } from "./upstream-server.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";

/** What a browser is sent away with. */
export interface Departure {
  /** The third party's page. */
  readonly location: string;
  /** The value of Set-Cookie: says that in this browser this client was allowed. */
  readonly cookie: string;
}

export interface Arrival {
  readonly asked: Asked;
  /** Whose earlier permission it was, where the user was not asked this time. */
  readonly subject: string | undefined;
  /** Who has logged in, and under what the third party's tokens are kept; or why nobody has, for the client. */
  readonly outcome: { readonly user: User; readonly key: string } | AuthFault;
}

export interface Crossing {
  /**
   * Only after the user has allowed it. Rejects with an AuthFault for the client.
   * @param subject whose earlier permission it is, where the user was not asked
   */
  depart(asked: Asked, subject: string | undefined): Promise<Departure>;
  /** Rejects with an AuthFault for a page: whom it belongs to is not known. */
  arrive(request: RouteRequest): Promise<Arrival>;
}

export interface CrossingGround {
  readonly issuer: string;
  readonly store: Store;
  readonly fetch: Fetch;
  readonly cookies: Cookies;
  readonly tokens: UpstreamTokens;
}

interface Flight {
  readonly asked: Asked;
  readonly subject?: string | undefined;
  readonly verifier: string;
  readonly nonce: string;
}

/** Under the digest of its state. */
type Kept = Flight | "landed";

/** One for each flight, since a user may have several pages open. */
const cookieOf = (stateId: string): string => `consent-${stateId.slice(0, 8)}`;

export function createCrossing(options: UpstreamOptions, ground: CrossingGround): Crossing {
  const { issuer, store, fetch, cookies, tokens } = ground;
  const find = createUpstreamServer(options, fetch);
  const flights = createRecords<Kept>(store, issuer, "upstream-state");
  const callback = `${issuer.replace(/\/$/, "")}/callback`;
  const scopes = toUpstreamScopes(options.scopes);
  const isOpenId = scopes.includes("openid");
  /** Whatever the flight is for, the client is in it. */
  const toMark = async (stateId: string, { clientId }: Asked): Promise<string> =>
    `${stateId}.${await digestOf(clientId)}`;

  async function take(request: RouteRequest, given: URLSearchParams): Promise<Flight> {
    const [state, ...more] = given.getAll("state");
    if (!state || more.length > 0) throw new AuthFault("invalid_request", "Nobody here has sent you there");
    const stateId = await digestOf(state);
    const held = await flights.get(stateId);
    if (!held || held.value === "landed")
      throw new AuthFault("invalid_request", "This way is closed: it was used before, or it took too long");
    const flight = held.value;
    // Before it is used up: others must not be able to do that.
    if ((await cookies.read(request, cookieOf(stateId))) !== (await toMark(stateId, flight.asked)))
      throw new AuthFault("access_denied", "It was not in this browser that an application was allowed anything", 403);
    if (!(await flights.put(stateId, "landed", { over: { ...held, value: flight }, ttlS: pendingS })))
      throw new AuthFault("invalid_request", "This way is closed: it was used before");
    return flight;
  }

  async function redeem(given: URLSearchParams, { verifier, nonce }: Flight): Promise<oauth.TokenEndpointResponse> {
    const { as, client, auth, request } = await find();
    // The state was found to be the right one; what is looked at here is the issuer, and what it says.
    const checked = oauth.validateAuthResponse(as, client, given, given.get("state") ?? "");
    const response = await oauth.authorizationCodeGrantRequest(as, client, auth, checked, callback, verifier, request);
    return oauth.processAuthorizationCodeResponse(as, client, response, {
      ...(isOpenId && { expectedNonce: nonce, requireIdToken: options.toUser === undefined }),
    });
  }

  async function toUser(answer: oauth.TokenEndpointResponse): Promise<User | undefined> {
    const claims = oauth.getValidatedIdTokenClaims(answer);
    const { toUser: own } = options;
    if (!own) return { subject: claims?.sub as string };
    const user = await own({ claims: claims && { ...claims }, accessToken: answer.access_token });
    if (user !== undefined) assertUser(user, "upstream.toUser");
    return user;
  }

  async function settle(given: URLSearchParams, flight: Flight): Promise<Arrival["outcome"]> {
    const answer = await redeem(given, flight).catch(toClientFault);
    if (answer instanceof AuthFault) return answer;
    const user = await toUser(answer);
    if (!user) return new AuthFault("access_denied", "This user is not let in");
    return { user, key: await tokens.save(answer) };
  }

  return {
    async depart(asked, subject) {
      const { as } = await find().catch((error: unknown) => {
        throw toClientFault(error);
      });
      const state = oauth.generateRandomState();
      const flight: Flight = {
        asked,
        subject,
        verifier: oauth.generateRandomCodeVerifier(),
        nonce: oauth.generateRandomNonce(),
      };
      const stateId = await digestOf(state);
      await flights.put(stateId, flight, { ttlS: pendingS, over: null });
      const page = new URL(as.authorization_endpoint as string);
      for (const [name, value] of Object.entries(options.parameters ?? {})) page.searchParams.set(name, value);
      page.searchParams.set("response_type", "code");
      page.searchParams.set("client_id", options.clientId);
      page.searchParams.set("redirect_uri", callback);
      page.searchParams.set("scope", scopes.join(" "));
      page.searchParams.set("state", state);
      page.searchParams.set("code_challenge", await oauth.calculatePKCECodeChallenge(flight.verifier));
      page.searchParams.set("code_challenge_method", "S256");
      if (isOpenId) page.searchParams.set("nonce", flight.nonce);
      if (asked.prompts.includes("login")) page.searchParams.set("prompt", "login");
      const cookie = await cookies.write(cookieOf(stateId), await toMark(stateId, asked), pendingS);
      return { location: page.href, cookie };
    },
    async arrive(request) {
      const given = new URLSearchParams(request.query);
      const flight = await take(request, given);
      const { asked, subject } = flight;
      return { asked, subject, outcome: await settle(given, flight) };
    },
  };
}

/** Errors that mean the same to the client as they did to us. */
const passedOn = ["access_denied", "temporarily_unavailable"];

/** In our words: what the third party says is for us. */
function toClientFault(error: unknown): AuthFault {
  if (error instanceof oauth.AuthorizationResponseError) {
    const code = passedOn.includes(error.error) ? error.error : "server_error";
    return new AuthFault(code, "The authorization server behind this one said no");
  }
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.OperationProcessingError)
    return new AuthFault("server_error", "The authorization server behind this one gave no good answer");
  const why = error instanceof OAuthError ? ` (${error.code})` : "";
  return new AuthFault("temporarily_unavailable", `The authorization server behind this one cannot be asked${why}`);
}
