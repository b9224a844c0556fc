// Our authorization server with a third party behind it, and the way through both.
import type { AuthorizationServerOptions, UpstreamOptions } from "plenum/auth/authorization-server";
import { expect } from "vitest";
import { allow, answerIn, type Browser, openStage, type Page, type Stage } from "./front-stage.ts";
import { clientId, clientSecret, openThirdParty, type ThirdParty } from "./third-party.ts";

export interface Proxy {
  readonly stage: Stage;
  readonly party: ThirdParty;
}

export async function openProxy(
  given: Partial<UpstreamOptions> = {},
  options: Partial<AuthorizationServerOptions> = {},
): Promise<Proxy> {
  const party = await openThirdParty();
  const upstream = { issuer: party.issuer, clientId, clientSecret, statusCacheMs: 0, ...given };
  return { party, stage: await openStage({ upstream, ...options }) };
}

/** From a request to the client, by consent and the third party. */
export async function cross({ stage, party }: Proxy, browser: Browser, url = stage.ask()): Promise<Page> {
  const { location } = await allow(browser, url);
  return browser.visit(party.pass(location).href);
}

export async function tokensOf(
  proxy: Proxy,
  browser: Browser = proxy.stage.browse(),
): Promise<{ access_token: string; refresh_token: string }> {
  const { code = "" } = answerIn(await cross(proxy, browser));
  const response = await proxy.stage.redeem(code, "web");
  expect(response.status).toBe(200);
  return (await response.json()) as { access_token: string; refresh_token: string };
}

export const isPage = (page: Page): void => {
  expect(page.status).toBeGreaterThanOrEqual(400);
  expect(page.location).toBeUndefined();
};
