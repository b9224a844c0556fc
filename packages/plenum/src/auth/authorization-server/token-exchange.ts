// As an identity provider: a user's sign-on in exchange for a word on that user to another authorization server (ID-JAG).
// Specification: the extension enterprise-managed-authorization § 4; RFC 8693.
import { AuthFault } from "./fault.ts";
import { idJagTyp } from "./jwt-bearer.ts";
import type { MachineGround } from "./machine-ground.ts";
import type { ExchangeOptions } from "./options.ts";
import { assertPermitted } from "./permitted.ts";
import type { GrantType } from "./token-request.ts";

export const tokenExchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";

const kind = "urn:ietf:params:oauth:token-type:";
const idJag = `${kind}id-jag`;
const subjectTypes: readonly string[] = [`${kind}id_token`, `${kind}saml2`];
/** It is used at once, and once. */
const ttlS = 300;

export function createTokenExchange(
  { verify, audiences, clientIdAt }: ExchangeOptions,
  { settings, keys }: Pick<MachineGround, "settings" | "keys">,
): GrantType {
  return async ({ client, form }) => {
    assertPermitted(client, tokenExchangeType, { isGiven: true });
    if (form.get("requested_token_type") !== idJag)
      throw new AuthFault("invalid_request", `requested_token_type must be ${idJag}`);
    const subjectTokenType = form.get("subject_token_type") ?? "";
    if (!subjectTypes.includes(subjectTokenType))
      throw new AuthFault("invalid_request", `subject_token_type must be ${subjectTypes.join(" or ")}`);
    const subjectToken = form.get("subject_token");
    if (!subjectToken) throw new AuthFault("invalid_request", "The request has no subject_token");
    if (form.get("actor_token")) throw new AuthFault("invalid_request", "Nobody can act for somebody else here");
    const audience = form.get("audience") ?? "";
    if (!audiences.includes(audience))
      throw new AuthFault("invalid_target", "The audience is none that may be told of users");
    const resource = readForeignResource(form);
    const wanted = toWords(form.get("scope"));
    const request = { clientId: client.id, audience, resource, scopes: wanted };
    const known = await verify(subjectToken, subjectTokenType, request);
    // A sign-on at one client must not be used by another.
    if (!known || ![known.audience].flat().includes(client.id))
      throw new AuthFault("invalid_grant", "The subject token is not good, not of this client, or not for there");
    const scopes = narrow(wanted, known.scopes);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...known.claims,
      iss: settings.issuer,
      sub: known.subject,
      aud: audience,
      resource,
      client_id: clientIdAt ? clientIdAt(client.id, audience) : client.id,
      jti: crypto.randomUUID(),
      iat: now,
      exp: now + ttlS,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    };
    const answer = {
      issued_token_type: idJag,
      access_token: await keys.sign(claims, { typ: idJagTyp }),
      token_type: "N_A",
      expires_in: ttlS,
      ...(scopes.length !== wanted.length && { scope: scopes.join(" ") }),
    };
    return { answer };
  };
}

/** Of another server: all that is known of it is what it must look like. RFC 8707 § 2 */
function readForeignResource(form: URLSearchParams): string {
  const resource = form.get("resource") ?? "";
  if (!URL.canParse(resource) || new URL(resource).hash !== "")
    throw new AuthFault("invalid_target", "The request must name a resource, by a URL without a fragment");
  return resource;
}

function toWords(scope: string | null): readonly string[] {
  return [...new Set(scope?.split(" ").filter((word) => word !== ""))];
}

/** A word without scopes would be good for all that the other authorization server has. */
function narrow(wanted: readonly string[], allowed: readonly string[] | undefined): readonly string[] {
  if (!allowed) return wanted;
  const scopes = wanted.length === 0 ? allowed : wanted.filter((scope) => allowed.includes(scope));
  if (scopes.length === 0) throw new AuthFault("invalid_scope", "The user may have nothing of what is asked for");
  return scopes;
}
