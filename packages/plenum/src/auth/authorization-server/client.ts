// The seam to who asks for tokens: a client that was given, that registered, or that has a document of its own.
import type { JSONWebKeySet } from "jose";

export type ClientAuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

export interface Client {
  readonly id: string;
  /** What people see on the consent page. The client's own word. */
  readonly name: string | undefined;
  readonly uri?: string | undefined;
  readonly redirectUris: readonly string[];
  readonly authMethod: ClientAuthMethod;
  /** SHA-256 of its secret, in base64url: what is kept is not worth stealing. */
  readonly secretHash?: string | undefined;
  /** With `private_key_jwt`: its public keys, or where they are. */
  readonly jwks?: JSONWebKeySet | undefined;
  readonly jwksUri?: string | undefined;
  /** As the token endpoint knows them: "authorization_code", "refresh_token", "client_credentials" … */
  readonly grantTypes: readonly string[];
  /** Given by the application, registered by itself (RFC 7591), or described by a document at its id. */
  readonly origin: "given" | "registered" | "document";
}

export interface Clients {
  /** Rejects with an AuthFault where a client's document cannot be had. */
  find(id: string): Promise<Client | undefined>;
}
