import { describe, expect, test } from "vitest";
import { admit } from "./admit.ts";
import { type Authenticate, HttpFault, type HttpHead } from "./exchange.ts";

const head: HttpHead = { method: "POST", path: "/mcp", query: "", header: () => undefined };
const now = Math.floor(Date.now() / 1000);

const outcomeOf = (told: unknown): Promise<unknown> =>
  admit(head, (() => told) as Authenticate).catch((error: unknown) =>
    error instanceof HttpFault ? error.status : error,
  );

test.each([
  { subject: "ann", scopes: [] },
  { scopes: ["read"], expiresAt: now + 60 },
  { scopes: [], expiresAt: Number.POSITIVE_INFINITY },
  // Members of a token may be called anything.
  { scopes: [], status: 200 },
  { scopes: [], status: 401 },
])("lets in %o", async (told) => {
  expect(await outcomeOf(told)).toBe(told);
});

test.each([
  [undefined, 401],
  [null, 401],
  [false, 401],
  [{ status: 401 }, 401],
  [{ status: 403, message: "No" }, 403],
  [{ status: 429 }, 429],
  [{ scopes: [], expiresAt: now - 1 }, 401],
  [{ scopes: [], expiresAt: 1 }, 401],
  [{ scopes: [], expiresAt: Number.NaN }, 401],
  [{ scopes: [], expiresAt: "2099-01-01" }, 401],
])("refuses %o", async (told, status) => {
  expect(await outcomeOf(told)).toBe(status);
});

describe("nobody is let in by a slip", () => {
  test.each([{}, { subject: "ann" }, { status: 302 }, { status: "401" }, true])("%o", async (told) => {
    expect(await outcomeOf(told)).toBeInstanceOf(TypeError);
  });
});

test("what has expired says how to come again", async () => {
  const fault = await admit(head, () => ({ scopes: [], expiresAt: 1 })).catch((error: unknown) => error);
  expect((fault as HttpFault).headers["www-authenticate"]).toContain("invalid_token");
});
