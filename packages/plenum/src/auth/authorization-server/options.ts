// What an application gives to createAuthorizationServer, and the same with all defaults filled in.
import type { JSONWebKeySet } from "jose";
import type { Store } from "../../store/store.ts";
import type { GuardOptions } from "../guarded-fetch.ts";
import type { RouteAnswer } from "../route.ts";
import type { ClientAuthMethod } from "./client.ts";

/** Who is at the browser. */
export interface User {
  readonly subject: string;
  /** Told to resource servers in tokens. */
  readonly claims?: { readonly [name: string]: unknown } | undefined;
}

export interface LoginRequest {
  /** "GET" when the page is first shown, "POST" when its form comes back. */
  readonly method: string;
  /** What the form holds; empty for GET. */
  readonly form: URLSearchParams;
  header(name: string): string | undefined;
  /** Where the form is to be posted to. */
  readonly action: string;
  /** A hidden field that the form must have, `csrf`: a form that did not come from here is not looked at. */
  readonly csrf: string;
}

/** Says who is at the browser, or shows a page that finds out. Its answer is remembered for the browser (`loginTtlS`). */
export type Login = (request: LoginRequest) => User | RouteAnswer | Promise<User | RouteAnswer>;

/** What a third party said of who has logged in there. */
export interface UpstreamLogin {
  /** What its ID token says, where it gave one. */
  readonly claims: { readonly [name: string]: unknown } | undefined;
  /** For asking the third party who it is. Never to be shown to anybody else. */
  readonly accessToken: string;
}

/** The endpoints of a third party that has no metadata. */
export interface UpstreamEndpoints {
  readonly authorization: string;
  readonly token: string;
  /** RFC 7662. */
  readonly introspection?: string;
  /** RFC 7009. */
  readonly revocation?: string;
}

/**
 * A third-party authorization server, which logs users in (proxy mode). Whatever client asks here, the third party sees this one:
 * register it there with the redirect URI `<issuer>/callback`.
 */
export interface UpstreamOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Asked for there. Default: openid. */
  readonly scopes?: readonly string[];
  /** More for its page, such as { access_type: "offline" }. */
  readonly parameters?: { readonly [name: string]: string };
  /** Default: what its metadata says. */
  readonly endpoints?: UpstreamEndpoints;
  /** Who it is; undefined for who is not let in. Default: the `sub` of the ID token. */
  readonly toUser?: (login: UpstreamLogin) => User | undefined | Promise<User | undefined>;
  /** Whether a token of the third party is still good. Default: its introspection endpoint says so, or, without one, the time. */
  readonly isAlive?: (accessToken: string) => boolean | Promise<boolean>;
  /** How long that answer is believed. Default 10 000; 0: not at all. */
  readonly statusCacheMs?: number;
}

/** A client that is known without registering. */
export interface KnownClient {
  readonly id: string;
  readonly name?: string;
  readonly secret?: string;
  readonly redirectUris?: readonly string[];
  /** Default: "client_secret_basic" with a secret, "private_key_jwt" with keys, else "none". */
  readonly authMethod?: ClientAuthMethod;
  readonly jwks?: JSONWebKeySet;
  readonly jwksUri?: string;
  /** Default: authorization_code and refresh_token with redirect URIs; client_credentials with a secret or keys. */
  readonly grantTypes?: readonly string[];
}

/** Whose assertions are worth a token (RFC 7523): an identity provider, a platform that names its workloads. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwks?: JSONWebKeySet;
  /** Default: what its metadata says. */
  readonly jwksUri?: string;
  /** "id-jag": an identity provider's word for a user (enterprise-managed authorization). "workload": of the client itself. Default "id-jag". */
  readonly kind?: "id-jag" | "workload";
  /**
   * Who that is here: the user's subject, or the id of the client. Undefined: nobody. Default: `sub` as it stands. Where there are
   * several issuers each needs it, since two of them may call different people by one name.
   */
  readonly subject?: (claims: { readonly [name: string]: unknown }) => string | undefined;
}

/** What a client wants to tell another authorization server of a user. */
export interface ExchangeRequest {
  /** Who asks, as it is known here. */
  readonly clientId: string;
  /** The issuer of the other authorization server. */
  readonly audience: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

export interface ExchangeSubject {
  readonly subject: string;
  /** The client, or clients, that the user's sign-on was made for. */
  readonly audience: string | readonly string[];
  /** Told to the other authorization server, such as `email`. */
  readonly claims?: { readonly [name: string]: unknown } | undefined;
  /** What of the scopes the user may have there. Default: all. */
  readonly scopes?: readonly string[] | undefined;
}

/** As the identity provider of enterprise-managed authorization: a user's sign-on in exchange for a word to another authorization server (ID-JAG). */
export interface ExchangeOptions {
  /** The issuers of the authorization servers that may be told of users. */
  readonly audiences: readonly string[];
  /** What a token of a sign-on is worth: undefined for one that is not good, and for what the user must not do. */
  verify(
    subjectToken: string,
    subjectTokenType: string,
    request: ExchangeRequest,
  ): ExchangeSubject | undefined | Promise<ExchangeSubject | undefined>;
  /** By which id the other authorization server knows a client. Default: the same as here. */
  readonly clientIdAt?: (clientId: string, audience: string) => string;
}

export interface RegistrationOptions {
  /** Clients that are kept; of more the oldest that never got a token go. Default 1000. */
  readonly max?: number;
  /** Registrations in a minute, from all together. Default 30. */
  readonly perMinute?: number;
}

export interface AuthorizationServerOptions extends Pick<GuardOptions, "fetch" | "blockPrivateAddresses" | "lookup"> {
  /** Its own address: https, or http on this machine. */
  readonly issuer: string;
  /** The resources that tokens can be for: the URLs of MCP servers. One: the default of who asks for none. */
  readonly resources: readonly string[];
  /** Who is at the browser. This or `upstream`. */
  readonly login?: Login;
  /** A third party says who is at the browser. */
  readonly upstream?: UpstreamOptions;
  /** What can be asked for, and what it means to people: { "notes:read": "Read your notes" }. */
  readonly scopes?: { readonly [scope: string]: string };
  /** What is granted to who asks for nothing. Default: none. */
  readonly defaultScopes?: readonly string[];
  /** Where grants, clients and keys are kept. Default: in memory. */
  readonly store?: Store;
  readonly clients?: readonly KnownClient[];
  /** Clients may register themselves (RFC 7591). Default true. */
  readonly registration?: boolean | RegistrationOptions;
  /** Clients may be known by a document at their id. Default true. */
  readonly clientDocuments?: boolean;
  readonly trustedIssuers?: readonly TrustedIssuer[];
  /** Default: no such exchange. */
  readonly exchange?: ExchangeOptions;
  /** Default 600. */
  readonly accessTokenTtlS?: number;
  /** Since its last use. Default 30 days. */
  readonly refreshTokenTtlS?: number;
  /** How long a browser is remembered. Default 8 hours. */
  readonly loginTtlS?: number;
  /** How long a key signs; it is shown for as long as its last token lives. Default 30 days. */
  readonly keyTtlS?: number;
  /** Shown on the pages. Default: the host of the issuer. */
  readonly name?: string;
  /** Told of what went wrong here, of which nobody outside hears: a store that fails, a login that throws. Default: `console.error`. */
  readonly onError?: (error: unknown, about: { readonly path: string }) => void;
}
