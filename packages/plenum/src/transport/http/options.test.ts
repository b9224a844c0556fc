import { describe, expect, test } from "vitest";
import { revisions } from "../../protocol/revisions.ts";
import { type HttpOptions, toSettings } from "./options.ts";
import { assertSessionId } from "./sessions.ts";

const toWrong = (options: unknown, extra?: readonly string[]) => () =>
  toSettings(options as HttpOptions, "serveHttp", extra);

describe("defaults", () => {
  test("of everything", () => {
    expect(toSettings({}, "serveHttp")).toMatchObject({
      revisions,
      maxSubscriptions: 1000,
      askTimeoutMs: 600_000,
      path: undefined,
      sse: false,
      sessions: { max: 10_000, idleMs: 1_800_000, maxAgeMs: 86_400_000, maxEvents: 1000, maxEventBytes: 4_194_304 },
      answers: "auto",
      allowedHosts: undefined,
      allowedOrigins: undefined,
      dangerouslyAllowAnyHost: false,
      auth: undefined,
      cors: false,
      routes: new Map(),
      maxBodyBytes: 4_194_304,
      bodyTimeoutMs: 30_000,
      readerTimeoutMs: 30_000,
      maxQueuedBytes: 4_194_304,
      maxInFlight: 1000,
      maxStreams: 10_000,
      keepAliveMs: 15_000,
      retryMs: 1000,
      onAccess: undefined,
      onMetrics: undefined,
    });
  });

  test("undefined counts as not given, for every option", () => {
    const settings = toSettings({}, "serveHttp");
    const given = Object.fromEntries(Object.keys(settings).map((key) => [key, undefined]));
    expect(toSettings(given as HttpOptions, "serveHttp")).toEqual(settings);
  });

  test.each([
    [true, { path: "/sse", messagesPath: "/messages" }],
    [{}, { path: "/sse", messagesPath: "/messages" }],
    [{ path: "/old" }, { path: "/old", messagesPath: "/messages" }],
    [{ messagesPath: "/post" }, { path: "/sse", messagesPath: "/post" }],
    [false, false],
  ])("sse: %j", (sse, expected) => {
    expect(toSettings({ sse }, "serveHttp").sse).toEqual(expected);
  });

  test("cors: true, and names of headers in lower case", () => {
    expect(toSettings({ cors: true }, "serveHttp").cors).toEqual({
      ...{ maxAgeSeconds: 7200, exposedHeaders: [], allowedHeaders: [] },
    });
    expect(toSettings({ cors: { allowedHeaders: ["X-Tenant"], maxAgeSeconds: 0 } }, "serveHttp").cors).toEqual({
      ...{ maxAgeSeconds: 0, exposedHeaders: [], allowedHeaders: ["x-tenant"] },
    });
  });
});

describe("what is given", () => {
  test("is kept", () => {
    const auth = () => ({ scopes: [] });
    const createId = () => "x";
    const route = () => ({});
    const given = toSettings(
      {
        ...{ path: "/mcp", auth, answers: "stream", dangerouslyAllowAnyHost: true, retryMs: 0 },
        ...{ revisions: ["2025-06-18"], allowedHosts: ["a"], allowedOrigins: ["b"], maxBodyBytes: Infinity },
        ...{ sessions: { max: 1, idleMs: Infinity, maxEvents: 0, createId }, routes: { "/healthz": route } },
      },
      "serveHttp",
    );
    expect(given).toMatchObject({
      ...{ path: "/mcp", auth, answers: "stream", dangerouslyAllowAnyHost: true, retryMs: 0 },
      ...{ revisions: ["2025-06-18"], allowedHosts: ["a"], allowedOrigins: ["b"], maxBodyBytes: Infinity },
      sessions: { max: 1, idleMs: Infinity, maxAgeMs: 86_400_000, maxEvents: 0, createId },
    });
    expect(given.routes.get("/healthz")).toBe(route);
  });

  test("is copied: a list that is changed later changes nothing", () => {
    const allowedHosts = ["a"];
    const settings = toSettings({ allowedHosts }, "serveHttp");
    allowedHosts.push("evil.example");
    expect(settings.allowedHosts).toEqual(["a"]);
  });

  test.each(["bodyTimeoutMs", "readerTimeoutMs", "keepAliveMs"] as const)("%s is one that a timer keeps", (key) => {
    expect(toSettings({ [key]: Infinity }, "serveHttp")[key]).toBe(2_147_483_647);
    expect(toSettings({ [key]: 1e12 }, "serveHttp")[key]).toBe(2_147_483_647);
    expect(toSettings({ [key]: 5 }, "serveHttp")[key]).toBe(5);
  });

  test.each([0, Infinity])("askTimeoutMs %d is no limit, and stays", (askTimeoutMs) => {
    expect(toSettings({ askTimeoutMs }, "serveHttp").askTimeoutMs).toBe(askTimeoutMs);
  });

  test("sessions: false", () => {
    expect(toSettings({ sessions: false }, "serveHttp").sessions).toBe(false);
  });
});

test("a port in place of the options is told where it goes", () => {
  expect(toWrong(3000, ["port"])).toThrow("serveHttp: options must be an object: { port: 3000 }");
  expect(toWrong(3000)).toThrow("serveHttp: options must be an object, not 3000");
  expect(toWrong({ hostname: "::1" }, ["port", "host"])).toThrow('option "hostname" is unknown: write "host"');
});

describe("unknown names", () => {
  test.each<[object, RegExp]>([
    [{ allowedHost: ["a"] }, /^serveHttp: option "allowedHost" is unknown: did you mean "allowedHosts"\?$/],
    [{ maxBodyByte: 1 }, /did you mean "maxBodyBytes"\?/],
    [{ dangerouslyallowanyhost: true }, /did you mean "dangerouslyAllowAnyHost"\?/],
    [{ sessions: { idle: 1 } }, /option "sessions\.idle" is unknown/],
    [{ sessions: { maxAge: 1 } }, /did you mean "sessions\.maxAgeMs"\?/],
    [{ sse: { messagePath: "/m" } }, /did you mean "sse\.messagesPath"\?/],
    [{ cors: { origin: "*" } }, /option "cors\.origin" is unknown; there are maxAgeSeconds, /],
    [{ quux: 1 }, /option "quux" is unknown; there are revisions, /],
    [{ "\u202e\n": 1 }, /option "\\u\{202e\}\\n" is unknown/],
    [JSON.parse('{"__proto__":1}'), /option "__proto__" is unknown/],
    [{ port: 1 }, /option "port" is unknown: a handler listens nowhere itself/],
    [{ endpoint: "/" }, /option "endpoint" is unknown: write "path"$/],
    [{ stateless: true }, /option "stateless" is unknown: write "sessions: false"$/],
    [{ sessionIdGenerator: undefined }, /is unknown: write "sessions: \{ createId \}"$/],
    [{ enableJsonResponse: true }, /is unknown: write "answers"$/],
    [{ constructor: 1 }, /option "constructor" is unknown; there are revisions, /],
  ])("%j", (options, message) => {
    expect(toWrong(options)).toThrow(TypeError);
    expect(toWrong(options)).toThrow(message);
  });

  test("the caller's own names are known, and suggested", () => {
    expect(toWrong({ port: 1 }, ["port", "host"])).not.toThrow();
    expect(toWrong({ prot: 1 }, ["portNumber", "hosts"])).toThrow(/there are .*, portNumber, hosts$/);
    expect(toWrong({ hots: 1 }, ["port", "hosts"])).toThrow(/did you mean "hosts"\?/);
  });
});

describe("wrong values", () => {
  const numbers = ["maxSubscriptions", "maxBodyBytes", "maxQueuedBytes", "maxInFlight", "maxStreams"];
  test.each(numbers.flatMap((key) => [0, -1, 1.5, Number.NaN, "1", null].map((value) => [key, value] as const)))(
    "%s: %j",
    (key, value) => {
      expect(toWrong({ [key]: value })).toThrow(TypeError);
      expect(toWrong({ [key]: value })).toThrow(`serveHttp: "${key}" must be a whole number, 1 or more`);
    },
  );

  test.each<[object, RegExp]>([
    [{ bodyTimeoutMs: 0 }, /"bodyTimeoutMs" must be milliseconds, more than 0 \(Infinity for no limit\), not 0$/],
    [{ keepAliveMs: Number.NaN }, /not NaN$/],
    [{ readerTimeoutMs: -1 }, /not -1$/],
    [{ askTimeoutMs: -1 }, /"askTimeoutMs" must be milliseconds, 0 or more/],
    [{ retryMs: Infinity }, /"retryMs" must be a whole number, 0 or more, not Infinity/],
    [{ retryMs: 0.5 }, /"retryMs" must be a whole number/],
    [{ cors: { maxAgeSeconds: -1 } }, /"cors\.maxAgeSeconds" must be/],
    [{ cors: { allowedHeaders: ["x y"] } }, /"cors\.allowedHeaders" lists names of headers; "x y" is none/],
    [{ cors: { exposedHeaders: ["*"] } }, /"\*" is none/],
    [{ cors: { exposedHeaders: ["a\r\nb: c"] } }, /is none/],
    [{ cors: { exposedHeaders: "a" } }, /"cors\.exposedHeaders" must be a list of strings, not a string/],
    [{ cors: 1 }, /"cors" must be true, false or an object, not 1/],
    [{ sse: "yes" }, /"sse" must be true, false or an object, not a string/],
    [{ sessions: true }, /"sessions" must be false or an object, not true/],
    [{ sessions: null }, /"sessions" must be false or an object, not null/],
    [{ sessions: { max: 0 } }, /"sessions\.max" must be a whole number, 1 or more/],
    [{ sessions: { maxEvents: -1 } }, /"sessions\.maxEvents" must be a whole number, 0 or more/],
    [{ sessions: { idleMs: 0 } }, /"sessions\.idleMs" must be milliseconds/],
    [{ sessions: { createId: "abc" } }, /"sessions\.createId" must be a function, not a string/],
    [{ sessions: false, sse: true }, /a connection of HTTP\+SSE is a session/],
    [{ answers: "json" }, /"answers" must be "auto" or "stream", not a string/],
    [{ allowedHosts: "a.example" }, /"allowedHosts" must be a list of strings, not a string/],
    [{ allowedOrigins: [1] }, /"allowedOrigins" must be a list of strings, not a list/],
    [{ dangerouslyAllowAnyHost: "false" }, /"dangerouslyAllowAnyHost" must be true or false, not a string/],
    [{ dangerouslyAllowAnyHost: 1 }, /must be true or false, not 1/],
    [{ auth: "s3cret" }, /"auth" must be a function, not a string/],
    [{ onAccess: {} }, /"onAccess" must be a function, not an object/],
    [{ onMetrics: null }, /"onMetrics" must be a function, not null/],
    [{ revisions: [] }, /"revisions" is a list of one or more of 2024-11-05, /],
    [{ revisions: ["2099-01-01"] }, /"revisions" is a list/],
    [{ revisions: "2025-06-18" }, /"revisions" is a list/],
    [{ routes: [] }, /"routes" is an object of functions by path/],
    [{ routes: { healthz: () => ({}) } }, /"routes" has "healthz": a path begins with "\/"/],
    [{ routes: { "/healthz": "ok" } }, /"routes" has "\/healthz", which must be a function, not a string/],
  ])("%j", (options, message) => {
    expect(toWrong(options)).toThrow(TypeError);
    expect(toWrong(options)).toThrow(message);
    expect(toWrong(options)).not.toThrow(/s3cret/);
  });

  test.each([undefined, null, [], "mcp", 1, () => {}])("options: %j", (options) => {
    expect(toWrong(options)).toThrow(TypeError);
    expect(toWrong(options)).toThrow(/^serveHttp: options must be an object/);
  });

  test.each<[unknown, RegExp]>([
    ["mcp", /"path" is "mcp": a path begins with "\/"/],
    ["", /begins with/],
    ["https://a.example/mcp", /begins with/],
    ["/mcp?x=1", /no query/],
    ["/mcp#x", /no fragment/],
    ["/m cp", /visible ASCII/],
    ["/mcp\r\n", /visible ASCII/],
    ["/bücher", /percent-encoded/],
    [null, /"path" must be a path, not null/],
    [1, /"path" must be a path, not 1/],
  ])("path: %j", (path, message) => {
    expect(toWrong({ path })).toThrow(TypeError);
    expect(toWrong({ path })).toThrow(message);
    expect(toWrong({ sse: { path } })).toThrow(TypeError);
    expect(toWrong({ sse: { messagesPath: path } })).toThrow(TypeError);
  });

  const route = () => ({});
  test.each<[object, RegExp]>([
    [{ path: "/sse", sse: true }, /"sse\.path" and "path" both have "\/sse": give each its own/],
    [{ path: "/messages", sse: true }, /"sse\.messagesPath" and "path" both have "\/messages"/],
    [{ sse: { path: "/x", messagesPath: "/x" } }, /"sse\.messagesPath" and "sse\.path"/],
    [{ path: "/mcp", routes: { "/mcp": route } }, /"routes" and "path"/],
    [{ sse: true, routes: { "/sse": route } }, /"routes" and "sse\.path"/],
  ])("one path for two: %j", (options, message) => {
    expect(toWrong(options)).toThrow(TypeError);
    expect(toWrong(options)).toThrow(message);
  });
});

describe("the id of a session", () => {
  test.each(["x".repeat(16), "~!".repeat(128), "123e4567-e89b-42d3-a456-426614174000"])("%s", (id) => {
    expect(() => assertSessionId(id)).not.toThrow();
  });
  test.each([
    ...["", "x".repeat(15), "x".repeat(257), `${"x".repeat(16)} `, `${"x".repeat(16)}\n`, `${"x".repeat(16)}\0`],
    ...[`${"x".repeat(16)}é`, 1, undefined, null, ["x".repeat(16)]],
  ])("not %j", (id) => {
    expect(() => assertSessionId(id)).toThrow(TypeError);
  });
});
