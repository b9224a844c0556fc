import { expect, test } from "vitest";
import { type Field, readWords, toFields } from "./fields.ts";

function fieldOf(schema: object, { isRequired = false, proposal = undefined as unknown } = {}): Field {
  const required = isRequired ? ["x"] : [];
  const defaults = proposal === undefined ? {} : { x: proposal };
  return toFields({ type: "object", properties: { x: schema }, required }, defaults)[0] as Field;
}

const days = { type: "array", items: { type: "string", enum: ["mo", "tu", "we"] } };
const titled = {
  type: "string",
  oneOf: [
    { const: "r", title: "Red, dark" },
    { const: "g", title: "Green" },
  ],
};
const named = { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] };
const fruits = { type: "array", items: { anyOf: titled.oneOf }, maxItems: 1 };

test.each([
  [{ type: "string" }, ["a=b, c"], "a=b, c"],
  [{ type: "string" }, [""], ""],
  [{ type: "number" }, [" 1.5 "], 1.5],
  [{ type: "integer" }, ["-3"], -3],
  [{ type: "integer" }, ["1e3"], 1000],
  [{ type: "boolean" }, ["Yes"], true],
  [{ type: "boolean" }, ["false"], false],
  [named, ["r"], "r"],
  [named, ["green"], "g"],
  [titled, ["Red, dark"], "r"],
  [days, ["mo,we"], ["mo", "we"]],
  [days, ["mo", "tu", "mo"], ["mo", "tu"]],
  [days, [""], []],
  [fruits, ["Red, dark"], ["r"]],
])("%j reads %j as %j", (schema, words, value) => {
  expect(readWords(fieldOf(schema), words)).toEqual({ value });
});

test.each([
  [{ type: "number" }, ["many"], "must be a number"],
  [{ type: "number" }, [""], "must be a number"],
  [{ type: "number" }, ["Infinity"], "must be a number"],
  [{ type: "integer" }, ["1.5"], "must be"],
  [{ type: "integer", minimum: 2 }, ["1"], "must be"],
  [{ type: "boolean" }, ["perhaps"], "must be yes or no"],
  [{ type: "string", minLength: 2 }, ["a"], "must"],
  [{ type: "string", format: "email" }, ["a"], "must"],
  [{ type: "string", format: "date" }, ["2026-13-01"], "must"],
  [named, ["blue"], "must be one of r, g"],
  [days, ["mo,su"], "must be one of mo, tu, we"],
  [{ ...days, minItems: 2 }, ["mo"], "must"],
  [fruits, ["r,g"], "must"],
  [{ type: "string" }, ["a", "b"], "takes one answer, not 2"],
])("%j does not take %j: %s", (schema, words, problem) => {
  expect(readWords(fieldOf(schema), words)).toEqual({ problem: expect.stringContaining(problem) });
});

test.each([
  [{ type: "string" }, ""],
  [{ type: "string", format: "email", maxLength: 9 }, "an e-mail address, at most 9 characters"],
  [{ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, "a whole number, 0 or more"],
  [{ type: "number", minimum: 0, maximum: 1 }, "a number, 0 to 1"],
  [{ ...days, minItems: 1, maxItems: 2 }, "1 to 2 of them"],
])("%j has the rule %j", (schema, rule) => {
  expect(fieldOf(schema).rule).toBe(rule);
});

test("titles are harmless, and a proposal is one that fits", () => {
  const field = fieldOf({ type: "string", title: "\u001b[2JName", description: "Of\u0007 yours" }, { proposal: "Ann" });
  expect(field).toMatchObject({
    title: "\\x1b[2JName",
    description: "Of\\x07 yours",
    proposal: "Ann",
    isRequired: false,
  });
});

test("a proposal that would act on the terminal is none", () => {
  expect(fieldOf({ type: "string" }, { proposal: "Ann\u001b]0;x\u0007" }).proposal).toBeUndefined();
  expect(fieldOf({ type: "string" }, { proposal: "Ann\u009b2J" }).proposal).toBeUndefined();
});
