import { expect, test } from "vitest";
import { Bag } from "./bag.ts";

const names = (bag: Bag<{ name: string }>): string[] =>
  bag
    .members()
    .map(({ name }) => name)
    .sort();

test("holds each member once, until it is taken out", () => {
  const bag = new Bag<{ name: string }>();
  const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }] as const;
  for (const one of [a, b, c, a]) bag.add(one);
  expect(names(bag)).toEqual(["a", "b", "c"]);
  bag.delete(a);
  bag.delete(a);
  expect(names(bag)).toEqual(["b", "c"]);
  bag.add(a);
  bag.delete(c);
  expect([bag.size, ...names(bag)]).toEqual([2, "a", "b"]);
  for (const one of bag.members()) bag.delete(one);
  expect(bag.size).toBe(0);
});

test("a member of several is in each by itself, and strangers are in none", () => {
  const [one, other] = [new Bag<object>(), new Bag<object>()];
  const all = Array.from({ length: 100 }, () => ({}));
  for (const member of all) one.add(member);
  for (const member of all.slice(50)) other.add(member);
  for (const member of all.filter((_, i) => i % 3 === 0)) one.delete(member);
  other.delete({});
  expect([one.size, other.size]).toEqual([66, 50]);
  expect(new Set(one.members())).toEqual(new Set(all.filter((_, i) => i % 3 !== 0)));
});
