// What an application gives to createAuthorizationServer, looked at before anything is served, and with all defaults filled in.
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { quote } from "../../util/quote.ts";
import { toCanonical } from "../canonical.ts";
import { type Fetch, isLoopbackHost } from "../guarded-fetch.ts";
import { assertOptionNames } from "../option-names.ts";
import type { ClientAuthMethod } from "./client.ts";
import { AuthFault } from "./fault.ts";
import type {
  AuthorizationServerOptions,
  ExchangeOptions,
  KnownClient,
  Login,
  RegistrationOptions,
  TrustedIssuer,
  UpstreamOptions,
} from "./options.ts";
import { checkRedirectUri } from "./redirect-uri.ts";

export interface Settings {
  /** To the letter as it was given. */
  readonly issuer: string;
  readonly origin: string;
  /** What comes before the paths of all endpoints: "" or "/tenant". */
  readonly path: string;
  /** The issuer is on this machine: for development. */
  readonly isLocal: boolean;
  readonly resources: readonly string[];
  /** Either this or `upstream`. */
  readonly login: Login | undefined;
  readonly upstream: UpstreamOptions | undefined;
  readonly scopes: { readonly [scope: string]: string };
  readonly defaultScopes: readonly string[];
  readonly store: Store;
  readonly clients: readonly KnownClient[];
  readonly registration: Required<RegistrationOptions> | undefined;
  readonly clientDocuments: boolean;
  readonly trustedIssuers: readonly TrustedIssuer[];
  readonly exchange: ExchangeOptions | undefined;
  readonly accessTokenTtlS: number;
  readonly refreshTokenTtlS: number;
  readonly loginTtlS: number;
  readonly keyTtlS: number;
  readonly name: string;
  readonly onError: NonNullable<AuthorizationServerOptions["onError"]>;
  readonly fetch: Fetch | undefined;
  readonly blockPrivateAddresses: boolean;
  readonly lookup: ((host: string) => Promise<readonly string[]>) | undefined;
}

const caller = "createAuthorizationServer";

function fail(text: string): never {
  throw new TypeError(`${caller}: ${text}`);
}

const optionNames: { readonly [K in keyof Required<AuthorizationServerOptions>]: true } = {
  issuer: true,
  resources: true,
  login: true,
  upstream: true,
  scopes: true,
  defaultScopes: true,
  store: true,
  clients: true,
  registration: true,
  clientDocuments: true,
  trustedIssuers: true,
  exchange: true,
  accessTokenTtlS: true,
  refreshTokenTtlS: true,
  loginTtlS: true,
  keyTtlS: true,
  name: true,
  onError: true,
  fetch: true,
  blockPrivateAddresses: true,
  lookup: true,
};

/** Throws a TypeError that says what to give. */
export function toSettings(options: AuthorizationServerOptions): Settings {
  if (!isObject(options)) fail("give an object of options: { issuer, resources, login, … }");
  assertKnown(options, Object.keys(optionNames), "option");
  const { origin, pathname, host, hostname } = toIssuer(options.issuer);
  const scopes = toScopes(options.scopes);
  const isLocal = isLoopbackHost(hostname);
  return {
    issuer: options.issuer,
    origin,
    path: pathname.replace(/\/$/, ""),
    isLocal,
    resources: toResources(options.resources),
    ...toUserSource(options),
    scopes,
    defaultScopes: toDefaultScopes(options.defaultScopes, scopes),
    store: toStore(options.store),
    clients: toClients(options.clients),
    registration: toRegistration(options.registration),
    clientDocuments: toFlag(options, "clientDocuments", true),
    trustedIssuers: toTrusted(options.trustedIssuers),
    exchange: toExchange(options.exchange),
    accessTokenTtlS: toSeconds(options, "accessTokenTtlS", 600),
    refreshTokenTtlS: toSeconds(options, "refreshTokenTtlS", 30 * 86_400),
    loginTtlS: toSeconds(options, "loginTtlS", 8 * 3600),
    keyTtlS: toSeconds(options, "keyTtlS", 30 * 86_400),
    name: toName(options.name, host),
    onError:
      toFunction<Settings["onError"]>(options, "onError") ??
      ((error, { path }) => console.error(`plenum: ${path} of the authorization server failed`, error)),
    fetch: toFunction(options, "fetch"),
    // Who runs at home may fetch at home.
    blockPrivateAddresses: toFlag(options, "blockPrivateAddresses", !isLocal),
    lookup: toFunction(options, "lookup"),
  };
}

/** What its parts must be is said by who asks the third party. */
function toUserSource({ login, upstream }: AuthorizationServerOptions): Pick<Settings, "login" | "upstream"> {
  if (upstream !== undefined) {
    if (login !== undefined) fail('"login" and "upstream" cannot both say who is at the browser: give one of them');
    if (!isObject(upstream)) fail('"upstream" must be an object: { issuer, clientId, clientSecret }');
    return { login: undefined, upstream };
  }
  if (typeof login !== "function")
    fail('"login" must be a function that says who is at the browser: (request) => ({ subject: "ada" })');
  return { login, upstream: undefined };
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function assertKnown(given: object, known: readonly string[], what: string): void {
  assertOptionNames(caller, given, Object.fromEntries(known.map((name) => [name, true])), what);
}

function toIssuer(given: unknown): URL {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  if (!url) fail('"issuer" must be this server\'s own address, such as https://auth.example.com');
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!isSafe) fail('"issuer" must be https, or http on this machine (127.0.0.1, [::1], localhost)');
  if (/[?#]/.test(given as string) || url.username || url.password)
    fail('"issuer" must have no query, no fragment and no password');
  // Clients compare it letter by letter, with what they have read and with what they have asked for.
  if (url.href !== given && url.href !== `${given}/`) fail(`"issuer" must be written as ${quote(url.href)}`);
  return url;
}

function toResources(given: unknown): readonly string[] {
  if (!Array.isArray(given) || given.length === 0)
    fail('"resources" must list the servers that tokens are for: ["https://mcp.example.com/mcp"]');
  for (const one of given) {
    const url = typeof one === "string" && URL.canParse(one) ? new URL(one) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || (one as string).includes("#") || url.username || url.password)
      fail('"resources" must be whole URLs, https or http, without a fragment or a password');
  }
  return [...new Set(given as string[])];
}

/** RFC 6749 § 3.3. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function toScopes(given: unknown = {}): { readonly [scope: string]: string } {
  if (!isObject(given)) fail('"scopes" must say what each scope means to people: { "notes:read": "Read your notes" }');
  for (const [scope, meaning] of Object.entries(given)) {
    if (!scopeToken.test(scope))
      fail(`"scopes": ${quote(scope)} cannot be a scope: it has a blank, a quote, or none at all`);
    if (scope === "offline_access")
      fail('"scopes" must not have offline_access: refresh tokens are given to every client that can use them');
    if (typeof meaning !== "string" || meaning === "") fail(`"scopes": say what ${quote(scope)} means to people`);
  }
  // A scope may have any name, such as one that every object has.
  return Object.assign(Object.create(null), given);
}

function toDefaultScopes(given: unknown = [], scopes: Settings["scopes"]): readonly string[] {
  if (!Array.isArray(given)) fail('"defaultScopes" must be a list of scopes');
  const strange = given.find((scope) => typeof scope !== "string" || !Object.hasOwn(scopes, scope));
  if (strange !== undefined) fail(`"defaultScopes": ${quote(String(strange))} is not among "scopes"`);
  return [...new Set(given as string[])];
}

function toStore(given: Store | undefined): Store {
  if (given === undefined) return createMemoryStore();
  if (typeof given?.get !== "function" || typeof given.put !== "function" || typeof given.delete !== "function")
    fail('"store" must have get, put and delete, such as createMemoryStore() of plenum/store makes');
  return given;
}

const authMethods: readonly ClientAuthMethod[] = [
  "none",
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt",
];
const clientNames = ["id", "name", "secret", "redirectUris", "authMethod", "jwks", "jwksUri", "grantTypes"];

function toClients(given: readonly KnownClient[] = []): readonly KnownClient[] {
  if (!Array.isArray(given)) fail('"clients" must be a list: [{ id, redirectUris }]');
  const ids = new Set<string>();
  for (const client of given) {
    if (!isObject(client)) fail('"clients" must be a list of objects: [{ id, redirectUris }]');
    assertKnown(client, clientNames, "client option");
    assertClient(client as unknown as KnownClient);
    if (ids.has(client.id as string)) fail(`"clients": ${quote(client.id as string)} is there twice`);
    ids.add(client.id as string);
  }
  return [...given];
}

function assertClient({ id, secret, redirectUris = [], authMethod, jwks, jwksUri }: KnownClient): void {
  if (typeof id !== "string" || !/^[\x20-\x7e]+$/.test(id)) fail('"clients": each needs an "id" of visible ASCII');
  const name = `client ${quote(id)}`;
  if (secret !== undefined && (typeof secret !== "string" || secret.length < 8))
    fail(`${name}: "secret" must be a string of 8 characters or more, and better of 32`);
  const problem = [redirectUris]
    .flat()
    .map((uri) => checkRedirectUri(uri, true))
    .find(Boolean);
  if (problem) fail(`${name}: "redirectUris": ${problem}`);
  if (authMethod !== undefined && !authMethods.includes(authMethod))
    fail(`${name}: "authMethod" must be one of ${authMethods.join(", ")}`);
  const needsSecret = authMethod === "client_secret_basic" || authMethod === "client_secret_post";
  if (needsSecret && secret === undefined) fail(`${name}: "authMethod" ${authMethod} needs a "secret"`);
  if (authMethod === "private_key_jwt" && jwks === undefined && jwksUri === undefined)
    fail(`${name}: "authMethod" private_key_jwt needs "jwks" or "jwksUri"`);
}

function toRegistration(given: boolean | RegistrationOptions = true): Settings["registration"] {
  if (given === false) return undefined;
  const options = given === true ? {} : given;
  if (!isObject(options)) fail('"registration" must be true, false or an object: { max, perMinute }');
  assertKnown(options, ["max", "perMinute"], "registration option");
  const count = (name: string, fallback: number): number => {
    const value = options[name] ?? fallback;
    return Number.isSafeInteger(value) && (value as number) >= 1
      ? (value as number)
      : fail(`"registration.${name}" must be 1 or more`);
  };
  return { max: count("max", 1000), perMinute: count("perMinute", 30) };
}

function toTrusted(given: readonly TrustedIssuer[] = []): readonly TrustedIssuer[] {
  if (!Array.isArray(given)) fail('"trustedIssuers" must be a list: [{ issuer: "https://idp.example.com" }]');
  for (const one of given) {
    if (!isObject(one)) fail('"trustedIssuers" must be a list of objects: [{ issuer }]');
    assertKnown(one, ["issuer", "jwks", "jwksUri", "kind", "subject"], "option of a trusted issuer");
    if (typeof one.issuer !== "string" || one.issuer === "") fail('"trustedIssuers": each needs an "issuer"');
    if (one.kind !== undefined && one.kind !== "id-jag" && one.kind !== "workload")
      fail('"trustedIssuers": "kind" must be "id-jag" or "workload"');
  }
  return [...given];
}

function toExchange(given: ExchangeOptions | undefined): ExchangeOptions | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) fail('"exchange" must be an object: { audiences, verify }');
  assertKnown(given, ["audiences", "verify", "clientIdAt"], "option of the exchange");
  if (typeof given.verify !== "function") fail('"exchange.verify" must be a function that says whose token it is');
  if (!Array.isArray(given.audiences) || given.audiences.some((one) => typeof one !== "string"))
    fail('"exchange.audiences" must list issuers: ["https://auth.example.com"]');
  if (given.clientIdAt !== undefined && typeof given.clientIdAt !== "function")
    fail('"exchange.clientIdAt" must be a function');
  return given as unknown as ExchangeOptions;
}

function toSeconds(
  options: AuthorizationServerOptions,
  name: keyof AuthorizationServerOptions,
  fallback: number,
): number {
  const value = options[name] ?? fallback;
  // Stores count in milliseconds, some of them in 32 bits of seconds.
  const fits = typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= 2 ** 31 - 1;
  return fits ? value : fail(`"${name}" must be a whole number of seconds, 1 or more`);
}

function toFlag(
  options: AuthorizationServerOptions,
  name: keyof AuthorizationServerOptions,
  fallback: boolean,
): boolean {
  const value = options[name] ?? fallback;
  return typeof value === "boolean" ? value : fail(`"${name}" must be true or false`);
}

function toFunction<F>(options: AuthorizationServerOptions, name: keyof AuthorizationServerOptions): F | undefined {
  const value: unknown = options[name];
  return value === undefined || typeof value === "function"
    ? (value as F | undefined)
    : fail(`"${name}" must be a function`);
}

function toName(given: unknown, fallback: string): string {
  if (given === undefined) return fallback;
  return typeof given === "string" && given !== "" ? given : fail('"name" must be a text that people see on the pages');
}

/**
 * The resource that a request names, as the settings write it: the only one where it names none. Throws an AuthFault,
 * `invalid_target`. RFC 8707.
 */
export function chooseResource({ resources }: Pick<Settings, "resources">, asked: string | undefined): string {
  if (asked === undefined) {
    const [only] = resources;
    if (only !== undefined && resources.length === 1) return only;
    throw new AuthFault("invalid_target", "There are several resources here: say with resource which one it is for");
  }
  const own = URL.canParse(asked) ? toCanonical(new URL(asked)) : undefined;
  const found = resources.find((resource) => toCanonical(new URL(resource)) === own);
  if (found === undefined) throw new AuthFault("invalid_target", "Tokens for that resource are not given here");
  return found;
}

/**
 * The scopes that a request asks for, of those that there are; the default ones where it asks for none. Those that are not
 * known here are left out, as RFC 6749 § 3.3 allows: the answer says what was granted. Throws an AuthFault, `invalid_scope`,
 * where nothing of it is left.
 */
export function chooseScopes(
  { scopes, defaultScopes }: Pick<Settings, "scopes" | "defaultScopes">,
  asked: string | undefined,
): readonly string[] {
  const words = [...new Set(asked?.split(" ").filter((word) => word !== "" && word !== "offline_access"))];
  if (words.length === 0) return defaultScopes;
  const known = words.filter((word) => Object.hasOwn(scopes, word));
  if (known.length > 0 || Object.keys(scopes).length === 0) return known;
  throw new AuthFault("invalid_scope", "None of the scopes is known here");
}
