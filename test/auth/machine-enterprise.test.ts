// Enterprise-managed authorization, with our own on every side: an identity provider, the authorization server that trusts it, a
// protected server, and a client. Real sockets.
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { AuthorizationServing } from "plenum/auth/authorization-server/node";
import { enterpriseManaged, type OAuthOptions } from "plenum/auth/client";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  connectMachine,
  createRecorder,
  errorOf,
  extensionsIn,
  type MachineStage,
  type Options,
  openAuthorizationServer,
  openMachines,
  post,
  type Recorder,
  type Sent,
} from "./machine-stage.ts";
import { createSigner, nowS } from "./signer.ts";

const exchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";
const bearerType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const kind = "urn:ietf:params:oauth:token-type:";
const idpSecret = "secret at the identity provider";
const secret = "secret at the authorization server";

interface Stage extends MachineStage {
  readonly idp: AuthorizationServing;
  readonly options: OAuthOptions;
  /** What the client shows of the user's sign-on. */
  signOn: string;
}

/** The sign-on of a user is `user@client`: what an identity provider finds in an ID token. */
async function openEnterprise(more: Options = {}): Promise<Stage> {
  const audiences: string[] = [];
  const idp = await openAuthorizationServer({
    clients: [{ id: "app-at-idp", secret: idpSecret, grantTypes: [exchangeType] }],
    exchange: {
      audiences,
      verify(token) {
        const [subject, audience] = token.split("@");
        return subject && audience ? { subject, audience, claims: { email: `${subject}@example.com` } } : undefined;
      },
      clientIdAt: () => "app",
    },
  });
  const clients = [
    { id: "app", secret, grantTypes: [bearerType] },
    { id: "other", secret: "secret of another", grantTypes: [bearerType] },
  ];
  const machines = await openMachines(clients, { trustedIssuers: [{ issuer: idp.origin }], ...more });
  audiences.push(machines.as.origin);
  const stage: Stage = {
    ...machines,
    idp,
    signOn: "ada@app-at-idp",
    options: {
      client: { id: "app", secret },
      grant: enterpriseManaged({
        idp: {
          issuer: idp.origin,
          tokenEndpoint: `${idp.origin}/token`,
          clientId: "app-at-idp",
          clientSecret: idpSecret,
        },
        idToken: () => stage.signOn,
      }),
    },
  };
  return stage;
}

/** The two requests of the way: to the identity provider, and to the authorization server. */
function requests({ to }: Recorder): { exchange: Sent; bearer: Sent; forms: [URLSearchParams, URLSearchParams] } {
  const [exchange, bearer, ...more] = to("/token") as [Sent, Sent];
  expect(more).toEqual([]);
  return { exchange, bearer, forms: [new URLSearchParams(exchange.body), new URLSearchParams(bearer.body)] };
}

describe("a user who has signed on", () => {
  test("is let in without a page", async () => {
    covers([
      "ext-auth-ema-token-exchange",
      "ext-auth-ema-requested-type",
      "ext-auth-ema-audience",
      "ext-auth-ema-resource",
      "ext-auth-ema-subject",
      "ext-auth-ema-scope",
      "ext-auth-ema-client-auth",
      "ext-auth-ema-jwt-bearer",
      "ext-auth-ema-no-redirect",
    ]);
    const { as, idp, url, options } = await openEnterprise();
    const recorder = createRecorder();
    const client = await connectMachine(url, options, recorder);
    expect((await client.callTool("whoami")).text).toBe("ada by app: notes:read");
    const { exchange, bearer, forms } = requests(recorder);
    expect(exchange.url).toBe(`${idp.origin}/token`);
    expect(Object.fromEntries(forms[0])).toEqual({
      grant_type: exchangeType,
      requested_token_type: `${kind}id-jag`,
      audience: as.origin,
      resource: url,
      scope: "notes:read",
      subject_token: "ada@app-at-idp",
      subject_token_type: `${kind}id_token`,
    });
    expect(exchange.headers.get("authorization")).toBe(`Basic ${btoa(`app-at-idp:${idpSecret.replaceAll(" ", "+")}`)}`);
    expect(bearer.url).toBe(`${as.origin}/token`);
    expect(Object.fromEntries(forms[1])).toMatchObject({ grant_type: bearerType, resource: url });
    expect(bearer.headers.get("authorization")).toBe(`Basic ${btoa(`app:${secret.replaceAll(" ", "+")}`)}`);
    expect(forms[1].get("assertion")).toBe(JSON.parse(exchange.answer).access_token);
    expect(recorder.sent.filter(({ url: to }) => to.includes("/authorize"))).toEqual([]);
    expect(JSON.parse(bearer.answer)).not.toHaveProperty("refresh_token");
  });

  test("is vouched for as the extension wants it", async () => {
    covers([
      "ext-auth-ema-response",
      "ext-auth-ema-expires-in",
      "ext-auth-ema-jag-claims",
      "ext-auth-ema-jag-typ",
      "ext-auth-ema-jag-client-id",
      "ext-auth-ema-extra-claims",
    ]);
    const { as, idp, url, options } = await openEnterprise();
    const recorder = createRecorder();
    await connectMachine(url, options, recorder);
    const { access_token: jag, ...answer } = JSON.parse(requests(recorder).exchange.answer);
    expect(answer).toEqual({ issued_token_type: `${kind}id-jag`, token_type: "N_A", expires_in: 300 });
    expect(decodeProtectedHeader(jag).typ).toBe("oauth-id-jag+jwt");
    expect(decodeJwt(jag)).toEqual({
      iss: idp.origin,
      sub: "ada",
      aud: as.origin,
      resource: url,
      client_id: "app",
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
      scope: "notes:read",
      email: "ada@example.com",
    });
  });

  test("says in every message that the extension is used", async () => {
    covers(["ext-auth-declared", "ext-auth-identifiers"], "ext-auth-enterprise-managed");
    const { url, options } = await openEnterprise();
    const recorder = createRecorder();
    const client = await connectMachine(url, options, recorder);
    await client.callTool("whoami");
    const told = extensionsIn(recorder);
    expect(told.length).toBeGreaterThan(2);
    for (const extensions of told)
      expect(extensions).toEqual({ "io.modelcontextprotocol/enterprise-managed-authorization": {} });
  });

  test("at another client is refused by the identity provider, in words of OAuth", async () => {
    covers(["ext-auth-ema-idp-validates", "ext-auth-ema-error"]);
    const stage = await openEnterprise();
    for (const signOn of ["ada@another", "forged"]) {
      stage.signOn = signOn;
      const recorder = createRecorder();
      const error = await errorOf(connectMachine(stage.url, stage.options, recorder));
      expect(error).toMatchObject({ code: "token_failed", error: "invalid_grant" });
      expect(recorder.to("/token")).toHaveLength(1);
      expect(recorder.to("/token")[0]?.answer).not.toContain(signOn);
    }
  });
});

test("a client takes nothing but what it has asked the identity provider for", async () => {
  covers(["ext-auth-ema-response"]);
  const { idp, url, options } = await openEnterprise();
  const change = {
    [`${idp.origin}/token`]: (answer: unknown) => ({ ...(answer as object), issued_token_type: `${kind}jwt` }),
  };
  const recorder = createRecorder(change);
  expect(await errorOf(connectMachine(url, options, recorder))).toMatchObject({ code: "token_failed" });
  expect(recorder.to("/token")).toHaveLength(1);
});

describe("the authorization server", () => {
  /** A word of the identity provider's, by hand. */
  async function exchange({ as, idp, url }: Stage, changes: { readonly [name: string]: string } = {}): Promise<string> {
    const form = {
      grant_type: exchangeType,
      requested_token_type: `${kind}id-jag`,
      subject_token: "ada@app-at-idp",
      subject_token_type: `${kind}id_token`,
      audience: as.origin,
      resource: url,
      scope: "notes:read",
      ...changes,
    };
    const { body } = await post(`${idp.origin}/token`, form, ["app-at-idp", idpSecret]);
    expect(body.access_token).toBeTypeOf("string");
    return body.access_token as string;
  }

  const asApp = ["app", secret] as const;

  test("takes a word once", async () => {
    covers(["ext-auth-ema-as-rfc7521"]);
    const stage = await openEnterprise();
    const form = { grant_type: bearerType, assertion: await exchange(stage) };
    const answers = await Promise.all([1, 2, 3].map(() => post(stage.token, form, asApp)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect(await post(stage.token, form, asApp)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("takes it of the client that is named in it", async () => {
    covers(["ext-auth-ema-as-client"]);
    const stage = await openEnterprise();
    const form = { grant_type: bearerType, assertion: await exchange(stage) };
    const stolen = await post(stage.token, form, ["other", "secret of another"]);
    expect(stolen).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await post(stage.token, form)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    expect((await post(stage.token, form, asApp)).status).toBe(200);
  });

  test("takes none that is for another", async () => {
    covers(["ext-auth-ema-as-audience"]);
    const one = await openEnterprise();
    const other = await openMachines([{ id: "app", secret, grantTypes: [bearerType] }], {
      trustedIssuers: [{ issuer: one.idp.origin }],
    });
    const form = { grant_type: bearerType, assertion: await exchange(one) };
    expect(await post(other.token, form, asApp)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  test("takes no other kind of token that the identity provider has signed", async () => {
    covers(["ext-auth-ema-as-typ"]);
    const signer = await createSigner();
    const issuer = "https://idp.example.com";
    const { as, url, token } = await openMachines([{ id: "app", secret, grantTypes: [bearerType] }], {
      trustedIssuers: [{ issuer, jwks: signer.jwks }],
    });
    const own = { iss: issuer, sub: "ada", aud: as.origin, resource: url, client_id: "app" };
    const claims = { ...own, jti: "1", iat: nowS(), exp: nowS() + 60 };
    const send = async (typ: string) =>
      post(token, { grant_type: bearerType, assertion: await signer.sign(claims, { typ }) }, asApp);
    for (const typ of ["JWT", "at+jwt", "id-jag+jwt"])
      expect(await send(typ)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await send("oauth-id-jag+jwt")).status).toBe(200);
  });

  test("gives no more than the word is for", async () => {
    const stage = await openEnterprise();
    const wide = { grant_type: bearerType, assertion: await exchange(stage), scope: "notes:read notes:write" };
    expect((await post(stage.token, wide, asApp)).body.scope).toBe("notes:read");
    const elsewhere = {
      grant_type: bearerType,
      assertion: await exchange(stage),
      resource: "https://other.example.com/mcp",
    };
    expect(await post(stage.token, elsewhere, asApp)).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    const foreign = {
      grant_type: bearerType,
      assertion: await exchange(stage, { resource: "https://evil.example.com/" }),
    };
    expect(await post(stage.token, foreign, asApp)).toMatchObject({ status: 400, body: { error: "invalid_target" } });
  });

  test("reads no more of an assertion than anybody has to say", async () => {
    const stage = await openEnterprise();
    const long = await post(stage.token, { grant_type: bearerType, assertion: "a".repeat(40_000) }, asApp).catch(
      () => undefined,
    );
    expect(long === undefined || long.status >= 400).toBe(true);
    expect((await post(stage.token, { grant_type: bearerType, assertion: await exchange(stage) }, asApp)).status).toBe(
      200,
    );
  });
});
