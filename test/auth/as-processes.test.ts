// Two processes that are one authorization server: they share a store, and nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { findPort } from "../find-port.ts";
import { root } from "../house/source.ts";
import { covers } from "../requirements/covers.ts";
import { allow, answerIn, challenge, createBrowser, verifier } from "./front-stage.ts";

type Obj = { readonly [name: string]: unknown };

interface Running {
  readonly origin: string;
  readonly child: ChildProcess;
}

async function start(issuer: string, file: string, port: number): Promise<Running> {
  const program = ["--conditions=plenum-source", "--import", "tsx", join(root, "test/auth/as-process.ts")];
  const child = spawn(process.execPath, [...program, issuer, file, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const first = once(createInterface({ input: child.stdout }), "line", { signal: AbortSignal.timeout(30_000) });
  const [origin] = (await first) as [string];
  return { origin, child };
}

async function post(
  origin: string,
  path: string,
  form: { readonly [name: string]: string },
  headers = {},
): Promise<{ status: number; body: Obj }> {
  const response = await fetch(`${origin}${path}`, { method: "POST", body: new URLSearchParams(form), headers });
  return { status: response.status, body: (await response.json()) as Obj };
}

test("two processes share keys, clients, codes and refresh tokens, and one of them may die", async () => {
  covers(["security-refresh-rotation"]);
  const folder = mkdtempSync(join(tmpdir(), "plenum-as-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = await findPort();
  const issuer = `http://127.0.0.1:${port}`;
  const file = join(folder, "store.json");
  const [one, other] = await Promise.all([start(issuer, file, port), start(issuer, file, 0)]);
  const origins = [one.origin, other.origin] as const;
  expect(one.origin).toBe(issuer);

  const shown = await Promise.all(
    [...origins, ...origins].map(async (origin) => (await (await fetch(`${origin}/jwks`)).json()) as { keys: Obj[] }),
  );
  expect(new Set(shown.flatMap(({ keys }) => keys.map(({ kid }) => kid))).size).toBe(1);

  const redirectUri = "http://127.0.0.1:1/callback";
  const registered = await fetch(`${one.origin}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: "none" }),
  });
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const query = new URLSearchParams({
    ...{ response_type: "code", client_id: id, redirect_uri: redirectUri },
    ...{ code_challenge: challenge, code_challenge_method: "S256" },
  });
  const codeAt = async (origin: string): Promise<string> =>
    answerIn(await allow(createBrowser(issuer, origin), `${issuer}/authorize?${query}`)).code as string;
  const redeem = (origin: string, code: string) =>
    post(origin, "/token", { grant_type: "authorization_code", client_id: id, code, code_verifier: verifier });
  const refresh = (origin: string, { refresh_token: token }: Obj) =>
    post(origin, "/token", { grant_type: "refresh_token", client_id: id, refresh_token: token as string });
  const isActive = async (origin: string, { access_token: token }: Obj): Promise<unknown> => {
    const authorization = `Basic ${btoa("server:a+secret+of+the+server")}`;
    return (await post(origin, "/introspect", { token: token as string }, { authorization })).body.active;
  };

  const { status, body } = await redeem(other.origin, await codeAt(one.origin));
  expect([status, await isActive(one.origin, body)]).toEqual([200, true]);

  for (let i = 0; i < 5; i++) {
    const code = await codeAt(origins[i % 2] as string);
    const redeemed = await Promise.all(origins.map((origin) => redeem(origin, code)));
    expect(redeemed.filter((answer) => answer.status === 200).length).toBeLessThanOrEqual(1);
    for (const answer of redeemed)
      if (answer.status === 200) expect(await isActive(one.origin, answer.body)).toBe(false);

    const held = await redeem(one.origin, await codeAt(other.origin));
    const renewed = await Promise.all(origins.map((origin) => refresh(origin, held.body)));
    expect(renewed.filter((answer) => answer.status === 200).length).toBeLessThanOrEqual(1);
    for (const answer of renewed)
      if (answer.status === 200) expect(await isActive(other.origin, answer.body)).toBe(false);
    expect(await isActive(one.origin, held.body)).toBe(false);
  }

  one.child.kill("SIGKILL");
  await once(one.child, "exit");
  const next = await refresh(other.origin, body);
  expect([next.status, await isActive(other.origin, next.body)]).toEqual([200, true]);
});
