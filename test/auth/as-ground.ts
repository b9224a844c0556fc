// What tests of the authorization server stand on: settings, requests as a route sees them, and clients.
import type { Client } from "../../packages/plenum/src/auth/authorization-server/client.ts";
import type { AuthorizationServerOptions } from "../../packages/plenum/src/auth/authorization-server/options.ts";
import { type Settings, toSettings } from "../../packages/plenum/src/auth/authorization-server/settings.ts";
import type { Route, RouteAnswer, RouteRequest } from "../../packages/plenum/src/auth/route.ts";
import { digestOf } from "../../packages/plenum/src/util/digest.ts";

export const issuer = "https://auth.example.com";
export const resource = "https://mcp.example.com/mcp";
export const redirectUri = "https://app.example.com/callback";
/** Long enough to be one: 43 characters or more. */
export const verifier = "a-verifier-that-nobody-else-has-ever-thought";

export const baseOptions: AuthorizationServerOptions = {
  issuer,
  resources: [resource],
  login: () => ({ subject: "ada" }),
  scopes: { "notes:read": "Read your notes", "notes:write": "Change your notes" },
};

export function makeSettings(more: Partial<AuthorizationServerOptions> = {}): Settings {
  return toSettings({ ...baseOptions, ...more });
}

export function makeClient(more: Partial<Client> = {}): Client {
  return {
    id: "app",
    name: "App",
    redirectUris: [redirectUri],
    authMethod: "none",
    grantTypes: ["authorization_code", "refresh_token"],
    origin: "given",
    ...more,
  };
}

/** What somebody has allowed the client `app`. */
export async function makeCodeGrant(more: { readonly [name: string]: unknown } = {}) {
  return {
    clientId: "app",
    subject: "ada",
    scopes: ["notes:read", "notes:write"],
    resource,
    redirectUri,
    codeChallenge: await digestOf(verifier),
    ...more,
  };
}

export function makeRequest(
  method: string,
  { headers = {}, body = "", path = "/", query = "" }: RequestParts = {},
): RouteRequest {
  return {
    method,
    path,
    query,
    header: (name) => headers[name],
    async body(maxBytes) {
      if (new TextEncoder().encode(body).length > maxBytes) throw new Error("too long");
      return body;
    },
  };
}

export interface RequestParts {
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly path?: string;
  readonly query?: string;
}

export type FormInit = { readonly [name: string]: string } | readonly (readonly [string, string])[] | string;

export function makeForm(form: FormInit, headers: { readonly [name: string]: string } = {}): RouteRequest {
  const body = typeof form === "string" ? form : new URLSearchParams(form as Record<string, string>).toString();
  return makeRequest("POST", { body, headers: { "content-type": "application/x-www-form-urlencoded", ...headers } });
}

export function makeJson(value: unknown): RouteRequest {
  const body = typeof value === "string" ? value : JSON.stringify(value);
  return makeRequest("POST", { body, headers: { "content-type": "application/json" } });
}

export interface Said {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: { readonly [name: string]: unknown };
}

export async function ask(route: Route | undefined, request: RouteRequest): Promise<Said> {
  if (!route) throw new Error("there is no such route");
  const { status = 200, headers = {}, body }: RouteAnswer = await route(request);
  return { status, headers, body: body as Said["body"] };
}
