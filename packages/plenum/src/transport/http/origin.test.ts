import { describe, expect, test } from "vitest";
import { HttpFault, type HttpHead } from "./exchange.ts";
import { type HttpOptions, toSettings } from "./options.ts";
import { checkExposure, createGuard, isLoopback } from "./origin.ts";

function toHead(host: string | undefined, origin?: string): HttpHead {
  const headers: Record<string, string | undefined> = { host, origin };
  return { method: "POST", path: "/mcp", query: "", header: (name) => headers[name] };
}

const createOwn = (options: HttpOptions = {}) => createGuard(toSettings(options, "test"));
const auth = () => ({ scopes: [] });

/** The status that a request ends with, or 200. */
const statusOf = (options: HttpOptions, host: string | undefined, origin?: string) =>
  createOwn(options).check(toHead(host, origin))?.status ?? 200;

/** No one host with at most a port, whatever is allowed. */
const malformed = [
  ...[
    "",
    " ",
    "localhost ",
    " localhost",
    "local host",
    "localhost\t",
    "localhost\n",
    "localhost\0",
    "\u00a0localhost",
  ],
  ...["localhost, localhost", "localhost,evil.example", "localhost, evil.example", "localhost;", "localhost/", "/"],
  ...["localhost/x", "localhost?x", "localhost#x", "localhost\\evil", "http://localhost", "//localhost", "*"],
  ...["user@localhost", "user:pass@localhost", "@localhost", "localhost@evil.example", "localhost%00", "%6cocalhost"],
  ...["localhost.", "localhost..", ".localhost", "a..b", ".", "..", "-a.example", "a-.example", "localhost.:80"],
  ...["localhost:", "localhost:0", "localhost:00080", "localhost:65536", "localhost:99999", "localhost:-1"],
  ...["localhost:+80", "localhost:8 0", "localhost:80:80", "localhost:0x50", "localhost:８０", "localhost:80a", ":80"],
  ...["127.1", "127.0.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "127.0.0.01", "127.0.0.256"],
  ...["127.0.0.1.", "127.0.0.0x1", "1.127.0.0.1", "evil.127", "127.0.0.1.5", "evil.0x", "１２７.0.0.1"],
  ...["::1", "::1:80", "[::1", "::1]", "[::1]]", "[[::1]]", "[]", "[:]", "[::1]x", "[::1]:", "[::1]:65536", "[1]"],
  ...["[::1%lo]", "[::1%25lo0]", "[fe80::1%eth0]", "[::g]", "[:::1]", "[1::2::3]", "[127.0.0.1]", "[localhost]"],
  ...["löcalhost", "localhoſt", "localhost。", "ｌocalhost", "evil。example", "[::１]", "locаlhost"],
  ...[
    "a".repeat(64),
    `${"a.".repeat(127)}a`,
    "a".repeat(1_000_000),
    `${"1.".repeat(500_000)}1`,
    `localhost:${"0".repeat(1e6)}80`,
  ],
];

/** With a title that is short, however long the value. */
const titled = (values: readonly (string | undefined)[]) =>
  values.map((value) => [JSON.stringify(value)?.slice(0, 60), value] as const);

describe("a Host that is none", () => {
  const all: HttpOptions[] = [{}, { auth }, { allowedHosts: ["localhost", "*.example"] }];
  test.each(titled([undefined, ...malformed]))("%s", (_, host) => {
    for (const options of all) expect(statusOf(options, host)).toBe(400);
  });
});

describe("by default", () => {
  const loopback = ["localhost", "127.0.0.1", "127.0.0.2", "127.255.255.255", "[::1]"];
  const hosts = loopback.flatMap((host) => [host, `${host}:80`, `${host}:3000`, `${host}:65535`]);

  test.each([...hosts, "LOCALHOST", "LocalHost:8080", "[0:0:0:0:0:0:0:1]", "[::0001]:80"])("Host %s", (host) => {
    expect(statusOf({}, host)).toBe(200);
  });

  test.each([
    ...["evil.example", "evil.example:3000", "localhost.evil.example", "evil.localhost", "localhost.localdomain"],
    ...["xlocalhost", "localhost-x", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "128.0.0.1", "0.0.0.0", "10.0.0.1"],
    ...["[::]", "[::2]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[fe80::1]", "xn--lcalhost-n4a"],
    ...["127.evil.example", "127.0.0.x", "local_host"],
  ])("not Host %s", (host) => {
    expect(statusOf({}, host)).toBe(403);
  });

  test.each(hosts.flatMap((host) => [`http://${host}`, `https://${host}`]))("Origin %s", (origin) => {
    expect(statusOf({}, "localhost:3000", origin)).toBe(200);
  });

  test.each(
    titled([
      ...[
        "https://evil.example",
        "http://localhost.evil.example",
        "http://evil.localhost",
        "null",
        "NULL",
        "",
        " ",
        "*",
      ],
      ...["localhost", "localhost:3000", "//localhost", "http:localhost", "http:/localhost", "http:///localhost"],
      ...["HTTP://localhost", "http://LOCALHOST", "ftp://localhost", "file://localhost", "ws://localhost", "file://"],
      ...["chrome-extension://localhost", "httpss://localhost", "xhttp://localhost", "http://", "https://:3000"],
      ...["http://localhost, http://localhost", "http://localhost,http://evil.example", "http://localhost http://x"],
      ...["http://localhost/", "http://localhost/x", "http://localhost?", "http://localhost#", "http://localhost\\@x"],
      ...["http://evil.example@localhost", "http://localhost@evil.example", "http://localhost:3000@evil.example"],
      ...malformed.map((host) => `http://${host}`),
    ]),
  )("not Origin %s", (_, origin = "") => {
    expect(statusOf({}, "localhost:3000", origin)).toBe(403);
    expect(createOwn().isAllowedOrigin(origin, "localhost:3000")).toBe(false);
  });
});

describe("allowedHosts", () => {
  const options = {
    allowedHosts: ["MCP.example.com", "a.example:8443", "*.wide.example", "*.port.example:81", "[::0:1]"],
  };

  test.each([
    ...["mcp.example.com", "mcp.example.com:80", "mcp.example.com:9999", "Mcp.Example.Com", "a.example:8443"],
    ...["x.wide.example", "x.y.wide.example:1", "x.port.example:81", "[::1]", "[0::1]:80"],
  ])("Host %s, and its pages", (host) => {
    expect(statusOf(options, host)).toBe(200);
    expect(statusOf(options, "mcp.example.com", `http://${host.toLowerCase()}`)).toBe(200);
    expect(statusOf(options, "mcp.example.com", `https://${host.toLowerCase()}`)).toBe(200);
  });

  test.each([
    ...["localhost", "127.0.0.1", "example.com", "x.mcp.example.com", "a.example", "a.example:443", "b.example:8443"],
    ...["wide.example", "xwide.example", "wide.example.evil.example", "x.port.example", "x.port.example:82", "[::2]"],
    ...["mcp.example.com.evil.example", "evil-mcp.example.com", "xn--mcp-.example"],
  ])("not Host %s, nor its pages", (host) => {
    expect(statusOf(options, host)).toBe(host.startsWith("xn--") ? 400 : 403);
    expect(statusOf(options, "mcp.example.com", `http://${host}`)).toBe(403);
    expect(statusOf(options, "mcp.example.com", `https://${host}`)).toBe(403);
  });

  test("the port of a scheme is not written: 443 and 80 fit a Host without one, and the Origin by its scheme", () => {
    const guard = { allowedHosts: ["a.example:443"] };
    expect(statusOf(guard, "a.example")).toBe(200);
    expect(statusOf(guard, "a.example:443", "https://a.example")).toBe(200);
    expect(statusOf(guard, "a.example:80")).toBe(403);
    expect(statusOf(guard, "a.example", "http://a.example")).toBe(403);
    expect(statusOf({ allowedHosts: ["a.example:8443"] }, "a.example")).toBe(403);
  });

  test("authentication does not widen them", () => {
    expect(statusOf({ ...options, auth }, "evil.example")).toBe(403);
    expect(statusOf({ ...options, auth }, "mcp.example.com", "https://evil.example")).toBe(403);
  });

  test.each<[string, RegExp]>([
    ["*", /dangerouslyAllowAnyHost/],
    ["https://mcp.example.com/mcp", /write "mcp\.example\.com"$/],
    ["mcp.example.com/", /write "mcp\.example\.com"$/],
    ["user@mcp.example.com", /write "mcp\.example\.com"$/],
    ["bücher.example", /write "xn--bcher-kva\.example"$/],
    ["*.bücher.example", /is no host name/],
    ["::1", /write "\[::1\]"$/],
    ["127.1", /write "127\.0\.0\.1"$/],
    ["a.example.", /is no host name .*; give the names/],
    ["a.example:99999", /is no host name/],
    ["a.*.example", /is no host name/],
    ["*a.example", /is no host name/],
    ["**.a.example", /is no host name/],
    ["*.", /is no host name/],
    ["*.127.0.0.1", /is no host name/],
    ["*.[::1]", /is no host name/],
    ["", /is no host name/],
    [" ", /is no host name/],
    ["a.example, b.example", /is no host name/],
    ["\u202ea.example\n", /"\\u\{202e\}a\.example\\n"/],
  ])("entry %j", (entry, message) => {
    expect(() => createOwn({ allowedHosts: ["a.example", entry] })).toThrow(TypeError);
    expect(() => createOwn({ allowedHosts: ["a.example", entry] })).toThrow(message);
  });

  test("an empty list is a mistake", () => {
    expect(() => createOwn({ allowedHosts: [] })).toThrow(/allowedHosts: an empty list/);
  });
});

describe("allowedOrigins", () => {
  const options = { allowedOrigins: ["https://app.example.com", "http://[::2]:3000", "https://xn--bcher-kva.example"] };

  test("exactly those, besides the server's own", () => {
    for (const origin of [...options.allowedOrigins, "http://localhost:5173"])
      expect(statusOf(options, "localhost", origin)).toBe(200);
  });

  test.each([
    ...["http://app.example.com", "https://app.example.com:8443", "https://app.example.com:443", "https://example.com"],
    ...["https://x.app.example.com", "https://app.example.com.evil.example", "https://APP.example.com"],
    ...["https://app.example.com/", "https://app.example.com, https://app.example.com", "https://bücher.example"],
  ])("not %s", (origin) => {
    expect(statusOf(options, "localhost", origin)).toBe(403);
  });

  test("they say nothing about the Host", () => {
    expect(statusOf(options, "app.example.com", "https://app.example.com")).toBe(403);
    expect(statusOf({ ...options, allowedHosts: ["api.example"] }, "api.example", "https://app.example.com")).toBe(200);
    expect(statusOf({ ...options, allowedHosts: ["api.example"] }, "app.example.com")).toBe(403);
  });

  test.each<[string, RegExp]>([
    ["*", /"\*" would let the pages of every site/],
    ["null", /is not an origin/],
    ["", /is not an origin/],
    ["app.example.com", /is not an origin as browsers send it; write it as "https:\/\/app\.example\.com"$/],
    ["https://app.example.com/", /write "https:\/\/app\.example\.com"$/],
    ["https://App.example.com:443/x?y", /write "https:\/\/app\.example\.com"$/],
    ["https://bücher.example", /write "https:\/\/xn--bcher-kva\.example"$/],
    ["https://app.example.com:443", /write "https:\/\/app\.example\.com"$/],
    ["http://[0::1]:3000", /write "http:\/\/\[::1\]:3000"$/],
    ["https://*.example.com", /is not an origin/],
    ["ftp://app.example.com", /is not an origin/],
    ["file:///x", /is not an origin/],
    ["https://a.example.", /is not an origin/],
    [" https://a.example", /write "https:\/\/a\.example"$/],
  ])("entry %j", (entry, message) => {
    expect(() => createOwn({ allowedOrigins: [entry] })).toThrow(TypeError);
    expect(() => createOwn({ allowedOrigins: [entry] })).toThrow(message);
  });
});

describe("with authentication alone", () => {
  const options = { auth, allowedOrigins: ["https://app.example.com"] };

  test.each(["mcp.example.com", "10.0.0.1:3000", "[fe80::1]", "localhost"])("Host %s", (host) => {
    expect(statusOf(options, host)).toBe(200);
  });

  test.each<[string, string, number]>([
    ["mcp.example.com", "https://mcp.example.com", 200],
    ["mcp.example.com:443", "https://mcp.example.com", 200],
    ["mcp.example.com", "http://mcp.example.com", 200],
    ["MCP.example.com:8443", "https://mcp.example.com:8443", 200],
    ["[0::1]:80", "http://[::1]", 200],
    ["mcp.example.com", "https://app.example.com", 200],
    ["mcp.example.com:443", "http://mcp.example.com", 403],
    ["mcp.example.com:8443", "https://mcp.example.com", 403],
    ["mcp.example.com", "https://mcp.example.com:8443", 403],
    ["mcp.example.com", "https://evil.example", 403],
    ["mcp.example.com", "http://localhost", 403],
    ["mcp.example.com", "null", 403],
    ["localhost:3000", "http://localhost:3001", 403],
  ])("Host %s, Origin %s: %d", (host, origin, status) => {
    expect(statusOf(options, host, origin)).toBe(status);
    expect(createOwn(options).isAllowedOrigin(origin, host)).toBe(status === 200);
  });

  test("without a Host there is no own origin", () => {
    expect(createOwn(options).isAllowedOrigin("https://mcp.example.com")).toBe(false);
    expect(createOwn(options).isAllowedOrigin("https://app.example.com")).toBe(true);
  });
});

describe("dangerouslyAllowAnyHost", () => {
  const options = { dangerouslyAllowAnyHost: true };
  test.each(titled([undefined, "evil.example", ...malformed]))("Host %s", (_, host) => {
    expect(statusOf(options, host, "null")).toBe(200);
  });

  test("a page is told so only where its origin is one", () => {
    expect(createOwn(options).isAllowedOrigin("https://evil.example")).toBe(true);
    for (const origin of ["null", "*", "", "https://a, https://b", "x\r\ny: z"])
      expect(createOwn(options).isAllowedOrigin(origin)).toBe(false);
  });

  test("entries are checked all the same", () => {
    expect(() => createOwn({ ...options, allowedHosts: ["*"] })).toThrow(TypeError);
  });
});

test("a refusal names the option and never what was sent", () => {
  const host = createOwn().check(toHead("evil.example"));
  const origin = createOwn().check(toHead("localhost", "https://evil.example"));
  const none = createOwn().check(toHead("<script>evil</script>"));
  for (const fault of [host, origin, none]) {
    expect(fault).toBeInstanceOf(HttpFault);
    expect(fault?.message).not.toMatch(/evil/);
    expect(fault?.rpcCode).toBe(-32600);
  }
  expect(host?.message).toMatch(/allowedHosts/);
  expect(origin?.message).toMatch(/allowedOrigins/);
});

describe("isLoopback", () => {
  test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "0:0:0:0:0:0:0:1"])("%s", (host) => {
    expect(isLoopback(host)).toBe(true);
  });
  test.each([
    ...["", "0.0.0.0", "::", "[::]", "192.168.0.1", "128.0.0.1", "example.com", "localhost.example", "x.localhost"],
    ...["localhost.", "localhost:80", "[::1]:80", "::1%lo", "::ffff:127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1"],
    ...["127.0.0.1 ", "127.0.0.1/8", "*", "/tmp/socket"],
  ])("not %j", (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

describe("checkExposure", () => {
  test.each<[string, HttpOptions]>([
    ["127.0.0.1", {}],
    ["::1", {}],
    ["localhost", { allowedOrigins: ["https://a.example"] }],
    ["0.0.0.0", { allowedHosts: ["a.example"] }],
    ["0.0.0.0", { auth }],
    ["::", { dangerouslyAllowAnyHost: true }],
  ])("%s with %j may start", (host, options) => {
    expect(checkExposure(host, toSettings(options, "test"))).toBeUndefined();
  });

  test.each<[string, HttpOptions]>([
    ["0.0.0.0", {}],
    ["::", {}],
    ["", {}],
    ["192.168.0.1", {}],
    ["mcp.example.com", { dangerouslyAllowAnyHost: false }],
    ["0.0.0.0", { allowedOrigins: ["https://a.example"] }],
  ])("%j with %j is explained", (host, options) => {
    expect(checkExposure(host, toSettings(options, "test"))).toMatch(
      /allowedHosts.*auth.*127\.0\.0\.1.*dangerouslyAllowAnyHost/,
    );
  });
});
