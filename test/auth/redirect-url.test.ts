// Addresses that a server makes up: whatever it names as the page to log in on, nobody is sent anywhere but to https, or to this machine;
// and what is no address at all is an error with a code.
import { createAuthorizedFetch, createRedirect, type Fetch, oauth } from "plenum/auth/client";
import { expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";

const server = "https://mcp.example/mcp";

interface Named {
  readonly resourceMetadata?: string;
  readonly issuer?: unknown;
  readonly metadata?: { readonly [name: string]: unknown };
}

/** A server, and its authorization server, that name these addresses. */
function createNaming({ resourceMetadata, issuer = "https://as.example", metadata }: Named): Fetch {
  const json = (value: unknown): Response => Response.json(value);
  return async (url) => {
    const { pathname } = new URL(url);
    if (pathname.includes("oauth-protected-resource"))
      return json({ resource: server, authorization_servers: [issuer] });
    if (pathname.includes("oauth-authorization-server"))
      return json({
        issuer,
        authorization_endpoint: "https://as.example/authorize",
        token_endpoint: "https://as.example/token",
        code_challenge_methods_supported: ["S256"],
        ...metadata,
      });
    if (url === server) {
      const hint = resourceMetadata === undefined ? "" : ` resource_metadata="${resourceMetadata}"`;
      return new Response(null, { status: 401, headers: { "www-authenticate": `Bearer${hint}` } });
    }
    return new Response(null, { status: 404 });
  };
}

/** How a call ends, and the pages that were opened for it. */
async function call(named: Named) {
  const fetch = createNaming(named);
  const opened: string[] = [];
  const redirect = createRedirect({
    uri: "http://127.0.0.1:7777/callback",
    async open({ origin, pathname, searchParams }) {
      opened.push(`${origin}${pathname}`);
      return new URLSearchParams({ code: "c", state: searchParams.get("state") ?? "" });
    },
  });
  const send = createAuthorizedFetch(oauth({ client: { id: "c" }, redirect, fetch }), server, vi.fn(fetch));
  const error: unknown = await send(server).then(
    () => expect.unreachable("it must fail"),
    (error) => error,
  );
  return { error, opened };
}

test("a page on https is opened", async () => {
  const { opened, error } = await call({});
  expect(opened).toEqual(["https://as.example/authorize"]);
  // There is no token endpoint behind it.
  expect(error).toMatchObject({ code: "token_failed" });
});

test.each([
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "vbscript:msgbox(1)",
  "com.example.app:/authorize",
  "ms-msdt:/id",
  "a:$(cmd.exe /c whoami > c:\\temp\\pwned.txt)?response_type=code",
  "http://as.example/authorize",
  "http://169.254.169.254/authorize",
  "https://user:secret@as.example/authorize",
  "https://",
  "https://[/",
  "https://as.example:99999/authorize",
  "/authorize",
  "",
])("a page at %s is not opened", async (page) => {
  covers(["security-auth-url-schemes", "security-url-sanitised"]);
  const { error, opened } = await call({ metadata: { authorization_endpoint: page } });
  expect(error).toMatchObject({ name: "OAuthError", code: "unsafe_url" });
  expect(String(error)).not.toContain("secret");
  expect(opened).toEqual([]);
});

test.each<readonly [string, Named]>([
  ["a page", { metadata: { authorization_endpoint: 42 } }],
  ["a page", { metadata: { authorization_endpoint: null } }],
  ["a token endpoint", { metadata: { token_endpoint: "https://[/" } }],
  ["a token endpoint", { metadata: { token_endpoint: "javascript:alert(1)" } }],
  ["a token endpoint", { metadata: { token_endpoint: 42 } }],
  ["an issuer", { issuer: "https://[/" }],
  ["an issuer", { issuer: "nobody" }],
  ["an issuer", { issuer: 42 }],
  ["metadata of the resource", { resourceMetadata: "https://[/" }],
  ["metadata of the resource", { resourceMetadata: "file:///etc/passwd" }],
])("%s at no address is an error with a code: %o", async (_, named) => {
  covers("security-url-sanitised");
  const { error } = await call(named);
  expect(error).toMatchObject({ name: "OAuthError", code: expect.stringMatching(/^[a-z_]+$/) });
});
