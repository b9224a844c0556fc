// What a browser sees of the authorization server: the way from a client's request, by login and consent, to a code. Each step is a
// page of its own, bound to the browser and to the request, so that none of them can be left out. OAuth 2.1 § 4.1, RFC 9207.
//
//   /authorize → /login → /consent → the client                       with a login of its own
//   /authorize → /consent → the third party → /callback → the client  with a third party
import type { Store } from "../../store/store.ts";
import { createRate } from "../../util/rate.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { Route, RouteAnswer, RouteRequest, Routes } from "../route.ts";
import { checkAuthorization, type Declined, findClientOf } from "./authorize.ts";
import type { Client, Clients } from "./client.ts";
import { createConsents, isSure, isTrusted, toConsentPage } from "./consent.ts";
import { createCookies } from "./cookies.ts";
import { readForm } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";
import type { Grants } from "./grant.ts";
import { assertLogin } from "./logins.ts";
import type { User } from "./options.ts";
import { guardHeaders, html, toErrorPage, toPage, toRedirect } from "./pages.ts";
import { type Asked, createPendings, type Pending } from "./pending.ts";
import { randomText } from "./records.ts";
import { assertUser, createSessions, type Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import { createStoredSealer } from "./stored-sealer.ts";
import { createCrossing } from "./upstream.ts";
import { createUpstreamTokens, type UpstreamTokens } from "./upstream-tokens.ts";

export interface FrontGround {
  readonly settings: Settings;
  readonly clients: Clients;
  readonly grants: Grants;
  readonly store: Store;
  /** To the third party. */
  readonly fetch: Fetch;
  /** Default: of its own, on the same store. */
  readonly upstreamTokens?: UpstreamTokens | undefined;
}

/** Requests that wait take room in the store: so many in a second, on average. */
const newPerSecond = 20;
const newAtOnce = 200;

/** Who the request belongs to. */
interface Bound {
  readonly pending: Pending;
  /** The browser's id. */
  readonly browser: string;
}

/** Throws a TypeError for a login that would let everybody in, and where nobody says who is at the browser. */
export function createFront(ground: FrontGround): Routes {
  const { settings, clients, grants, store, fetch } = ground;
  const { issuer, origin, path, login } = settings;
  if (login) assertLogin(login, issuer);
  const cookies = createCookies(issuer, createStoredSealer(store, issuer, "cookies"));
  const pendings = createPendings(store, issuer);
  const sessions = createSessions(store, settings, cookies, grants);
  const consents = createConsents(store, issuer, grants);
  const { upstream } = settings;
  const tokens = upstream && (ground.upstreamTokens ?? createUpstreamTokens(upstream, ground));
  const crossing = upstream && tokens && createCrossing(upstream, { issuer, store, fetch, cookies, tokens });
  const rate = createRate({ perSecond: newPerSecond, burst: newAtOnce });
  const at = (page: "login" | "consent", { id }: Pending): string => `${path}/${page}?request=${id}`;

  /** Back to the client. */
  function toReturn(
    { redirectUri, state }: Pick<Asked, "redirectUri" | "state">,
    answer: { readonly [name: string]: string },
  ): string {
    const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
    return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${parameters}`;
  }

  function decline(asked: Asked, fault: AuthFault, method: string): RouteAnswer {
    return toRedirect(toReturn(asked, { error: fault.error, error_description: fault.message }), method);
  }

  /** Nobody at the browser has said yet that it may go there: it is not sent to a site that only a stranger has named. */
  function declineAtOnce({ client, redirectUri, state, fault }: Declined, method: string): RouteAnswer {
    const location = toReturn({ redirectUri, state }, { error: fault.error, error_description: fault.message });
    if (isTrusted(client, redirectUri)) return toRedirect(location, method);
    const { host } = new URL(redirectUri);
    const body = html`<p>The application that sent you here asked for something that is not possible: ${fault.message}.</p>
<p><a href="${location}" rel="noreferrer">Go back to ${host}</a></p>`;
    return toPage({ title: "This cannot go on", body, status: 400, formAction: "'none'" });
  }

  async function toCode(asked: Asked, { subject, claims }: User, upstreamKey?: string): Promise<string> {
    const { clientId, scopes, resource, redirectUri, codeChallenge } = asked;
    const code = await grants.issueCode({
      ...{ clientId, subject, scopes, resource, claims, redirectUri, codeChallenge },
      upstream: upstreamKey,
    });
    return toReturn(asked, { code });
  }

  /** Rejects with an AuthFault for a browser that the request does not belong to. */
  async function bind(request: RouteRequest): Promise<Bound> {
    const browser = await cookies.read(request, "browser");
    if (browser === undefined)
      throw new AuthFault("access_denied", "Your browser did not send the cookie that it got here", 403);
    const ids = new URLSearchParams(request.query).getAll("request");
    const pending = ids.length === 1 ? await pendings.find(ids[0] as string, browser) : undefined;
    if (!pending) throw new AuthFault("invalid_request", "This was answered already, or it took too long");
    return { pending, browser };
  }

  /** Rejects with an AuthFault for a form that is not one of ours, of this browser and for this request. */
  async function readOwnForm(request: RouteRequest, parts: readonly string[]): Promise<URLSearchParams> {
    const [from, site] = [request.header("origin"), request.header("sec-fetch-site")];
    const isForeign =
      (from !== undefined && from !== origin) || (site !== undefined && site !== "same-origin" && site !== "none");
    const form = isForeign ? undefined : await readForm(request);
    if (!form || !(await cookies.isToken(form.get("csrf"), parts)))
      throw new AuthFault("access_denied", "The form did not come from here", 403);
    return form;
  }

  const isCurrent = (session: Session | undefined, { asked, at }: Pending): session is Session =>
    session !== undefined && !(asked.prompts.includes("login") && session.at < at);

  async function authorize(request: RouteRequest): Promise<RouteAnswer> {
    if (!rate.take())
      throw new AuthFault("temporarily_unavailable", "There are too many visitors just now", 503, {
        "retry-after": "10",
      });
    const { method } = request;
    const given = new URLSearchParams(method === "POST" ? await readPosted(request) : request.query);
    const checked = await checkAuthorization(given, settings, clients);
    if ("fault" in checked) return declineAtOnce(checked, method);
    const { asked, client } = checked;
    if (asked.prompts.includes("none")) return answerSilently(request, asked, client);
    const known = await cookies.read(request, "browser");
    const browser = known ?? randomText();
    const pending = await pendings.open(asked, browser);
    const cookie = known === undefined ? await cookies.write("browser", browser) : undefined;
    return toRedirect(at(crossing ? "consent" : "login", pending), method, cookie);
  }

  /** With nothing shown there is nothing that the user could have agreed to just now. */
  async function answerSilently(request: RouteRequest, asked: Asked, client: Client): Promise<RouteAnswer> {
    const session = crossing ? undefined : await sessions.find(request);
    const { method } = request;
    const declined = { client, redirectUri: asked.redirectUri, state: asked.state };
    if (!session)
      return declineAtOnce({ ...declined, fault: new AuthFault("login_required", "The user has to log in") }, method);
    if (!(await consents.has(session.user.subject, asked, client)))
      return declineAtOnce(
        { ...declined, fault: new AuthFault("consent_required", "The user has to be asked") },
        method,
      );
    return toRedirect(await toCode(asked, session.user), method);
  }

  async function logIn(request: RouteRequest): Promise<RouteAnswer> {
    const { pending, browser } = await bind(request);
    const { method } = request;
    if (method === "GET" && isCurrent(await sessions.find(request), pending))
      return toRedirect(at("consent", pending), method);
    const parts = ["login", pending.id, browser];
    const form = method === "POST" ? await readOwnForm(request, parts) : new URLSearchParams();
    form.delete("csrf");
    const csrf = await cookies.toToken(parts);
    const answer = await (login as NonNullable<typeof login>)({
      ...{ method, form, csrf, action: at("login", pending) },
      header: (name) => request.header(name),
    });
    if (!("subject" in answer)) return toGuarded(answer);
    assertUser(answer, "login");
    // The answer to a form with a password leads to a page of ours, and not on by itself.
    if (method === "POST") await pendings.freshen(pending.id);
    return toRedirect(at("consent", pending), method, await sessions.open(request, answer));
  }

  async function consent(request: RouteRequest): Promise<RouteAnswer> {
    const { pending, browser } = await bind(request);
    const { asked } = pending;
    const { method } = request;
    const session = await sessions.find(request);
    if (!crossing && !isCurrent(session, pending)) return toRedirect(at("login", pending), method);
    const client = await findClientOf(asked, clients);
    const subject = session?.user.subject;
    // The session is in it: who logs in anew is asked anew.
    const parts = ["consent", pending.id, browser, session?.id ?? ""];
    const show = async (isAgain: boolean): Promise<RouteAnswer> => {
      const csrf = await cookies.toToken(parts);
      return toConsentPage({ settings, client, asked, subject, action: at("consent", pending), csrf, isAgain });
    };
    if (method === "POST") {
      const form = await readOwnForm(request, parts);
      const answer = form.get("answer");
      if (answer !== "allow" && answer !== "deny")
        throw new AuthFault("invalid_request", "The form has no answer in it");
      if (answer === "allow" && !isSure(form, client)) return show(true);
      await take(pending);
      if (answer === "deny") return decline(asked, new AuthFault("access_denied", "The user said no"), method);
      return goOn(asked, client, session, undefined, method);
    }
    const mayPass = !pending.isFresh && !asked.prompts.includes("consent") && !asked.prompts.includes("login");
    if (mayPass && subject !== undefined && (await consents.has(subject, asked, client))) {
      await take(pending);
      return goOn(asked, client, session, subject, method);
    }
    return show(false);
  }

  async function take({ id }: Pending): Promise<void> {
    if (!(await pendings.take(id))) throw new AuthFault("invalid_request", "This was answered already");
  }

  /** It is allowed: by the user just now, or by this subject earlier. */
  async function goOn(
    asked: Asked,
    client: Client,
    session: Session | undefined,
    earlier: string | undefined,
    method: string,
  ): Promise<RouteAnswer> {
    if (crossing) {
      try {
        const { location, cookie } = await crossing.depart(asked, earlier);
        return toRedirect(location, method, cookie);
      } catch (fault) {
        if (fault instanceof AuthFault) return decline(asked, fault, method);
        throw fault;
      }
    }
    const { user } = session as Session;
    if (earlier === undefined) await consents.remember(user.subject, asked, client);
    return toRedirect(await toCode(asked, user), method);
  }

  async function callBack(request: RouteRequest): Promise<RouteAnswer> {
    const { asked, subject, outcome } = await (crossing as NonNullable<typeof crossing>).arrive(request);
    const { method } = request;
    if (outcome instanceof AuthFault) return decline(asked, outcome, method);
    const { user, key } = outcome;
    const cookie = await sessions.open(request, user);
    if (subject !== undefined && subject !== user.subject) {
      // Somebody else has logged in than the one who allowed it: he is asked himself.
      await tokens?.forget(key);
      const browser = await cookies.read(request, "browser");
      if (browser === undefined)
        throw new AuthFault("access_denied", "Your browser did not send the cookie that it got here", 403);
      return toRedirect(at("consent", await pendings.open(asked, browser)), method, cookie);
    }
    const client = await findClientOf(asked, clients);
    if (subject === undefined) await consents.remember(user.subject, asked, client);
    return toRedirect(await toCode(asked, user, key), method, cookie);
  }

  const page = (methods: readonly string[], route: Route): Route => {
    return async (request) => {
      if (!methods.includes(request.method))
        return toErrorPage(405, "That is not how this page is called", { allow: methods.join(", ") });
      try {
        return await route(request);
      } catch (error) {
        if (error instanceof AuthFault) return toErrorPage(error.status, error.message, error.headers);
        throw error;
      }
    };
  };

  return {
    [`${path}/authorize`]: page(["GET", "POST"], authorize),
    ...(login && { [`${path}/login`]: page(["GET", "POST"], logIn) }),
    [`${path}/consent`]: page(["GET", "POST"], consent),
    ...(crossing && { [`${path}/callback`]: page(["GET"], callBack) }),
  };
}

/** A page of the application's own: its policy may be another, but nobody frames or keeps it. */
function toGuarded(answer: RouteAnswer): RouteAnswer {
  const own = Object.entries(answer.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...answer,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "frame-ancestors 'none'; base-uri 'none'",
      ...Object.fromEntries(own),
      ...guardHeaders,
    },
  };
}

/** Whatever stands twice in it is judged with the rest of the request. */
async function readPosted(request: RouteRequest): Promise<string> {
  const [type = ""] = (request.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    throw new AuthFault("invalid_request", "The request is no form", 415);
  return request.body(16_384, 10_000);
}
