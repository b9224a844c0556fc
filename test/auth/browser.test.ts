// The pages of the authorization server in a real browser: what a user does, and what a page of somebody else's cannot.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { createServer as createMcpServer } from "plenum";
import { createAuthorizationServer, passwordLogin } from "plenum/auth/authorization-server";
import { requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chromiumArgs, chromiumMs, ensureChromium } from "../../scripts/chromium.mjs";
import { covers } from "../requirements/covers.ts";
import { challenge, closeAfter, formIn, openStage, type Stage } from "./front-stage.ts";
import { clientId, clientSecret, openThirdParty } from "./third-party.ts";

let browser: Browser;
const contexts = new Set<BrowserContext>();

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: await ensureChromium(), args: chromiumArgs });
}, chromiumMs);

afterEach(async () => {
  for (const context of contexts) await context.close();
  contexts.clear();
});

afterAll(() => browser?.close());

async function openPage(): Promise<Page> {
  const context = await browser.newContext();
  contexts.add(context);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return page;
}

interface Site {
  /** To the browser a site of its own: its name is another one than that of the authorization server. */
  readonly origin: string;
  /** What was asked for, in order. */
  readonly asked: URL[];
  pages: { [path: string]: string | { readonly location: string } };
}

/** A site of somebody's: a client, or an attacker. */
async function openSite(name = "localhost"): Promise<Site> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", site.origin);
    site.asked.push(url);
    const page = site.pages[url.pathname] ?? "<title>arrived</title>";
    if (typeof page === "string") response.writeHead(200, { "content-type": "text/html" }).end(page);
    else response.writeHead(302, page).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(async () => {
    server.close();
    server.closeAllConnections();
  });
  const site: Site = { origin: `http://${name}:${(server.address() as AddressInfo).port}`, asked: [], pages: {} };
  return site;
}

const login = () => passwordLogin({ check: (name, password) => name === "alice" && password === "right" });

interface Scene {
  readonly stage: Stage;
  readonly site: Site;
  readonly url: string;
  /** What the client got. */
  got(): { readonly [name: string]: string };
}

/** A client that has registered itself, on a site of its own, and where it sends a user. */
async function openScene(
  options: Parameters<typeof openStage>[0] = {},
  metadata: { readonly [name: string]: unknown } = {},
  toIssuer?: (origin: string) => string,
): Promise<Scene> {
  const stage = await openStage({ ...(options.upstream ? {} : { login: login() }), ...options }, toIssuer);
  const site = await openSite();
  const redirectUri = `${site.origin}/callback`;
  const { client_id: id } = await stage.register({
    ...{ client_name: "A client", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" },
    ...metadata,
  });
  const url = stage.ask({ client_id: id, redirect_uri: redirectUri });
  const got = () => Object.fromEntries(site.asked.find(({ pathname }) => pathname === "/callback")?.searchParams ?? []);
  return { stage, site, url, got };
}

async function logIn(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Name").fill("alice");
  await page.getByLabel("Password").fill("right");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Allow" }).waitFor();
}

describe("a user", () => {
  test("logs in, allows, and is back at the client with a code", async () => {
    const { stage, url, got } = await openScene();
    const page = await openPage();
    await page.goto(url);
    await page.getByLabel("Name").fill("alice");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("That is not right").waitFor();
    await logIn(page, url);
    expect(await page.getByText("Read your notes").count()).toBe(1);
    // Without the tick nothing is sent.
    await page.getByRole("button", { name: "Allow" }).click();
    expect(new URL(page.url()).pathname).toBe("/consent");
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/callback\?/);
    expect(got()).toMatchObject({ state: "the state", iss: stage.issuer });
    // Nor does the client learn from where the user comes.
    expect(await page.evaluate("document.referrer")).toBe("");
    const response = await stage.redeem(got().code ?? "", new URL(url).searchParams.get("client_id") ?? "");
    expect(response.status).toBe(200);
  });

  test("is remembered, and asked again all the same", async () => {
    const { url } = await openScene();
    const page = await openPage();
    await logIn(page, url);
    await page.goto(url);
    await page.getByRole("button", { name: "Allow" }).waitFor();
    expect(await page.getByLabel("Password").count()).toBe(0);
  });

  test("denies, without a tick", async () => {
    const { stage, url, got } = await openScene();
    const page = await openPage();
    await logIn(page, url);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(/\/callback\?/);
    expect(got()).toMatchObject({ error: "access_denied", state: "the state", iss: stage.issuer });
    expect(got().code).toBeUndefined();
  });

  test("is led on by the client's own page, wherever that is", async () => {
    const { site, url, got } = await openScene();
    const elsewhere = await openSite("127.0.0.1");
    site.pages["/callback"] = { location: `${elsewhere.origin}/done` };
    const page = await openPage();
    await logIn(page, url);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/done$/);
    expect(got().code).toBeDefined();
  });

  test("goes by a third party that lets everybody pass who was there before", async () => {
    covers(["security-proxy-consent"]);
    const party = await openThirdParty();
    const upstream = { issuer: party.issuer, clientId, clientSecret };
    const { stage, url, got } = await openScene({ upstream });
    const page = await openPage();
    await page.goto(url);
    expect(party.asked).toEqual([]);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/callback\?.*code=/);
    expect(got()).toMatchObject({ state: "the state", iss: stage.issuer });
  });

  test("passes an MCP server that is its own authorization server, whose guard looks at where forms come from", async () => {
    const site = await openSite();
    // A port that is free: what was there has just left it.
    const left = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => left.once("listening", resolve));
    const { port } = left.address() as AddressInfo;
    await new Promise((resolve) => left.close(resolve));
    const issuer = `http://127.0.0.1:${port}`;
    const resource = `${issuer}/mcp`;
    const clients = [{ id: "client", redirectUris: [`${site.origin}/callback`] }];
    const as = createAuthorizationServer({ issuer, resources: [resource], clients, login: login() });
    const auth = requireAuth({ verify: as.verifier, resource });
    const options = { port, auth, routes: as.routes, allowedHosts: [`127.0.0.1:${port}`] };
    const serving = await serveHttp(createMcpServer({ name: "notes", version: "1" }), options);
    closeAfter(() => serving.close(0));
    const page = await openPage();
    const asked = {
      response_type: "code",
      client_id: "client",
      code_challenge: challenge,
      code_challenge_method: "S256",
    };
    await logIn(page, `${issuer}/authorize?${new URLSearchParams(asked)}`);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/callback\?/);
    expect(site.asked.find(({ pathname }) => pathname === "/callback")?.searchParams.get("code")).toMatch(
      /^[\w-]{43}$/,
    );
  });

  test("can use a server that calls itself localhost", async () => {
    const { stage, url, got } = await openScene({}, {}, (origin) => origin.replace("127.0.0.1", "localhost"));
    const page = await openPage();
    await logIn(page, url);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/\/callback\?/);
    expect(got()).toMatchObject({ iss: stage.issuer });
  });
});

test("no script sees the cookies, and they are of this server alone", async () => {
  const { stage, url } = await openScene();
  const page = await openPage();
  await logIn(page, url);
  expect(await page.evaluate("document.cookie")).toBe("");
  const cookies = await page.context().cookies(stage.origin);
  expect(cookies.map(({ name }) => name.replace(/-\d+-/, "-"))).toEqual(["plenum-browser", "plenum-login"]);
  for (const cookie of cookies)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/", domain: "127.0.0.1" });
});

test("what a client calls itself is text", async () => {
  covers(["security-proxy-consent-page"]);
  const name = `<script>document.title="gone"</script><img src=x onerror='document.title="gone"'><a href="javascript:1">x`;
  const { url } = await openScene({}, { client_name: name });
  const page = await openPage();
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await logIn(page, url);
  expect(await page.getByText(name.slice(0, 40)).count()).toBe(1);
  expect(await page.title()).toContain("Allow access?");
  expect(await page.locator("script, img, a, iframe").count()).toBe(0);
  expect(dialogs).toEqual([]);
});

test("the page is shown with its style, and with nothing else", async () => {
  const { url } = await openScene();
  const page = await openPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  await logIn(page, url);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.warning')).borderLeftWidth")).toBe("4px");
  expect(problems.filter((text) => !text.includes("favicon"))).toEqual([]);
});

describe("a page of somebody else's", () => {
  test("cannot answer for the user", async () => {
    covers(["security-proxy-consent-page"]);
    const { stage, url, got } = await openScene();
    const page = await openPage();
    await logIn(page, url);
    const victims = new URL(page.url());
    const evil = await openSite();
    // Both what the attacker has got for himself and what he may have learnt of the victim's.
    const own = stage.browse();
    const theirs = await own.visit(stage.ask());
    const mine = formIn(await own.submit(theirs, { username: "alice", password: "right" }));
    const csrf = mine.hidden.csrf ?? "";
    const victimsCsrf = await page.locator("input[name=csrf]").getAttribute("value");
    for (const [action, token] of [
      [`${stage.issuer}${mine.action}`, csrf],
      [victims.href, csrf],
      [victims.href, victimsCsrf],
    ]) {
      evil.pages["/attack"] = `<form method="post" action="${action}"><input name="csrf" value="${token}">
<input name="answer" value="allow"></form><script>document.forms[0].submit()</script>`;
      const other = await page.context().newPage();
      await other.goto(`${evil.origin}/attack`);
      await other.getByText("This cannot go on").waitFor();
    }
    expect(got()).toEqual({});
  });

  test("cannot frame the pages", async () => {
    covers(["security-proxy-consent-page"]);
    const { url, got } = await openScene();
    const page = await openPage();
    await logIn(page, url);
    const evil = await openSite();
    for (const framed of [url, page.url()]) {
      evil.pages["/frame"] =
        `<iframe id="frame" src="${framed.replaceAll("&", "&amp;")}" width="800" height="800"></iframe>`;
      const other = await page.context().newPage();
      await other.goto(`${evil.origin}/frame`);
      await expect.poll(() => other.frames().map((frame) => frame.url())[1]).toMatch(/^chrome-error:/);
      expect(await other.frameLocator("#frame").getByRole("button", { name: "Allow" }).count()).toBe(0);
    }
    expect(got()).toEqual({});
  });
});
