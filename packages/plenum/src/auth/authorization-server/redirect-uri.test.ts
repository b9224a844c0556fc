import { describe, expect, test } from "vitest";
import { covers } from "../../../../../test/requirements/covers.ts";
import { checkRedirectUri, matchRedirect } from "./redirect-uri.ts";

describe("a client may name", () => {
  test.each([
    "https://app.example.com/callback",
    "https://app.example.com",
    "https://app.example.com:8443/callback?tenant=1",
    "https://xn--bcher-kva.example/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:3000/callback",
    "http://[::1]:3000/callback",
    "http://localhost:3000",
    "com.example.app:/callback",
    "com.example.app://callback",
  ])("%s", (uri) => {
    expect(checkRedirectUri(uri)).toBeUndefined();
  });

  test("a scheme of its own where the application vouches for it", () => {
    expect(checkRedirectUri("editor://callback")).toBeDefined();
    expect(checkRedirectUri("editor://callback", true)).toBeUndefined();
    for (const uri of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://app.example.com/", "*"])
      expect(checkRedirectUri(uri, true)).toBeDefined();
  });
});

describe("a client may not name", () => {
  test.each([
    "http://app.example.com/callback",
    "http://10.0.0.1/callback",
    "http://127.0.0.2/callback",
    "http://localhost.example.com/",
    "http://127.0.0.1.example.com/",
    "https://app.example.com/callback#fragment",
    "https://app.example.com/callback#",
    "https://*.example.com/callback",
    "https://app.example.com/*",
    "https://user@app.example.com/callback",
    "https://app.example.com@evil.example/callback",
    "https://app.example.com\\@evil.example/callback",
    "https://app.example.com\\callback",
    "https://APP.example.com/callback",
    "HTTPS://app.example.com/callback",
    "https://app.example.com:443/callback",
    "https://app.example.com/a/../callback",
    "https://app.example.com/%2e%2e/callback",
    "https://app.example.com/call back",
    "https://app.example.com/\ncallback",
    " https://app.example.com/callback",
    "https://bücher.example/callback",
    "https://аpp.example.com/callback",
    "https:app.example.com/callback",
    "//app.example.com/callback",
    "/callback",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example.com/1",
    "about:blank",
    "urn:ietf:wg:oauth:2.0:oob",
    "editor://callback",
    `https://app.example.com/${"a".repeat(2000)}`,
    "",
    undefined,
    7,
  ])("%s", (uri) => {
    expect(checkRedirectUri(uri)).toEqual(expect.any(String));
  });
});

describe("where a code is sent", () => {
  const client = {
    redirectUris: ["https://app.example.com/callback", "http://127.0.0.1/cb?x=1", "http://localhost:3000/cb"],
  };

  test.each([
    "https://app.example.com/callback",
    "http://127.0.0.1/cb?x=1",
    "http://127.0.0.1:51234/cb?x=1",
    "http://localhost:3000/cb",
    "http://localhost:1/cb",
    "http://localhost/cb",
  ])("%s is the client's", (uri) => {
    expect(matchRedirect(client, uri)).toBe(true);
  });

  test.each([
    "https://app.example.com/callback/",
    "https://app.example.com/callback/more",
    "https://app.example.com/callback?code=1",
    "https://app.example.com/callback#a",
    "https://app.example.com/Callback",
    "https://APP.example.com/callback",
    "https://app.example.com:443/callback",
    "https://app.example.com:8443/callback",
    "http://app.example.com/callback",
    "https://app.example.com",
    "https://user@app.example.com/callback",
    "https://app.example.com@evil.example/callback",
    "https://app.example.com\\callback",
    "https://app.example.com.evil.example/callback",
    "https://xn--pp-example-8xg.com/callback",
    "https://evil.example/?https://app.example.com/callback",
    "http://127.0.0.1:51234/cb",
    "http://127.0.0.1:51234/cb?x=1&y=2",
    "http://127.0.0.1:51234/CB?x=1",
    "http://127.0.0.2:51234/cb?x=1",
    "http://127.0.0.1:3000@evil.example/cb?x=1",
    "http://127.0.0.1.evil.example/cb?x=1",
    "http://127.0.0.1:70000/cb?x=1",
    "http://127.0.0.1:123456/cb?x=1",
    "http://127.0.0.1:/cb?x=1",
    "http://[::1]:3000/cb",
    "http://LOCALHOST:3000/cb",
    "https://localhost:3000/cb",
    "http://localhost:3000/cb#a",
    "http://localhost:3000/cb/",
    "http://localhost:3000\\@evil.example/cb",
    "",
  ])("%s is not", (uri) => {
    covers(["security-redirect-exact"]);
    expect(matchRedirect(client, uri)).toBe(false);
  });

  test("nobody has any where none was named", () => {
    expect(matchRedirect({ redirectUris: [] }, "https://app.example.com/callback")).toBe(false);
  });
});
