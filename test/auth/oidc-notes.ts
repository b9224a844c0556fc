// A protected server for the tests with oidc-provider: it tells who calls, and one of its tools takes more than the others.

import type { AddressInfo } from "node:net";
import { createServer as createSocket } from "node:net";
import { type Client, type ClientOptions, connect, createServer } from "plenum";
import { OAuthError, type OAuthOptions, oauth } from "plenum/auth/client";
import { requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";
import { expect, onTestFinished } from "vitest";
import type { Provider } from "./oidc-provider.ts";

export interface Notes {
  readonly url: string;
  /** Where HTTP+SSE is spoken. */
  readonly sseUrl: string;
  readonly resource: string;
  /** The Authorization header of every request that came. */
  readonly seen: (string | undefined)[];
  /** The token that came last. */
  token(): string;
  /** What the server says to a request of 2026-07-28 that is made by hand. */
  knock(headers: { readonly [name: string]: string }): Promise<Response>;
}

export interface NotesOptions {
  /** The resource is the whole origin, and not the path of MCP alone. Default false. */
  readonly isWhole?: boolean;
}

/** Closed when the test ends. */
export async function serveNotes(provider: Provider, { isWhole = false }: NotesOptions = {}): Promise<Notes> {
  const port = await findPort();
  const origin = `http://127.0.0.1:${port}`;
  const resource = isWhole ? origin : `${origin}/mcp`;
  provider.resources.add(resource);
  const seen: (string | undefined)[] = [];
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { auth }) => {
    const { subject, clientId, scopes } = auth ?? { scopes: [] };
    return JSON.stringify({ subject, clientId, scopes });
  });
  server.tool("write", { scopes: ["notes:write"] }, () => "written");
  const guard = requireAuth({ verify: provider.verifier(), resource, scopes: ["notes:read"] });
  const auth = Object.assign(
    (request: Parameters<typeof guard>[0]) => {
      seen.push(request.header("authorization"));
      return guard(request);
    },
    { routes: guard.routes, challenge: guard.challenge },
  );
  const http = await serveHttp(server, { port, auth, sse: true });
  onTestFinished(() => http.close(0));
  return {
    url: http.url,
    sseUrl: `${origin}/sse`,
    resource,
    seen,
    token: () => seen.findLast((header) => header !== undefined)?.split(" ")[1] ?? "",
    knock: (headers) =>
      fetch(http.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/list",
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/list",
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        }),
      }),
  };
}

/** One that was free a moment ago: a server has to know its own address before it begins. */
async function findPort(): Promise<number> {
  const socket = createSocket();
  await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

export interface Joined {
  readonly client: Client;
  /** What `whoami` says. */
  whoami(): Promise<{ readonly subject?: string; readonly clientId?: string; readonly scopes: readonly string[] }>;
}

/** A client that was let in. Closed when the test ends. */
export async function join(url: string, options: OAuthOptions, more: ClientOptions = {}): Promise<Joined> {
  const client = await connect({ url, auth: oauth(options) }, more);
  onTestFinished(() => client.close());
  return { client, whoami: async () => JSON.parse((await client.callTool("whoami")).text) };
}

/** Why nobody was let in: the OAuthError in it, or behind it. */
export async function refusalOf(promise: Promise<unknown>): Promise<OAuthError> {
  let error: unknown = await promise.then(
    () => expect.fail("was let in"),
    (reason) => reason,
  );
  while (error instanceof Error && !(error instanceof OAuthError)) error = error.cause;
  expect(error).toBeInstanceOf(OAuthError);
  return error as OAuthError;
}
