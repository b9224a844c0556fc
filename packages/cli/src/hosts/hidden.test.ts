// What is taken for a secret, and what is not.
import { expect, test } from "vitest";
import { hidden, hideArgs, hideText, hideUrl, looksSecret } from "./hidden.ts";
import { jsonFormat } from "./json-format.ts";

test.each([
  ["API_KEY", "abc"],
  ["GITHUB_TOKEN", "x"],
  ["DB_PASSWORD", "hunter2"],
  ["X", "sk-proj-1234567890abcdef"],
  ["X", "ghp_1234567890abcdefghij"],
  ["X", "eyJhbGciOiJIUzI1NiJ9.e30.x"],
  ["X", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
])("%s=%s looks like a secret", (name, value) => expect(looksSecret(name, value)).toBe(true));

test.each([
  ["API_KEY", "@keychain:weather"],
  ["API_KEY", ""],
  ["API_KEY", `\${API_KEY}`],
  ["MAX_TOKENS", "4096"],
  ["LOG_LEVEL", "debug"],
  ["DATA", "/home/ann/projects/weather/data/2026"],
  ["TZ", "Europe/Oslo"],
  ["USE_AUTH", "true"],
])("%s=%s does not", (name, value) => expect(looksSecret(name, value)).toBe(false));

test("words of a command", () => {
  const words = [
    "-y",
    "pkg",
    "--api-key",
    "k",
    "--port",
    "80",
    "TOKEN=t",
    "--header",
    "Authorization: Bearer b",
    "https://u:p@x.test/a?k=v",
    "--token",
    "--verbose",
  ];
  expect(hideArgs(words)).toEqual([
    "-y",
    "pkg",
    "--api-key",
    hidden,
    "--port",
    "80",
    `TOKEN=${hidden}`,
    "--header",
    `Authorization: ${hidden}`,
    `https://x.test/a?${hidden}`,
    "--token",
    "--verbose",
  ]);
});

test("URLs", () => {
  expect(hideUrl("https://x.test/mcp")).toBe("https://x.test/mcp");
  expect(hideUrl("https://u:p@x.test/mcp#t")).toBe(`https://x.test/mcp?${hidden}`);
  expect(hideUrl("not a url?key=1")).toBe(`not a url?${hidden}`);
});

test("a text: the entry is shown without its values, the rest without any", () => {
  const text =
    '{"a": "s1", "n": 5, "mcpServers": {"x": {"command": "c", "args": ["--token", "s2"], "env": {"K": "s3", "R": "@env:R"}, "on": true}, "y": {"command": "s4"}}}';
  const before = { mcpServers: { x: { env: { K: "old" } } } };
  expect(JSON.parse(hideText(text, { format: jsonFormat, entry: ["mcpServers", "x"], before }))).toEqual({
    a: "…",
    n: "…",
    mcpServers: {
      x: { command: "c", args: ["--token", hidden], env: { K: "(hidden, new)", R: "@env:R" }, on: true },
      y: { command: "…" },
    },
  });
});
