// Ready-made logins: a name and a password, and one for development that asks nobody.
import { createLru } from "../../util/lru.ts";
import { createRate, type Rate } from "../../util/rate.ts";
import { isLoopbackHost } from "../guarded-fetch.ts";
import type { RouteAnswer } from "../route.ts";
import type { Login, LoginRequest, User } from "./options.ts";
import { html, toPage } from "./pages.ts";

export interface PasswordLoginOptions {
  /**
   * Who it is: `true` for a user whose subject is the name. Should take as long for a name that nobody has: compare with the hash
   * of some password.
   */
  readonly check: (name: string, password: string) => User | boolean | undefined | Promise<User | boolean | undefined>;
  /** Tries for one name. Default 5. */
  readonly perMinuteAndName?: number;
  /** Tries for all names together. Default 100. */
  readonly perMinute?: number;
}

/** Longer names and passwords are nobody's. */
const maxLength = 256;

/** An answer takes at least so long: what the check took does not show whether there is such a name. */
const leastMs = 250;

/** Throws a TypeError for options that make no sense. What was tried is counted by each process for itself. */
export function passwordLogin({ check, perMinuteAndName = 5, perMinute = 100 }: PasswordLoginOptions): Login {
  if (typeof check !== "function")
    throw new TypeError("passwordLogin: check must be a function (name, password) => user");
  if (!(perMinuteAndName >= 1 && perMinute >= 1)) throw new TypeError("passwordLogin: the limits must be 1 or more");
  const limit = (count: number): Rate => createRate({ perSecond: count / 60, burst: count });
  const all = limit(perMinute);
  const perName = createLru<Rate>({ maxEntries: 10_000, maxWeight: 10_000 });

  function mayTry(name: string): boolean {
    // Names first: who tries one of them all the time keeps nobody else out.
    const rate = perName.get(name) ?? limit(perMinuteAndName);
    if (!rate.take() || !all.take()) return false;
    // What was not tried is not remembered: with many names one could have it forgotten what was.
    perName.set(name, rate, 1);
    return true;
  }

  return async (request) => {
    if (request.method !== "POST") return toLoginPage(request);
    const name = request.form.get("username") ?? "";
    const password = request.form.get("password") ?? "";
    const isSound = name !== "" && password !== "" && name.length <= maxLength && password.length <= maxLength;
    if (!isSound) return toLoginPage(request, "That is not right. Please try again");
    if (!mayTry(name))
      return toLoginPage(request, "That was too often. Please wait a minute", 429, { "retry-after": "60" });
    const least = new Promise((resolve) => setTimeout(resolve, leastMs));
    const [found] = await Promise.all([check(name, password), least]);
    if (found === true) return { subject: name };
    return found || toLoginPage(request, "That is not right. Please try again");
  };
}

function toLoginPage(
  { action, csrf }: LoginRequest,
  problem?: string,
  status = 200,
  headers: { readonly [name: string]: string } = {},
): RouteAnswer {
  const body = html`${problem !== undefined && html`<p class="warning" role="alert">${problem}.</p>`}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<label>Name <input name="username" autocomplete="username" maxlength="${String(maxLength)}" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" maxlength="${String(maxLength)}" required></label>
<button>Log in</button>
</form>`;
  return toPage({ title: "Log in", body, status, headers });
}

const forDevelopment = new WeakSet<Login>();

/** For development: whoever is at a browser of this machine is this user. Throws a TypeError where the issuer is elsewhere. */
export function fixedLogin(subject: string): Login {
  const login: Login = () => ({ subject });
  forDevelopment.add(login);
  return login;
}

/** Throws a TypeError for a login that would let everybody in. */
export function assertLogin(login: Login, issuer: string): void {
  if (forDevelopment.has(login) && !isLoopbackHost(new URL(issuer).hostname))
    throw new TypeError(
      "fixedLogin is for development: with an issuer that others can reach, everybody would be that user. Use passwordLogin, or a login of your own",
    );
}
