import { describe, expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import type { RouteRequest } from "../route.ts";
import { type Cookies, createCookies } from "./cookies.ts";
import { createStoredSealer } from "./stored-sealer.ts";

const toRequest = (cookie?: string): RouteRequest => ({
  ...{ method: "GET", path: "/", query: "" },
  header: (name) => (name === "cookie" ? cookie : undefined),
  body: async () => "",
});

function create(issuer = "https://auth.example.com", store = createMemoryStore()): Cookies {
  return createCookies(issuer, createStoredSealer(store, issuer, "cookies"));
}

const pairOf = (line: string): string => line.split(";")[0] as string;

test.each([
  [
    "https://auth.example.com",
    /^__Host-plenum-login=[0-9a-f]{64}\.value; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=9$/,
  ],
  ["https://auth.example.com/a/tenant", /^__Host-plenum-login-a-tenant=/],
  ["https://127.0.0.1", /^__Host-plenum-login=.*; Secure/],
  ["http://127.0.0.1:3000", /^plenum-3000-login=[0-9a-f]{64}\.value; Path=\/; HttpOnly; SameSite=Lax; Max-Age=9$/],
  ["http://localhost", /^plenum-80-login=/],
])("of %s", async (issuer, line) => {
  const cookies = create(issuer);
  const written = await cookies.write("login", "value", 9);
  expect(written).toMatch(line);
  expect(await cookies.read(toRequest(`other=1; ${pairOf(written)}; more=2`), "login")).toBe("value");
});

describe("what is not ours is not read", () => {
  test("changed, cut, renamed, twice, or not there", async () => {
    const cookies = create();
    const pair = pairOf(await cookies.write("login", "value"));
    for (const bad of [
      pair.replace("=", "=x"),
      pair.replace(".value", ".valuf"),
      pair.slice(0, -1),
      pair.replace("login", "browser"),
      `${pair}; ${pair}`,
      `${pair}; __Host-plenum-login=other`,
      "__Host-plenum-login=",
      "",
    ]) {
      expect(await cookies.read(toRequest(bad), "login"), bad).toBeUndefined();
      expect(await cookies.read(toRequest(bad), "browser"), bad).toBeUndefined();
    }
    expect(await cookies.read(toRequest(), "login")).toBeUndefined();
  });

  test("of another store", async () => {
    const pair = pairOf(await create().write("login", "value"));
    expect(await create().read(toRequest(pair), "login")).toBeUndefined();
  });
});

test("who shares the store shares the secret, whoever made it", async () => {
  const store = createMemoryStore();
  const all = [create(undefined, store), create(undefined, store), create(undefined, store)];
  const pairs = await Promise.all(all.map(async (one) => pairOf(await one.write("login", "value"))));
  for (const one of all) for (const pair of pairs) expect(await one.read(toRequest(pair), "login")).toBe("value");
});

test("a store that fails once is asked again", async () => {
  const store = createMemoryStore();
  let isDown = true;
  const cookies = create(undefined, {
    ...store,
    get: (key) => (isDown ? Promise.reject(new Error("down")) : store.get(key)),
  });
  await expect(cookies.write("login", "value")).rejects.toThrow("down");
  isDown = false;
  expect(await cookies.write("login", "value")).toContain("value");
});

test("a token holds for what it was made for", async () => {
  const cookies = create();
  const token = await cookies.toToken(["consent", "a", "b"]);
  expect(await cookies.isToken(token, ["consent", "a", "b"])).toBe(true);
  for (const parts of [
    ["consent", "a"],
    ["consent", "ab", ""],
    ["login", "a", "b"],
    ["consent", "b", "a"],
  ])
    expect(await cookies.isToken(token, parts)).toBe(false);
  for (const bad of [null, "", `${token}x`, token.slice(1)])
    expect(await cookies.isToken(bad, ["consent", "a", "b"])).toBe(false);
  // And a cookie is none.
  const pair = pairOf(await cookies.write("login", ""));
  expect(await cookies.isToken(pair.slice(pair.indexOf("=") + 1), ["login"])).toBe(false);
});
