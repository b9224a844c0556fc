import { expect, test, vi } from "vitest";
import { makeClient, makeSettings, redirectUri } from "../../../../../test/auth/as-ground.ts";
import { checkAuthorization } from "./authorize.ts";

const clients = { find: async () => makeClient() };
const good = { client_id: "app", redirect_uri: redirectUri, response_type: "code", code_challenge: "a".repeat(43) };

test("thousands of parameters take no longer than to read them", async () => {
  const many = Array.from({ length: 3000 }, (_, i) => [`p${i}`, ""]);
  const given = new URLSearchParams([...Object.entries(good), ["code_challenge_method", "S256"], ...many]);
  const getAll = vi.spyOn(given, "getAll");
  expect(await checkAuthorization(given, makeSettings(), clients)).toHaveProperty("asked");
  // Each goes through all of them.
  expect(getAll.mock.calls.length).toBeLessThan(30);
  given.append("p2999", "");
  expect(await checkAuthorization(given, makeSettings(), clients)).toMatchObject({
    fault: { error: "invalid_request", message: "A parameter is there twice" },
  });
});
