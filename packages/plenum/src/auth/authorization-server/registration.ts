// Clients register themselves: anybody can, so that little is believed, and not too many of them are taken. RFC 7591.
import { digestOf } from "../../util/digest.ts";
import { createRate } from "../../util/rate.ts";
import type { Route } from "../route.ts";
import type { Client } from "./client.ts";
import { type Metadata, readMetadata } from "./client-metadata.ts";
import { endpoint, readJson, uncached } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";
import { randomText } from "./records.ts";
import type { Registered } from "./registered.ts";

export interface RegistrationGround {
  readonly registered: Registered;
  readonly perMinute: number;
}

export function createRegistrationEndpoint({ registered, perMinute }: RegistrationGround): Route {
  const rate = createRate({ perSecond: perMinute / 60, burst: perMinute });
  return endpoint({ method: "POST" }, async (request) => {
    if (!rate.take())
      throw new AuthFault("temporarily_unavailable", "Too many clients register at once", 429, { "retry-after": "60" });
    const metadata = await readJson(request);
    // The first is what RFC 7591 takes for who does not say.
    const described = readMetadata(metadata, ["client_secret_basic", "client_secret_post", "none", "private_key_jwt"]);
    const secret = described.authMethod.startsWith("client_secret") ? randomText() : undefined;
    const client: Client = {
      id: randomText(16),
      origin: "registered",
      ...described,
      secretHash: secret === undefined ? undefined : await digestOf(secret),
    };
    await registered.add(client);
    return { status: 201, headers: uncached, body: toAnswer(client, secret, metadata) };
  });
}

/** What was registered, which may be less than what was asked for. */
function toAnswer(client: Client, secret: string | undefined, { application_type: kind }: Metadata): Metadata {
  return {
    client_id: client.id,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    // It ends with the registration, and not before.
    ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: client.name,
    client_uri: client.uri,
    redirect_uris: client.redirectUris,
    token_endpoint_auth_method: client.authMethod,
    grant_types: client.grantTypes,
    response_types: ["code"],
    jwks: client.jwks,
    jwks_uri: client.jwksUri,
    ...((kind === "native" || kind === "web") && { application_type: kind }),
  };
}
