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
  expect(hideUrl("postgres://u:PGSECRET@db:5432/x?sslkey=k")).toBe(`postgres://db:5432/x?${hidden}`);
  expect(hideUrl("git+https://TOKEN@x.test/a.git#main")).toBe(`git+https://x.test/a.git?${hidden}`);
  expect(hideUrl("redis://:p/w@d#@db/0")).toBe("redis://db/0");
  expect(hideUrl("file:///home/ann/a")).toBe("file:///home/ann/a");
  expect(hideUrl("not a url?key=1")).toBe(`not a url?${hidden}`);
});

test("URLs inside a word, or of any scheme", () => {
  const words = ["postgres://u:PGSECRET@db/x", "--db=mysql://u:PGSECRET@db/x", "jdbc:postgresql://u:PGSECRET@db/x"];
  expect(hideArgs(words)).toEqual(["postgres://db/x", "--db=mysql://db/x", "jdbc:postgresql://db/x"]);
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

test("a text of very many values takes time in step with its length", () => {
  const args = Array.from({ length: 60_000 }, () => "1");
  const text = JSON.stringify({ other: args, mcpServers: { x: { command: "c", args } } });
  const shown = hideText(text, { format: jsonFormat, entry: ["mcpServers", "x"], before: {} });
  expect(JSON.parse(shown)).toEqual({ other: args.map(() => "…"), mcpServers: { x: { command: "c", args } } });
});
