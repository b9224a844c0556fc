// A server of notes behind requireAuth, over real HTTP, and callers of it in every revision that has HTTP.
import { createServer, type Server } from "plenum";
import { jwt, type RequireAuthOptions, requireAuth } from "plenum/auth/resource-server";
import { z } from "zod";
import type { Answer } from "../http/answer.ts";
import { callModern, modern, openSession, sessioned } from "../http/callers.ts";
import { type Headers, type Http, openHttp } from "../http/harness.ts";
import { type Issuer, openIssuer, resource } from "./issuer.ts";

export const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
export const httpRevisions = [...sessioned, modern] as const;
export type HttpRevision = (typeof httpRevisions)[number];

export interface Stage {
  readonly http: Http;
  readonly issuer: Issuer;
  readonly ran: string[];
  readonly seen: (string | undefined)[];
  readonly errors: unknown[];
}

export function createNotes(ran: string[], seen: (string | undefined)[], errors: unknown[]): Server {
  const server = createServer({ name: "notes", version: "1.0.0", onError: (error) => void errors.push(error) });
  server.tool("whoami", {}, (_, ctx) => {
    ran.push("whoami");
    seen.push(ctx.sender?.header?.("authorization"), ctx.sender?.header?.("dpop"), JSON.stringify(ctx.auth));
    return ctx.auth?.subject;
  });
  server.tool("write", { input: z.object({ text: z.string() }), scopes: ["notes:write", "notes:own"] }, ({ text }) => {
    ran.push(text);
    return "written";
  });
  server.tool("purge", { scopes: ["admin"], hidden: true }, () => {
    ran.push("purge");
    return "gone";
  });
  return server;
}

export async function openStage(options: Partial<RequireAuthOptions> = {}): Promise<Stage> {
  const issuer = await openIssuer();
  const ran: string[] = [];
  const seen: (string | undefined)[] = [];
  const errors: unknown[] = [];
  const auth = requireAuth({
    verify: jwt({ issuer: issuer.issuer }),
    resource,
    scopes: ["notes:read"],
    scopesSupported: ["notes:read", "notes:write"],
    ...options,
  });
  const http = await openHttp(createNotes(ran, seen, errors), { auth });
  return { http, issuer, ran, seen, errors };
}

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Calls a tool as a client of that revision does: the first request that the server refuses is what comes back. */
export async function call(
  http: Http,
  revision: HttpRevision,
  headers: Headers,
  name = "whoami",
  args: Record<string, unknown> = {},
): Promise<Answer> {
  const params = { name, arguments: args };
  if (revision === modern) return callModern(http, "tools/call", params, { headers });
  const session = await openSession(http, revision, { headers });
  return session.request("tools/call", params);
}

/** As a client that is not let in begins. */
export function knock(http: Http, revision: HttpRevision, headers: Headers = {}): Promise<Answer> {
  if (revision === modern) return callModern(http, "tools/call", { name: "whoami" }, { headers });
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "x", version: "1" } };
  return http.post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
}
