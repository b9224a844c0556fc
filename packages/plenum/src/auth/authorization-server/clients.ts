// Who may ask for tokens: clients that the application names, clients that have registered, clients with a document of their own.
import { digestOf } from "../../util/digest.ts";
import type { Client, ClientAuthMethod, Clients } from "./client.ts";
import { type ClientDocuments, isDocumentId } from "./client-document.ts";
import type { KnownClient } from "./options.ts";
import type { Registered } from "./registered.ts";
import { userGrantTypes } from "./token-request.ts";

export interface ClientsGround {
  readonly given: readonly KnownClient[];
  /** Undefined: nobody registers here. */
  readonly registered: Registered | undefined;
  /** Undefined: nobody is known by a document. */
  readonly documents: ClientDocuments | undefined;
}

export function createClients({ given, registered, documents }: ClientsGround): Clients {
  const known = new Map(given.map((client) => [client.id, client]));
  const made = new Map<string, Promise<Client>>();
  return {
    async find(id) {
      const own = known.get(id);
      if (own) {
        const client = made.get(id) ?? toClient(own);
        made.set(id, client);
        return client;
      }
      if (isDocumentId(id)) return documents?.read(id);
      // As this server makes them: no other is worth a look.
      return /^[\w-]{22}$/.test(id) ? registered?.get(id) : undefined;
    },
  };
}

async function toClient(given: KnownClient): Promise<Client> {
  const { id, name, secret, redirectUris = [], jwks, jwksUri } = given;
  const hasKeys = jwks !== undefined || jwksUri !== undefined;
  const method: ClientAuthMethod = secret !== undefined ? "client_secret_basic" : hasKeys ? "private_key_jwt" : "none";
  const authMethod = given.authMethod ?? method;
  return {
    id,
    name,
    redirectUris: [...redirectUris],
    authMethod,
    secretHash: secret === undefined ? undefined : await digestOf(secret),
    jwks,
    jwksUri,
    grantTypes: [
      ...(given.grantTypes ?? [
        ...(redirectUris.length > 0 ? userGrantTypes : []),
        ...(authMethod === "none" ? [] : ["client_credentials"]),
      ]),
    ],
    origin: "given",
  };
}
