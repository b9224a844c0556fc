import { describe, expect, test } from "vitest";
import { createCors } from "./cors.ts";
import type { HttpHead } from "./exchange.ts";
import { type CorsOptions, type HttpOptions, toSettings } from "./options.ts";
import { createGuard } from "./origin.ts";

const origin = "https://app.example.com";

function createOwn(cors: boolean | CorsOptions = true, options: HttpOptions = { allowedOrigins: [origin] }) {
  const settings = toSettings({ ...options, cors }, "test");
  return createCors(settings.cors, createGuard(settings));
}

function toHead(method: string, headers: Record<string, string>): HttpHead {
  const all: Record<string, string> = { host: "localhost:3000", ...headers };
  return { method, path: "/mcp", query: "", header: (name) => all[name] };
}

const ask = { origin, "access-control-request-method": "POST" };

const preflight = (headers: Record<string, string> = {}, cors: boolean | CorsOptions = true) =>
  createOwn(cors)?.preflight(toHead("OPTIONS", { ...ask, ...headers }));

const allowedHeaders = (asked: string, cors: boolean | CorsOptions = true) =>
  preflight({ "access-control-request-headers": asked }, cors)?.headers["access-control-allow-headers"]?.split(", ") ??
  [];

const always = [
  ...["content-type", "accept", "authorization", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"],
  ...["last-event-id", "traceparent", "tracestate", "baggage"],
];

test("off", () => {
  expect(createOwn(false)).toBeUndefined();
});

describe("a preflight", () => {
  test("is answered with everything MCP needs", () => {
    expect(preflight()).toEqual({
      status: 204,
      headers: {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
        "access-control-allow-headers": always.join(", "),
        "access-control-max-age": "7200",
        vary: "origin, access-control-request-method, access-control-request-headers, access-control-request-private-network",
      },
    });
  });

  test.each<[string, Record<string, string>]>([
    ["GET", ask],
    ["POST", ask],
    ["options", ask],
    ["OPTIONS", { origin }],
    ["OPTIONS", { "access-control-request-method": "POST" }],
    ["OPTIONS", {}],
  ])("is not %s with %j", (method, headers) => {
    expect(createOwn()?.preflight(toHead(method, headers))).toBeUndefined();
  });

  test.each(["https://evil.example", "null", "*", "", `${origin}, ${origin}`, `${origin}/`, "x\r\ny: z"])(
    "of %j is refused, and tells nothing",
    (other) => {
      const asked = {
        "access-control-request-private-network": "true",
        "access-control-request-headers": "mcp-param-x",
      };
      const answer = preflight({ origin: other, ...asked });
      expect(answer?.status).toBe(403);
      expect(Object.keys(answer?.headers ?? {})).toEqual(["vary"]);
    },
  );

  test("the server's own origin is known by the Host", () => {
    const auth = () => ({ scopes: [] });
    const cors = createOwn(true, { auth });
    const own = { ...ask, host: "mcp.example.com", origin: "https://mcp.example.com" };
    expect(cors?.preflight(toHead("OPTIONS", own))?.status).toBe(204);
    expect(cors?.preflight(toHead("OPTIONS", { ...own, host: "evil.example" }))?.status).toBe(403);
  });

  test("a private network only when asked", () => {
    const name = "access-control-allow-private-network";
    expect(preflight({ "access-control-request-private-network": "true" })?.headers[name]).toBe("true");
    for (const asked of ["false", "", "true, true"])
      expect(preflight({ "access-control-request-private-network": asked })?.headers[name]).toBeUndefined();
  });

  test("options", () => {
    const answer = preflight({}, { maxAgeSeconds: 5, allowedHeaders: ["X-Tenant", "Accept"] });
    expect(answer?.headers["access-control-max-age"]).toBe("5");
    expect(answer?.headers["access-control-allow-headers"]).toBe([...always, "x-tenant"].join(", "));
  });
});

describe("headers of mirrored parameters", () => {
  test.each<[string, string[]]>([
    ["mcp-param-region", ["mcp-param-region"]],
    ["content-type,mcp-param-a,mcp-param-b", ["mcp-param-a", "mcp-param-b"]],
    ["Mcp-Param-Region", ["mcp-param-region"]],
    ["mcp-param-a, mcp-param-a ,\tmcp-param-A", ["mcp-param-a"]],
    ["mcp-param-a!#$%&'*+.^_`|~", ["mcp-param-a!#$%&'*+.^_`|~"]],
    ["mcp-param-", []],
    ["mcp-param", []],
    ["x-mcp-param-a", []],
    ["x-evil, cookie, *", []],
    ["mcp-param-a b", []],
    ["mcp-param-a:b", []],
    ["mcp-param-a\r\nset-cookie: x", []],
    ["mcp-param-é", []],
    ["mcp-param-\u212a", []],
    [`mcp-param-${"x".repeat(200)}`, []],
    ["", []],
    [",,,", []],
  ])("%j", (asked, expected) => {
    expect(allowedHeaders(asked)).toEqual([...always, ...expected]);
  });

  test("a list without end costs little and gives little", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `mcp-param-${index}`).join(",");
    expect(allowedHeaders(many(20))).toHaveLength(always.length + 20);
    expect(allowedHeaders(many(500))).toHaveLength(always.length + 128);
    expect(allowedHeaders(many(100_000))).toEqual(always);
    expect(allowedHeaders(",".repeat(5_000_000))).toEqual(always);
  });
});

describe("any other answer", () => {
  test("of an allowed origin can be read, with MCP's headers", () => {
    expect(createOwn()?.headers(toHead("POST", { origin }))).toEqual({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after",
      vary: "origin",
    });
  });

  test("options", () => {
    const cors = createOwn({ exposedHeaders: ["X-Request-Id", "Retry-After"] });
    expect(cors?.headers(toHead("GET", { origin }))["access-control-expose-headers"]).toBe(
      "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after, x-request-id",
    );
  });

  test.each<Record<string, string>>([{}, { origin: "https://evil.example" }, { origin: "null" }, { origin: "*" }])(
    "to %j tells nothing, but is not to be kept for others",
    (headers) => {
      expect(createOwn()?.headers(toHead("POST", headers))).toEqual({ vary: "origin" });
    },
  );

  test("never every origin, never credentials", () => {
    const cors = createOwn(true, { dangerouslyAllowAnyHost: true });
    const answers = [cors?.headers(toHead("POST", ask)), cors?.preflight(toHead("OPTIONS", ask))?.headers];
    for (const headers of answers) {
      expect(headers?.["access-control-allow-origin"]).toBe(origin);
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });
});
