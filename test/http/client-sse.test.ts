// HTTP+SSE of 2024-11-05 from our client's side: when it is tried, and how it is spoken.
import type { ServerResponse } from "node:http";
import type { Revision } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  errorOf,
  events,
  failure,
  type Handler,
  initialized,
  json,
  modern,
  reach,
  result,
  type Seen,
  type Stage,
  serveScript,
  text,
} from "./client-stage.ts";

interface OldOptions {
  readonly revision?: Revision;
  /** What a POST to the URL itself is answered with. */
  readonly refuse?: (seen: Seen, res: ServerResponse) => void;
  readonly endpoint?: (origin: string) => string;
  readonly handle?: (seen: Seen, stream: ReturnType<typeof events>, res: ServerResponse) => unknown;
}

/** A server that has the old transport alone. */
async function serveOld(options: OldOptions = {}): Promise<Stage> {
  const { revision = "2024-11-05", refuse = (_, res) => json(res, 405) } = options;
  const { endpoint = () => "/messages?session=abc123secret" } = options;
  let stream: ReturnType<typeof events>;
  const handle: Handler = (seen, res) => {
    if (seen.verb === "GET") {
      stream = events(res);
      stream.raw(": hello\n\n");
      stream.raw(`event: endpoint\ndata: ${endpoint(stage.origin)}\n\n`);
    } else if (!seen.path.startsWith("/messages")) refuse(seen, res);
    else if (!options.handle?.(seen, stream, res)) {
      res.writeHead(202).end("Accepted");
      if (seen.method === "initialize") stream.send(result(seen.id, initialized(revision)));
      else if (seen.method === "tools/call") stream.send(result(seen.id, text("done")));
      else if (seen.id !== undefined) stream.send(result(seen.id, { tools: [] }));
    }
  };
  const stage = await serveScript(handle);
  return stage;
}

describe("the older transport is tried when", () => {
  test.each<[string, (seen: Seen, res: ServerResponse) => void]>([
    ["400", (_, res) => json(res, 400)],
    ["404", (_, res) => json(res, 404)],
    ["405", (_, res) => json(res, 405)],
    ["404 with a page", (_, res) => void res.writeHead(404, { "content-type": "text/html" }).end("<h1>no</h1>")],
    ["400 with words", (_, res) => void res.writeHead(400).end("Missing sessionId parameter")],
    ["400 with -32000", (_, res) => json(res, 400, failure(null, -32000))],
  ])("`initialize` is answered with %s", async (_, refuse) => {
    covers([
      "sse-compat-client-fallback",
      "sse-compat-client-fallback-2025-11",
      "sse-compat-client-fallback-2026",
      "sse-compat-client-old-transport",
      "sse-compat-client-one-url",
      "sse-compat-client-post-first",
      "sse-client-posts",
    ]);
    const stage = await serveOld({ refuse });
    const { client, warnings } = await reach(stage.url);
    expect(client.revision).toBe("2024-11-05");
    expect((await client.callTool("t")).text).toBe("done");
    const at = stage.order.indexOf("GET");
    expect(stage.order.slice(0, at)).toEqual(["server/discover", "initialize"]);
    expect(stage.seen[at]).toMatchObject({
      path: "/mcp",
      headers: { accept: expect.stringContaining("text/event-stream") },
    });
    for (const seen of stage.seen.slice(at + 1))
      expect(seen).toMatchObject({ verb: "POST", path: "/messages?session=abc123secret" });
    expect(stage.order.slice(at + 1)).toEqual(["initialize", "notifications/initialized", "tools/call"]);
    expect(warnings).toEqual([]);
  });

  test("and not when the answer is one of a newer server", async () => {
    covers("sse-compat-client-fallback-2026");
    const answers: [number, (id: unknown) => object][] = [
      [404, (id) => failure(id, -32601)],
      [400, (id) => failure(id, -32022, "no", { supported: ["2026-07-28"] })],
      [400, (id) => failure(id, -32020)],
      [400, (id) => failure(id, -32021)],
      [400, (id) => failure(id, -32602, "Unsupported protocol version", { supported: ["2025-11-25"], requested: "x" })],
    ];
    for (const [status, answer] of answers) {
      const stage = await serveScript((seen, res) => json(res, status, answer(seen.id)));
      await errorOf(reach(stage.url, { revision: "2025-06-18" }));
      expect(stage.order).toEqual(["initialize"]);
    }
  });

  test.each([401, 403, 429, 500, 503])("and not by %i", async (status) => {
    const stage = await serveOld({ refuse: (_, res) => json(res, status) });
    const error = await errorOf(reach(stage.url, { revision: "2024-11-05" }));
    expect(error.message).toContain(`HTTP ${status}`);
    expect(stage.order).toEqual(["initialize"]);
  });

  test("and if it is not there either, what the server said first is told", async () => {
    const stage = await serveScript((seen, res) =>
      seen.verb === "GET" ? json(res, 404) : void res.writeHead(404).end("nothing here"),
    );
    const error = await errorOf(reach(stage.url));
    expect(error).toMatchObject({ code: "peer_error", data: { status: 404 } });
    expect(error.message).toContain('initialize was answered with HTTP 404 Not Found: "nothing here"');
    expect(stage.order).toEqual(["server/discover", "initialize", "GET"]);
  });
});

test("what was found is remembered: the next connection begins with it", async () => {
  covers("era-cache");
  const stage = await serveOld();
  const first = await reach(stage.url);
  // What is under way when it closes may come or not.
  await stage.heard("notifications/initialized");
  await first.client.close();
  const before = stage.seen.length;
  const { client } = await reach(stage.url);
  await client.callTool("t");
  expect(stage.order.slice(before)).toEqual(["GET", "initialize", "notifications/initialized", "tools/call"]);
});

test("and found out anew when it holds no longer", async () => {
  covers(["era-persist", "sse-compat-client-one-url"]);
  let stream: ReturnType<typeof events> | undefined;
  let isNew = false;
  const newer = modern(() => false);
  const stage = await serveScript((seen, res) => {
    if (isNew) void newer(seen, res);
    else if (seen.verb === "GET") {
      stream = events(res);
      stream.raw("event: endpoint\ndata: /messages\n\n");
    } else if (seen.path !== "/messages") json(res, 404);
    else {
      json(res, 202);
      if (seen.method === "initialize") stream?.send(result(seen.id, initialized("2024-11-05")));
    }
  });
  await (await reach(stage.url)).client.close();
  isNew = true;
  const { client } = await reach(stage.url);
  expect(client.revision).toBe("2026-07-28");
});

test("a newer revision over the older transport says so in its headers", async () => {
  const stage = await serveOld({ revision: "2025-06-18" });
  const { client } = await reach(stage.url);
  expect(client.revision).toBe("2025-06-18");
  await client.callTool("t");
  expect(stage.of("tools/call")[0]?.headers["mcp-protocol-version"]).toBe("2025-06-18");
  expect(stage.of("initialize").at(-1)?.headers["mcp-protocol-version"]).toBeUndefined();
});

test("the end is the end of the stream", async () => {
  covers("sse-client-close");
  const stage = await serveOld();
  const { client } = await reach(stage.url);
  await client.callTool("t");
  const get = await stage.heard("GET");
  await client.close();
  await get.gone;
  expect(stage.of("DELETE")).toEqual([]);
});

describe("the endpoint", () => {
  test("may be written whole, if it is of the same origin", async () => {
    const stage = await serveOld({ endpoint: (origin) => `${origin}/messages/whole` });
    const { client } = await reach(stage.url);
    await client.callTool("t");
    expect(stage.of("tools/call")[0]?.path).toBe("/messages/whole");
  });

  test.each([
    ["of another origin", () => "http://127.0.0.2:1/messages"],
    ["of another origin, without saying the scheme", () => "//evil.example/messages"],
    ["with credentials", (origin: string) => origin.replace("//", "//me:you@")],
    ["that is none", () => "http://["],
    ["of a script", () => "javascript:alert(1)"],
  ])("%s is not used", async (_, endpoint) => {
    const stage = await serveOld({ endpoint });
    const error = await errorOf(reach(stage.url));
    expect(error.message).toContain("HTTP 405");
    expect(stage.order.at(-1)).toBe("GET");
  });

  test("that a stream does not begin with is none", async () => {
    const stage = await serveScript((seen, res) => {
      if (seen.verb === "GET") events(res).send({ jsonrpc: "2.0", method: "notifications/message", params: {} });
      else json(res, 405);
    });
    expect((await errorOf(reach(stage.url))).message).toContain("HTTP 405");
    await (await stage.heard("GET")).gone;
  });
});

describe("when things go wrong", () => {
  test("a message that is refused fails by itself, and the session's name is not told", async () => {
    const stage = await serveOld({
      handle(seen, _, res) {
        if (seen.method !== "tools/call") return false;
        res.writeHead(404).end("no session abc123secret");
        return true;
      },
    });
    const { client } = await reach(stage.url);
    const error = await errorOf(client.callTool("t"));
    expect(error.message).toContain("HTTP 404");
    expect(error.message).not.toContain("abc123secret");
    expect(await client.listTools().all()).toEqual([]);
  });

  test("a stream that breaks is a lost session, and another one is opened", async () => {
    const stage = await serveOld({
      handle(seen, stream) {
        if (seen.method !== "tools/call" || stage.of("GET").length > 1) return false;
        stream.cut();
        return true;
      },
    });
    const { client, states } = await reach(stage.url);
    await client.listTools().all();
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe("connection_lost");
    expect((await client.callTool("t")).text).toBe("done");
    expect(states).toEqual(["connecting", "open", "restarting", "open"]);
    // It may have had its effect: nobody but the caller may send it again.
    expect(stage.of("tools/call")).toHaveLength(2);
    expect(stage.of("GET")).toHaveLength(2);
  });

  test("rubbish on the stream is told of, and does no harm", async () => {
    const stage = await serveOld({
      handle(seen, stream) {
        if (seen.method === "tools/call") stream.raw("data: {rubbish\n\nevent: other\ndata: 1\n\ndata: [1,2]\n\n");
        return false;
      },
    });
    const { client, warnings } = await reach(stage.url);
    expect((await client.callTool("t")).text).toBe("done");
    expect(warnings.length).toBeGreaterThanOrEqual(2);
    expect(warnings[0]).toContain("{rubbish");
  });
});
