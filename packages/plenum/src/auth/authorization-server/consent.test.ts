import { expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import type { Client } from "./client.ts";
import { createConsents, isTrusted, toConsentPage } from "./consent.ts";
import type { Asked } from "./pending.ts";

const asked: Asked = {
  ...{
    clientId: "c",
    redirectUri: "https://c.example/callback",
    scopes: ["a", "b"],
    resource: "https://r.example/mcp",
  },
  ...{ codeChallenge: "x", prompts: [] },
};
const client: Client = {
  ...{ id: "c", name: "C", redirectUris: ["https://c.example/callback"], grantTypes: ["authorization_code"] },
  ...{ authMethod: "client_secret_basic", origin: "registered" },
};

test("what was allowed is remembered for the same user, client, place and resource, and no more scopes", async () => {
  const consents = createConsents(createMemoryStore(), "https://a.example", { isRevoked: async () => false });
  expect(await consents.has("alice", asked, client)).toBe(false);
  await consents.remember("alice", asked, client);
  for (const scopes of [["a", "b"], ["b"], []])
    expect(await consents.has("alice", { ...asked, scopes }, client)).toBe(true);
  for (const other of [
    { ...asked, scopes: ["a", "c"] },
    { ...asked, clientId: "d" },
    { ...asked, redirectUri: "https://d.example/callback" },
    { ...asked, resource: "https://r.example/other" },
  ])
    expect(await consents.has("alice", other, client)).toBe(false);
  expect(await consents.has("bob", asked, client)).toBe(false);
});

test("of clients that anybody can pretend to be nothing is remembered", async () => {
  const consents = createConsents(createMemoryStore(), "https://a.example", { isRevoked: async () => false });
  const open: Client = { ...client, authMethod: "none" };
  await consents.remember("alice", asked, open);
  expect(await consents.has("alice", asked, open)).toBe(false);
  // Nor where it was another kind of client then.
  await consents.remember("alice", asked, client);
  expect(await consents.has("alice", asked, open)).toBe(false);
});

test.each([
  ["given", "https://c.example/", true],
  ["registered", "https://c.example/", false],
  ["document", "https://c.example/", false],
  ["registered", "http://127.0.0.1:1/", true],
  ["registered", "http://localhost/", true],
  ["document", "com.example.app:/x", true],
] as const)("%s, %s: trusted %s", (origin, uri, expected) => {
  expect(isTrusted({ ...client, origin }, uri)).toBe(expected);
});

const show = (given: Partial<Client>, redirectUri = asked.redirectUri): string =>
  String(
    toConsentPage({
      ...{ settings: { name: "Auth", scopes: { a: "Do A", b: "Do B" } }, client: { ...client, ...given } },
      ...{ asked: { ...asked, redirectUri }, subject: undefined, action: "/consent", csrf: "t" },
    }).body,
  );

test("a client with a document is known by the host that the document is at", () => {
  const page = show({ origin: "document", id: "https://app.example/client.json", name: "Your Bank" });
  expect(page).toContain("<strong>app.example</strong>");
  expect(page).toContain("Nobody has checked it");
});

test("a host is shown as it is, whatever it looks like", () => {
  expect(show({}, "https://аpple.com/callback")).toContain("<strong>xn--pple-43d.com</strong>");
});

test("a client without a name says so", () => {
  for (const name of [undefined, "", "  ", "\u202e"]) expect(show({ name })).toContain("An application without a name");
  expect(show({ name: "x".repeat(500) })).not.toContain("x".repeat(101));
});

test("a program is warned of only where there is no site", () => {
  const both = { redirectUris: ["https://c.example/callback", "http://127.0.0.1/"] };
  expect(show(both)).not.toContain("any program");
  expect(show({ redirectUris: ["http://127.0.0.1/"] }, "http://127.0.0.1:5/")).toContain("any program");
});
