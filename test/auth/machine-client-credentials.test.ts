// Programs that get tokens with credentials of their own: our client, our authorization server, our server, over real HTTP.
import { decodeJwt } from "jose";
import { clientCredentials, jwtBearer, oauth } from "plenum/auth/client";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  connectMachine,
  createRecorder,
  errorOf,
  extensionsIn,
  openMachines,
  post,
  type Recorder,
  type Sent,
} from "./machine-stage.ts";
import { createSigner, nowS } from "./signer.ts";

const secret = "a secret: 100% + more";
const robot = { id: "robot", secret };
const asSecret = { client: robot, grant: clientCredentials() };

/** The one request to the token endpoint. */
function tokenRequest({ to }: Recorder): Sent & { readonly form: URLSearchParams } {
  const [sent, ...more] = to("/token");
  expect(more).toEqual([]);
  return { ...(sent as Sent), form: new URLSearchParams(sent?.body) };
}

describe("with a secret", () => {
  test("a program finds its way, and is let in", async () => {
    covers([
      "ext-auth-cc-conform",
      "ext-auth-cc-discovery",
      "ext-auth-cc-authentication",
      "ext-auth-cc-secret-request",
      "ext-auth-cc-no-dcr",
    ]);
    const { as, url } = await openMachines([robot]);
    const recorder = createRecorder();
    const client = await connectMachine(url, asSecret, recorder);
    expect((await client.callTool("whoami")).text).toBe("robot by robot: notes:read");
    const origin = new URL(url).origin;
    const beginning = recorder.sent.slice(0, 5).map(({ method, url: to, status }) => `${method} ${to} ${status}`);
    expect(beginning).toEqual([
      `POST ${url} 401`,
      `GET ${origin}/.well-known/oauth-protected-resource/mcp 200`,
      `GET ${as.origin}/.well-known/oauth-authorization-server 200`,
      `POST ${as.origin}/token 200`,
      `POST ${url} 200`,
    ]);
    const { form, headers, answer } = tokenRequest(recorder);
    expect(Object.fromEntries(form)).toEqual({ grant_type: "client_credentials", resource: url, scope: "notes:read" });
    expect(headers.get("authorization")).toMatch(/^Basic /);
    expect(JSON.parse(answer)).not.toHaveProperty("refresh_token");
    expect(recorder.to("/register")).toEqual([]);
    expect(recorder.sent.every(({ url: to }) => !to.includes("token="))).toBe(true);
  });

  test("it asks for more where a tool takes more", async () => {
    const { url } = await openMachines([robot]);
    const recorder = createRecorder();
    const client = await connectMachine(url, asSecret, recorder);
    expect((await client.callTool("write")).text).toBe("written");
    expect(recorder.to("/token").map(({ body }) => new URLSearchParams(body).get("scope"))).toEqual([
      "notes:read",
      "notes:read notes:write",
    ]);
  });

  test("it may stand in the form, where the client is registered so", async () => {
    covers(["ext-auth-cc-secret-request"]);
    const { url } = await openMachines([{ ...robot, authMethod: "client_secret_post" }]);
    const recorder = createRecorder();
    const client = { ...robot, authMethod: "client_secret_post" as const };
    await connectMachine(url, { client, grant: clientCredentials() }, recorder);
    const { form, headers } = tokenRequest(recorder);
    expect(form.get("client_secret")).toBe(secret);
    expect(headers.has("authorization")).toBe(false);
  });

  test("that is wrong, nobody is let in, and nothing tells what it was", async () => {
    covers(["ext-auth-cc-security"]);
    const { url } = await openMachines([robot]);
    const recorder = createRecorder();
    const client = { id: "robot", secret: "hunter2-and-more" };
    const error = await errorOf(connectMachine(url, { client, grant: clientCredentials() }, recorder));
    expect(error).toMatchObject({ code: "token_failed", error: "invalid_client" });
    const { status, answer } = tokenRequest(recorder);
    expect(status).toBe(401);
    for (const text of [error.message, error.stack, answer]) expect(text).not.toContain("hunter2");
  });
});

describe("with a key", () => {
  test("a program signs who it is", async () => {
    covers(["ext-auth-cc-conform", "ext-auth-cc-authentication", "ext-auth-cc-jwt-request"]);
    const { jwks, privateKey } = await createSigner();
    const { as, url } = await openMachines([{ id: "robot", jwks }]);
    const recorder = createRecorder();
    const options = { client: { id: "robot" }, clientKey: { key: privateKey, kid: "one" }, grant: clientCredentials() };
    const client = await connectMachine(url, options, recorder);
    expect((await client.callTool("whoami")).text).toBe("robot by robot: notes:read");
    const { form, headers } = tokenRequest(recorder);
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      resource: url,
      scope: "notes:read",
    });
    expect(form.has("client_secret")).toBe(false);
    expect(headers.has("authorization")).toBe(false);
    const claims = decodeJwt(form.get("client_assertion") ?? "");
    expect(claims).toMatchObject({ iss: "robot", sub: "robot", jti: expect.any(String) });
    expect([as.origin, `${as.origin}/token`]).toContain([claims.aud].flat()[0]);
    expect(claims.exp).toBeGreaterThan(nowS());
  });

  test("it is preferred to a secret", async () => {
    covers(["ext-auth-cc-jwt-preferred"]);
    const { jwks, privateKey } = await createSigner();
    const { url } = await openMachines([{ ...robot, jwks, authMethod: "private_key_jwt" }]);
    const recorder = createRecorder();
    await connectMachine(url, { ...asSecret, clientKey: { key: privateKey } }, recorder);
    expect(tokenRequest(recorder).form.has("client_assertion")).toBe(true);
  });

  test("no client id is needed, and an assertion is good once", async () => {
    covers(["ext-auth-cc-jwt-request"]);
    const { jwks, sign } = await createSigner();
    const { as, url, token } = await openMachines([{ id: "robot", jwks }]);
    const claims = { iss: "robot", sub: "robot", aud: as.origin, jti: "1", iat: nowS(), exp: nowS() + 60 };
    const form = {
      grant_type: "client_credentials",
      resource: url,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await sign(claims),
    };
    expect((await post(token, form)).status).toBe(200);
    expect(await post(token, form)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });

  test("keys that a client publishes are fetched from where it says", async () => {
    const signer = await createSigner();
    const keys = await openMachines([]);
    const jwksUri = `${keys.as.origin}/jwks`;
    // The keys of another: what is signed with its own is refused.
    const { url } = await openMachines([{ id: "robot", jwksUri }]);
    const options = { client: { id: "robot" }, clientKey: { key: signer.privateKey }, grant: clientCredentials() };
    const error = await errorOf(connectMachine(url, options, createRecorder()));
    expect(error).toMatchObject({ code: "token_failed", error: "invalid_client" });
  });
});

describe("the metadata", () => {
  test("says how programs can show who they are", async () => {
    covers(["ext-auth-cc-as-auth-methods", "ext-auth-cc-as-signing-algs"]);
    const { as } = await openMachines([robot]);
    const response = await fetch(`${as.origin}/.well-known/oauth-authorization-server`);
    const metadata = (await response.json()) as { readonly [name: string]: readonly string[] };
    expect(metadata.grant_types_supported).toContain("client_credentials");
    expect(metadata.token_endpoint_auth_methods_supported).toEqual(
      expect.arrayContaining(["private_key_jwt", "client_secret_basic"]),
    );
    const algorithms = metadata.token_endpoint_auth_signing_alg_values_supported ?? [];
    expect(algorithms).toContain("ES256");
    expect(algorithms.filter((algorithm) => algorithm === "none" || algorithm.startsWith("HS"))).toEqual([]);
  });

  test("that lists no way for it stops the client", async () => {
    covers(["ext-auth-cc-as-auth-methods"]);
    const { url } = await openMachines([robot]);
    const recorder = createRecorder({
      "/.well-known/oauth-authorization-server": (answer) => ({
        ...(answer as object),
        token_endpoint_auth_methods_supported: ["none"],
      }),
    });
    expect(await errorOf(connectMachine(url, asSecret, recorder))).toMatchObject({ code: "no_client" });
    expect(recorder.to("/token")).toEqual([]);
  });

  test("that leads to an address in the clear is not followed", async () => {
    covers(["ext-auth-cc-security"]);
    const { url } = await openMachines([robot]);
    const recorder = createRecorder({
      "/.well-known/oauth-authorization-server": (answer) => ({
        ...(answer as object),
        token_endpoint: "http://auth.example.com/token",
      }),
    });
    expect(await errorOf(connectMachine(url, asSecret, recorder))).toMatchObject({ code: "unsafe_url" });
    expect(recorder.sent.some(({ headers }) => headers.has("authorization"))).toBe(false);
  });
});

describe("a token", () => {
  test("that is revoked is followed by a new one, and the call goes on", async () => {
    covers(["ext-auth-cc-token-renewal"]);
    const { as, url } = await openMachines([robot], {}, ({ server }) => server.verifier);
    const recorder = createRecorder();
    const client = await connectMachine(url, asSecret, recorder);
    await client.callTool("whoami");
    expect(recorder.to("/token")).toHaveLength(1);
    // Of the same moment is what was given before, too.
    await new Promise((resolve) => setTimeout(resolve, 10));
    await as.server.revoke({ subject: "robot" });
    expect((await client.callTool("whoami")).text).toBe("robot by robot: notes:read");
    expect(recorder.to("/token")).toHaveLength(2);
    expect(recorder.to("/mcp").map(({ status }) => status)).toContain(401);
  });

  test("that ends soon is replaced before it does", async () => {
    covers(["ext-auth-cc-token-renewal"]);
    const { url } = await openMachines([robot], { accessTokenTtlS: 5 });
    const recorder = createRecorder();
    const client = await connectMachine(url, asSecret, recorder);
    const before = recorder.to("/token").length;
    await client.callTool("whoami");
    expect(recorder.to("/token").length).toBeGreaterThan(before);
    expect(recorder.to("/mcp").filter(({ status }) => status === 401)).toHaveLength(1);
  });
});

describe("the server", () => {
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "write",
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };

  async function knock(url: string, token: unknown): Promise<{ status: number; challenge: string }> {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "write",
      },
      body: JSON.stringify(call),
    });
    await response.text();
    return { status: response.status, challenge: response.headers.get("www-authenticate") ?? "" };
  }

  test("looks at the token and its scopes with every request", async () => {
    covers(["ext-auth-cc-server-validates"]);
    const { url, token } = await openMachines([robot]);
    const get = async (form: { [name: string]: string }) =>
      (await post(token, { grant_type: "client_credentials", ...form }, ["robot", secret])).body.access_token as string;
    const good = await get({ resource: url, scope: "notes:read notes:write" });
    for (let i = 0; i < 2; i++) expect((await knock(url, good)).status).toBe(200);
    const elsewhere = await get({ resource: "https://other.example.com/mcp", scope: "notes:read notes:write" });
    const changed = `${good.slice(0, -4)}AAAA`;
    for (const wrong of [elsewhere, changed, "nothing", ""]) {
      const { status, challenge } = await knock(url, wrong);
      expect(status === 401 || (wrong === "" && status === 400)).toBe(true);
      expect(challenge).toContain("resource_metadata=");
    }
    const narrow = await knock(url, await get({ resource: url, scope: "notes:read" }));
    expect(narrow.status).toBe(403);
    expect(narrow.challenge).toMatch(/insufficient_scope.*notes:write/);
  });
});

describe("the token endpoint", () => {
  const grant_type = "client_credentials";

  test("gives a token for one resource, and says what it is good for", async () => {
    const { as, url, token } = await openMachines([robot]);
    const { body } = await post(token, { grant_type, resource: url, scope: "notes:read strange" }, ["robot", secret]);
    expect(body).toMatchObject({ token_type: "Bearer", scope: "notes:read" });
    expect(decodeJwt(body.access_token as string)).toMatchObject({
      iss: as.origin,
      sub: "robot",
      client_id: "robot",
      aud: url,
      scope: "notes:read",
    });
  });

  test.each<[string, { readonly [name: string]: string }, string]>([
    ["no resource of several", { grant_type }, "invalid_target"],
    ["a resource of others", { grant_type, resource: "https://evil.example.com/" }, "invalid_target"],
    [
      "a scope that there is not",
      { grant_type, resource: "https://other.example.com/mcp", scope: "root" },
      "invalid_scope",
    ],
    ["a grant that there is not", { grant_type: "password" }, "unsupported_grant_type"],
    [
      "a grant that nobody is trusted with",
      { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer" },
      "unsupported_grant_type",
    ],
  ])("refuses %s", async (_name, form, error) => {
    const { token } = await openMachines([robot]);
    expect(await post(token, form, ["robot", secret])).toMatchObject({ status: 400, body: { error } });
  });

  test("gives nothing to a client that has registered itself", async () => {
    const { as, url, token } = await openMachines([robot]);
    const response = await fetch(`${as.origin}/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "client_secret_basic",
        grant_types: ["authorization_code", "client_credentials"],
      }),
    });
    const made = (await response.json()) as { readonly client_id?: string; readonly client_secret?: string };
    if (made.client_id === undefined) {
      expect(response.status).toBe(400);
      return;
    }
    const answer = await post(token, { grant_type, resource: url }, [made.client_id, made.client_secret ?? ""]);
    expect(answer).toMatchObject({ status: 400, body: { error: "unauthorized_client" } });
  });
});

describe("a program that its platform vouches for", () => {
  const platform = "https://platform.example.com";
  const worker = { id: "worker", grantTypes: ["urn:ietf:params:oauth:grant-type:jwt-bearer"] };

  test("is let in with what the platform says", async () => {
    const { jwks, sign } = await createSigner();
    const { as, url } = await openMachines([worker], {
      trustedIssuers: [{ issuer: platform, jwks, kind: "workload" }],
    });
    const told: unknown[] = [];
    const grant = jwtBearer((about) => {
      told.push(about);
      return sign({ iss: platform, sub: "worker", aud: about.issuer, exp: nowS() + 3600 });
    });
    const recorder = createRecorder();
    const client = await connectMachine(url, { client: { id: "worker" }, grant }, recorder);
    expect((await client.callTool("whoami")).text).toBe("worker by worker: notes:read");
    expect(told).toEqual([{ issuer: as.origin, resource: url }]);
    // No extension of MCP: there is nothing to declare.
    expect(new Set(extensionsIn(recorder))).toEqual(new Set([undefined]));
  });

  test("is told no, once, where that is not good", async () => {
    const { jwks, sign } = await createSigner();
    const { url } = await openMachines([worker], { trustedIssuers: [{ issuer: platform, jwks, kind: "workload" }] });
    const recorder = createRecorder();
    const grant = jwtBearer(() =>
      sign({ iss: platform, sub: "worker", aud: "https://other.example.com", exp: nowS() + 60 }),
    );
    const error = await errorOf(connectMachine(url, { client: { id: "worker" }, grant }, recorder));
    expect(error).toMatchObject({ code: "token_failed", error: "invalid_grant" });
    expect(recorder.to("/token")).toHaveLength(1);
  });
});

test("a client says in every message that it uses the extension", async () => {
  covers(["ext-auth-declared", "ext-auth-identifiers"], "ext-auth-client-credentials");
  const { url } = await openMachines([robot]);
  const recorder = createRecorder();
  const client = await connectMachine(url, asSecret, recorder);
  await client.callTool("whoami");
  const told = extensionsIn(recorder);
  expect(told.length).toBeGreaterThan(2);
  for (const extensions of told) expect(extensions).toEqual({ "io.modelcontextprotocol/oauth-client-credentials": {} });
});

test("a grant needs a client that is known", () => {
  covers(["ext-auth-cc-no-dcr"]);
  expect(() => oauth({ grant: clientCredentials() })).toThrow("a grant needs the client");
});
