// An authorization server on a real socket, and a browser that is nothing but HTTP and a jar of cookies: it goes where it is sent
// within the server, and stops where it would leave it. Whatever a test leaves open is closed after it.
import { createHash } from "node:crypto";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
  fixedLogin,
  type KnownClient,
} from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { createMemoryStore, type Store } from "plenum/store";
import { afterEach } from "vitest";

export const resource = "https://mcp.example.com/mcp";
export const verifier = "a-verifier-that-is-long-enough-for-everybody-0123456789";
export const challenge = createHash("sha256").update(verifier).digest("base64url");

/** Clients that the application knows. The confidential one is remembered. */
export const web: KnownClient = {
  id: "web",
  name: "The Web Client",
  redirectUris: ["https://client.example/callback?kept=1"],
};
export const confidential: KnownClient = {
  id: "confidential",
  name: "Confidential",
  secret: "a secret of the client",
  redirectUris: ["https://confidential.example/callback"],
};
export const native: KnownClient = { id: "native", name: "Native", redirectUris: ["http://127.0.0.1/callback"] };

export type Parameters = { readonly [name: string]: string | readonly string[] | undefined };

export interface Stage {
  readonly server: AuthorizationServer;
  readonly store: Store;
  readonly issuer: string;
  /** Where it listens. */
  readonly origin: string;
  /** The address of an authorization request that is as it should be, but for what is given. */
  ask(given?: Parameters): string;
  browse(): Browser;
  /** Registers a client. */
  register(metadata: { readonly [name: string]: unknown }): Promise<{ client_id: string; client_secret?: string }>;
  /** Redeems a code as a public client. */
  redeem(code: string, clientId: string, redirectUri?: string): Promise<Response>;
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it is, with the issuer's origin. */
  readonly url: string;
  /** Where it would lead out of the server. */
  readonly location?: URL;
}

export interface Browser {
  /** By name: what it would send. */
  readonly cookies: Map<string, string>;
  /** All that it was told to keep, as it came. */
  readonly told: string[];
  /** One request, without going on. */
  send(url: string, init?: RequestInit): Promise<Page>;
  /** Goes on from redirect to redirect, while they stay within the server. */
  visit(url: string, init?: RequestInit): Promise<Page>;
  /** Sends the form of a page, with these fields besides the hidden ones and what has to be ticked, and goes on. */
  submit(page: Page, fields: { readonly [name: string]: string }, init?: RequestInit): Promise<Page>;
}

const open = new Set<() => Promise<void>>();

afterEach(async () => {
  const all = [...open];
  open.clear();
  await Promise.all(all.map((close) => close()));
});

/** What is to be closed after the test. */
export function closeAfter(close: () => Promise<void>): void {
  open.add(close);
}

/** @param toIssuer its address, by where it listens */
export async function openStage(
  given: Partial<AuthorizationServerOptions> = {},
  toIssuer: (origin: string) => string = (origin) => origin,
): Promise<Stage> {
  const store = given.store ?? createMemoryStore();
  const serving = await serveAuthorizationServer((origin) =>
    createAuthorizationServer({
      issuer: toIssuer(origin),
      resources: [resource],
      scopes: { "notes:read": "Read your notes", "notes:write": "Change your <b>notes</b>" },
      clients: [web, confidential, native],
      ...(given.upstream ? {} : { login: fixedLogin("alice") }),
      ...given,
      store,
    }),
  );
  closeAfter(() => serving.close(0));
  const { server, origin } = serving;
  const { issuer } = server;
  return {
    server,
    store,
    issuer,
    origin,
    ask(parameters = {}) {
      const url = new URL(`${issuer}/authorize`);
      const all: Parameters = {
        response_type: "code",
        client_id: "web",
        code_challenge: challenge,
        code_challenge_method: "S256",
        scope: "notes:read",
        state: "the state",
        ...parameters,
      };
      for (const [name, value] of Object.entries(all))
        for (const one of value === undefined ? [] : [value].flat()) url.searchParams.append(name, one);
      return url.href;
    },
    browse: () => createBrowser(issuer, origin),
    async register(metadata) {
      const response = await fetch(`${origin}${new URL(`${issuer}/register`).pathname}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(metadata),
      });
      if (response.status !== 201) throw new Error(`not registered: ${await response.text()}`);
      return (await response.json()) as { client_id: string };
    },
    redeem: (code, clientId, redirectUri) =>
      fetch(`${origin}${new URL(`${issuer}/token`).pathname}`, {
        method: "POST",
        body: new URLSearchParams({
          ...{ grant_type: "authorization_code", code, client_id: clientId, code_verifier: verifier },
          ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
        }),
      }),
  };
}

/** @param issuer as it names itself; @param origin where it listens */
export function createBrowser(issuer: string, origin: string): Browser {
  const own = new URL(issuer).origin;
  const cookies = new Map<string, string>();
  const told: string[] = [];

  async function send(url: string, init: RequestInit = {}): Promise<Page> {
    const { pathname, search } = new URL(url, own);
    const headers = new Headers(init.headers);
    if (cookies.size > 0 && !headers.has("cookie"))
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(`${origin}${pathname}${search}`, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      told.push(line);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const to = response.headers.get("location");
    const text = await response.text();
    return {
      ...{ status: response.status, headers: response.headers, text, url: `${own}${pathname}${search}` },
      ...(to !== null && { location: new URL(to, own) }),
    };
  }

  async function visit(url: string, init?: RequestInit): Promise<Page> {
    let page = await send(url, init);
    for (let i = 0; page.location?.origin === own && i < 10; i++) page = await send(page.location.href);
    return page;
  }

  return {
    cookies,
    told,
    send,
    visit,
    submit(page, fields, init = {}) {
      // Whoever answers ticks what has to be ticked: a browser would not send the form without.
      const { action, hidden, ticked } = formIn(page);
      const headers = new Headers(init.headers);
      if (!headers.has("origin")) headers.set("origin", own);
      return visit(new URL(action, own).href, {
        ...init,
        ...{ method: "POST", headers, body: new URLSearchParams({ ...hidden, ...ticked, ...fields }) },
      });
    },
  };
}

/** The one form of a page. Throws where there is none. */
export function formIn({ text }: Page): {
  readonly action: string;
  readonly hidden: { readonly [name: string]: string };
  readonly ticked: { readonly [name: string]: string };
} {
  const [, action] = /<form method="post" action="([^"]+)">/.exec(text) ?? [];
  if (action === undefined) throw new Error(`no form: ${text}`);
  const fields = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  const ticks = text.matchAll(/<input type="checkbox" name="([^"]+)"[^>]* required>/g);
  return {
    action: action.replaceAll("&amp;", "&"),
    hidden: Object.fromEntries([...fields].map(([, name, value]) => [name, value])),
    ticked: Object.fromEntries([...ticks].map(([, name]) => [name, "on"])),
  };
}

/** From a request to the client, with the user's yes. */
export async function allow(browser: Browser, url: string): Promise<Page> {
  return browser.submit(await browser.visit(url), { answer: "allow" });
}

/** The parameters that the client gets. */
export function answerIn({ location }: Page): { readonly [name: string]: string } {
  return Object.fromEntries(location?.searchParams ?? []);
}
