// A protected server and the authorization server that it trusts, both on sockets of 127.0.0.1, and a client's fetch that
// remembers what was sent. Whatever a test leaves open is closed after it.
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, connect, createServer } from "plenum";
import {
  type AuthorizationServerOptions,
  createAuthorizationServer,
  type KnownClient,
} from "plenum/auth/authorization-server";
import { type AuthorizationServing, serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { type Authorizer, OAuthError, type OAuthOptions, oauth } from "plenum/auth/client";
import { jwt, requireAuth, type Verifier } from "plenum/auth/resource-server";
import { toNodeHandler } from "plenum/http/node";
import { afterEach, expect } from "vitest";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

export type Options = Partial<AuthorizationServerOptions>;

/** An authorization server alone. */
export async function openAuthorizationServer(options: Options): Promise<AuthorizationServing> {
  const serving = await serveAuthorizationServer((origin) =>
    createAuthorizationServer({
      issuer: origin,
      resources: ["https://mcp.example.com/mcp"],
      login: () => ({ subject: "nobody" }),
      scopes: { "notes:read": "Read your notes", "notes:write": "Change your notes" },
      ...options,
    }),
  );
  open.push(() => serving.close(0));
  return serving;
}

export interface MachineStage {
  readonly as: AuthorizationServing;
  /** Where MCP is spoken. */
  readonly url: string;
  /** The token endpoint. */
  readonly token: string;
}

/**
 * Both. The server has the tools `whoami`, which takes notes:read, and `write`, which takes notes:write as well.
 * @param toVerifier Default: the server reads tokens with the keys that are published
 */
export async function openMachines(
  clients: readonly KnownClient[],
  options: Options = {},
  toVerifier = ({ origin }: AuthorizationServing): Verifier => jwt({ issuer: origin }),
): Promise<MachineStage> {
  const http = createHttp();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const as = await openAuthorizationServer({ resources: [url, "https://other.example.com/mcp"], clients, ...options });
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, ctx) => `${ctx.auth?.subject} by ${ctx.auth?.clientId}: ${ctx.auth?.scopes.join(" ")}`);
  server.tool("write", { scopes: ["notes:write"] }, () => "written");
  const handler = toNodeHandler(server, {
    path: "/mcp",
    auth: requireAuth({ verify: toVerifier(as), resource: url, scopes: ["notes:read"] }),
  });
  http.on("request", handler);
  open.push(async () => {
    await handler.close(0);
    http.closeAllConnections();
    http.close();
  });
  return { as, url, token: `${as.origin}/token` };
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly status: number;
  /** The answer's. */
  readonly answer: string;
}

export interface Recorder {
  readonly sent: Sent[];
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Those to a path. */
  to(path: string): Sent[];
}

/** @param change what comes in place of an answer, by the end of the URL */
export function createRecorder(change: { readonly [end: string]: (answer: unknown) => unknown } = {}): Recorder {
  const sent: Sent[] = [];
  return {
    sent,
    to: (path) => sent.filter(({ url }) => new URL(url).pathname === path),
    async fetch(url, init = {}) {
      const response = await fetch(url, init);
      const changed = Object.entries(change).find(([end]) => url.endsWith(end))?.[1];
      const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
      const answer = isStream ? "" : await response.clone().text();
      const { method = "GET", body } = init;
      const headers = new Headers(init.headers);
      sent.push({ method, url, headers, body: body ? String(body) : "", status: response.status, answer });
      return changed ? Response.json(changed(JSON.parse(answer)), { status: response.status }) : response;
    },
  };
}

/** Opens a client whose requests are all recorded. */
export async function connectMachine(url: string, options: OAuthOptions, { fetch }: Recorder): Promise<Client> {
  const auth: Authorizer = oauth({ ...options, fetch });
  const client = await connect({ url, auth, fetch: fetch as never }, { revision: "2026-07-28" });
  open.push(() => client.close());
  return client;
}

/** What a client said of itself in each message to the server. */
export function extensionsIn({ sent }: Recorder): unknown[] {
  return sent
    .filter(({ method, url }) => method === "POST" && url.endsWith("/mcp"))
    .map(({ body }) => JSON.parse(body).params._meta["io.modelcontextprotocol/clientCapabilities"]?.extensions);
}

/** Asks a token endpoint by hand. */
export async function post(
  endpoint: string,
  form: { readonly [name: string]: string },
  basic?: readonly [id: string, secret: string],
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }> {
  const headers = basic && { authorization: `Basic ${btoa(basic.map(encodeURIComponent).join(":"))}` };
  const response = await fetch(endpoint, {
    method: "POST",
    body: new URLSearchParams(form),
    ...(headers && { headers }),
  });
  return { status: response.status, body: (await response.json()) as { readonly [name: string]: unknown } };
}

/** Why there was no way in: the error of OAuth, wherever it stands in the chain. */
export async function errorOf(promise: Promise<unknown>): Promise<OAuthError> {
  let error: unknown = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  while (error instanceof Error && !(error instanceof OAuthError)) error = error.cause;
  expect(error).toBeInstanceOf(OAuthError);
  return error as OAuthError;
}
