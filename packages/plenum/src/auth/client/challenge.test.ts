import { expect, test } from "vitest";
import { parseChallenges, readWanted } from "./challenge.ts";

const shown = (header: string): unknown =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

test.each([
  ["Bearer", [["bearer", {}]]],
  ['Bearer realm="a, b", error="invalid_token"', [["bearer", { realm: "a, b", error: "invalid_token" }]]],
  ["BEARER Scope=read", [["bearer", { scope: "read" }]]],
  [
    'Basic realm="x", Bearer resource_metadata="https://h/m"',
    [
      ["basic", { realm: "x" }],
      ["bearer", { resource_metadata: "https://h/m" }],
    ],
  ],
  [
    "Negotiate YWJj==, Bearer a=b",
    [
      ["negotiate", {}],
      ["bearer", { a: "b" }],
    ],
  ],
  ['Bearer error_description="say \\"no\\""', [["bearer", { error_description: 'say "no"' }]]],
  ['Bearer a = b , c="d"', [["bearer", { a: "b", c: "d" }]]],
  ['Bearer a="1", a="2"', [["bearer", { a: "1" }]]],
  ['Bearer a="open', [["bearer", {}]]],
  ["a=b", []],
  ["", []],
  ["x".repeat(9000), []],
])("%s", (header, expected) => {
  expect(shown(header)).toEqual(expected);
});

test("what is wanted stands in any challenge that takes tokens", () => {
  expect(readWanted('Basic realm="x", Bearer scope="a b", DPoP error="use_dpop_nonce"')).toEqual({
    resourceMetadata: undefined,
    scope: "a b",
    error: "use_dpop_nonce",
    description: undefined,
  });
  expect(readWanted('Basic scope="none of ours"').scope).toBeUndefined();
  expect(readWanted(undefined).error).toBeUndefined();
});
