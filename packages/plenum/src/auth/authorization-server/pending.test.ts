import { afterEach, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import { type Asked, createPendings } from "./pending.ts";

const asked: Asked = {
  ...{ clientId: "c", redirectUri: "https://c.example/", scopes: ["a"], resource: "https://r.example/" },
  ...{ codeChallenge: "x", prompts: [] },
};

afterEach(() => {
  vi.useRealTimers();
});

test("a request is found by its browser alone, and taken once", async () => {
  const pendings = createPendings(createMemoryStore(), "https://a.example");
  const { id } = await pendings.open(asked, "mine");
  expect(await pendings.find(id, "mine")).toMatchObject({ id, asked, isFresh: false });
  expect(await pendings.find(id, "theirs")).toBeUndefined();
  expect(await pendings.find("x", "mine")).toBeUndefined();
  await pendings.freshen(id);
  expect(await pendings.find(id, "mine")).toMatchObject({ isFresh: true });
  const taken = await Promise.all([pendings.take(id), pendings.take(id), pendings.take(id)]);
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await pendings.find(id, "mine")).toBeUndefined();
  expect(await pendings.take(id)).toBe(false);
});

test("after ten minutes it is gone, whatever became of it meanwhile", async () => {
  vi.useFakeTimers();
  const pendings = createPendings(createMemoryStore(), "https://a.example");
  const { id } = await pendings.open(asked, "mine");
  vi.advanceTimersByTime(590_000);
  await pendings.freshen(id);
  expect(await pendings.find(id, "mine")).toBeDefined();
  vi.advanceTimersByTime(11_000);
  expect(await pendings.find(id, "mine")).toBeUndefined();
});

test("of two issuers in one store neither has the other's", async () => {
  const store = createMemoryStore();
  const { id } = await createPendings(store, "https://a.example").open(asked, "mine");
  expect(await createPendings(store, "https://b.example").find(id, "mine")).toBeUndefined();
});
