// What clients are told of a server that is being worked on.
import { expect, test } from "vitest";
import { changedLists, noLists, toEmptyList, toUnknown, widen } from "./surface.ts";

test("all lists are declared, and what the server says of its own stays", () => {
  expect(widen({ logging: {} })).toEqual({
    logging: {},
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
  });
  expect(widen({ resources: {} }).resources).toEqual({ listChanged: true });
});

test("a list that the server does not know is empty; one that it knows, or answers by hand, is its own", () => {
  const { description, ...rest } = toUnknown("a.ts");
  const facts = { ...rest, description: { ...description, capabilities: { tools: {} } } };
  expect(toEmptyList("tools/list", facts)).toBeUndefined();
  expect(toEmptyList("resources/templates/list", facts)).toEqual({ resourceTemplates: [] });
  expect(toEmptyList("prompts/list", { ...facts, byHand: ["prompts/list"] })).toBeUndefined();
  expect(toEmptyList("tools/call", facts)).toBeUndefined();
});

test("lists have changed that differ, or of which nothing was known", () => {
  expect(changedLists(noLists, noLists)).toEqual([]);
  expect(changedLists({ ...noLists, tools: "a" }, { ...noLists, tools: "b" })).toEqual(["tools"]);
  expect(changedLists({}, noLists)).toEqual(["tools", "resources", "prompts"]);
  expect(changedLists(noLists, { tools: "" })).toEqual(["resources", "prompts"]);
});
