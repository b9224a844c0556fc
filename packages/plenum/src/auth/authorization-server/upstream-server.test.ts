import { afterEach, expect, test, vi } from "vitest";
import type { UpstreamOptions } from "./options.ts";
import { createUpstreamServer } from "./upstream-server.ts";

const options: UpstreamOptions = {
  ...{ issuer: "https://idp.example.com", clientId: "us", clientSecret: "a secret of sixteen or more" },
};
const metadata = {
  issuer: options.issuer,
  authorization_endpoint: "https://idp.example.com/authorize",
  token_endpoint: "https://idp.example.com/token",
};

afterEach(() => {
  vi.useRealTimers();
});

test("its metadata is read once, and again after an hour", async () => {
  vi.useFakeTimers();
  const fetch = vi.fn(async () => Response.json(metadata));
  const find = createUpstreamServer(options, fetch);
  const [{ as }] = await Promise.all([find(), find()]);
  expect(as).toMatchObject(metadata);
  expect(fetch).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(3_600_001);
  await find();
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("what failed is tried again", async () => {
  let isDown = true;
  const find = createUpstreamServer(options, async () =>
    Response.json(isDown ? {} : metadata, { status: isDown ? 503 : 200 }),
  );
  await expect(find()).rejects.toMatchObject({ code: "discovery_failed" });
  isDown = false;
  await expect(find()).resolves.toBeDefined();
});

test.each([
  ["of another issuer", { ...metadata, issuer: "https://evil.example" }, "issuer_mismatch"],
  ["without a page", { ...metadata, authorization_endpoint: undefined }, "discovery_failed"],
  ["without a token endpoint", { ...metadata, token_endpoint: undefined }, "discovery_failed"],
  ["with a page that is a script", { ...metadata, authorization_endpoint: "javascript:alert(1)" }, "unsafe_url"],
  ["with a page without TLS", { ...metadata, authorization_endpoint: "http://idp.example.com/" }, "unsafe_url"],
])("metadata %s is not used", async (_, body, code) => {
  await expect(createUpstreamServer(options, async () => Response.json(body))()).rejects.toMatchObject({ code });
});

test("endpoints that are given need no metadata", async () => {
  const fetch = vi.fn();
  const endpoints = {
    authorization: "https://a.example/",
    token: "https://b.example/",
    revocation: "https://c.example/",
  };
  const { as } = await createUpstreamServer({ ...options, endpoints }, fetch)();
  expect(as).toMatchObject({ authorization_endpoint: "https://a.example/", revocation_endpoint: "https://c.example/" });
  expect(fetch).not.toHaveBeenCalled();
});

test.each([
  ["no client", { clientId: "" }],
  ["a secret that is short", { clientSecret: "x".repeat(15) }],
  ["no TLS", { issuer: "http://idp.example.com" }],
  ["nobody who says who it is", { scopes: ["read"] }],
])("options with %s are refused", (_, change) => {
  expect(() => createUpstreamServer({ ...options, ...change }, vi.fn())).toThrow(TypeError);
});

test("without openid the application says who it is", () => {
  const toUser = () => undefined;
  expect(() => createUpstreamServer({ ...options, scopes: ["read"], toUser }, vi.fn())).not.toThrow();
});
