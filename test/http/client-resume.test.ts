// Streams that break, from our client's side: taken up again in a session, lost in 2026-07-28, and never in silence.
import { type Revision, revisions } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, events, json, modern, reach, result, serveScript, sessioned, text } from "./client-stage.ts";

const inSessions = revisions.filter((revision) => revision > "2024-11-05" && revision < "2026-07-28");
const quick = { delayMs: 20, maxDelayMs: 40 };

const log = (data: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } });

describe.each(inSessions)("in %s", (revision: Revision) => {
  test.each(["in order", "cut off"])("an answer whose stream ends %s goes on behind the last event", async (how) => {
    covers(["http-resume-last-event-id", "http-sse-poll", "http-sse-empty-data"], revision);
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          const { "last-event-id": last } = seen.headers;
          if (seen.method === "tools/call") {
            const stream = events(res);
            stream.raw("id: p-0\ndata:\n\n");
            stream.send(log("one"), "p-1");
            if (how === "in order") stream.end();
            else setTimeout(stream.cut, 20);
          } else if (seen.verb === "GET" && last === "p-1") {
            const stream = events(res);
            stream.send(log("two"), "p-2");
            stream.end();
          } else if (seen.verb === "GET" && last === "p-2") {
            const stream = events(res);
            stream.send(result(stage.of("tools/call")[0]?.id, text("at last")), "p-3");
            stream.end();
          } else return false;
          return true;
        },
        { revision },
      ),
    );
    const heard: unknown[] = [];
    const { client, states, warnings } = await reach(
      { url: stage.url, reconnect: quick },
      { onLog: ({ data }) => heard.push(data) },
    );
    expect((await client.callTool("t")).text).toBe("at last");
    expect(heard).toEqual(["one", "two"]);
    expect(stage.of("tools/call")).toHaveLength(1);
    for (const { headers } of stage.of("GET")) {
      expect(headers["mcp-session-id"]).toBe("session-1");
      expect(headers.accept).toContain("text/event-stream");
    }
    // That a server polls is no trouble.
    expect(states).toEqual(["connecting", "open"]);
    expect(warnings).toEqual([]);
  });

  test("the server's own stream is taken up again behind the last event, at once if nothing was heard", async () => {
    covers(["http-resume-last-event-id", "http-sse-poll"], revision);
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.verb !== "GET") return false;
          const count = stage.of("GET").length;
          const stream = events(res);
          if (count === 2) stream.send(log("heard"), "g-7");
          if (count < 4) stream.end();
          return true;
        },
        { revision },
      ),
    );
    const heard: unknown[] = [];
    await reach({ url: stage.url, reconnect: quick }, { onLog: ({ data }) => heard.push(data) });
    await stage.heard("GET", 4);
    const last = stage.of("GET").map(({ headers }) => headers["last-event-id"]);
    expect(last).toEqual([undefined, undefined, "g-7", "g-7"]);
    expect(heard).toEqual(["heard"]);
  });

  test("the server's own stream begins anew where the server has not kept what came behind the last event", async () => {
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.verb !== "GET") return false;
          if (seen.headers["last-event-id"] !== undefined) {
            json(res, 400, { jsonrpc: "2.0", error: { code: -32600, message: "not kept" } });
            return true;
          }
          const stream = events(res);
          const count = stage.of("GET").length;
          stream.send(log(`heard ${count}`), `g-${count}`);
          if (count === 1) stream.end();
          return true;
        },
        { revision },
      ),
    );
    const heard: unknown[] = [];
    const { client } = await reach({ url: stage.url, reconnect: quick }, { onLog: ({ data }) => heard.push(data) });
    await stage.heard("GET", 3);
    await vi.waitFor(() => expect(heard).toEqual(["heard 1", "heard 3"]));
    expect(client.state).toBe("open");
  });

  test("an answer whose stream ends without an event to go on from is lost", async () => {
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.method !== "tools/call") return false;
          const stream = events(res);
          stream.send(log("one"));
          stream.end();
          return true;
        },
        { revision },
      ),
    );
    const { client } = await reach({ url: stage.url, reconnect: quick });
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("ended the stream before the answer came");
    expect(client.state).toBe("open");
    expect((await client.listTools().all()).length).toBe(0);
  });
});

describe("the time that the server asks for", () => {
  test.each([
    ["an answer", "tools/call"],
    ["the server's own stream", "GET"],
  ])("is waited for before %s is taken up again", async (_, first) => {
    covers("http-sse-retry-respected");
    const retryMs = 400;
    let endedAt = 0;
    const stage = await serveScript(
      sessioned((seen, res) => {
        const isFirst = seen.method === first || (seen.verb === first && seen.headers["last-event-id"] === undefined);
        if (isFirst) {
          const stream = events(res);
          stream.raw(`retry: ${retryMs}\nid: 1\ndata:\n\n`);
          endedAt = performance.now();
          stream.end();
        } else if (seen.verb === "GET" && seen.headers["last-event-id"] === "1") {
          const stream = events(res);
          stream.send(result(stage.of("tools/call")[0]?.id, text("late")));
          if (first === "tools/call") stream.end();
        } else return false;
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, reconnect: { delayMs: 1, maxDelayMs: 1 } });
    if (first === "tools/call") expect((await client.callTool("t")).text).toBe("late");
    else await stage.heard("GET", 2);
    const again = stage.of("GET").find(({ headers }) => headers["last-event-id"] === "1");
    expect((again?.at ?? 0) - endedAt).toBeGreaterThanOrEqual(retryMs - 5);
  });
});

describe("a stream that cannot be taken up again at once", () => {
  test("is told of, tried for without end, and told of when it is back", async () => {
    let isDown = false;
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        if (isDown && stage.of("GET").length < 9) json(res, 503);
        else {
          const stream = events(res);
          stream.send(log("here"), "1");
          if (!isDown) stream.end();
          isDown = true;
        }
        return true;
      }),
    );
    const causes: unknown[] = [];
    const states: string[] = [];
    const { client } = await reach(
      { url: stage.url, reconnect: quick },
      {
        onStateChange(state, cause) {
          states.push(state);
          causes.push(cause);
        },
      },
    );
    await stage.heard("GET", 3);
    await expect.poll(() => client.state).toBe("reconnecting");
    // Calls go on meanwhile.
    expect((await client.callTool("t")).text).toBe("done");
    await stage.heard("GET", 9);
    await expect.poll(() => client.state).toBe("open");
    expect(states).toEqual(["connecting", "open", "reconnecting", "open"]);
    expect(String(causes[2])).toContain("HTTP 503");
    for (const { headers } of stage.of("GET").slice(1)) expect(headers["last-event-id"]).toBe("1");
  });

  test("is given up after as many tries as it was told, and the connection with it", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        if (stage.of("GET").length > 1) json(res, 503);
        else events(res).end();
        return true;
      }),
    );
    const { client, states } = await reach({ url: stage.url, reconnect: { ...quick, maxAttempts: 3 } });
    await expect.poll(() => client.state).toBe("closed");
    expect(stage.of("GET")).toHaveLength(4);
    expect(states).toEqual(["connecting", "open", "reconnecting", "closed"]);
    expect((await errorOf(client.ping())).message).toContain("HTTP 503");
  });

  test("because the session is gone leads to a new one", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const isOld = seen.headers["mcp-session-id"] === "session-1";
        if (isOld && stage.of("GET").length > 1) json(res, 404);
        else if (isOld) setTimeout(events(res).end, 50);
        else events(res);
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, reconnect: quick });
    await client.listTools().all();
    await stage.heard("initialize", 2);
    await expect.poll(() => client.state).toBe("open");
    expect((await stage.heard("GET", 3)).headers["mcp-session-id"]).toBe("session-2");
  });
});

describe("a server that has no stream for us", () => {
  test.each([400, 403, 404, 405, 501])("may say so by %i, and nothing is made of it", async (status) => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        json(res, status);
        return true;
      }),
    );
    const { client, states, warnings } = await reach({ url: stage.url, reconnect: quick });
    await stage.heard("GET");
    await client.callTool("t");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stage.of("GET")).toHaveLength(1);
    expect(states).toEqual(["connecting", "open"]);
    expect(warnings).toEqual([]);
  });

  test("may answer with a page", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        res.writeHead(200, { "content-type": "text/html" }).end("<h1>MCP</h1>");
        return true;
      }),
    );
    const { client, states } = await reach({ url: stage.url, reconnect: quick });
    await stage.heard("GET");
    await client.callTool("t");
    expect(states).toEqual(["connecting", "open"]);
  });
});

describe("in 2026-07-28", () => {
  test("a stream that breaks loses its call, and is never taken up again", async () => {
    covers(["http-sse-lost-reissue", "http-sse-no-resume", "http-client-both-types"], "2026-07-28");
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        const stream = events(res);
        stream.raw("retry: 1\nid: 7\ndata:\n\n");
        stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } }, "8");
        setTimeout(stream.cut, 20);
        return true;
      }),
    );
    const { client, states } = await reach({ url: stage.url, reconnect: quick });
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe("connection_lost");
    expect(states).toEqual(["connecting", "open"]);
    expect(stage.of("tools/call")).toHaveLength(1);
    expect(stage.of("GET")).toEqual([]);
    expect(stage.seen.every(({ headers }) => headers["last-event-id"] === undefined)).toBe(true);
  });

  test.each([
    ["that may be repeated", "tools/call", { retry: true }],
    ["that is safe by itself", "tools/list", {}],
  ])("a call %s is made again, once, with another id", async (_, method, options) => {
    covers("http-sse-lost-reissue", "2026-07-28");
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== method || stage.of(method).length > 1) return false;
        events(res).cut();
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    if (method === "tools/list") expect(await client.listTools(options).all()).toEqual([]);
    else expect((await client.callTool("t", {}, options)).text).toBe("done");
    const ids = stage.of(method).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });

  test("a call is not made a third time", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        events(res).cut();
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    expect((await errorOf(client.callTool("t", {}, { retry: true }))).code).toBe("connection_lost");
    expect(stage.of("tools/call")).toHaveLength(2);
  });

  test("a subscription whose stream breaks is opened again, and that is told", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "subscriptions/listen") return false;
        const stream = events(res);
        const _meta = { "io.modelcontextprotocol/subscriptionId": seen.id };
        const { notifications } = (seen.body as { params: { notifications: unknown } }).params;
        stream.send({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { notifications, _meta },
        });
        if (stage.of("subscriptions/listen").length === 1) setTimeout(stream.cut, 50);
        else stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } });
        return true;
      }),
    );
    const kinds: string[] = [];
    const { warnings } = await reach(stage.url, { onListChanged: (kind) => kinds.push(kind) });
    await stage.heard("subscriptions/listen", 2);
    await expect.poll(() => kinds).toEqual(["tools"]);
    expect(warnings).toEqual([expect.stringContaining("until the subscription is open again")]);
    const [first, second] = stage.of("subscriptions/listen");
    expect(first?.id).not.toBe(second?.id);
    expect(first?.body?.params).toMatchObject({ notifications: { toolsListChanged: true } });
    expect(second?.body?.params).toMatchObject({ notifications: { toolsListChanged: true } });
  });

  test("a call that is given up ends with its stream, and nothing is posted about it", async () => {
    covers("http-client-cancel-closes", "2026-07-28");
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        if (stage.of("tools/call").length === 1) events(res);
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    for (const count of [1, 2]) {
      const stop = new AbortController();
      const call = errorOf(client.callTool("t", {}, { signal: stop.signal }));
      const { gone } = await stage.heard("tools/call", count);
      stop.abort();
      expect((await call).code).toBe("aborted");
      // Whether it has a stream by then, or no answer at all.
      await gone;
    }
    expect((await errorOf(client.callTool("t", {}, { timeoutMs: 30 }))).code).toBe("timeout");
    await stage.seen.at(-1)?.gone;
    await client.listTools({ fresh: true }).all();
    expect(stage.order).not.toContain("notifications/cancelled");
  });
});
