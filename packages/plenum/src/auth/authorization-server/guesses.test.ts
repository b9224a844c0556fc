import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeClient, makeForm } from "../../../../../test/auth/as-ground.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { digestOf } from "../../util/digest.ts";
import type { Client } from "./client.ts";
import { authenticateClient } from "./client-auth.ts";
import { createGuesses } from "./guesses.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const tooMany = expect.objectContaining({ status: 429, headers: { "retry-after": expect.stringMatching(/^\d+$/) } });

test("a minute after the first all is as before", () => {
  const guesses = createGuesses(3);
  for (let i = 0; i < 3; i++) {
    guesses.assertFew("app");
    guesses.add("app");
  }
  expect(() => guesses.assertFew("app")).toThrow(tooMany);
  expect(() => guesses.assertFew("other")).not.toThrow();
  vi.setSystemTime(Date.now() + 59_000);
  expect(() => guesses.assertFew("app")).toThrow(tooMany);
  vi.setSystemTime(Date.now() + 2000);
  expect(() => guesses.assertFew("app")).not.toThrow();
});

test("who guesses at a secret is stopped, and keeps out nobody who shows none", async () => {
  const web = makeClient({ id: "web", authMethod: "client_secret_post", secretHash: await digestOf("the right one") });
  const tool = makeClient({ id: "tool" });
  const ground = {
    clients: { find: async (id: string) => [web, tool].find((client) => client.id === id) },
    issuer: "https://auth.example.com",
    tokenEndpoint: "https://auth.example.com/token",
    store: createMemoryStore(),
    fetch: async () => new Response(),
    guesses: createGuesses(5),
  };
  const show = (form: { readonly [name: string]: string }): Promise<Client> => {
    const request = makeForm(form);
    return authenticateClient(request, new URLSearchParams(form), ground);
  };
  for (const id of ["web", "tool"]) {
    for (let i = 0; i < 5; i++)
      await expect(show({ client_id: id, client_secret: `guess ${i}` })).rejects.toMatchObject({
        error: "invalid_client",
      });
    await expect(show({ client_id: id, client_secret: "another" })).rejects.toEqual(tooMany);
  }
  await expect(show({ client_id: "web", client_secret: "the right one" })).rejects.toEqual(tooMany);
  expect(await show({ client_id: "tool" })).toBe(tool);
  vi.setSystemTime(Date.now() + 61_000);
  expect(await show({ client_id: "web", client_secret: "the right one" })).toBe(web);
});
