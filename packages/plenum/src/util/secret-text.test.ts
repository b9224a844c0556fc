// What is taken for a secret in names and texts, and what is not.
import { expect, test } from "vitest";
import { isSecretName, redactText } from "./secret-text.ts";

test.each([
  ...["password", "Password", "DB_PASSWORD", "dbPassword", "passwd", "pwd", "passphrase", "token", "accessToken"],
  ...[
    "access_token",
    "X-Auth-Token",
    "authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "api_key",
    "apiKey",
  ],
  ...["API-KEY", "apikey", "x-api-key", "client_secret", "secret", "privateKey", "credentials", "otp", "pin", "jwt"],
  ...["sessionId", "sid", "tokenValue", "connectionString", "SecretAccessKey", "passwordHash", "x-goog-api-key"],
])("%s names a secret", (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  ...[
    "progressToken",
    "nextPageToken",
    "maxTokens",
    "inputTokens",
    "key",
    "keys",
    "primaryKey",
    "name",
    "cursor",
    "uri",
  ],
  ...[
    "token_type",
    "authorization_servers",
    "authorizationUrl",
    "tokenEndpoint",
    "secretName",
    "code",
    "author",
    "pinned",
  ],
  "x".repeat(200),
])("%s does not", (name) => {
  expect(isSecretName(name)).toBe(false);
});

test.each([
  ["Authorization: Bearer abc.def-123", "Authorization: [redacted]"],
  ["sent bearer abc.def-123 to it", "sent bearer [redacted] to it"],
  ["password=hunter2&user=bob", "password=[redacted]&user=bob"],
  ['{"password":"hun\\"ter2","user":"bob"}', '{"password":"[redacted]","user":"bob"}'],
  ['"{\\"token\\":\\"abc\\",\\"user\\":\\"bob\\"}"', '"{\\"token\\":\\"[redacted]\\",\\"user\\":\\"bob\\"}"'],
  ["https://bob:hunter2@example.com/a", "https://[redacted]@example.com/a"],
  ["https://example.com/cb?code=abc&state=1", "https://example.com/cb?code=[redacted]&state=1"],
  ["Cookie: a=b; c=d\nHost: x", "Cookie: [redacted]\nHost: x"],
  ["use sk-abcdefghijklmnop1234 now", "use [redacted] now"],
  ["ghp_abcdefghijklmnopqrstuvwx", "[redacted]"],
  ["eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "[redacted]"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[redacted]"],
  ["secret: 'a b c' and more", "secret: '[redacted]' and more"],
  ["run --token abc123 --verbose", "run --token [redacted] --verbose"],
  ["<password>hunter2</password>", "<password>[redacted]</password>"],
  ["'token' => 'x', secret := y", "'token' => '[redacted]', secret := [redacted]"],
  ["client_secret%3Dabc", "client_secret%3D[redacted]"],
  ["mysql://root:pa:ss@host/db", "mysql://[redacted]@host/db"],
  ["a sessionid=abc; sid=def", "a sessionid=[redacted]; sid=[redacted]"],
])("%j is shown as %j", (text, shown) => {
  expect(redactText(text)).toBe(shown);
  // What was taken out once is not taken out again.
  expect(redactText(shown)).toBe(shown);
});

test.each([
  "basic concepts of tokens",
  "tokens: 512, pass: 5, auth: true",
  "https://example.com/path?page=2",
  "The key is under the mat",
  "code: 7",
  "a token is what you need, and --verbose too",
])("%j stays as it is", (text) => {
  expect(redactText(text)).toBe(text);
});

test("values that are known are taken out wherever they stand, short ones not", () => {
  expect(redactText("a swordfish, a fish", ["swordfish", "a"])).toBe("a [redacted], a fish");
});

test("the time grows with the length: long runs and many signs", () => {
  for (const text of [
    "a".repeat(1e6),
    "a-".repeat(5e5),
    "://".repeat(3e5),
    "password".repeat(1e5),
    "token:".repeat(1e5),
  ])
    expect(redactText(text).length).toBeGreaterThan(0);
});
