// The cost of a message is linear in its size, up to 64 MB.
import { expect, test } from "vitest";
import { measureLinear, paths, ratioOf } from "./linear.ts";

test("a byte costs the same in messages of 8, 16, 32 and 64 MB", { timeout: 300_000 }, async () => {
  const costs = await measureLinear(4);
  for (const path of paths) {
    const measured = costs.get(path) ?? new Map();
    expect(ratioOf(measured), `${path}, ns per byte: ${JSON.stringify([...measured])}`).toBeLessThan(1.5);
  }
});
