import { describe, expect, test } from "vitest";
import { covers } from "../../../../../test/requirements/covers.ts";
import { createRedirect, type RedirectOptions, toParameters } from "./redirect.ts";

describe("a redirect URI", () => {
  const begin = (uri: string) => createRedirect({ uri, open: async () => "?code=1" }).begin();

  test.each([
    "https://app.example/callback?tenant=1",
    "http://127.0.0.1:7777/callback",
    "http://127.0.0.1/",
    "http://localhost:3000/callback",
    "http://[::1]:3000/callback",
    "com.example.app:/callback",
    "com.example.app://callback",
  ])("%s is taken, to the letter", async (uri) => {
    expect((await begin(uri)).uri).toBe(uri);
  });

  test.each([
    "http://example.com/callback",
    "http://localhost.example.com/",
    "http://127.0.0.1.example.com/",
    "http://192.168.1.2/callback",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///tmp/x",
    "vbscript:x",
    "myapp://callback",
    "https://app.example/callback#part",
    "https://app.example/callback#",
    "https://user:secret@app.example/callback",
    "callback",
    "",
  ])("%s is not", (uri) => {
    covers("security-redirect-scheme");
    expect(() => begin(uri)).toThrow(TypeError);
  });
});

describe("what came back", () => {
  const good = { code: "a", state: "b" };

  test.each([
    ["a URL", "http://127.0.0.1:7777/callback?code=a&state=b", good],
    ["one with a fragment", "https://h/cb?code=a&state=b#_=_", good],
    ["one with = in its path", "https://h/cb;x=y?code=a&state=b", good],
    ["one without its beginning", "127.0.0.1:7777/callback?code=a&state=b", good],
    ["one that begins with a name", "localhost:7777/callback?code=a&state=b", good],
    ["a query", "code=a&state=b#x", good],
    ["a query with its question mark", " ?code=a&state=b\n", good],
    ["a query with another one in it", "code=a?c&state=b", { code: "a?c", state: "b" }],
    ["an error", "https://h/cb?error=access_denied&state=b", { error: "access_denied", state: "b" }],
    ["encoded text", "?code=a%2Bb%20c+d&state=b", { code: "a+b c d", state: "b" }],
    ["a URL object", new URL("https://h/cb?code=a&state=b"), good],
    ["parameters", new URLSearchParams(good), good],
  ])("%s", (_, came, expected) => {
    expect(Object.fromEntries(toParameters(came))).toEqual(expected);
  });

  test.each([
    "",
    "abc",
    "https://h/cb",
    "https://h/cb?state=b",
    "https://h/cb#code=a&state=b",
    new URLSearchParams("state=b"),
  ])("%s is no answer, and is not shown", (came) => {
    expect(() => toParameters(came)).toThrow(
      expect.objectContaining({
        code: "state_mismatch",
        message: "What came back from the authorization page has neither a code nor an error",
      }),
    );
  });
});

test.each<[unknown, string]>([
  [{ uri: "https://app.example/cb", opens: () => {} }, 'did you mean "open"'],
  [{ uri: "https://app.example/cb" }, "function that shows a page"],
])("%j is refused with what to do", (options, remedy) => {
  expect(() => createRedirect(options as RedirectOptions)).toThrow(TypeError);
  expect(() => createRedirect(options as RedirectOptions)).toThrow(remedy);
});
