// With a third-party authorization server behind ours: no client gets there before the user has allowed it here, and nobody else's
// answer is taken. Attacks on it as they were seen in the wild, such as CVE-2026-27124.
import { createMemoryStore, type Store } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn } from "./front-stage.ts";
import { cross, isPage, openProxy, tokensOf } from "./proxy-stage.ts";
import { clientId } from "./third-party.ts";

test("the user allows the client, logs in with the third party, and the client gets a token of ours", async () => {
  covers(["auth-third-party-flow", "auth-third-party-own-token"]);
  const proxy = await openProxy();
  const { stage, party } = proxy;
  const { access_token: token, refresh_token: refresh } = await tokensOf(proxy);
  expect(party.given).not.toContain(token);
  expect(party.given).not.toContain(refresh);
  const verified = await stage.server.verifier.verify(token);
  expect(verified).toMatchObject({ subject: "carol", clientId: "web", issuer: stage.issuer });
});

test("what goes to the third party: our own client, the fixed redirect URI, PKCE, a state of our own", async () => {
  covers(["auth-third-party-redirects", "security-proxy-state"]);
  const { stage } = await openProxy();
  const { location } = await allow(stage.browse(), stage.ask());
  const sent = Object.fromEntries(location?.searchParams ?? []);
  expect(sent).toMatchObject({
    response_type: "code",
    client_id: clientId,
    redirect_uri: `${stage.issuer}/callback`,
    scope: "openid",
    code_challenge_method: "S256",
  });
  expect(sent.state).toMatch(/^[\w-]{43}$/);
  expect(sent.state).not.toContain("the state");
  expect(JSON.stringify(sent)).not.toContain("client.example");
});

describe("no client gets to the third party before the user has allowed it here", () => {
  test("the third party's consent is not ours: each new client sees the page", async () => {
    covers(["security-proxy-consent", "security-proxy-consent-store"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const browser = stage.browse();
    await cross(proxy, browser);
    const { client_id: evil } = await stage.register({
      redirect_uris: ["https://evil.example/callback"],
      token_endpoint_auth_method: "client_secret_basic",
    });
    const page = await browser.visit(stage.ask({ client_id: evil }));
    expect(page.status).toBe(200);
    expect(page.text).toContain("evil.example");
    expect(page.text).toContain("Allow access?");
    for (const prompt of ["none", "login", "consent"]) {
      const { location } = await browser.visit(stage.ask({ client_id: evil, prompt }));
      expect(location).toBeUndefined();
    }
    expect(party.asked.filter((path) => path.startsWith("/authorize"))).toEqual([]);
  });

  test("the same client again, with another redirect URI or more scopes, sees it too; else it is remembered", async () => {
    covers(["security-proxy-consent-store"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const browser = stage.browse();
    const ask = (given = {}): string => stage.ask({ client_id: "confidential", ...given });
    await cross(proxy, browser, ask());
    const again = await browser.visit(ask());
    expect(again.location?.origin).toBe(party.issuer);
    expect(answerIn(await browser.visit(party.pass(again.location).href)).code).toBeDefined();
    expect((await browser.visit(ask({ scope: "notes:read notes:write" }))).status).toBe(200);
    expect((await stage.browse().visit(ask())).status).toBe(200);
  });

  test("where another logs in than the one who allowed it, that one is asked", async () => {
    covers(["security-proxy-consent-store"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const browser = stage.browse();
    const ask = stage.ask({ client_id: "confidential" });
    await cross(proxy, browser, ask);
    party.user = "dave";
    const { location } = await browser.visit(ask);
    const page = await browser.visit(party.pass(location).href);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Allow access?");
    expect(page.text).toContain("dave");
    const back = await browser.submit(page, { answer: "allow" });
    expect(answerIn(await browser.visit(party.pass(back.location).href)).code).toBeDefined();
  });

  test("no is told to the client, and the third party hears nothing", async () => {
    const { stage, party } = await openProxy();
    const browser = stage.browse();
    const denied = await browser.submit(await browser.visit(stage.ask()), { answer: "deny" });
    expect(answerIn(denied)).toMatchObject({ error: "access_denied", iss: stage.issuer });
    expect(party.asked).toEqual([]);
  });
});

describe("the answer is taken only in the browser in which the client was allowed", () => {
  test("the cookie comes with the answer to the form, not before, and is bound to this client and state", async () => {
    covers(["security-proxy-state-after-consent", "security-proxy-consent-cookie"]);
    const issuer = "https://auth.example.com";
    const { stage, party } = await openProxy({}, { issuer });
    const browser = stage.browse();
    const page = await browser.visit(stage.ask());
    expect(browser.told.map((line) => line.split("=")[0])).toEqual(["__Host-plenum-browser"]);
    const { location } = await browser.submit(page, { answer: "allow" });
    const cookie = browser.told[1] ?? "";
    expect(cookie).toMatch(
      /^__Host-plenum-consent-[\w-]{8}=[0-9a-f]{64}\.[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    const [name = ""] = cookie.split("=");
    const value = browser.cookies.get(name) ?? "";
    const callback = party.pass(location).href;
    for (const changed of [
      value.replace(/^./, (char) => (char === "0" ? "1" : "0")),
      `${value.slice(0, -1)}${value.endsWith("A") ? "B" : "A"}`,
      value.slice(0, -1),
      "",
    ]) {
      browser.cookies.set(name, changed);
      isPage(await browser.visit(callback));
    }
    browser.cookies.set(name, value);
    expect(answerIn(await browser.visit(callback)).code).toBeDefined();
  });

  test("an attacker allows his client in his own browser, and sends the third party's page to the victim", async () => {
    covers(["security-proxy-consent", "security-proxy-consent-cookie", "security-proxy-state"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const { client_id: evil } = await stage.register({
      redirect_uris: ["https://evil.example/callback"],
      token_endpoint_auth_method: "none",
    });
    const attacker = stage.browse();
    const { location } = await allow(attacker, stage.ask({ client_id: evil }));
    const callback = party.pass(location).href;
    // The victim has been here, and has allowed another client.
    const victim = stage.browse();
    await cross(proxy, victim);
    for (const browser of [victim, stage.browse()]) isPage(await browser.visit(callback));
    // Not with a cookie of another flight either, under whatever name.
    const { location: own } = await allow(victim, stage.ask());
    const [wanted = ""] = [...attacker.cookies.keys()].filter((name) => name.includes("consent"));
    const [had = ""] = [...victim.cookies.keys()].filter((name) => name.includes("consent")).slice(-1);
    victim.cookies.set(wanted, victim.cookies.get(had) ?? "");
    isPage(await victim.visit(callback));
    expect(answerIn(await victim.visit(party.pass(own).href)).code).toBeDefined();
  });

  test("a form that an attacker has got for himself allows nothing in the victim's browser", async () => {
    const { stage } = await openProxy();
    const attacker = stage.browse();
    const page = await attacker.visit(stage.ask());
    const victim = stage.browse();
    await victim.visit(stage.ask());
    const answer = await victim.submit(page, { answer: "allow" });
    isPage(answer);
    expect([...victim.cookies.keys()].filter((name) => name.includes("consent"))).toEqual([]);
  });
});

describe("the state", () => {
  test("is good once", async () => {
    covers(["security-proxy-state"]);
    const { stage, party } = await openProxy();
    const browser = stage.browse();
    const { location } = await allow(browser, stage.ask());
    const callback = party.pass(location).href;
    const again = party.pass(location).href;
    expect(answerIn(await browser.visit(callback)).code).toBeDefined();
    for (const url of [callback, again]) isPage(await browser.visit(url));
    // Nor for several at once.
    const { location: next } = await allow(browser, stage.ask());
    const all = await Promise.all([1, 2, 3, 4].map(() => browser.visit(party.pass(next).href)));
    expect(all.filter((page) => answerIn(page).code !== undefined)).toHaveLength(1);
    expect(all.filter((page) => page.status === 400)).toHaveLength(3);
  });

  test("is needed, and cannot be changed", async () => {
    covers(["security-proxy-state"]);
    const { stage, party } = await openProxy();
    const browser = stage.browse();
    const { location } = await allow(browser, stage.ask());
    const state = location?.searchParams.get("state") ?? "";
    const change = (value: readonly string[]): string => {
      const url = party.pass(location);
      url.searchParams.delete("state");
      for (const one of value) url.searchParams.append("state", one);
      return url.href;
    };
    for (const value of [
      [],
      [""],
      ["x"],
      [`${state}x`],
      [state, state],
      [state.replace(/^./, (char) => (char === "A" ? "B" : "A"))],
    ])
      isPage(await browser.visit(change(value)));
    expect(answerIn(await browser.visit(change([state]))).code).toBeDefined();
  });

  test("of a flight that was abandoned ends", async () => {
    covers(["auth-third-party-session-timeout", "security-proxy-state"]);
    let late = 0;
    const inner = createMemoryStore();
    const lives: number[] = [];
    const store: Store = {
      ...inner,
      get: async (key) => (late > 0 && key.includes("upstream-state") ? undefined : inner.get(key)),
      put(key, value, options) {
        if (key.includes("upstream-state")) lives.push(options?.ttlMs ?? Number.POSITIVE_INFINITY);
        return inner.put(key, value, options);
      },
    };
    const { stage, party } = await openProxy({}, { store });
    const browser = stage.browse();
    const { location } = await allow(browser, stage.ask());
    expect(lives).toEqual([600_000]);
    late = 1;
    isPage(await browser.visit(party.pass(location).href));
  });
});

describe("what goes wrong there is told to the client", () => {
  test.each([
    ["the user says no", { error: "access_denied" }, "access_denied"],
    ["it is busy", { error: "temporarily_unavailable" }, "temporarily_unavailable"],
    ["we did something wrong", { error: "invalid_scope" }, "server_error"],
    ["the answer is of another issuer", { iss: "https://evil.example" }, "server_error"],
    ["the ID token is of another login", { nonce: "another" }, "server_error"],
    ["it gives no token", { tokenError: "invalid_grant" }, "server_error"],
    ["it is down", { isDown: true }, "server_error"],
  ])("%s", async (_, ways, error) => {
    covers(["auth-third-party-errors", "auth-flow-as-emits-iss"]);
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const browser = stage.browse();
    const { location } = await allow(browser, stage.ask());
    party.ways = ways;
    const page = await browser.visit(party.pass(location).href);
    expect(answerIn(page)).toMatchObject({ error, state: "the state", iss: stage.issuer, kept: "1" });
    expect(answerIn(page).code).toBeUndefined();
    expect(page.headers.getSetCookie()).toEqual([]);
  });

  test("it cannot be found", async () => {
    covers(["auth-third-party-errors"]);
    const { stage, party } = await openProxy();
    party.ways = { isDown: true };
    expect(answerIn(await allow(stage.browse(), stage.ask()))).toMatchObject({
      error: "temporarily_unavailable",
      iss: stage.issuer,
    });
  });

  test("a user who is not let in", async () => {
    const proxy = await openProxy({ toUser: () => undefined });
    expect(answerIn(await cross(proxy, proxy.stage.browse()))).toMatchObject({ error: "access_denied" });
  });

  test("its words are not passed on", async () => {
    const proxy = await openProxy();
    const { stage, party } = proxy;
    const browser = stage.browse();
    const { location } = await allow(browser, stage.ask());
    party.ways = { error: "access_denied" };
    const back = party.pass(location);
    back.searchParams.set("error_description", "<b>call 0800 to log in</b>");
    expect((await browser.visit(back.href)).location?.href).not.toContain("0800");
  });
});

test("a redirect URI that was changed is refused on both ways", async () => {
  covers(["auth-third-party-redirects", "security-proxy-redirect-exact"]);
  const { stage, party } = await openProxy();
  isPage(await stage.browse().visit(stage.ask({ redirect_uri: "https://client.example/callback?kept=2" })));
  const browser = stage.browse();
  const { location } = await allow(browser, stage.ask());
  location?.searchParams.set("redirect_uri", `${stage.issuer}/callback/elsewhere`);
  isPage(await browser.visit(party.pass(location).href));
  // Where the third party was led astray the code is of no use here: it was given for another address.
  const stolen = party.pass(location);
  const mine = new URL(`${stage.issuer}/callback${stolen.search}`);
  expect(answerIn(await browser.visit(mine.href))).toMatchObject({ error: "server_error" });
});

test.each([
  ["a login besides", { login: () => ({ subject: "x" }) }, {}],
  ["no secret", {}, { clientSecret: "" }],
  ["a secret that can be guessed", {}, { clientSecret: "short" }],
  ["nobody who says who it is", {}, { scopes: ["read"] }],
  ["a third party without TLS", {}, { issuer: "http://idp.example.com" }],
])("%s is refused at once", async (_, options, given) => {
  await expect(openProxy(given, options)).rejects.toThrow();
});
