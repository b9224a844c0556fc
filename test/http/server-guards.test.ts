// Who may call: Host and Origin, authentication, browsers' preflights, and where a server listens at all.
import { serveHttp } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer } from "./answer.ts";
import { callModern, initializeBody, modern, modernBody, modernHeaders, openSession, sessioned } from "./callers.ts";
import { feeds, type Headers, type Http, jsonHeaders, openHttp } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const hold = call("hold", { key: "k" });

/** Every kind of request of a revision, with these headers besides. */
async function sendAll(http: Http, revision: string, session: Headers, headers: Headers): Promise<Answer[]> {
  const note = { jsonrpc: "2.0", method: "notifications/x" };
  if (revision === modern) {
    const body = modernBody("tools/call", hold);
    const all = { ...modernHeaders(body), ...headers };
    return [await http.send({ body, headers: all }), await http.send({ body: note, headers: all })];
  }
  const all = { ...jsonHeaders, ...session, ...headers };
  const { "mcp-session-id": _, ...without } = all as Record<string, string>;
  return [
    await http.send({ body: initializeBody(revision), headers: without }),
    await http.send({ body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: hold }, headers: all }),
    await http.send({ body: note, headers: all }),
    await http.send({ method: "GET", headers: all }),
    await http.send({ method: "DELETE", headers: all }),
  ];
}

describe.each(feeds)("on the %s feed", (feed) => {
  describe.each([...sessioned, modern])("in %s", (revision) => {
    async function open(options = {}, headers: Headers = {}) {
      const stage = createStage();
      const http = await openHttp(stage.server, options, feed);
      const session = revision === modern ? {} : (await openSession(http, revision, { headers })).headers;
      return { stage, http, session };
    }

    test.each(["https://evil.example", "null", "http://127.0.0.1.evil.example", "nonsense"])(
      "origin %s is 403, and nothing runs",
      async (origin) => {
        covers(["http-origin-validation", "http-origin-403", "http-origin-403-body"], revision);
        const { http, session, stage } = await open();
        for (const answer of await sendAll(http, revision, session, { origin })) {
          expect(answer.status).toBe(403);
          const told = await answer.json();
          expect(told).toEqual({ jsonrpc: "2.0", error: { code: -32600, message: expect.any(String) } });
        }
        expect(stage.begun).toEqual([]);
        // The session is as it was.
        if (revision !== modern) expect((await http.get(session)).status).toBe(200);
      },
    );

    test("an own origin passes, and one that is allowed", async () => {
      covers("http-origin-validation", revision);
      const origins = ["http://localhost:3000", "https://app.example.com"];
      const { http, session, stage } = await open({ allowedOrigins: origins.slice(1) });
      stage.release("k");
      for (const origin of origins) {
        const [first] = await sendAll(http, revision, session, { origin });
        expect(first?.status).toBe(200);
      }
    });

    test("a Host of another name is 403: a name that leads here is not enough", async () => {
      const { http, session, stage } = await open();
      for (const host of ["evil.example", `evil.example:${http.port}`]) {
        for (const answer of await sendAll(http, revision, session, { host })) expect(answer.status).toBe(403);
      }
      expect(stage.begun).toEqual([]);
    });

    test("with an authenticator every method without credentials is 401, and says how", async () => {
      covers("http-authenticate", revision);
      const header = 'Bearer resource_metadata="https://mcp.example.com/.well-known/x"';
      const auth = async (head: { header(name: string): string | undefined }) =>
        head.header("authorization") === "Bearer t"
          ? { subject: "ada", scopes: [] }
          : { status: 401, headers: { "www-authenticate": header } };
      const { http, session, stage } = await open({ auth }, { authorization: "Bearer t" });
      for (const authorization of [undefined, "Bearer other"]) {
        for (const answer of await sendAll(http, revision, session, { authorization })) {
          expect(answer.status).toBe(401);
          expect(answer.header("www-authenticate")).toBe(header);
        }
      }
      for (const method of ["PUT", "OPTIONS", "PATCH"]) expect((await http.send({ method })).status).toBe(401);
      expect(stage.begun).toEqual([]);
    });

    test("a handler sees who calls, and the headers of the request", async () => {
      const auth = (head: { header(name: string): string | undefined }) => ({
        subject: head.header("authorization") ?? "nobody",
        scopes: ["read"],
      });
      const { http, session } = await open({ auth }, { authorization: "ada" });
      const headers = { ...session, authorization: "ada", "x-agent": "a1" };
      const answer =
        revision === modern
          ? await callModern(http, "tools/call", call("whoami"), { headers })
          : await http.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call("whoami") }, headers);
      expect(JSON.stringify(await answer.result())).toMatch(/ada.*a1/);
    });
  });

  test("who is named by nothing but claims has sessions of its own", async () => {
    const { server } = createStage();
    const auth = (head: { header(name: string): string | undefined }) => ({
      scopes: [],
      claims: { sub: head.header("x-user") ?? "", exp: Number(head.header("x-exp") ?? 0) },
    });
    const http = await openHttp(server, { auth }, feed);
    const ann = await openSession(http, "2025-11-25", { headers: { "x-user": "ann" } });
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await ann.post(ping, { "x-exp": "5" })).status).toBe(200);
    expect((await ann.post(ping, { "x-user": "bob" })).status).toBe(404);
  });

  test("an authorization that has expired is 401", async () => {
    const { server } = createStage();
    let expiresAt = Date.now() / 1000 + 600;
    const http = await openHttp(server, { auth: () => ({ subject: "ann", scopes: [], expiresAt }) }, feed);
    expect((await callModern(http, "tools/list")).status).toBe(200);
    expiresAt -= 601;
    const late = await callModern(http, "tools/list");
    expect(late.status).toBe(401);
    expect(late.header("www-authenticate")).toContain("invalid_token");
  });

  test("an authenticator that fails lets nobody in, and tells nothing", async () => {
    const auth = (): never => {
      throw new Error("the key is hunter2");
    };
    const stage = createStage();
    const http = await openHttp(stage.server, { auth }, feed);
    const answer = await callModern(http, "tools/call", hold);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("hunter2");
    expect(stage.begun).toEqual([]);
    expect(stage.errors).toHaveLength(1);
  });

  describe("browsers", () => {
    const origin = "https://app.example.com";
    const ask = { origin, "access-control-request-method": "POST" };
    const preflight = (http: Http, headers: Headers): Promise<Answer> => http.send({ method: "OPTIONS", headers });
    const cors = { cors: true, allowedOrigins: [origin] };

    test("a preflight is answered with every header that MCP uses, those of parameters included", async () => {
      const http = await openHttp(createStage().server, cors, feed);
      const answer = await preflight(http, {
        ...ask,
        "access-control-request-headers": "mcp-param-region,content-type",
      });
      expect(answer.status).toBe(204);
      expect(answer.header("access-control-allow-origin")).toBe(origin);
      expect(answer.header("access-control-allow-methods")).toBe("GET, POST, DELETE, OPTIONS");
      const allowed = answer.header("access-control-allow-headers")?.split(", ");
      const wanted = [
        "content-type",
        "accept",
        "authorization",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
      ];
      for (const name of [...wanted, "mcp-name", "last-event-id", "mcp-param-region"]) expect(allowed).toContain(name);
      expect(answer.header("access-control-allow-credentials")).toBeUndefined();
    });

    test("answers can be read by its page: JSON, events, errors", async () => {
      const http = await openHttp(createStage().server, cors, feed);
      const answers = [
        await callModern(http, "tools/list", {}, { headers: { origin } }),
        await callModern(http, "tools/call", call("tell", { key: "k", count: 1 }, "p"), { headers: { origin } }),
        await callModern(http, "no/such", {}, { headers: { origin } }),
        await http.post("{", { origin }),
        await http.send({ method: "PUT", headers: { origin } }),
      ];
      for (const answer of answers) {
        expect(answer.header("access-control-allow-origin")).toBe(origin);
        expect(answer.header("access-control-expose-headers")).toContain("mcp-session-id");
        expect(answer.header("vary")).toBe("origin");
      }
    });

    test("a page of another origin is told nothing, and neither is anybody without the option", async () => {
      const http = await openHttp(createStage().server, cors, feed);
      const refused = await preflight(http, { ...ask, origin: "https://evil.example" });
      expect([refused.status, refused.header("access-control-allow-origin")]).toEqual([403, undefined]);
      const off = await openHttp(createStage().server, { allowedOrigins: [origin] }, feed);
      const answer = await preflight(off, ask);
      expect([answer.status, answer.header("access-control-allow-origin")]).toEqual([405, undefined]);
    });

    test("a preflight needs no credentials", async () => {
      const http = await openHttp(createStage().server, { ...cors, auth: () => ({ status: 401 }) }, feed);
      expect((await preflight(http, ask)).status).toBe(204);
      expect((await callModern(http, "tools/list", {}, { headers: { origin } })).status).toBe(401);
    });
  });
});

describe("where a server listens", () => {
  test("on loopback alone, unless it is told otherwise", async () => {
    covers(["http-bind-localhost", "sse-bind-localhost"]);
    await using serving = await serveHttp(createStage().server, { sse: true });
    expect(serving.host).toBe("127.0.0.1");
    expect(serving.url).toBe(`http://127.0.0.1:${serving.port}/mcp`);
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", ""])("on %s it does not start for whoever comes", async (host) => {
    covers("http-bind-localhost");
    const { server } = createStage();
    await expect(serveHttp(server, { host })).rejects.toThrow(/allowedHosts.*auth.*127\.0\.0\.1/s);
    await expect(serveHttp(server, { host, allowedOrigins: ["https://a.example"] })).rejects.toThrow(TypeError);
  });

  test("on all addresses it starts when something says for whom", async () => {
    const { server } = createStage();
    const options = [
      { allowedHosts: ["localhost"] },
      { auth: () => ({ scopes: [] }) },
      { dangerouslyAllowAnyHost: true },
    ];
    for (const option of options) {
      const serving = await serveHttp(server, { host: "0.0.0.0", ...option });
      expect(serving.port).toBeGreaterThan(0);
      await serving.close(0);
    }
  });

  test.each([
    [{ host: "0.0.0.0", dangerouslyAllowAnyHost: true }, "127.0.0.1:PORT"],
    [{ host: "0.0.0.0", auth: () => ({ scopes: [] }) }, "127.0.0.1:PORT"],
    [{ host: "0.0.0.0", allowedHosts: ["localhost"] }, "localhost:PORT"],
    [{ host: "0.0.0.0", allowedHosts: ["*.example.com", "mcp.example.com"] }, "mcp.example.com:PORT"],
    [{ host: "0.0.0.0", allowedHosts: ["mcp.example.com:443"] }, "mcp.example.com:443"],
    [{ host: "0.0.0.0", allowedHosts: ["mcp.example.com", "127.0.0.1"] }, "127.0.0.1:PORT"],
    [{ allowedHosts: ["localhost"] }, "localhost:PORT"],
  ])("its url is one that clients can use: %o", async (options, host) => {
    await using serving = await serveHttp(createStage().server, options);
    expect(serving.url).toBe(`http://${host.replace("PORT", `${serving.port}`)}/mcp`);
  });

  test.each([
    { host: 5 },
    { port: "80" },
    { maxHeaderBytes: -1 },
    { maxHeaderBytes: "1k" },
    { headerTimeoutMs: 0 },
    { headerTimeoutMs: "1s" },
    { maxConnections: 0 },
    { maxConnections: 1.5 },
  ])("an option that makes no sense is said: %o", async (options) => {
    const { server } = createStage();
    const [name] = Object.keys(options);
    await expect(serveHttp(server, options as never)).rejects.toThrow(new RegExp(`^serveHttp: .*${name}`));
    await expect(serveHttp(server, options as never)).rejects.toThrow(TypeError);
  });

  test("what has no limit, or is no whole number of milliseconds, is served", async () => {
    const { server } = createStage();
    const none = Number.POSITIVE_INFINITY;
    for (const options of [
      { maxHeaderBytes: none, headerTimeoutMs: none, maxConnections: none, bodyTimeoutMs: none },
      { headerTimeoutMs: 1000.5, bodyTimeoutMs: 60_000.5 },
    ])
      expect((await callModern(await openHttp(server, options), "tools/list")).status).toBe(200);
  });

  test("a server that could not listen leaves nothing behind", async () => {
    const { server } = createStage();
    await using first = await serveHttp(server);
    let watching = 0;
    const endpoint = Object.assign(Object.create(server) as typeof server, {
      watch(listener: Parameters<typeof server.watch>[0]) {
        watching++;
        const unwatch = server.watch(listener);
        let isOver = false;
        return () => {
          if (!isOver) watching--;
          isOver = true;
          unwatch();
        };
      },
    });
    await expect(serveHttp(endpoint, { port: first.port })).rejects.toThrow(/port is taken/);
    expect(watching).toBe(0);
    const second = await serveHttp(endpoint);
    expect(watching).toBeGreaterThan(0);
    await second.close(0);
    expect(watching).toBe(0);
  });

  test("a port that is taken is said in words", async () => {
    const { server } = createStage();
    await using first = await serveHttp(server);
    await expect(serveHttp(server, { port: first.port })).rejects.toThrow(/port is taken/);
    await expect(serveHttp(server, { port: 99_999 })).rejects.toThrow(TypeError);
    await expect(serveHttp(server, 3000 as never)).rejects.toThrow("an object: { port: 3000 }");
    await expect(serveHttp(server, null as never)).rejects.toThrow("an object, not null");
  });
});
