// An authorization server that nobody here wrote: oidc-provider, on a socket of 127.0.0.1, with somebody who logs in there and
// consents. What it is asked is recorded.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt, exportJWK, generateKeyPair, type JWK } from "jose";
import type {
  ClientAuthMethod,
  ClientMetadata,
  Configuration,
  KoaContextWithOIDC,
  ResourceServer,
} from "oidc-provider";
import { createRedirect, type Redirect } from "plenum/auth/client";
import { introspection, jwt, type Verifier } from "plenum/auth/resource-server";
import { onTestFinished } from "vitest";

export interface ProviderOptions {
  /** What access tokens are: read by who gets them, or known to the provider alone. Default "jwt". */
  readonly tokens?: "jwt" | "opaque";
  /** Proofs of DPoP must have a nonce of the provider's. Default false. */
  readonly wantsNonces?: boolean;
  /** Clients can register themselves. Default true. */
  readonly registers?: boolean;
  readonly clients?: readonly ClientMetadata[];
  /** Metadata documents of clients, by their URLs. They are fetched from here, whatever the URL. */
  readonly documents?: { readonly [url: string]: unknown };
  /** The path of the issuer, such as "/tenant" or "/". Default: none. */
  readonly path?: string;
  /** How clients may show who they are. Default: in every way. */
  readonly authMethods?: readonly ClientAuthMethod[];
  /** Which metadata there is. Default "both". */
  readonly metadata?: "oauth" | "openid" | "both";
  /** The answers of the token endpoint do not say how long a token lives. Default false. */
  readonly hidesLifetime?: boolean;
}

/** A request to the token endpoint. */
export interface Asked {
  readonly grant: string;
  /** How the client showed who it is. */
  readonly auth: "none" | "basic" | "post" | "jwt";
  readonly resource: unknown;
  readonly scope: unknown;
  readonly proof: "none" | "plain" | "nonce";
  /** What was wrong with it. */
  readonly error: string | undefined;
}

export interface Provider {
  readonly issuer: string;
  /** At the token endpoint. */
  readonly asked: Asked[];
  /** What clients registered with. */
  readonly registered: { readonly [name: string]: unknown }[];
  /** The addresses that the user's browser was sent to. */
  readonly visits: URL[];
  /** Every path that was asked for. */
  readonly paths: string[];
  /** For whom there are tokens: whoever asks for another is refused. */
  readonly resources: Set<string>;
  /** Who logs in. */
  account: string;
  /** The user says no. */
  isDenying: boolean;
  /** How long the user takes. */
  thinkMs: number;
  /** How long the access tokens live that are made from here on. */
  lifetimeS: number;
  /** The grants that were used at the token endpoint, in order. */
  grants(): string[];
  /** Follows the pages, as a browser does, until they lead elsewhere: that is where it ends. */
  browse(url: URL): Promise<URL>;
  /** A redirect to `callback`, with that browser. */
  readonly redirect: Redirect;
  /** For a server that takes its tokens. */
  verifier(): Verifier;
  /** An opaque token is not known any more. */
  forget(token: string): Promise<void>;
  /** A client that registered itself is not known any more. */
  forgetClient(id: string): Promise<void>;
  /** Sends a form to one of its endpoints. */
  send(path: string, form: { readonly [name: string]: string }): Promise<Sent>;
}

export interface Sent {
  readonly status: number;
  readonly error: string | undefined;
}

export const callback = "http://127.0.0.1:7777/callback";
export const scopes = "notes:read notes:write";

/** The server itself, as the provider knows it. */
const introspector = { client_id: "notes server", client_secret: "a b+c%d:e&f=g/h" };

const load = (() => {
  let loading: Promise<typeof import("oidc-provider")> | undefined;
  return () => {
    loading ??= (async () => {
      hush();
      // It is made for Node 22, and this is all that it needs of it.
      const parse = (url: string | URL, base?: string | URL): URL | null =>
        URL.canParse(String(url), base === undefined ? undefined : String(base)) ? new URL(url, base) : null;
      if (!("parse" in URL)) Object.assign(URL, { parse });
      return import("oidc-provider");
    })();
    return loading;
  };
})();

/** It says at every step what a deployment should change, and this is none. */
function hush(): void {
  for (const name of ["info", "warn"] as const) {
    const tell = console[name];
    console[name] = (...words: unknown[]) => {
      if (!String(words[0]).includes("oidc-provider ")) tell(...words);
    };
  }
}

/** Closed when the test ends. */
export async function openProvider(options: ProviderOptions = {}): Promise<Provider> {
  const { metadata = "both", hidesLifetime = false } = options;
  const path = pathOf(options);
  const oidc = await load();
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { origin } = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const issuer = `${origin}${options.path ?? ""}`;
  const root = `${origin}${path}`;
  const browse = createBrowser(origin);
  /** A person does one thing after the other. */
  let lastVisit: Promise<unknown> = Promise.resolve();

  const opened: Provider = {
    issuer,
    asked: [],
    registered: [],
    visits: [],
    paths: [],
    resources: new Set(),
    account: "ann",
    isDenying: false,
    thinkMs: 0,
    lifetimeS: 3600,
    grants: () => opened.asked.map(({ grant, error }) => (error === undefined ? grant : `${grant}: ${error}`)),
    browse(url) {
      opened.visits.push(url);
      const visit = lastVisit.then(async () => {
        await new Promise((resolve) => setTimeout(resolve, opened.thinkMs));
        return browse(url);
      });
      lastVisit = visit.catch(() => {});
      return visit;
    },
    redirect: createRedirect({ uri: callback, open: (url) => opened.browse(url) }),
    verifier() {
      if (options.tokens !== "opaque") return jwt({ issuer, clockToleranceS: 0 });
      const { client_id: clientId, client_secret: clientSecret } = introspector;
      return introspection({ issuer, endpoint: `${root}/token/introspection`, clientId, clientSecret, cacheMs: 0 });
    },
    forget: async (token) => (await provider.AccessToken.find(token))?.destroy(),
    async forgetClient(id) {
      await (provider.Client as unknown as { adapter: { destroy(id: string): Promise<void> } }).adapter.destroy(id);
    },
    async send(to, form) {
      const response = await fetch(root + to, { method: "POST", body: new URLSearchParams(form) });
      const text = await response.text();
      const { error } = (text ? JSON.parse(text) : {}) as { readonly error?: string };
      return { status: response.status, error };
    },
  };

  const provider = new oidc.Provider(
    issuer,
    await toConfiguration(options, opened, () => new oidc.errors.InvalidTarget()),
  );
  provider.use(async (ctx: KoaContextWithOIDC, next) => {
    await next();
    const { route, body = {} } = ctx.oidc ?? {};
    if (route === "registration") opened.registered.push(body);
    if (route !== "token") return;
    opened.asked.push(toAsked(ctx, body));
    if (hidesLifetime) delete (ctx.body as { expires_in?: unknown }).expires_in;
  });

  /** The page that a person would see: it is dealt with at once. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    const finish = (result: Parameters<typeof provider.interactionFinished>[2]): Promise<void> =>
      provider.interactionFinished(request, response, result, { mergeWithLastSubmission: prompt.name === "consent" });
    if (prompt.name === "login") return finish({ login: { accountId: opened.account } });
    if (opened.isDenying) return finish({ error: "access_denied", error_description: "Not today" });
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details as {
      readonly missingOIDCScope?: string[];
      readonly missingResourceScopes?: { readonly [resource: string]: string[] };
    };
    const accountId = session?.accountId as string;
    const clientId = params.client_id as string;
    const grant = (grantId && (await provider.Grant.find(grantId))) || new provider.Grant({ accountId, clientId });
    if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(" "));
    for (const [resource, missing] of Object.entries(missingResourceScopes))
      grant.addResourceScope(resource, missing.join(" "));
    return finish({ consent: { grantId: await grant.save() } });
  }

  const listener = provider.callback();
  const well = "/.well-known/";
  handle = (request, response) => {
    const { pathname } = new URL(request.url ?? "/", origin);
    opened.paths.push(pathname);
    const isHidden =
      (metadata === "openid" && pathname.startsWith(`${well}oauth`)) ||
      (metadata === "oauth" && pathname.includes(`${well}openid`));
    const isAsOAuth = pathname === `${well}oauth-authorization-server${path}`;
    if (isHidden || !(isAsOAuth || pathname.startsWith(`${path}/`))) return void response.writeHead(404).end();
    if (pathname.startsWith(`${path}/interaction/`))
      return void interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
    if (path !== "") mount(request, path, isAsOAuth);
    void listener(request, response);
  };
  return opened;
}

/** Where its endpoints are. */
function pathOf({ path = "" }: ProviderOptions): string {
  return path.replace(/\/$/, "");
}

/** As a framework does that has put it on a path. */
function mount(request: IncomingMessage, path: string, isAsOAuth: boolean): void {
  const { url = "" } = request;
  request.url = url.slice(0, isAsOAuth ? -path.length : undefined).slice(isAsOAuth ? 0 : path.length);
  Object.assign(request, { originalUrl: `${path}${request.url}` });
}

function toAsked(ctx: KoaContextWithOIDC, form: { readonly [name: string]: unknown }): Asked {
  const proof = ctx.get("dpop");
  const { error } = (ctx.body ?? {}) as { readonly error?: string };
  return {
    grant: String(form.grant_type),
    auth: ctx.get("authorization") ? "basic" : form.client_assertion ? "jwt" : form.client_secret ? "post" : "none",
    resource: form.resource,
    scope: form.scope,
    proof: proof === "" ? "none" : decodeJwt(proof).nonce === undefined ? "plain" : "nonce",
    error,
  };
}

async function toConfiguration(
  options: ProviderOptions,
  opened: Provider,
  toInvalidTarget: () => Error,
): Promise<Configuration> {
  const { tokens = "jwt", wantsNonces = false, registers = true, clients = [], authMethods, documents } = options;
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: "one", alg: "ES256", use: "sig" };
  return {
    clients: [{ ...introspector, grant_types: [], response_types: [], redirect_uris: [] }, ...clients],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    jwks: { keys: [key] } as NonNullable<Configuration["jwks"]>,
    cookies: { keys: [randomBytes(16).toString("hex")] },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_ctx, { uid }) => `${pathOf(options)}/interaction/${uid}` },
    ...(authMethods && { clientAuthMethods: [...authMethods] }),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registers },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, { clientId }) => clientId === introspector.client_id },
      revocation: { enabled: true },
      dPoP: {
        enabled: true,
        ...(wantsNonces && { nonceSecret: randomBytes(32), requireNonce: () => true }),
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_ctx, resource): ResourceServer {
          if (!opened.resources.has(resource)) throw toInvalidTarget();
          return {
            scope: scopes,
            accessTokenTTL: opened.lifetimeS,
            accessTokenFormat: tokens,
            ...(tokens === "jwt" && { jwt: { sign: { alg: "ES256" } } }),
          } as ResourceServer;
        },
      },
      ...(documents && { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } }),
    },
    ...(documents && {
      fetch: async (url: string | URL) =>
        Object.hasOwn(documents, String(url))
          ? Response.json(documents[String(url)])
          : new Response("", { status: 404 }),
    }),
  } as Configuration;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** What a browser does with redirects and cookies, and no more. */
function createBrowser(origin: string): (url: URL) => Promise<URL> {
  const jar = new Map<string, Cookie>();
  const fits = (path: string, at: string): boolean =>
    at === path || at.startsWith(path.endsWith("/") ? path : `${path}/`);
  return async (url) => {
    let at = url;
    for (let i = 0; i < 20; i++) {
      const cookies = [...jar].flatMap(([name, { value, path }]) =>
        fits(path, at.pathname) ? [`${name.split(" ", 1)[0]}=${value}`] : [],
      );
      const response = await fetch(at, { redirect: "manual", headers: { cookie: cookies.join("; ") } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        const [, path = "/"] = /;\s*path=([^;]*)/i.exec(line) ?? [];
        if (value === "") jar.delete(`${name} ${path}`);
        else jar.set(`${name} ${path}`, { value, path });
      }
      const text = await response.text();
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${at.pathname} answered ${response.status} and leads nowhere: ${text}`);
      at = new URL(location, at);
      if (at.origin !== origin) return at;
    }
    throw new Error("The pages lead round in circles");
  };
}
