// What an application gives to `oauth`, checked when it is given.
import type { Store } from "../../store/store.ts";
import type { GuardOptions } from "../guarded-fetch.ts";
import { assertOptionNames } from "../option-names.ts";
import type { ClientKey } from "./client-auth.ts";
import type { Grant } from "./grant.ts";
import type { Redirect } from "./redirect.ts";
import { assertMetadataUrl, type ClientIdentity } from "./registration.ts";

export interface OAuthOptions extends ClientIdentity, GuardOptions {
  /** Where credentials and tokens are kept. Default: in memory. */
  readonly store?: Store;
  /** How the user gets to the authorization page and back. Without it, and without `grant`, nobody can be asked. */
  readonly redirect?: Redirect;
  /** A way to a token that takes no user. */
  readonly grant?: Grant;
  /** Signs who the client is, in place of a secret. */
  readonly clientKey?: ClientKey;
  /** In place of those that the server asks for at first; what it asks for later is added. */
  readonly scopes?: readonly string[];
  /** Which of several authorization servers. Default: the first that the server names. */
  readonly chooseIssuer?: (issuers: readonly string[]) => string | Promise<string>;
  /** Bind tokens to a key of this client. One that is not bound is refused. Default false. */
  readonly dpop?: boolean;
  /** How often more scopes are asked for because of one request. Default 2. */
  readonly maxStepUps?: number;
}

// Every option, and no other: who misspells one must hear of it.
const optionNames: { readonly [K in keyof Required<OAuthOptions>]: true } = {
  store: true,
  redirect: true,
  grant: true,
  clientKey: true,
  scopes: true,
  chooseIssuer: true,
  dpop: true,
  maxStepUps: true,
  clientName: true,
  clientUri: true,
  client: true,
  clientMetadataUrl: true,
  fetch: true,
  blockPrivateAddresses: true,
  lookup: true,
  timeoutMs: true,
  maxBytes: true,
};

const clientNames = { id: true, secret: true, issuer: true, authMethod: true } as const;

/** Throws a TypeError for options that make no sense. */
export function assertOptions(options: OAuthOptions): void {
  assertOptionNames("oauth", options, optionNames);
  const { client, clientMetadataUrl, grant, redirect, store, scopes, maxStepUps } = options;
  if (clientMetadataUrl !== undefined) assertMetadataUrl(clientMetadataUrl);
  if (grant !== undefined && typeof grant?.request !== "function")
    throw new TypeError("oauth: grant must be what one of the grants makes: clientCredentials(), with its brackets");
  if (grant && redirect)
    throw new TypeError("oauth: give redirect, to ask the user, or grant, to ask nobody; not both");
  if (grant && !client) throw new TypeError("oauth: a grant needs the client: oauth({ client: { id: … } })");
  if (client !== undefined) assertClient(options);
  if (redirect !== undefined && typeof redirect?.begin !== "function")
    throw new TypeError("oauth: redirect must have begin: loopbackRedirect() of plenum/auth/node, or createRedirect()");
  if (store !== undefined && [store?.get, store?.put, store?.delete].some((one) => typeof one !== "function"))
    throw new TypeError("oauth: store must have get, put and delete: fileTokens() of plenum/auth/node, or your own");
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every((one) => typeof one === "string")))
    throw new TypeError("oauth: scopes must be a list of texts");
  if (maxStepUps !== undefined && !(Number.isSafeInteger(maxStepUps) && maxStepUps >= 0))
    throw new TypeError("oauth: maxStepUps must be a whole number, 0 or more");
  assertKinds(options);
  assertMs("oauth", "timeoutMs", options.timeoutMs);
  if (options.maxBytes !== undefined && !(typeof options.maxBytes === "number" && options.maxBytes > 0))
    throw new TypeError("oauth: maxBytes must be a number above 0");
}

function assertClient({ client, clientKey, grant }: OAuthOptions): void {
  assertOptionNames("oauth({ client })", client, clientNames);
  const { id, secret } = client as NonNullable<typeof client>;
  if (typeof id !== "string" || id === "")
    throw new TypeError("oauth: client needs the id that the authorization server gave: { id: … }");
  if (secret !== undefined && (typeof secret !== "string" || secret === ""))
    throw new TypeError(
      "oauth: the secret of client must be a text that is not empty; leave it out where there is none",
    );
  // Whoever knew the id would get its tokens.
  if (grant?.name === "client_credentials" && secret === undefined && clientKey === undefined)
    throw new TypeError(
      "oauth: clientCredentials() needs client: { id, secret }, or a clientKey: with neither anybody could be it",
    );
}

function assertKinds(options: OAuthOptions): void {
  const kinds = {
    function: ["fetch", "lookup", "chooseIssuer"],
    boolean: ["dpop", "blockPrivateAddresses"],
    string: ["clientName", "clientUri"],
  } as const;
  const words = { function: "a function", boolean: "true or false", string: "a text" } as const;
  for (const kind of ["function", "boolean", "string"] as const)
    for (const name of kinds[kind])
      if (options[name] !== undefined && typeof options[name] !== kind)
        throw new TypeError(`oauth: ${name} must be ${words[kind]}`);
}

/** Timers count no further: what is longer would end at once. */
const maxMs = 2 ** 31 - 1;

/** Throws a TypeError for what is no time that can be waited for. */
export function assertMs(caller: string, name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0 && value <= maxMs)) return;
  throw new TypeError(`${caller}: ${name} must be a number of milliseconds above 0, and no more than ${maxMs}`);
}
