// What can be given to reach a server over HTTP, and what an error about it must not say.
import { describe, expect, test } from "vitest";
import { type HttpTargetOptions, toTargetSettings } from "./client-options.ts";

describe("URLs", () => {
  test.each([
    ["a relative one", "/mcp", "Write it whole"],
    ["no text at all", "", "Write it whole"],
    ["another scheme", "ws://localhost", '"ws:"'],
    ["a file", "file:///etc/hosts", '"file:"'],
    ["a script", "javascript:alert(1)", '"javascript:"'],
    ["a user name", "https://me@host/mcp", 'url: "https://host/mcp"'],
    ["a password", "https://:secret@host/mcp", 'url: "https://host/mcp"'],
  ])("%s", (_, url, what) => {
    expect(() => toTargetSettings({ url })).toThrow(TypeError);
    expect(() => toTargetSettings({ url })).toThrow(what);
  });

  test("are taken as text or as objects, without what browsers keep for themselves", () => {
    expect(toTargetSettings({ url: "HTTPS://Host:443/mcp?a=b#c" }).url.href).toBe("https://host/mcp?a=b");
    expect(toTargetSettings({ url: new URL("http://localhost:1/x") }).url.href).toBe("http://localhost:1/x");
  });
});

test("options that make no sense", () => {
  const url = "https://example.com";
  const wrong: [object, string][] = [
    [{ url, fetch: {} }, "fetch"],
    [{ url, maxResponseBytes: 0 }, "maxResponseBytes"],
    [{ url, maxEventBytes: Number.NaN }, "maxEventBytes"],
    [{ url, reconnect: { delayMs: -1 } }, "delayMs"],
    [{ url, reconnect: { maxAttempts: "5" } }, "maxAttempts"],
    [{ url, header: {} }, '"header"'],
  ];
  for (const [options, name] of wrong) {
    expect(() => toTargetSettings(options as HttpTargetOptions), name).toThrow(TypeError);
    expect(() => toTargetSettings(options as HttpTargetOptions)).toThrow(name);
  }
});

describe("headers", () => {
  const url = "https://example.com";

  test("as they are, or asked for each time", async () => {
    expect(await toTargetSettings({ url, headers: { a: "1" } }).headers()).toEqual({ a: "1" });
    let count = 0;
    const { headers } = toTargetSettings({ url, headers: async () => ({ count: String(++count) }) });
    expect([await headers(), await headers()]).toEqual([{ count: "1" }, { count: "2" }]);
  });

  test("that HTTP cannot carry are refused by name, and their value is not told", async () => {
    const bad = { authorization: "Bearer secret\nx: y" };
    const refusal = '"authorization" has a name or a value that HTTP cannot carry';
    expect(() => toTargetSettings({ url, headers: bad })).toThrow(refusal);
    expect(() => toTargetSettings({ url, headers: bad })).not.toThrow("secret");
    await expect(toTargetSettings({ url, headers: () => bad }).headers()).rejects.toThrow(refusal);
  });
});
