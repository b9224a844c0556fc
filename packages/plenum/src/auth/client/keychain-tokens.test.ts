import { expect, test } from "vitest";
import { keychainTokens } from "./keychain-tokens.ts";

/** As small as a keychain can be; methods that need their object, as those of classes do. */
class OneSecret {
  secret: string | undefined;
  fails = false;
  get(): string | undefined {
    return this.secret;
  }
  set(secret: string): void {
    if (this.fails) throw new Error("the keychain is locked");
    this.secret = secret;
  }
  remove(): void {
    this.secret = undefined;
  }
}

test("all is in one secret, which goes with the last entry", async () => {
  const keychain = new OneSecret();
  const store = keychainTokens(keychain);
  await store.put("a", "1");
  await store.put("b", "2");
  expect(await keychainTokens(keychain).get("a")).toBe("1");
  await store.delete("a");
  expect(keychain.secret).toContain('"2"');
  await store.delete("b");
  expect(keychain.secret).toBeUndefined();
});

test("what cannot be written is an error, and what was there stays", async () => {
  const keychain = new OneSecret();
  const store = keychainTokens(keychain);
  await store.put("a", "1");
  keychain.fails = true;
  await expect(store.put("a", "2")).rejects.toThrow("the keychain is locked");
  expect(await store.get("a")).toBe("1");
  keychain.fails = false;
  expect(await store.put("a", "2", { expected: "1" })).toBe(true);
});

test("a secret of somebody else's is not written over, nor shown", async () => {
  const keychain = new OneSecret();
  keychain.secret = "hunter2";
  const store = keychainTokens(keychain);
  for (const wrong of [store.get("a"), store.put("a", "1"), store.delete("a")])
    await expect(wrong).rejects.toThrow(/^The secret in the keychain holds no tokens that were saved here\. Remove it/);
  expect(keychain.secret).toBe("hunter2");
});
