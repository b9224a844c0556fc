// The consent page on a real socket: what it shows, who can answer it, and what is remembered of the answer.
import { passwordLogin } from "plenum/auth/authorization-server";
import { createMemoryStore } from "plenum/store";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn, type Browser, formIn, openStage, type Page, type Stage, web } from "./front-stage.ts";

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

describe("the page", () => {
  test("names the client, its scopes, where it leads, and the resource", async () => {
    covers(["security-proxy-consent-page", "security-cimd-show-redirect-host"]);
    const stage = await openStage();
    const { status, text, headers } = await stage.browse().visit(stage.ask({ scope: "notes:read notes:write" }));
    expect(status).toBe(200);
    for (const part of [
      "The Web Client",
      "Read your notes",
      "notes:write",
      "client.example",
      "mcp.example.com",
      "alice",
    ])
      expect(text).toContain(part);
    expect(text).toContain("https://client.example/callback?kept=1");
    expect(text).toContain("Change your &lt;b&gt;notes&lt;/b&gt;");
    const policy = headers.get("content-security-policy") ?? "";
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toContain("script-src");
    expect(policy).not.toContain("unsafe");
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-frame-options": "DENY",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "content-type": "text/html; charset=utf-8",
    });
    expect(text).not.toContain("<script");
  });

  test("says of a client that registered itself that nobody has checked its name, and shows it as text", async () => {
    covers(["security-proxy-consent-page"]);
    const stage = await openStage();
    const { client_id: id } = await stage.register({
      client_name: hostile,
      redirect_uris: ["https://app.example/callback"],
      token_endpoint_auth_method: "none",
    });
    const { text } = await stage.browse().visit(stage.ask({ client_id: id }));
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).not.toMatch(/<script|<img/);
    expect(text).toContain("Nobody has checked it");
    expect(text).toContain("app.example");
    expect(text).not.toContain("on this computer");
    expect(text).toMatch(/type="checkbox" name="sure" value="on" required/);
    const known = await stage.browse().visit(stage.ask());
    expect(known.text).not.toContain("Nobody has checked it");
  });

  test.each([
    ["this machine", ["http://127.0.0.1/callback", "http://localhost/callback"], "http://127.0.0.1:4567/callback"],
    ["a program", ["com.example.app:/callback"], "com.example.app:/callback"],
  ])("warns where a client is led back only to %s", async (_, redirectUris, redirectUri) => {
    covers(["security-cimd-localhost-warning", "security-cimd-show-redirect-host"]);
    const stage = await openStage();
    const { client_id: id } = await stage.register({ redirect_uris: redirectUris, token_endpoint_auth_method: "none" });
    const { text } = await stage.browse().visit(stage.ask({ client_id: id, redirect_uri: redirectUri }));
    expect(text).toContain("any program could have\ncalled itself that");
    expect(text).toContain(redirectUri.startsWith("http") ? "127.0.0.1" : "com.example.app:");
    expect(text).toContain(redirectUri);
  });
});

test("a client that registered itself is not allowed without the tick, whatever sends the form", async () => {
  covers("security-proxy-consent-page");
  const stage = await openStage();
  const { client_id: id } = await stage.register({
    redirect_uris: ["https://app.example/callback"],
    token_endpoint_auth_method: "none",
  });
  const browser = stage.browse();
  let page = await browser.visit(stage.ask({ client_id: id }));
  for (const sure of ["", "off"]) {
    page = await browser.submit(page, { answer: "allow", sure });
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.text).toContain("say first that you know it");
  }
  // It is the same request still, and the page that is shown again can be answered.
  expect(answerIn(await browser.submit(page, { answer: "allow" })).code).toBeDefined();
  const other = await browser.visit(stage.ask({ client_id: id }));
  expect(answerIn(await browser.submit(other, { answer: "deny" })).error).toBe("access_denied");
});

test("no is told to the client, and leaves nothing", async () => {
  covers(["auth-flow-as-emits-iss"]);
  const stage = await openStage();
  const browser = stage.browse();
  const page = await browser.visit(stage.ask());
  const denied = await browser.submit(page, { answer: "deny" });
  expect(denied.status).toBe(303);
  expect(answerIn(denied)).toMatchObject({ error: "access_denied", state: "the state", iss: stage.issuer, kept: "1" });
  expect(answerIn(denied).code).toBeUndefined();
  const again = await browser.submit(page, { answer: "allow" });
  expect(again.status).toBe(400);
  expect(again.location).toBeUndefined();
});

describe("an answer counts only from the page, in its browser, once", () => {
  const refused = (page: Page): void => {
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.status).toBeLessThan(500);
    expect(page.location).toBeUndefined();
  };
  const begin = async (): Promise<{ stage: Stage; browser: Browser; page: Page }> => {
    const stage = await openStage();
    const browser = stage.browse();
    return { stage, browser, page: await browser.visit(stage.ask()) };
  };

  test("without the token of the form", async () => {
    covers(["security-proxy-consent-page"]);
    const { browser, page } = await begin();
    const { action } = formIn(page);
    const body = new URLSearchParams({ answer: "allow" });
    refused(await browser.send(action, { method: "POST", body }));
    refused(await browser.submit(page, { answer: "allow", csrf: "0".repeat(64).concat(".") }));
    refused(await browser.submit(page, { answer: "allow", csrf: "" }));
    expect(answerIn(await browser.submit(page, { answer: "allow" })).code).toBeDefined();
  });

  test("with the token of another request, of another page or of another browser", async () => {
    covers(["security-proxy-consent-page"]);
    const { stage, browser, page } = await begin();
    const other = await browser.visit(stage.ask());
    refused(await browser.submit(page, { answer: "allow", csrf: formIn(other).hidden.csrf ?? "" }));
    const stranger = stage.browse();
    const theirs = await stranger.visit(stage.ask());
    refused(await browser.submit(page, { answer: "allow", csrf: formIn(theirs).hidden.csrf ?? "" }));
    // What an attacker has got for himself, posted by the victim's browser: the request is not its own.
    refused(await browser.submit(theirs, { answer: "allow" }));
    refused(await stage.browse().submit(page, { answer: "allow" }));
    // Nor is the page shown to whom it is not for.
    refused(await stranger.send(page.url));
    expect((await browser.send(page.url)).status).toBe(200);
  });

  test.each([
    ["a foreign page", { origin: "https://evil.example" }],
    ["a page without an origin", { origin: "null" }],
    ["another port", { origin: "http://127.0.0.1:1" }],
    ["a page of another site, says the browser", { "sec-fetch-site": "cross-site" }],
    ["a page of the same site, says the browser", { "sec-fetch-site": "same-site" }],
  ])("posted by %s", async (_, headers) => {
    covers(["security-proxy-consent-page"]);
    const { browser, page } = await begin();
    refused(await browser.submit(page, { answer: "allow" }, { headers }));
  });

  test("twice", async () => {
    const { browser, page } = await begin();
    const both = await Promise.all([1, 2, 3].map(() => browser.submit(page, { answer: "allow" })));
    expect(both.filter((one) => one.status === 303)).toHaveLength(1);
    for (const one of both.filter((one) => one.status !== 303)) refused(one);
  });

  test("with a cookie that was changed, or is there twice", async () => {
    const { browser, page } = await begin();
    const [name = "", value = ""] = [...browser.cookies].find(([name]) => name.includes("browser")) ?? [];
    const rest = [...browser.cookies].filter(([other]) => other !== name).map(([name, value]) => `${name}=${value}`);
    for (const changed of [
      `${name}=${value.replace(/^./, (char) => (char === "0" ? "1" : "0"))}`,
      `${name}=${value.slice(0, -1)}${value.endsWith("A") ? "B" : "A"}`,
      `${name}=${value}; ${name}=${value}`,
      `${name}=`,
    ])
      refused(await browser.submit(page, { answer: "allow" }, { headers: { cookie: [changed, ...rest].join("; ") } }));
  });

  test("as a form that says nothing, both, or is none", async () => {
    const { browser, page } = await begin();
    const { action, hidden } = formIn(page);
    refused(await browser.submit(page, {}));
    refused(await browser.submit(page, { answer: "maybe" }));
    const csrf = hidden.csrf ?? "";
    refused(
      await browser.send(action, {
        method: "POST",
        body: new URLSearchParams([
          ["csrf", csrf],
          ["answer", "allow"],
          ["answer", "deny"],
        ]),
      }),
    );
    refused(
      await browser.send(action, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: `csrf=${csrf}&answer=allow`,
      }),
    );
    refused(await browser.send(`${action}&csrf=${csrf}&answer=allow`, { method: "POST", body: new URLSearchParams() }));
    refused(
      await browser.send(action, {
        method: "POST",
        body: new URLSearchParams({ csrf, answer: "allow", more: "x".repeat(20_000) }),
      }),
    );
  });

  test("with the client's parameters changed on the way nothing changes", async () => {
    const { browser, page } = await begin();
    const { action } = formIn(page);
    const changed = {
      ...page,
      text: page.text.replace(action, `${action}&redirect_uri=https://evil.example/&scope=notes:write`),
    };
    const { location } = await browser.submit(changed, { answer: "allow", redirect_uri: "https://evil.example/" });
    expect(location?.host).toBe("client.example");
  });
});

describe("what is remembered", () => {
  const confidential = { client_id: "confidential" };

  test("a client that shows who it is need not be asked for twice, for as much or less", async () => {
    const stage = await openStage();
    const browser = stage.browse();
    await allow(browser, stage.ask({ ...confidential, scope: "notes:read notes:write" }));
    for (const scope of ["notes:read", "notes:write notes:read"]) {
      const page = await browser.visit(stage.ask({ ...confidential, scope }));
      expect(page.status).toBe(302);
      expect(answerIn(page).code).toBeDefined();
    }
    expect(answerIn(await browser.visit(stage.ask({ ...confidential, prompt: "none" }))).code).toBeDefined();
  });

  test("it is asked for more, for another client, for another user, and where the client wants it", async () => {
    covers(["security-proxy-consent-store"]);
    let who = "alice";
    const other = { id: "other", secret: "another secret", redirectUris: ["https://confidential.example/callback"] };
    const stage = await openStage({
      login: () => ({ subject: who }),
      clients: [
        web,
        other,
        { id: "confidential", secret: "a secret of it", redirectUris: ["https://confidential.example/callback"] },
      ],
    });
    const browser = stage.browse();
    await allow(browser, stage.ask(confidential));
    for (const given of [
      { ...confidential, scope: "notes:read notes:write" },
      { client_id: "other" },
      { client_id: "web" },
      { ...confidential, prompt: "consent" },
      { ...confidential, prompt: "login" },
    ]) {
      const page = await browser.visit(stage.ask(given));
      expect(page.status).toBe(200);
      expect(page.text).toContain("Allow access?");
      const silent = await browser.visit(stage.ask({ ...given, prompt: "none" }));
      if (given.client_id !== "confidential" || "scope" in given)
        expect(answerIn(silent)).toMatchObject({ error: "consent_required" });
    }
    expect((await browser.visit(stage.ask(confidential))).status).toBe(302);
    who = "bob";
    expect((await stage.browse().visit(stage.ask(confidential))).status).toBe(200);
  });

  test("a client that anybody can pretend to be is asked for each time", async () => {
    const stage = await openStage();
    const browser = stage.browse();
    await allow(browser, stage.ask());
    expect((await browser.visit(stage.ask())).text).toContain("Allow access?");
    expect(answerIn(await browser.visit(stage.ask({ prompt: "none" })))).toMatchObject({ error: "consent_required" });
  });

  test("no is not remembered as a yes", async () => {
    const stage = await openStage();
    const browser = stage.browse();
    await browser.submit(await browser.visit(stage.ask(confidential)), { answer: "deny" });
    expect((await browser.visit(stage.ask(confidential))).status).toBe(200);
  });

  test("until all that the user has allowed is ended, and the login with it", async () => {
    const stage = await openStage({ login: passwordLogin({ check: () => true }) });
    const browser = stage.browse();
    const logIn = async (): Promise<Page> =>
      browser.submit(await browser.visit(stage.ask(confidential)), { username: "alice", password: "secret" });
    await browser.submit(await logIn(), { answer: "allow" });
    const silently = () => browser.visit(stage.ask({ ...confidential, prompt: "none" }));
    expect(answerIn(await silently()).code).toBeDefined();
    await stage.server.revoke({ subject: "alice" });
    expect(answerIn(await silently())).toMatchObject({ error: "login_required" });
    // Not before the next millisecond is it known to be later.
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect((await logIn()).text).toContain("Allow access?");
    expect(answerIn(await silently())).toMatchObject({ error: "consent_required" });
  });

  test("who has just typed a password sees where it leads", async () => {
    const stage = await openStage({ login: passwordLogin({ check: () => true }) });
    const first = stage.browse();
    const logIn = async (browser: Browser): Promise<Page> =>
      browser.submit(await browser.visit(stage.ask(confidential)), { username: "alice", password: "secret" });
    await first.submit(await logIn(first), { answer: "allow" });
    expect((await first.visit(stage.ask(confidential))).status).toBe(302);
    expect((await logIn(stage.browse())).text).toContain("Allow access?");
  });
});

test("a client that is gone, or has another redirect URI by now, gets nothing", async () => {
  const store = createMemoryStore();
  const stage = await openStage({ store });
  const browser = stage.browse();
  const page = await browser.visit(stage.ask());
  const changed = await openStage({
    ...{ store, issuer: stage.issuer },
    clients: [{ ...web, redirectUris: ["https://elsewhere.example/"] }],
  });
  const path = new URL(formIn(page).action, stage.issuer);
  const answer = await fetch(`${changed.origin}${path.pathname}${path.search}`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    body: new URLSearchParams({ ...formIn(page).hidden, answer: "allow" }),
  });
  expect(answer.status).toBe(400);
  expect(answer.headers.get("location")).toBeNull();
});
