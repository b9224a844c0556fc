// A server that lets in whoever has a token for it, and tells all others where to get one. Specification: basic/authorization;
// RFC 6750, RFC 9728, RFC 9449.
import type { Store } from "../../store/store.ts";
import { toCanonical } from "../canonical.ts";
import { assertOptionNames } from "../option-names.ts";
import type { Routes } from "../route.ts";
import { createProofCheck, type ProvedRequest } from "./proof.ts";
import type { Verified, Verifier } from "./verify.ts";

/** Who calls, as handlers see it (`ctx.auth`). The token itself is not among it: it is for this server alone. */
export interface Entrant {
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
  readonly claims: { readonly [name: string]: unknown };
}

export interface Refused {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly message: string;
}

/** With what the operator is told, where that is more. */
interface Told extends Refused {
  readonly why?: string | undefined;
}

export interface RequireAuthOptions {
  /** Says what a token is worth: `jwt`, `introspection`, the `verifier` of an authorization server, or a function of your own. */
  readonly verify: Verifier | Verifier["verify"];
  /** The authorization servers that clients are sent to. Default: those of the verifier. */
  readonly authorizationServers?: readonly string[];
  /** This server, as clients address it: https://mcp.example.com/mcp. Tokens that were made for another are refused. */
  readonly resource: string;
  /** What every request needs. */
  readonly scopes?: readonly string[];
  /** What there is to ask for; shown in the metadata. Default: `scopes`. */
  readonly scopesSupported?: readonly string[];
  /** Scopes that stand for others: { admin: ["read", "write"] }. */
  readonly implies?: { readonly [scope: string]: readonly string[] };
  /** Says how long to wait, in seconds, to who asks too often; nothing to all others. */
  readonly limit?: (entrant: Entrant) => number | undefined | Promise<number | undefined>;
  /** Told why somebody was not let in: for the operator's log. No token is in it. What it throws is dropped. */
  readonly onRefused?: (why: string, status: number) => void;
  /** Remembers which proofs of DPoP were used; of many processes all need the same. Default: in memory. */
  readonly proofStore?: Store;
  /** For people: shown in the metadata. */
  readonly name?: string;
  readonly documentation?: string;
}

/** What `auth` of an HTTP server takes. */
export interface RequireAuth {
  (request: ProvedRequest): Promise<Entrant | Refused>;
  /** Where the metadata of this resource is served. */
  readonly routes: Routes;
  /** For who is let in, but not to what takes these scopes. */
  challenge(scopes: readonly string[]): Refused;
}

const optionNames: { readonly [K in keyof Required<RequireAuthOptions>]: true } = {
  verify: true,
  authorizationServers: true,
  resource: true,
  scopes: true,
  scopesSupported: true,
  implies: true,
  limit: true,
  onRefused: true,
  proofStore: true,
  name: true,
  documentation: true,
};

const wellKnown = "/.well-known/oauth-protected-resource";
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Throws a TypeError for options that would protect nothing. */
export function requireAuth(options: RequireAuthOptions): RequireAuth {
  assertOptionNames("requireAuth", options, optionNames);
  const { scopes = [], implies = {}, limit, onRefused } = options;
  for (const [name, value] of Object.entries({ limit, onRefused }))
    if (value !== undefined && typeof value !== "function") throw new TypeError(`requireAuth: ${name} is a function`);
  const resource = toResource(options.resource);
  const verifier = toVerifier(options);
  const supported = options.scopesSupported ?? scopes;
  assertScopes("scopes", scopes);
  assertScopes("scopesSupported", supported);
  for (const [scope, implied] of Object.entries(implies)) {
    assertScopes("implies", [scope]);
    assertScopes(`implies.${scope}`, implied);
  }
  const path = resource.pathname === "/" ? "" : resource.pathname;
  const metadataUrl = `${resource.origin}${wellKnown}${path}`;
  const metadata = {
    resource: options.resource,
    authorization_servers: [...verifier.issuers],
    ...(supported.length > 0 && { scopes_supported: [...supported] }),
    bearer_methods_supported: ["header"],
    ...(options.name !== undefined && { resource_name: options.name }),
    ...(options.documentation !== undefined && { resource_documentation: options.documentation }),
  };
  const checkProof = createProofCheck(resource, options.proofStore);

  function refuse(status: number, message: string, error?: string, needed = scopes, scheme = "Bearer"): Refused {
    const parts = [
      error && `error="${error}"`,
      error && `error_description="${message}"`,
      needed.length > 0 && `scope="${needed.join(" ")}"`,
      `resource_metadata="${metadataUrl}"`,
    ].filter(Boolean);
    return { status, message, headers: { "www-authenticate": `${scheme} ${parts.join(", ")}` } };
  }

  /** Everything that is needed in one challenge: who asks for it all is asked no more. */
  const challenge = (more: readonly string[]): Refused => {
    const needed = [...new Set([...scopes, ...more])];
    return refuse(403, `The token does not reach that far: it takes ${needed.join(" ")}`, "insufficient_scope", needed);
  };

  async function enter(request: ProvedRequest): Promise<Entrant | Told> {
    const header = request.header("authorization");
    const [, scheme, rest = ""] = /^(bearer|dpop)(?: +(.*))?$/i.exec(header ?? "") ?? [];
    if (scheme === undefined) return refuse(401, "A token is needed");
    if (!/^[A-Za-z0-9._~+/-]+=*$/.test(rest))
      return refuse(400, "The header Authorization is not written as it should be", "invalid_request");
    const verified = await verifier.verify(rest);
    if (!verified || typeof verified === "string")
      return { ...refuse(401, "The token is not known, or not any more", "invalid_token"), why: verified };
    assertVerified(verified);
    const { expiresAt, keyThumbprint } = verified;
    if (expiresAt !== undefined && !(expiresAt * 1000 > Date.now()))
      return refuse(401, "The token has expired", "invalid_token");
    if (!isFor(verified.audience, resource))
      return refuse(401, "The token was made for another server", "invalid_token");
    const isBound = keyThumbprint !== undefined;
    // A token that is bound is worth nothing without its key, and a proof without such a token proves nothing.
    if (isBound !== (scheme.toLowerCase() === "dpop"))
      return refuse(
        401,
        "The token is to be sent in another way",
        "invalid_token",
        scopes,
        isBound ? "DPoP" : "Bearer",
      );
    const problem = isBound ? await checkProof(request, rest, keyThumbprint) : undefined;
    if (problem !== undefined) return refuse(401, problem, "invalid_dpop_proof", scopes, "DPoP");
    const entrant = toEntrant(verified, implies);
    if (!scopes.every((scope) => entrant.scopes.includes(scope))) return challenge([]);
    const waitS = await limit?.(entrant);
    if (waitS === undefined || !(waitS > 0)) return entrant;
    return { status: 429, message: "Too many requests", headers: { "retry-after": String(Math.ceil(waitS)) } };
  }

  /** A log that fails lets nobody in, and keeps nobody out. */
  function tell(why: string, status: number): void {
    try {
      onRefused?.(why, status);
    } catch {}
  }

  async function enterOrTell(request: ProvedRequest): Promise<Entrant | Refused> {
    const told = await enter(request);
    if (!("status" in told)) return told;
    const { why, ...refused } = told;
    tell(why ?? refused.message, refused.status);
    return refused;
  }

  const show = () => ({
    body: metadata,
    headers: { "cache-control": "max-age=300", "access-control-allow-origin": "*" },
  });
  return Object.assign(enterOrTell, { routes: { [`${wellKnown}${path}`]: show, [wellKnown]: show }, challenge });
}

function toVerifier({ verify, authorizationServers }: RequireAuthOptions): Verifier {
  const isFunction = typeof verify === "function";
  if (!isFunction && typeof verify?.verify !== "function")
    throw new TypeError("requireAuth: give verify, such as jwt({ issuer: … }), introspection({ … }) or a function");
  const issuers = authorizationServers ?? (isFunction ? [] : verify.issuers);
  if (!Array.isArray(issuers) || issuers.length === 0 || !issuers.every((issuer) => URL.canParse(issuer)))
    throw new TypeError("requireAuth: give authorizationServers, a list of the URLs of those who make the tokens");
  return { issuers, verify: isFunction ? verify : (token) => verify.verify(token) };
}

/** With what they imply, and what that implies. */
function reach(scopes: readonly string[], implies: NonNullable<RequireAuthOptions["implies"]>): readonly string[] {
  const held = new Set(scopes);
  // A set goes on with what is added to it on the way.
  for (const scope of held)
    for (const more of Object.hasOwn(implies, scope) ? (implies[scope] ?? []) : []) held.add(more);
  return [...held];
}

function toEntrant(verified: Verified, implies: NonNullable<RequireAuthOptions["implies"]>): Entrant {
  const { subject, clientId, issuer, scopes, expiresAt, claims } = verified;
  return {
    ...(subject !== undefined && { subject }),
    ...(clientId !== undefined && { clientId }),
    scopes: reach(scopes, implies),
    ...(expiresAt !== undefined && { expiresAt }),
    // Subjects of two authorization servers may have the same name.
    claims: { ...claims, ...(issuer !== undefined && { iss: issuer }) },
  };
}

function toResource(given: unknown): URL {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash || url.search || url.username || url.password)
    throw new TypeError("requireAuth: resource is this server's own URL, such as https://mcp.example.com/mcp");
  return url;
}

/** What a function of the application's forgot to say would be taken for something else. */
function assertVerified({ scopes, audience }: Verified): void {
  if (!Array.isArray(scopes) || audience === undefined)
    throw new TypeError(
      "requireAuth: verify must say the scopes and the audience of a token: { scopes: [], audience: … }",
    );
}

function assertScopes(option: string, scopes: unknown): void {
  if (!Array.isArray(scopes)) throw new TypeError(`requireAuth: ${option} is a list of scopes, such as ["notes:read"]`);
  for (const scope of scopes) {
    if (typeof scope !== "string" || !scopeForm.test(scope))
      throw new TypeError(`requireAuth: ${JSON.stringify(scope)} is no scope: it is a word without blanks and quotes`);
    if (scope === "offline_access")
      throw new TypeError("requireAuth: offline_access is for clients to ask for, and not a scope of a server");
  }
}

function isFor(audience: Verified["audience"], resource: URL): boolean {
  if (audience === true) return true;
  const own = toCanonical(resource);
  return [audience].flat().some((one) => URL.canParse(one) && toCanonical(new URL(one)) === own);
}
