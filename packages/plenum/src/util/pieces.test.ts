// What comes in pieces is whole in the end, and takes little more than its bytes on the way.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Pieces } from "./pieces.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("what came is there in its order, however it was cut", () => {
  const all = bytesOf("größe ".repeat(2_000));
  for (const size of [1, 3, 64, all.length]) {
    const pieces = new Pieces();
    for (let at = 0; at < all.length; at += size) pieces.add(all.subarray(at, at + size));
    expect(pieces.size).toBe(all.length);
    expect(pieces.whole()).toEqual(all);
  }
  expect(new Pieces().whole()).toEqual(new Uint8Array(0));
});

test("a single piece is not copied", () => {
  const pieces = new Pieces();
  const only = bytesOf("a");
  pieces.add(only);
  expect(pieces.whole()).toBe(only);
});

test("what was joined is let go of, so that pieces of one byte take not many times their size", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const pieces = new Pieces();
  const given: WeakRef<Uint8Array>[] = [];
  for (let i = 0; i < 5_500; i++) {
    const one = new Uint8Array([i]);
    given.push(new WeakRef(one));
    pieces.add(one);
  }
  // A turn later nothing else holds them.
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  expect(given.filter((ref) => ref.deref()).length).toBeLessThan(1_000);
  expect(pieces.whole()).toHaveLength(5_500);
});
