// Two copies of the library in one process, as an installation may have them: what one throws the other knows.
import { expect, test, vi } from "vitest";
import * as ours from "./errors.ts";

vi.resetModules();
const theirs = await import("./errors.ts");

test("there are two copies", () => {
  expect(theirs.McpError).not.toBe(ours.McpError);
});

test("an error of another copy is one of ours", () => {
  const error = new theirs.McpError("invalid_params", "No such city", { data: { city: "Paris" } });
  expect(error).toBeInstanceOf(ours.McpError);
  expect(error).not.toBeInstanceOf(ours.ToolError);
  expect(ours.toErrorObject(error, "2025-11-25", () => "")).toMatchObject({ code: -32602, data: { city: "Paris" } });
  expect(new theirs.ToolError("Ask again")).toBeInstanceOf(ours.ToolError);
  expect(new theirs.ToolError("Ask again")).not.toBeInstanceOf(ours.McpError);
});

test("what only has the name is not", () => {
  const error = Object.assign(new Error("secret"), { name: "ToolError", code: "invalid_params" });
  for (const value of [error, undefined, null, "McpError", {}, new Error("x")]) {
    expect(value instanceof ours.McpError).toBe(false);
    expect(value instanceof ours.ToolError).toBe(false);
  }
});

test("a class that extends one of ours knows its own alone", () => {
  class Refusal extends ours.McpError {}
  const refusal = new Refusal("invalid_params", "no");
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toBeInstanceOf(ours.McpError);
  expect(refusal).toBeInstanceOf(theirs.McpError);
  expect(new ours.McpError("invalid_params", "no")).not.toBeInstanceOf(Refusal);
});
