import { expect, test } from "vitest";
import { chooseScope, type ScopeSources, unite } from "./scopes.ts";

const none: ScopeSources = {
  given: undefined,
  challenged: undefined,
  supported: undefined,
  known: undefined,
  granted: undefined,
  isLasting: true,
};

test("all of both, each once, in order", () => {
  expect(unite("b a", undefined, "c  b", "")).toBe("b a c");
  expect(unite(undefined, "", " ")).toBeUndefined();
});

test.each<[string, Partial<ScopeSources>, string | undefined]>([
  ["nothing", {}, undefined],
  ["an empty list", { supported: [] }, undefined],
  ["the list", { supported: ["a", "b"] }, "a b"],
  ["the challenge before the list", { supported: ["a"], challenged: "z" }, "z"],
  ["the application before all", { supported: ["a"], challenged: "z", given: ["g"] }, "g"],
  ["an application that wants none", { supported: ["a"], challenged: "z", given: [] }, undefined],
  ["what was granted, and more", { granted: "a", challenged: "b" }, "a b"],
  ["to stay, where that is known", { challenged: "a", known: ["offline_access"] }, "a offline_access"],
  ["not to stay, for a program", { challenged: "a", known: ["offline_access"], isLasting: false }, "a"],
  ["not to stay, where that is not known", { challenged: "a", known: ["a"] }, "a"],
])("%s", (_, sources, expected) => {
  expect(chooseScope({ ...none, ...sources })).toBe(expected);
});
