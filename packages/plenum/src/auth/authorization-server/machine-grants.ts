// Ways to a token for programs, as the token endpoint has them: nobody is asked. Specification: the extensions
// oauth-client-credentials and enterprise-managed-authorization; RFC 6749 § 4.4, RFC 7523, RFC 8693.
import { createJwtBearer, jwtBearerType } from "./jwt-bearer.ts";
import type { MachineGround } from "./machine-ground.ts";
import { assertPermitted } from "./permitted.ts";
import { chooseResource, chooseScopes, type Settings } from "./settings.ts";
import { createTokenExchange, tokenExchangeType } from "./token-exchange.ts";
import type { GrantType, GrantTypes } from "./token-request.ts";

/** Those that the settings allow. Throws a TypeError for trusted issuers that could be taken for one another. */
export function createMachineGrants(ground: MachineGround): GrantTypes {
  const { settings } = ground;
  return {
    client_credentials: createClientCredentials(settings),
    ...(settings.trustedIssuers.length > 0 && { [jwtBearerType]: createJwtBearer(ground) }),
    ...(settings.exchange && { [tokenExchangeType]: createTokenExchange(settings.exchange, ground) }),
  };
}

function createClientCredentials(settings: Settings): GrantType {
  return async ({ client, form }) => {
    assertPermitted(client, "client_credentials", { isGiven: true, isConfidential: true });
    const grant = {
      clientId: client.id,
      subject: client.id,
      scopes: chooseScopes(settings, form.get("scope") ?? undefined),
      resource: chooseResource(settings, form.get("resource") || undefined),
    };
    return { grant, isLasting: false };
  };
}
