import { expect, test, vi } from "vitest";
import { makeClient } from "../../../../../test/auth/as-ground.ts";
import { digestOf } from "../../util/digest.ts";
import { createClients } from "./clients.ts";

const document = makeClient({ id: "https://app.example.com/client.json", origin: "document" });
const registered = makeClient({ id: "a".repeat(22), origin: "registered" });

function open() {
  const documents = { read: vi.fn(async () => document) };
  const kept = { get: vi.fn(async () => registered), add: async () => {}, keep: async () => {} };
  const given = [
    { id: "web", secret: "a secret of theirs", redirectUris: ["https://web.example.com/callback"] },
    { id: "robot", jwks: { keys: [] } },
    { id: "tool", redirectUris: ["http://127.0.0.1/callback"] },
    { id: "https://given.example.com/client.json", grantTypes: ["authorization_code"] },
  ];
  return { clients: createClients({ given, registered: kept, documents }), documents, kept, given };
}

test("clients that are given show who they are by what they were given", async () => {
  const { clients } = open();
  expect(await clients.find("web")).toMatchObject({
    authMethod: "client_secret_basic",
    secretHash: await digestOf("a secret of theirs"),
    grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
    origin: "given",
  });
  expect(JSON.stringify(await clients.find("web"))).not.toContain("a secret of theirs");
  expect(await clients.find("robot")).toMatchObject({
    authMethod: "private_key_jwt",
    grantTypes: ["client_credentials"],
  });
  expect(await clients.find("tool")).toMatchObject({
    authMethod: "none",
    grantTypes: ["authorization_code", "refresh_token"],
  });
});

test("others are looked for where ids of their kind are kept", async () => {
  const { clients, documents, kept } = open();
  expect(await clients.find(document.id)).toBe(document);
  expect(await clients.find(registered.id)).toBe(registered);
  expect(documents.read).toHaveBeenCalledOnce();
  expect(kept.get).toHaveBeenCalledOnce();
  // What is given is not fetched, whatever it looks like.
  expect(await clients.find("https://given.example.com/client.json")).toMatchObject({ origin: "given" });
  for (const id of ["nobody", "__proto__", "", "constructor", "javascript:alert(1)", "file:///etc/passwd"])
    expect(await clients.find(id)).toBeUndefined();
  expect(documents.read).toHaveBeenCalledOnce();
  expect(kept.get).toHaveBeenCalledOnce();
});

test("where that is not wanted nobody registers, and no document is fetched", async () => {
  const clients = createClients({ given: [], registered: undefined, documents: undefined });
  expect(await clients.find(document.id)).toBeUndefined();
  expect(await clients.find(registered.id)).toBeUndefined();
});
