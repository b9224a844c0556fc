// A protected MCP server and its authorization server, each on a socket of its own, and clients that log in: what the tests of
// authorization play on. A test bends what it wants to see go wrong, and looks at what was sent, in order.
import { type Client, type ConnectOptions, connect, createServer, type Revision } from "plenum";
import {
  type Authorizer,
  createRedirect,
  OAuthError,
  type OAuthOptions,
  oauth,
  type Redirect,
} from "plenum/auth/client";
import { toNodeHandler } from "plenum/http/node";
import { onTestFinished } from "vitest";
import { type Authority, openAuthority } from "./authority.ts";
import { openPlace, type Place, type Seen } from "./place.ts";

/** The revisions that have authorization. */
export const authRevisions: readonly Revision[] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/** How long a test waits for what must come: the machine may be busy. */
export const soon = { timeout: 20_000 };

/** What the server says to who is not let in. */
export interface Challenge {
  readonly status: 401 | 403;
  readonly header: string | undefined;
}

export interface Stage {
  /** Everything that was asked of any place, in order. */
  readonly log: Seen[];
  /** The same in short: "server POST /mcp", "authority GET /authorize". */
  readonly order: string[];
  readonly authority: Authority;
  /** Where the protected server is. */
  readonly place: Place;
  readonly url: string;
  /** The address of its stream of events, for 2024-11-05. */
  readonly sseUrl: string;
  /** Its metadata, at the well-known path that has its own. */
  metadata: { [name: string]: unknown };
  /** What every request needs, and what the challenge asks for. */
  scopes: readonly string[];
  /** Bends what is said to who is not let in. */
  challenge: (usual: Challenge, seen: { readonly token: string | undefined }) => Challenge;
  /** How often its one tool, `tell`, has run. */
  readonly runs: number;
  /** Requests to the MCP endpoint. */
  calls(verb?: string): Seen[];
  /** Opens one more place. */
  open(name: string): Promise<Place>;
  openAuthority(name: string, path?: string): Promise<Authority>;
}

export async function openStage({ issuerPath = "" } = {}): Promise<Stage> {
  const log: Seen[] = [];
  const authority = await openAuthority("authority", log, issuerPath);
  const place = await openPlace("server", log);
  const url = `${place.origin}/mcp`;
  /** Tokens of any of them are taken: what a client may send is for the tests to say. */
  const authorities = [authority];
  let runs = 0;
  const server = createServer({ name: "protected", version: "1.0.0" });
  server.tool("tell", {}, () => {
    runs++;
    return "told";
  });

  const stage: Stage = {
    log,
    get order() {
      return log.map((seen) => `${seen.place} ${seen.verb} ${seen.path}`);
    },
    authority,
    place,
    url,
    sseUrl: `${place.origin}/sse`,
    metadata: { resource: url, authorization_servers: [authority.issuer] },
    scopes: [],
    challenge: (usual) => usual,
    get runs() {
      return runs;
    },
    calls: (verb) => log.filter((seen) => isCall(seen) && (!verb || seen.verb === verb)),
    open: (name) => openPlace(name, log),
    async openAuthority(name, path) {
      const another = await openAuthority(name, log, path);
      authorities.push(another);
      return another;
    },
  };

  const hint = `${place.origin}/.well-known/oauth-protected-resource/mcp`;
  place.pages.set("/.well-known/oauth-protected-resource/mcp", () => ({ body: stage.metadata }));
  const handler = toNodeHandler(server, {
    path: "/mcp",
    sse: true,
    retryMs: 20,
    auth(request) {
      const token = /^Bearer (\S+)$/.exec(request.header("authorization") ?? "")?.[1];
      const issued = authorities.map(({ tokens }) => tokens.get(token ?? "")).find((one) => one !== undefined);
      const isGood = issued !== undefined && !issued.isRevoked;
      const isEnough = isGood && stage.scopes.every((scope) => issued.scopes.includes(scope));
      if (isEnough) return { clientId: issued.clientId, subject: "ada", scopes: [...issued.scopes] };
      const status = isGood ? 403 : 401;
      const error = isGood ? "insufficient_scope" : token && "invalid_token";
      const parameters = { error, scope: stage.scopes.join(" "), resource_metadata: hint };
      const said = Object.entries(parameters).flatMap(([name, value]) => (value ? [`${name}="${value}"`] : []));
      const bent = stage.challenge({ status, header: `Bearer ${said.join(", ")}` }, { token });
      return { status: bent.status, headers: bent.header === undefined ? {} : { "www-authenticate": bent.header } };
    },
  });
  onTestFinished(() => handler.close(0));
  place.rest = handler;
  return stage;
}

function isCall({ place, path }: Seen): boolean {
  return place === "server" && ["/mcp", "/sse", "/messages"].includes(path);
}

/** A redirect that asks nobody: the page of the tests leads straight back. */
export interface Followed extends Redirect {
  /** The pages that a user was sent to. */
  readonly visits: URL[];
}

export function follow(uri = "http://127.0.0.1:9/callback"): Followed {
  const visits: URL[] = [];
  const { begin } = createRedirect({
    uri,
    async open(url) {
      visits.push(url);
      const response = await fetch(url, { redirect: "manual" });
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (!location) throw new Error(`the page answered ${response.status} and leads nowhere`);
      return location;
    },
  });
  return { begin, visits };
}

export interface LogIn extends OAuthOptions {
  readonly revision?: Revision;
  /** In place of one that is made of the other options. */
  readonly auth?: Authorizer;
  readonly url?: string;
  readonly connect?: ConnectOptions;
}

/** A client of the stage's server, closed when the test ends. */
export async function logIn(stage: Stage, options: LogIn = {}): Promise<Client> {
  const { revision, auth, url = stage.url, connect: more, ...rest } = options;
  const client = await connect(url, {
    auth: auth ?? oauth({ ...(!rest.redirect && !rest.grant && { redirect: follow() }), ...rest }),
    ...(revision && { revision }),
    ...more,
  });
  onTestFinished(() => client.close());
  return client;
}

/** The OAuthError that something ends with, wherever it stands among the causes. Anything else is thrown. */
export async function refusalOf(promise: Promise<unknown>): Promise<OAuthError> {
  const error: unknown = await promise.then(
    () => new Error("it did not fail"),
    (thrown) => thrown,
  );
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof OAuthError) return one;
  throw error;
}

/** Everything that can be read of an error: its text, members, causes, and what JSON makes of it. */
export function textOf(error: unknown, depth = 0): string {
  if (depth > 8 || typeof error !== "object" || error === null) return String(error);
  const members = Object.getOwnPropertyNames(error).map(
    (name) => `${name}=${textOf((error as { readonly [name: string]: unknown })[name], depth + 1)}`,
  );
  return `${String(error)} ${members.join(" ")} ${JSON.stringify(error)}`;
}
