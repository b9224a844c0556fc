import { afterEach, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import type { RouteRequest } from "../route.ts";
import { createCookies } from "./cookies.ts";
import { assertUser, createSessions } from "./session.ts";
import { createStoredSealer } from "./stored-sealer.ts";

const issuer = "https://auth.example.com";

const toRequest = (line?: string): RouteRequest => ({
  ...{ method: "GET", path: "/", query: "" },
  header: (name) => (name === "cookie" ? line?.split(";")[0] : undefined),
  body: async () => "",
});

afterEach(() => {
  vi.useRealTimers();
});

function create() {
  const texts: string[] = [];
  const inner = createMemoryStore();
  const store: typeof inner = {
    ...inner,
    put(key, value, options) {
      texts.push(key, value);
      return inner.put(key, value, options);
    },
  };
  const cookies = createCookies(issuer, createStoredSealer(store, issuer, "cookies"));
  const settings = { issuer, loginTtlS: 60 };
  return { sessions: createSessions(store, settings, cookies, { isRevoked: async () => false }), texts };
}

test("a browser is known for its time", async () => {
  vi.useFakeTimers();
  const { sessions } = create();
  const user = { subject: "alice", claims: { email: "alice@example.com" } };
  const line = await sessions.open(toRequest(), user);
  expect(await sessions.find(toRequest(line))).toMatchObject({ user, at: Date.now() });
  expect(await sessions.find(toRequest())).toBeUndefined();
  vi.advanceTimersByTime(61_000);
  expect(await sessions.find(toRequest(line))).toBeUndefined();
});

test("each login has an id of its own, and ends the one before", async () => {
  const { sessions } = create();
  const first = await sessions.open(toRequest(), { subject: "alice" });
  const second = await sessions.open(toRequest(first), { subject: "alice" });
  expect(second).not.toBe(first);
  expect(await sessions.find(toRequest(first))).toBeUndefined();
  expect(await sessions.find(toRequest(second))).toBeDefined();
});

test("who reads the store cannot be the browser", async () => {
  const { sessions, texts } = create();
  const line = await sessions.open(toRequest(), { subject: "alice" });
  const [, secret = ""] = /=[0-9a-f]{64}\.([\w-]{43});/.exec(line) ?? [];
  expect(secret).not.toBe("");
  expect(texts.join(" ")).not.toContain(secret);
  expect((await sessions.find(toRequest(line)))?.id).not.toBe(secret);
});

test.each([
  undefined,
  null,
  {},
  { subject: "" },
  { subject: 1 },
  { subject: "x".repeat(513) },
  { subject: "x", claims: 1 },
])("%j is no user", (given) => {
  expect(() => assertUser(given, "login")).toThrow(TypeError);
});
