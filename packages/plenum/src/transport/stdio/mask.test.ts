// What is taken out of a command's words, and what is not.
import { describe, expect, test } from "vitest";
import { maskWords } from "./mask.ts";

describe("masked", () => {
  test.each<[string[], string[]]>([
    [["postgres://bob:hunter2@db:5432/x"], ["postgres://***@db:5432/x"]],
    [["--url=https://ghost@host/x"], ["--url=https://***@host/x"]],
    [["postgres://bob:p/w?d@db/x"], ["postgres://***@db/x"]],
    [["https://host/x?a=1&access_token=abc&b=2"], ["https://host/x?a=1&access_token=***"]],
    [
      ["--api-key", "abc", "x"],
      ["--api-key", "***", "x"],
    ],
    [
      ["-token", "abc"],
      ["-token", "***"],
    ],
    [
      ["--password", "-dash"],
      ["--password", "***"],
    ],
    [["--password=two words"], ["--password=***"]],
    [["--githubToken=abc"], ["--githubToken=***"]],
    [
      ["-e", "GITHUB_TOKEN=abc"],
      ["-e", "GITHUB_TOKEN=***"],
    ],
    [["DB_PASSWD=abc"], ["DB_PASSWD=***"]],
    [
      ["--header", "Authorization: Bearer abc def"],
      ["--header", "Authorization:***"],
    ],
    [
      ["--header", "X-Api-Key:abc"],
      ["--header", "X-Api-Key:***"],
    ],
    [['{"apiKey":"abc"}'], ['{"apiKey":***']],
    [["Bearer abc"], ["Bearer ***"]],
    [["tool --token abc x"], ["tool --token *** x"]],
    [["echo 'password=abc'"], ["echo 'password=***"]],
    [["sk-proj-4f9aKq81LmZx02Vb77Qe"], ["***"]],
    [["ghp_16C7e42F292c6912E7710c838347Ae178B4a"], ["***"]],
    [["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"], ["***"]],
    [["0123456789abcdef0123"], ["***"]],
    [["123e4567-e89b-12d3-a456-426614174000"], ["***"]],
    [["--id=0123456789abcdef0123456789abcdef"], ["***"]],
  ])("%j", (words, expected) => {
    expect(maskWords(words)).toEqual(expected);
  });
});

test.each([
  ["-y", "@modelcontextprotocol/server-filesystem", "/home/bob/projects2/some-long-folder-name"],
  ["@modelcontextprotocol/server-everything@2025.7.1", "--port", "8080"],
  ["/usr/lib/node_modules/some-server-with-a-name/dist/index.js", "--verbose"],
  ["C:\\Users\\Bob\\AppData\\Roaming\\npm\\node_modules\\server2\\index.js"],
  ["run", "-i", "--rm", "ghcr.io/example/auth-server:1.2"],
  ["https://example.com:8443/mcp", "--transport", "http-only"],
  ["--auth", "--verbose", "x"],
  ["", "my server.js", "it's"],
])("left alone: %s %s %s", (...words) => {
  expect(maskWords(words)).toEqual(words);
});
