import { afterEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import type { UpstreamOptions } from "./options.ts";
import { createUpstreamTokens, type UpstreamTokens } from "./upstream-tokens.ts";

const options: UpstreamOptions = {
  ...{ issuer: "https://idp.example.com", clientId: "us", clientSecret: "a secret of sixteen or more" },
  endpoints: { authorization: "https://idp.example.com/a", token: "https://idp.example.com/t" },
  ...{ statusCacheMs: 0 },
};
const given = { access_token: "their-access", refresh_token: "their-refresh", token_type: "bearer" as const };

afterEach(() => {
  vi.useRealTimers();
});

function create(store: Store, more: Partial<UpstreamOptions> = {}, answer: () => Response = () => Response.error()) {
  const fetch = vi.fn(async () => answer());
  const settings = { issuer: "https://as.example.com", refreshTokenTtlS: 1000 };
  const tokens: UpstreamTokens = createUpstreamTokens({ ...options, ...more }, { settings, store, fetch });
  return { tokens, fetch };
}

/** What was written, by key. */
function spy(): { readonly store: Store; readonly texts: Map<string, string> } {
  const inner = createMemoryStore();
  const texts = new Map<string, string>();
  const put: Store["put"] = (key, value, options) => {
    texts.set(key, value);
    return inner.put(key, value, options);
  };
  return { store: { ...inner, put }, texts };
}

describe("what is kept", () => {
  test("cannot be read by who reads the store", async () => {
    const { store, texts } = spy();
    const { tokens } = create(store);
    const key = await tokens.save(given);
    expect(await tokens.accessTokenOf(key)).toBe("their-access");
    for (const [name, value] of texts) expect(name + value).not.toMatch(/their-/);
  });

  test("opens with the same secret alone, and under its own key", async () => {
    const { store, texts } = spy();
    const { tokens } = create(store);
    const [first, second] = [await tokens.save(given), await tokens.save({ ...given, access_token: "another" })];
    expect(await create(store).tokens.accessTokenOf(first)).toBe("their-access");
    expect(
      await create(store, { clientSecret: "another secret of that length" }).tokens.accessTokenOf(first),
    ).toBeUndefined();
    const [from = "", to = ""] = [first, second].map((key) => [...texts.keys()].find((name) => name.includes(key)));
    await store.put(to, texts.get(from) ?? "");
    expect(await tokens.accessTokenOf(second)).toBeUndefined();
    await store.put(to, JSON.stringify("x.y"));
    expect(await tokens.isAlive(second)).toBe(false);
  });

  test("goes soon where nobody takes the code, and lives while it is used", async () => {
    vi.useFakeTimers();
    const { tokens } = create(createMemoryStore());
    const [unused, used] = [await tokens.save(given), await tokens.save(given)];
    expect(await tokens.isAlive(used)).toBe(true);
    vi.advanceTimersByTime(121_000);
    expect(await tokens.isAlive(unused)).toBe(false);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(600_000);
      expect(await tokens.isAlive(used)).toBe(true);
    }
    vi.advanceTimersByTime(1_001_000);
    expect(await tokens.isAlive(used)).toBe(false);
  });
});

describe("renewal", () => {
  const soon = { ...given, expires_in: 1 };
  const answerWith =
    (body: object, status = 200) =>
    () =>
      Response.json(body, { status });

  test("keeps the refresh token that is not replaced", async () => {
    const { tokens, fetch } = create(
      createMemoryStore(),
      {},
      answerWith({ access_token: "new", token_type: "Bearer", expires_in: 1 }),
    );
    const key = await tokens.save(soon);
    expect(await tokens.accessTokenOf(key)).toBe("new");
    expect(await tokens.accessTokenOf(key)).toBe("new");
    const bodies = fetch.mock.calls.map((call) => String((call as unknown as [string, RequestInit])[1].body));
    for (const body of bodies) expect(body).toContain("refresh_token=their-refresh");
    expect(bodies).toHaveLength(2);
  });

  test("that is refused ends it; one that fails does not", async () => {
    let answer = answerWith({}, 503);
    const { tokens } = create(createMemoryStore(), {}, () => answer());
    const key = await tokens.save(soon);
    await expect(tokens.isAlive(key)).rejects.toThrow();
    answer = answerWith({ error: "invalid_grant" }, 400);
    expect(await tokens.isAlive(key)).toBe(false);
    answer = answerWith({ access_token: "new", token_type: "Bearer" });
    expect(await tokens.isAlive(key)).toBe(false);
  });
});

test("how it stands is believed for a moment", async () => {
  vi.useFakeTimers();
  let isGood = true;
  const isAlive = vi.fn(() => isGood);
  const { tokens } = create(createMemoryStore(), { isAlive, statusCacheMs: 5000 });
  const key = await tokens.save(given);
  for (let i = 0; i < 3; i++) expect(await tokens.isAlive(key)).toBe(true);
  expect(isAlive).toHaveBeenCalledTimes(1);
  isGood = false;
  vi.advanceTimersByTime(5001);
  expect(await tokens.isAlive(key)).toBe(false);
  expect(await tokens.accessTokenOf(key)).toBeUndefined();
});

test("a third party that does not want to be asked is no reason to let anybody in", async () => {
  const endpoints = {
    ...options.endpoints,
    introspection: "https://idp.example.com/i",
  } as UpstreamOptions["endpoints"];
  let status = 403;
  const { tokens } = create(createMemoryStore(), { endpoints } as Partial<UpstreamOptions>, () =>
    Response.json(status === 200 ? { active: true } : { error: "access_denied" }, { status }),
  );
  const key = await tokens.save(given);
  await expect(tokens.isAlive(key)).rejects.toThrow("give isAlive");
  status = 200;
  expect(await tokens.isAlive(key)).toBe(true);
});
