// Logging in on a real socket: the cookies, what a login of the application's sees, and that nobody gets another's session.
import { fixedLogin, type LoginRequest, passwordLogin } from "plenum/auth/authorization-server";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn, formIn, openStage } from "./front-stage.ts";

const issuer = "https://auth.example.com";

describe("cookies", () => {
  test("behind TLS they are for this host alone, and for no script", async () => {
    covers(["security-proxy-consent-cookie"]);
    const stage = await openStage({ issuer, login: () => ({ subject: "alice" }) });
    const browser = stage.browse();
    const page = await allow(browser, stage.ask());
    expect(answerIn(page).code).toBeDefined();
    expect(browser.told.map((line) => line.split("=")[0])).toEqual(["__Host-plenum-browser", "__Host-plenum-login"]);
    for (const line of browser.told) {
      expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure/);
      expect(line).not.toMatch(/domain/i);
    }
  });

  test("on this machine, without TLS, they have the port in their names", async () => {
    const stage = await openStage();
    const browser = stage.browse();
    await browser.visit(stage.ask());
    const { port } = new URL(stage.origin);
    expect(browser.told.map((line) => line.split("=")[0])).toEqual([`plenum-${port}-browser`, `plenum-${port}-login`]);
    for (const line of browser.told) expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax(; Max-Age=\d+)?$/);
  });

  test("one answer sets one cookie", async () => {
    const stage = await openStage({ login: passwordLogin({ check: () => true }) });
    const browser = stage.browse();
    let page = await browser.send(stage.ask());
    for (let i = 0; page.location && i < 5; i++) {
      expect(page.headers.getSetCookie().length).toBeLessThanOrEqual(1);
      page = await browser.send(page.location.href);
    }
    expect(page.text).toContain("Log in");
  });
});

describe("with a password", () => {
  const login = () => passwordLogin({ check: (name, password) => name === "alice" && password === "right" });

  test("the user logs in once, and the browser is remembered", async () => {
    const stage = await openStage({ login: login() });
    const browser = stage.browse();
    const page = await browser.visit(stage.ask());
    expect(page.text).toContain("Log in");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    const consent = await browser.submit(page, { username: "alice", password: "right" });
    expect(consent.text).toContain("Allow access?");
    expect(answerIn(await browser.submit(consent, { answer: "allow" })).code).toBeDefined();
    expect((await browser.visit(stage.ask())).text).toContain("Allow access?");
    expect((await browser.visit(stage.ask({ prompt: "login" }))).text).toContain("Log in");
  });

  test("who is not known is told the same as who has it wrong", async () => {
    const stage = await openStage({ login: login() });
    const browser = stage.browse();
    const page = await browser.visit(stage.ask());
    const wrong = await browser.submit(page, { username: "alice", password: "wrong" });
    const unknown = await browser.submit(page, { username: "mallory", password: "wrong" });
    expect(wrong.text).toContain("That is not right");
    expect(unknown).toMatchObject({ status: wrong.status, text: wrong.text });
    expect(wrong.text).not.toMatch(/alice|wrong/);
    expect(browser.told).toHaveLength(1);
  });

  test("nobody can go on trying", async () => {
    const stage = await openStage({ login: login() });
    const browser = stage.browse();
    const page = await browser.visit(stage.ask());
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => browser.submit(page, { username: "alice", password: `guess ${i}` })),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
    expect((await browser.submit(page, { username: "alice", password: "right" })).status).toBe(429);
    // Others are not kept out by it.
    expect((await browser.submit(page, { username: "bob", password: "x" })).status).toBe(200);
  });

  test("a form from elsewhere logs nobody in", async () => {
    const stage = await openStage({ login: login() });
    const mine = stage.browse();
    const page = await mine.visit(stage.ask());
    const fields = { username: "alice", password: "right" };
    // Another's account in the victim's browser: what the victim then does would be done in it.
    const victim = stage.browse();
    await victim.visit(stage.ask());
    for (const answer of [
      await victim.submit(page, fields),
      await mine.submit(page, fields, { headers: { origin: "https://evil.example" } }),
      await mine.submit(page, { ...fields, csrf: "x" }),
      await stage.browse().submit(page, fields),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(victim.told).toHaveLength(1);
  });
});

test("a session that somebody planted is not the user's after the login", async () => {
  let count = 0;
  const stage = await openStage({ login: () => ({ subject: `user-${++count}` }) });
  const attacker = stage.browse();
  await attacker.visit(stage.ask());
  const victim = stage.browse();
  for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
  const planted = new Map(victim.cookies);
  await victim.visit(stage.ask({ prompt: "login" }));
  const name = [...planted.keys()].find((name) => name.includes("login")) ?? "";
  expect(victim.cookies.get(name)).not.toBe(planted.get(name));
  // The old one is over, too.
  const page = await attacker.visit(stage.ask());
  expect(page.text).toContain("user-3");
});

test("a page cannot be left out", async () => {
  const stage = await openStage({ login: passwordLogin({ check: () => true }) });
  const browser = stage.browse();
  const page = await browser.visit(stage.ask());
  const consent = formIn(page).action.replace("/login", "/consent");
  expect((await browser.visit(consent)).text).toContain("Log in");
  const posted = await browser.submit({ ...page, text: page.text.replace("/login", "/consent") }, { answer: "allow" });
  expect(answerIn(posted).code).toBeUndefined();
  expect(posted.text).toContain("Log in");
  expect((await stage.browse().send(consent)).status).toBe(403);
  expect((await browser.send("/login")).status).toBe(400);
  expect((await browser.send("/consent?request=x&request=y")).status).toBe(400);
});

test("a login of the application's sees its own cookies and form, and its pages are guarded", async () => {
  const seen: LoginRequest[] = [];
  const stage = await openStage({
    login(request) {
      seen.push(request);
      if (request.form.get("pin") === "1") return { subject: "alice", claims: { email: "alice@example.com" } };
      const body = `<form method="post" action="${request.action}"><input type="hidden" name="csrf" value="${request.csrf}"></form>`;
      return { body, headers: { "x-own": "1", "X-Frame-Options": "ALLOWALL", "cache-control": "public" } };
    },
  });
  const browser = stage.browse();
  browser.cookies.set("own", "1");
  const page = await browser.visit(stage.ask());
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "x-own": "1",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
  });
  const consent = await browser.submit(page, { pin: "1" });
  const { code = "" } = answerIn(await browser.submit(consent, { answer: "allow" }));
  expect(seen.map(({ method }) => method)).toEqual(["GET", "POST"]);
  expect(seen[0]?.header("cookie")).toContain("own=1");
  expect([...(seen[1]?.form ?? [])]).toEqual([["pin", "1"]]);
  const { access_token: token } = (await (await stage.redeem(code, "web")).json()) as { access_token: string };
  expect(await stage.server.verifier.verify(token)).toMatchObject({
    subject: "alice",
    claims: { email: "alice@example.com" },
  });
});

test("a login that says nothing sensible lets nobody in, and tells nobody why", async () => {
  const told: unknown[] = [];
  const stage = await openStage({ login: () => ({ subject: "" }), onError: (error) => told.push(error) });
  const page = await stage.browse().visit(stage.ask());
  expect(page.status).toBe(500);
  expect(told).toEqual([expect.any(TypeError)]);
  expect(page.text).not.toContain("subject");
});

test("the login for development is for this machine", async () => {
  await expect(openStage({ issuer, login: fixedLogin("alice") })).rejects.toThrow(TypeError);
  const stage = await openStage({ login: fixedLogin("alice") });
  expect((await stage.browse().visit(stage.ask())).text).toContain("alice");
});

test("a browser is remembered by whatever shares the store, and for as long as it is told", async () => {
  const first = await openStage({ login: () => ({ subject: "alice" }), loginTtlS: 3600 });
  const browser = first.browse();
  await browser.visit(first.ask());
  const told = browser.told.find((line) => line.includes("login")) ?? "";
  expect(told).toContain("Max-Age=3600");
  const second = await openStage({
    ...{ issuer: first.issuer, store: first.store },
    login: () => ({ subject: "nobody" }),
  });
  const again = second.browse();
  for (const [name, value] of browser.cookies) again.cookies.set(name, value);
  expect((await again.visit(second.ask())).text).toContain("alice");
});
