// How our client finds out what a server over HTTP speaks, and that it remembers.
import { connect, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  discovered,
  errorOf,
  events,
  failure,
  type Handler,
  initialized,
  json,
  modern,
  reach,
  result,
  serveScript,
  sessioned,
} from "./client-stage.ts";

describe("the probe", () => {
  test.each<[string, (id: unknown, res: Parameters<Handler>[1]) => void]>([
    ["400 with an empty body", (_, res) => json(res, 400)],
    ["400 with a page", (_, res) => void res.writeHead(400, { "content-type": "text/html" }).end("<h1>Bad</h1>")],
    ["400 with -32000 of nobody", (_, res) => json(res, 400, failure(null, -32000, "Server not initialized"))],
    ["400 with -32602", (id, res) => json(res, 400, failure(id, -32602))],
    ["400 with -32600", (id, res) => json(res, 400, failure(id, -32600))],
    ["404 with -32601", (id, res) => json(res, 404, failure(id, -32601))],
    ["404 with nothing", (_, res) => json(res, 404)],
    ["405", (_, res) => json(res, 405)],
    ["406", (_, res) => json(res, 406)],
    ["415", (_, res) => json(res, 415)],
    ["422 with words", (_, res) => void res.writeHead(422, { "content-type": "text/plain" }).end("no session")],
    ["501", (_, res) => json(res, 501)],
    ["500 with an error of JSON-RPC", (id, res) => json(res, 500, failure(id, -32603))],
    ["200 with -32601", (id, res) => json(res, 200, failure(id, -32601))],
    [
      "200 with -32601 as an event",
      (id, res) => {
        const stream = events(res);
        stream.send(failure(id, -32601));
        stream.end();
      },
    ],
    ["202 with nothing", (_, res) => json(res, 202)],
    ["200 with a page", (_, res) => void res.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>")],
    ["200 with JSON of another kind", (_, res) => json(res, 200, { ok: true })],
    ["200 with what is no JSON", (_, res) => void res.writeHead(200, { "content-type": "application/json" }).end("{")],
  ])("answered with %s leads to a session", async (_, refuse) => {
    covers(["era-http-fallback", "era-http-detect", "sse-compat-client-post-first"]);
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "server/discover") return false;
        refuse(seen.id, res);
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    expect(client.revision).toBe("2025-11-25");
    await client.callTool("t");
    expect(stage.order.slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(stage.seen[0]?.verb).toBe("POST");
    expect(stage.of("tools/call")[0]?.body?.params).toEqual({ name: "t" });
  });

  test.each([
    [-32020, { message: "Header mismatch" }],
    [-32021, { requiredCapabilities: {} }],
    [-32022, { supported: ["2099-01-01"] }],
  ])("answered with 400 and %i is an answer of a modern server", async (code, data) => {
    covers(["era-http-inspect-400", "era-modern-error-stays-modern"]);
    const stage = await serveScript((seen, res) => json(res, 400, failure(seen.id, code, "no", data)));
    const error = await errorOf(connect(stage.url));
    expect(["peer_error", "unsupported_version"]).toContain(error.code);
    expect(stage.order).toEqual(["server/discover"]);
  });

  test("answered with -32022 and a session's revision leads to that session", async () => {
    covers("era-http-modern-error");
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.method !== "server/discover") return false;
          json(res, 400, failure(seen.id, -32022, "no", { supported: ["2025-06-18"], requested: "2026-07-28" }));
          return true;
        },
        { revision: "2025-06-18" },
      ),
    );
    const { client } = await reach(stage.url);
    expect(client.revision).toBe("2025-06-18");
    expect(stage.of("initialize")[0]?.body?.params).toMatchObject({ protocolVersion: "2025-06-18" });
  });

  test("answered by a modern server stays modern", async () => {
    covers(["era-http-detect", "era-http-modern-error"]);
    const stage = await serveScript(modern(() => false));
    const { client } = await reach(stage.url);
    expect(client.revision).toBe("2026-07-28");
    await client.listTools().all();
    expect(stage.order).toEqual(["server/discover", "tools/list"]);
  });

  test.each([401, 403])("answered with %i says nothing of the era, and what to do", async (status) => {
    const stage = await serveScript((_, res) =>
      json(res, status, undefined, {
        "www-authenticate": 'Bearer realm="harbour", error="invalid_token", token="abc"',
      }),
    );
    const error = await errorOf(connect(stage.url));
    expect(error.code).toBe("peer_error");
    expect(error.data).toEqual({ status });
    expect(error.message).toContain(`HTTP ${status}`);
    expect(error.message).toContain('"harbour"');
    expect(error.message).toContain("authoriz");
    expect(error.message).not.toContain("abc");
    expect(stage.order).toEqual(["server/discover"]);
  });

  test.each([429, 500, 502, 503, 504])("answered with %i fails, and names it", async (status) => {
    const stage = await serveScript((_, res) => void res.writeHead(status).end("try again\nlater"));
    const error = await errorOf(connect(stage.url));
    expect(error).toMatchObject({ code: "peer_error", data: { status } });
    expect(error.message).toContain(`HTTP ${status}`);
    expect(error.message).toContain('"try again\\nlater"');
    expect(stage.order).toEqual(["server/discover"]);
  });

  test.each([429, 503])("answered with %i in the words of JSON-RPC is no verdict either", async (status) => {
    const stage = await serveScript((_, res) =>
      json(res, status, { jsonrpc: "2.0", error: { code: -32603, message: "Too many requests are open" } }),
    );
    const error = await errorOf(connect(stage.url));
    expect(error).toMatchObject({ code: "peer_error", data: { status } });
    expect(stage.order).toEqual(["server/discover"]);
  });

  test("that reaches nobody says so", async () => {
    const stage = await serveScript(() => {});
    const dead = new URL(stage.url);
    dead.port = "1";
    const error = await errorOf(connect(dead));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("http://127.0.0.1:1/mcp could not be reached: ");
    expect(error.message).not.toContain("fetch failed");
  });

  test("of a client that is held to the newest revision is its only word", async () => {
    const stage = await serveScript(sessioned(() => false));
    const error = await errorOf(connect(stage.url, { revision: "2026-07-28" }));
    expect(error.code).toBe("unsupported_version");
    expect(stage.order).toEqual(["server/discover"]);
  });
});

test.each(revisions)("a client that is held to %s speaks it from the first message", async (revision) => {
  const stage = await serveScript((seen, res) => {
    if (seen.verb !== "POST") json(res, 405);
    else if (seen.method === "initialize") json(res, 200, result(seen.id, initialized(revision)));
    else if (seen.method === "server/discover") json(res, 200, result(seen.id, discovered()));
    else json(res, 202);
  });
  const { client } = await reach(stage.url, { revision });
  expect(client.revision).toBe(revision);
  expect(stage.order[0]).toBe(revision === "2026-07-28" ? "server/discover" : "initialize");
});

describe("what was found", () => {
  test("is remembered for the server, whoever asks next", async () => {
    covers("era-cache");
    const stage = await serveScript(sessioned(() => false));
    await (await reach(stage.url)).client.close();
    await (await reach(`${stage.url}?other=query`)).client.close();
    expect(stage.of("server/discover")).toHaveLength(1);
    expect(stage.of("initialize")).toHaveLength(2);
    // Another path may be another server.
    await reach(`${stage.url}/other`);
    expect(stage.of("server/discover")).toHaveLength(2);
  });

  test("is found out anew when it holds no longer", async () => {
    covers("era-persist");
    let isNew = false;
    const older = sessioned(() => false);
    const newer = modern(() => false);
    const stage = await serveScript((seen, res) => (isNew ? newer : older)(seen, res));
    await (await reach(stage.url)).client.close();
    isNew = true;
    const { client } = await reach(stage.url);
    expect(client.revision).toBe("2026-07-28");
    expect(stage.order.slice(-2)).toEqual(["initialize", "server/discover"]);
    isNew = false;
    await client.close();
    expect((await reach(stage.url)).client.revision).toBe("2025-11-25");
  });
});
