import { describe, expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { pickModel } from "./sampling.ts";

const fast = { name: "zip-mini-2", speed: 1, cost: 0.9, intelligence: 0.2 };
const clever = { name: "sage-large-3", speed: 0.1, cost: 0.1, intelligence: 1 };
const middle = { name: "sage-small-3", speed: 0.6, cost: 0.6, intelligence: 0.6 };

describe("pickModel", () => {
  test("tries hints in their order, and the first that fits decides", () => {
    covers("sampling-hints-order");
    expect(pickModel(["a-1", "b-1"], { hints: [{ name: "b" }, { name: "a" }] })).toBe("b-1");
    expect(pickModel(["a-1", "b-1"], { hints: [{ name: "c" }, { name: "a" }] })).toBe("a-1");
  });

  test("takes a hint for a part of a name, in either case", () => {
    covers(["sampling-hint-substring", "sampling-respect-hints"]);
    expect(pickModel([fast, clever], { hints: [{ name: "LARGE" }] })).toBe(clever);
  });

  test("heeds priorities only among what a hint leaves", () => {
    covers("sampling-hints-over-priorities");
    const preferences = { hints: [{ name: "sage" }], speedPriority: 1, intelligencePriority: 0 };
    expect(pickModel([fast, clever, middle], preferences)).toBe(middle);
    expect(pickModel([fast, clever, middle], { ...preferences, speedPriority: 0, intelligencePriority: 1 })).toBe(
      clever,
    );
  });

  test("goes by priorities where no hint fits, and by order where nothing decides", () => {
    expect(pickModel([clever, fast], { hints: [{ name: "x" }, {}], speedPriority: 1 })).toBe(fast);
    expect(pickModel([middle, clever, fast])).toBe(middle);
    expect(pickModel([])).toBeUndefined();
  });
});
