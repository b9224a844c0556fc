// Requests that nobody means well or has thought about, at every route of the authorization server: each is answered, none with
// an error of our own, and nothing of what is secret comes back.
import { createAuthorizationServer } from "plenum/auth/authorization-server";
import { expect, test } from "vitest";
import { resource } from "./front-stage.ts";

const issuer = "http://127.0.0.1:4000";
const secret = "a-secret-that-is-never-to-be-seen";

/** The same numbers every time: what fails can be run again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const names = [
  ...["grant_type", "code", "client_id", "client_secret", "redirect_uri", "code_verifier", "refresh_token", "scope"],
  ...["resource", "token", "token_type_hint", "response_type", "state", "code_challenge", "code_challenge_method"],
  ...["client_assertion", "client_assertion_type", "assertion", "request", "csrf", "answer", "prompt", "__proto__"],
  ...["redirect_uris", "client_name", "jwks", "jwks_uri", "grant_types", "token_endpoint_auth_method", "constructor"],
];
const values = [
  ...[
    "",
    " ",
    "\0",
    "a".repeat(5000),
    "ü",
    "\u202e",
    "%",
    "%00",
    "{}",
    "[]",
    "null",
    "__proto__",
    "constructor",
    "-1",
    "1e999",
  ],
  ...["authorization_code", "refresh_token", "client_credentials", "code", "S256", "plain", "none", "private_key_jwt"],
  ...["known", secret, "A".repeat(22), "A".repeat(43), `${"A".repeat(22)}.${"A".repeat(43)}`, "a.b.c", "e30.e30.e30"],
  ...[
    "https://client.example/callback",
    "javascript:alert(1)",
    "http://[",
    "https://",
    "http://127.0.0.1:1/x",
    resource,
  ],
];
const json = [
  ...values,
  null,
  7,
  true,
  [],
  {},
  [[]],
  { keys: [{}] },
  { keys: [null] },
  ["https://client.example/cb"],
  ["authorization_code"],
];
const types = [
  "application/x-www-form-urlencoded",
  "application/json",
  "text/plain",
  "",
  "application/json; charset=x",
];
const credentials = [
  "",
  "Basic",
  "Basic !!",
  `Basic ${btoa(`known:${secret}`)}`,
  `Basic ${btoa("known:wrong")}`,
  "Bearer a.b.c",
  "basic OmE=",
];

test.each([1, 2, 3])("whatever is sent is answered, and with nothing that is ours alone (seed %i)", async (seed) => {
  const errors: unknown[] = [];
  const as = createAuthorizationServer({
    issuer,
    resources: [resource],
    login: () => ({ subject: "alice" }),
    scopes: { "notes:read": "Read" },
    clients: [{ id: "known", secret, redirectUris: ["https://client.example/callback"] }],
    registration: { perMinute: 100_000 },
    fetch: async () => new Response("nothing", { status: 404 }),
    onError: (error) => void errors.push(error),
  });
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const paths = Object.keys(as.routes);
  const statuses = new Set<number>();
  for (let i = 0; i < 1000; i++) {
    const pairs = Array.from({ length: random(8) }, (): [string, string] => [pick(names), pick(values)]);
    const form = new URLSearchParams(pairs).toString();
    const object = Object.fromEntries(Array.from({ length: random(8) }, () => [pick(names), pick(json)]));
    const method = pick(["GET", "POST", "POST", "POST", "HEAD", "OPTIONS", "DELETE"]);
    const type = pick(types);
    const body = type.includes("json") ? JSON.stringify(object).slice(0, random(10) === 0 ? 5 : undefined) : form;
    const headers = new Headers({ "content-type": type, cookie: pick(["", "browser=x", "__proto__=1"]) });
    if (random(2) === 0) headers.set("authorization", pick(credentials));
    const query = random(2) === 0 ? `?${form}` : "";
    const hasBody = method === "POST" || method === "DELETE";
    const request = new Request(`${issuer}${pick(paths)}${query}`, { method, headers, ...(hasBody && { body }) });
    const response = await as.fetch(request);
    statuses.add(response.status);
    const told = (await response.text()) + JSON.stringify([...response.headers]);
    if (!form.includes(secret) && !body.includes(secret)) expect(told).not.toContain(secret);
    expect(told).not.toMatch(/\bat \S+:\d+:\d+|TypeError|"d":/);
  }
  expect(errors).toEqual([]);
  expect([...statuses].filter((status) => status >= 500 && status !== 503)).toEqual([]);
  for (const status of [200, 400, 401, 405]) expect(statuses).toContain(status);
});
