import { describe, expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory.ts";
import { createSaved } from "./saved.ts";

const never = new AbortController().signal;
const tokens = { accessToken: "a", type: "bearer", clientId: "c" } as const;

test("each is kept under who gave it, and under nobody else", async () => {
  const saved = createSaved(createMemoryStore());
  await saved.tokens.put(tokens, "https://one.example", "https://r.example");
  expect(await saved.tokens.get("https://one.example", "https://r.example")).toEqual(tokens);
  expect(await saved.tokens.get("https://one.example/", "https://r.example")).toBeUndefined();
  expect(await saved.tokens.get('https://one.example","https://r.example', "")).toBeUndefined();
  expect(await saved.registration.get("https://one.example")).toBeUndefined();
});

test("what cannot be read is as good as nothing", async () => {
  const store = createMemoryStore();
  const saved = createSaved(store);
  await store.put('oauth:["client","i"]', "secret{");
  expect(await saved.registration.get("i")).toBeUndefined();
});

test("what is there by now is not replaced", async () => {
  const saved = createSaved(createMemoryStore());
  expect(await saved.tokens.replace(undefined, tokens, "i", "r")).toBe(true);
  expect(await saved.tokens.replace(undefined, tokens, "i", "r")).toBe(false);
  const read = await saved.tokens.get("i", "r");
  await saved.tokens.put({ ...tokens, accessToken: "b" }, "i", "r");
  expect(await saved.tokens.replace(read, { ...tokens, accessToken: "c" }, "i", "r")).toBe(false);
  expect(await saved.tokens.get("i", "r")).toMatchObject({ accessToken: "b" });
});

describe("alone", () => {
  test("one after the other, whoever shares the store", async () => {
    const store = createMemoryStore();
    const both = [createSaved(store), createSaved(store)];
    let running = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    };
    await Promise.all([0, 1, 0, 1, 0, 1].map((i) => both[i]?.alone("i", "r", never, run)));
    expect(most).toBe(1);
  });

  test("others are not held up, nor those who come after one that failed", async () => {
    const saved = createSaved(createMemoryStore());
    const order: string[] = [];
    const first = saved.alone("i", "r", never, async () => {
      await saved.alone("i", "another", never, async () => void order.push("another"));
      throw new Error("no");
    });
    await expect(first).rejects.toThrow("no");
    await saved.alone("i", "r", never, async () => void order.push("next"));
    expect(order).toEqual(["another", "next"]);
  });

  test("who does not want to wait any longer leaves", async () => {
    const store = createMemoryStore();
    const saved = createSaved(store);
    void saved.alone("i", "r", never, () => new Promise(() => {}));
    const controller = new AbortController();
    const waiting = saved.alone("i", "r", controller.signal, async () => "ran");
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});
