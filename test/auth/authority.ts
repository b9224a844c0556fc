// A small authorization server for tests: it asks nobody, tells what it was asked, and every answer of it can be bent.
import { createHash, randomUUID } from "node:crypto";
import { type Answer, openPlace, type Place, type Seen } from "./place.ts";

export interface Issued {
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly clientId: string;
  isRevoked: boolean;
}

export type Bend = (answer: Answer, seen: Seen) => Answer | Promise<Answer>;

export interface Authority {
  readonly place: Place;
  issuer: string;
  /** Served at the well-known paths. A member that is undefined is not there. */
  metadata: { [name: string]: unknown };
  /** Whether the user says yes. */
  isGranting: boolean;
  /** In seconds; undefined: the answer does not say. */
  expiresIn: number | undefined;
  /** Whether a refresh token is given, and another for each that is used. */
  hasRefresh: boolean;
  isRotating: boolean;
  /** Whether the page says who it is. */
  sendsIss: boolean;
  /** What becomes of an answer before it is sent. */
  bendPage: Bend;
  bendToken: Bend;
  bendRegistration: Bend;
  /** Every token that was given, by its text. */
  readonly tokens: Map<string, Issued>;
  /** Refresh tokens that came a second time: there must be none. */
  readonly reused: string[];
  /** What nobody but this server and its client may see. */
  readonly secrets: Set<string>;
  /** Requests by the last part of their path: "authorize", "token", "register". */
  of(what: string): Seen[];
  /** All tokens end. */
  revoke(): void;
}

interface Code {
  readonly query: URLSearchParams;
}

const asIs: Bend = (answer) => answer;

/**
 * @param log everything that is asked, in order
 * @param path of the issuer, such as "/tenant"
 */
export async function openAuthority(name: string, log: Seen[], path = ""): Promise<Authority> {
  const place = await openPlace(name, log);
  const { origin } = place;
  const codes = new Map<string, Code>();
  const refreshes = new Map<string, Issued>();
  const clients = new Map<string, { readonly secret: string | undefined }>();
  let count = 0;

  const authority: Authority = {
    place,
    issuer: origin + path,
    metadata: {
      issuer: origin + path,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
    },
    isGranting: true,
    expiresIn: 3600,
    hasRefresh: true,
    isRotating: true,
    sendsIss: true,
    bendPage: asIs,
    bendToken: asIs,
    bendRegistration: asIs,
    tokens: new Map(),
    reused: [],
    secrets: new Set(),
    of: (what) => log.filter((seen) => seen.place === name && seen.path === `/${what}`),
    revoke() {
      for (const issued of authority.tokens.values()) issued.isRevoked = true;
    },
  };

  const secret = (kind: string): string => {
    const made = `${kind}-${randomUUID()}`;
    authority.secrets.add(made);
    return made;
  };

  function give(issued: Issued, isRefreshed: boolean): Answer {
    const accessToken = secret("access");
    authority.tokens.set(accessToken, issued);
    const isNew = authority.hasRefresh && (authority.isRotating || !isRefreshed);
    const refreshToken = isNew ? secret("refresh") : undefined;
    if (refreshToken) refreshes.set(refreshToken, issued);
    return {
      body: {
        access_token: accessToken,
        token_type: "Bearer",
        ...(authority.expiresIn !== undefined && { expires_in: authority.expiresIn }),
        ...(refreshToken && { refresh_token: refreshToken }),
        ...(issued.scopes.length > 0 && { scope: issued.scopes.join(" ") }),
      },
    };
  }

  const refuse = (error: string, description?: string): Answer => ({
    status: error === "invalid_client" ? 401 : 400,
    body: { error, ...(description && { error_description: description }) },
  });

  function showPage({ query }: Seen): Answer {
    const back = new URL(query.get("redirect_uri") ?? "http://127.0.0.1:9/none");
    const state = query.get("state");
    if (state) back.searchParams.set("state", state);
    if (authority.sendsIss) back.searchParams.set("iss", authority.issuer);
    if (authority.isGranting) {
      const code = secret("code");
      codes.set(code, { query });
      back.searchParams.set("code", code);
    } else back.searchParams.set("error", "access_denied");
    return { status: 302, headers: { location: back.href } };
  }

  function redeem({ form }: Seen, clientId: string): Answer {
    const code = form.get("code") ?? "";
    const asked = codes.get(code)?.query;
    codes.delete(code);
    const verifier = form.get("code_verifier") ?? "";
    authority.secrets.add(verifier);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    if (!asked || asked.get("client_id") !== clientId) return refuse("invalid_grant", "no such code");
    if (asked.get("code_challenge") !== challenge) return refuse("invalid_grant", "the verifier is wrong");
    if (asked.get("redirect_uri") !== form.get("redirect_uri")) return refuse("invalid_grant", "another redirect URI");
    if (asked.get("resource") !== form.get("resource")) return refuse("invalid_target");
    const scopes = asked.get("scope")?.split(" ") ?? [];
    const resource = asked.get("resource") ?? undefined;
    return give({ scopes, resource, clientId, isRevoked: false }, false);
  }

  function refresh({ form }: Seen, clientId: string): Answer {
    const token = form.get("refresh_token") ?? "";
    const issued = refreshes.get(token);
    if (authority.isRotating) refreshes.delete(token);
    if (!issued && authority.secrets.has(token)) authority.reused.push(token);
    if (issued?.clientId !== clientId) return refuse("invalid_grant");
    if (form.get("resource") !== (issued.resource ?? null)) return refuse("invalid_target");
    return give({ ...issued, isRevoked: false }, true);
  }

  function answerToken(seen: Seen): Answer {
    const [id, password] = credentialsIn(seen);
    const known = clients.get(id);
    if (known && known.secret !== undefined && known.secret !== password) return refuse("invalid_client");
    const kind = seen.form.get("grant_type");
    if (kind === "authorization_code") return redeem(seen, id);
    if (kind === "refresh_token") return refresh(seen, id);
    if (kind !== "client_credentials" && !kind?.endsWith(":jwt-bearer")) return refuse("unsupported_grant_type");
    const scopes = seen.form.get("scope")?.split(" ") ?? [];
    return give({ scopes, resource: seen.form.get("resource") ?? undefined, clientId: id, isRevoked: false }, false);
  }

  function register({ body }: Seen): Answer {
    const asked = JSON.parse(body) as { readonly [name: string]: unknown };
    const id = `${name}-client-${++count}`;
    const needsSecret = asked.token_endpoint_auth_method !== "none";
    const made = needsSecret ? secret("secret") : undefined;
    clients.set(id, { secret: made });
    return { status: 201, body: { ...asked, client_id: id, ...(made && { client_secret: made }) } };
  }

  const describe = (): Answer => ({ body: authority.metadata });
  const { pages } = place;
  pages.set(`/.well-known/oauth-authorization-server${path}`, describe);
  pages.set("/authorize", (seen) => authority.bendPage(showPage(seen), seen));
  pages.set("/token", (seen) => authority.bendToken(answerToken(seen), seen));
  pages.set("/register", (seen) => authority.bendRegistration(register(seen), seen));
  return authority;
}

/** Of the header, or of the form. */
export function credentialsIn({ headers, form }: Seen): readonly [id: string, secret: string | undefined] {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1];
  if (!basic) return [form.get("client_id") ?? "", form.get("client_secret") ?? undefined];
  const [id = "", secret = ""] = Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
  return [id, secret];
}
