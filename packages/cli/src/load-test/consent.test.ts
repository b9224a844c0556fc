// Which names of hosts are this machine.
import { expect, test } from "vitest";
import { isLoopback } from "./consent.ts";

test.each([
  ["http://localhost:3000/mcp", true],
  ["http://LOCALHOST./mcp", true],
  ["http://api.localhost/mcp", true],
  ["http://127.0.0.1/mcp", true],
  ["http://127.1/mcp", true],
  ["http://[::1]:80/mcp", true],
  ["http://0.0.0.0/mcp", false],
  ["http://192.168.1.1/mcp", false],
  ["http://127.0.0.1.example.com/mcp", false],
  ["http://localhost.example.com/mcp", false],
  ["http://notlocalhost/mcp", false],
  ["https://example.com/mcp", false],
])("%s: %s", (url, isOurs) => {
  expect(isLoopback(new URL(url).hostname)).toBe(isOurs);
});
