import { expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { displayNameOf } from "./display-name.ts";

test.each([
  ["Saw", "Hand saw", "Saw"],
  ["Saw", undefined, "Saw"],
  [undefined, "Hand saw", "Hand saw"],
  [undefined, undefined, "saw_1"],
  ["", "Hand saw", "Hand saw"],
  ["", "", "saw_1"],
  ["Saw", "", "Saw"],
  [undefined, "", "saw_1"],
])("title %j, annotated title %j: %s", (title, annotated, shown) => {
  covers(["tool-title-precedence", "schema-title-fallback"]);
  const tool = {
    name: "saw_1",
    ...(title !== undefined && { title }),
    ...(annotated !== undefined && { annotations: { title: annotated } }),
  };
  expect(displayNameOf(tool)).toBe(shown);
});

test("resources and prompts have annotations without a title, or none", () => {
  expect(displayNameOf({ name: "notes", annotations: { priority: 1 } })).toBe("notes");
  expect(displayNameOf({ name: "notes", title: "My notes" })).toBe("My notes");
});
