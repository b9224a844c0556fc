// Our authorization server with one behind it that nobody here wrote: oidc-provider logs users in, and its tokens stay with us.
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn, openStage, type Stage } from "./front-stage.ts";
import { openProvider, type Provider } from "./oidc-provider.ts";

const issuer = "https://auth.example.com";
const client = { client_id: "plenum", client_secret: "a secret of ours & theirs + more" };

async function openBoth(): Promise<{ readonly provider: Provider; readonly stage: Stage }> {
  const provider = await openProvider({
    clients: [
      {
        ...client,
        redirect_uris: [`${issuer}/callback`],
        grant_types: ["authorization_code", "refresh_token"],
        scope: "openid offline_access",
      },
    ],
  });
  const isAlive = async (token: string): Promise<boolean> =>
    (await fetch(`${provider.issuer}/me`, { headers: { authorization: `Bearer ${token}` } })).ok;
  const upstream = {
    ...{ issuer: provider.issuer, clientId: client.client_id, clientSecret: client.client_secret },
    ...{ scopes: ["openid", "offline_access"], parameters: { prompt: "consent" }, isAlive, statusCacheMs: 0 },
  };
  return { provider, stage: await openStage({ issuer, upstream }) };
}

async function pass(provider: Provider, location: URL | undefined): Promise<string> {
  return (await provider.browse(location as URL)).href;
}

test("a user logs in there, and the client gets a token of ours that lives as long as theirs", async () => {
  covers([
    "auth-third-party-flow",
    "auth-third-party-own-token",
    "auth-third-party-status",
    "auth-third-party-mapping",
  ]);
  const { provider, stage } = await openBoth();
  const browser = stage.browse();
  const { location } = await allow(browser, stage.ask());
  const { code = "" } = answerIn(await browser.visit(await pass(provider, location)));
  const answer = await stage.redeem(code, "web");
  expect(answer.status).toBe(200);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const verified = await stage.server.verifier.verify(token);
  expect(verified).toMatchObject({ subject: "ann", issuer, clientId: "web" });
  expect(provider.asked).toMatchObject([{ grant: "authorization_code", auth: "basic" }]);
  const theirs = (await stage.server.upstreamToken(String(verified?.claims?.family))) ?? "";
  expect(theirs).not.toBe("");
  expect(theirs).not.toBe(token);
  await provider.forget(theirs);
  expect(await stage.server.verifier.verify(token)).toBeUndefined();
});

test("a user who says no there is told to the client", async () => {
  covers(["auth-third-party-errors"]);
  const { provider, stage } = await openBoth();
  provider.isDenying = true;
  const browser = stage.browse();
  const { location } = await allow(browser, stage.ask());
  const page = await browser.visit(await pass(provider, location));
  expect(answerIn(page)).toMatchObject({ error: "access_denied", state: "the state", iss: issuer });
  expect(page.location?.href).not.toContain("Not+today");
});
