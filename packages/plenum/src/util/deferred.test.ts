import { expect, test } from "vitest";
import { createDeferred } from "./deferred.ts";

test("a promise that is settled from outside, once", async () => {
  const kept = createDeferred<number>();
  kept.resolve(1);
  kept.resolve(2);
  kept.reject(new Error("late"));
  await expect(kept.promise).resolves.toBe(1);

  const broken = createDeferred();
  broken.reject(new Error("no"));
  await expect(broken.promise).rejects.toThrow("no");

  const followed = createDeferred<string>();
  followed.resolve(Promise.resolve("then"));
  await expect(followed.promise).resolves.toBe("then");
});
