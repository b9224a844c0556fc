import { expect, test } from "vitest";
import type { AuthInfo } from "./endpoint.ts";
import { toPrincipal } from "./principal.ts";

const isSame = (a: AuthInfo | undefined, b: AuthInfo | undefined): boolean => toPrincipal(a) === toPrincipal(b);

test("a name is enough, with who gave it", () => {
  expect(isSame({ subject: "ann", scopes: ["a"], expiresAt: 1 }, { subject: "ann", scopes: [] })).toBe(true);
  expect(isSame({ subject: "ann", scopes: [] }, { clientId: "ann", scopes: [] })).toBe(false);
  expect(isSame({ subject: "ann", scopes: [] }, { subject: "ann", scopes: [], claims: { iss: "x" } })).toBe(false);
});

test("without one the claims tell, in whichever order, and not by what is renewed", () => {
  const claims = { sub: "ann", org: { a: 1, b: [2] } };
  expect(isSame({ scopes: [], claims }, { scopes: [], claims: { org: { b: [2], a: 1 }, sub: "ann" } })).toBe(true);
  expect(isSame({ scopes: [], claims }, { scopes: [], claims: { ...claims, exp: 5, iat: 4, jti: "x" } })).toBe(true);
  expect(isSame({ scopes: [], claims }, { scopes: [], claims: { ...claims, sub: "bob" } })).toBe(false);
  expect(isSame({ scopes: [], claims }, undefined)).toBe(false);
  expect(isSame({ scopes: [] }, undefined)).toBe(false);
});
