// What servers do that the protocol does not foresee, and that our client gets over without harm to the rest.
import { describe, expect, test } from "vitest";
import {
  errorOf,
  events,
  type Handler,
  json,
  modern,
  reach,
  result,
  type Stage,
  serveScript,
  sessioned,
  text,
} from "./client-stage.ts";

const quick = { delayMs: 20, maxDelayMs: 40 };

test("an answer in an array ends its call at once", async () => {
  for (const build of [modern, sessioned]) {
    const stage = await serveScript(
      build((seen, res) => {
        if (seen.method !== "tools/call") return false;
        json(res, 200, [result(seen.id, { resultType: "complete", ...text("no") })]);
        return true;
      }),
    );
    const { client, warnings } = await reach(stage.url);
    expect((await errorOf(client.callTool("t", {}, { timeoutMs: 50_000 }))).code).toBe("invalid_result");
    expect(warnings).toEqual([expect.stringContaining("batches exist only in")]);
  }
});

describe("an event that is too long", () => {
  test("fails its call in a session, and is not asked for again", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "tools/call" && seen.headers["last-event-id"] === undefined) return false;
        const stream = events(res);
        stream.raw("id: 1\ndata:\n\n");
        stream.send(result(seen.id, text("x".repeat(3000))), "2");
        stream.end();
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, maxEventBytes: 1000, reconnect: quick });
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("maxEventBytes");
    expect(stage.seen.filter(({ headers }) => headers["last-event-id"] !== undefined)).toEqual([]);
    await client.ping();
  });

  test("on the server's own stream ends the connection, and says why", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const stream = events(res);
        stream.raw("id: 1\ndata:\n\n");
        stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(3000) } }, "2");
        return true;
      }),
    );
    const causes: unknown[] = [];
    const { client } = await reach(
      { url: stage.url, maxEventBytes: 1000, reconnect: quick },
      { onStateChange: (_, cause) => causes.push(cause) },
    );
    await expect.poll(() => client.state).toBe("closed");
    expect(String(causes.at(-1))).toContain("maxEventBytes");
    expect(stage.of("GET")).toHaveLength(1);
  });
});

describe("the server's own stream", () => {
  test.each([
    ["a redirect to nowhere", 302, {}],
    ["a redirect without end", 307, { location: "/mcp" }],
  ])("that is %s is not there", async (_, status, headers) => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        json(res, status, undefined, headers);
        return true;
      }),
    );
    const { client, states } = await reach({ url: stage.url, reconnect: quick });
    await stage.heard("GET");
    await client.callTool("t");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await client.callTool("t");
    expect(states).toEqual(["connecting", "open"]);
  });

  test.each([401, 405])(
    "that is refused with %i after it was there is tried for again, and told of",
    async (status) => {
      const stage = await serveScript(
        sessioned((seen, res) => {
          if (seen.verb !== "GET") return false;
          const count = stage.of("GET").length;
          if (count > 1 && count < 4) json(res, status);
          else if (count > 1) events(res);
          else setTimeout(events(res).end, 20);
          return true;
        }),
      );
      const { client, states } = await reach({ url: stage.url, reconnect: quick });
      await stage.heard("GET", 4);
      await expect.poll(() => client.state).toBe("open");
      await client.callTool("t");
      expect(states).toEqual(["connecting", "open", "reconnecting", "open"]);
      expect(stage.of("initialize")).toHaveLength(1);
    },
  );

  test("that is not there after some trouble is no trouble", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        json(res, stage.of("GET").length === 1 ? 503 : 405);
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, reconnect: quick });
    await stage.heard("GET", 2);
    await expect.poll(() => client.state).toBe("open");
  });
});

describe("the stream of an answer that is not taken up again", () => {
  const build = async (status: number): Promise<Stage> => {
    const handle: Handler = (seen, res) => {
      const isFirst = stage.of("initialize").length === 1;
      if (seen.verb === "GET") json(res, seen.headers["last-event-id"] === undefined ? 405 : status);
      else if (isFirst && (seen.method === "tools/list" || seen.method === "tools/call")) {
        const stream = events(res);
        stream.raw("id: 1\nretry: 5\ndata:\n\n");
        stream.end();
      } else return false;
      return true;
    };
    const stage = await serveScript(sessioned(handle));
    return stage;
  };

  test("because of 404 is a session that is gone", async () => {
    const stage = await build(404);
    const { client, states } = await reach({ url: stage.url, reconnect: quick });
    expect(await client.listTools().all()).toEqual([]);
    expect(states).toEqual(["connecting", "open", "restarting", "open"]);
    expect(stage.of("tools/list")).toHaveLength(2);
  });

  test("because of 404 loses a call that may have run", async () => {
    const stage = await build(404);
    const { client } = await reach({ url: stage.url, reconnect: quick });
    expect((await errorOf(client.callTool("t"))).code).toBe("connection_lost");
    expect(stage.of("tools/call")).toHaveLength(1);
    expect((await client.callTool("t")).text).toBe("done");
  });

  test("because of anything else is a lost call", async () => {
    const stage = await build(403);
    const { client, states } = await reach({ url: stage.url, reconnect: quick });
    const error = await errorOf(client.callTool("t"));
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("could not be taken up again");
    expect(error.message).toContain("HTTP 403");
    expect(states).toEqual(["connecting", "open"]);
  });
});

test("a call that is given up before the session is open is not sent", async () => {
  let accept = (): void => {};
  const accepted = new Promise<void>((resolve) => {
    accept = resolve;
  });
  const stage = await serveScript(
    sessioned(async (seen) => {
      if (seen.method === "notifications/initialized") await accepted;
      return false;
    }),
  );
  const { client } = await reach(stage.url);
  const stop = new AbortController();
  const call = errorOf(client.callTool("t", {}, { signal: stop.signal }));
  await stage.heard("notifications/initialized");
  stop.abort();
  expect((await call).code).toBe("aborted");
  accept();
  await client.ping();
  expect(stage.of("tools/call")).toEqual([]);
});

test("a call made by whoever hears that the connection is lost waits for the next one", async () => {
  let isForgetful = true;
  const stage = await serveScript(
    sessioned((seen, res) => {
      if (seen.method !== "tools/call" || !isForgetful) return false;
      isForgetful = false;
      json(res, 404);
      return true;
    }),
  );
  const inner: Promise<unknown>[] = [];
  const { client } = await reach(stage.url, {
    onStateChange(state) {
      if (state === "restarting") inner.push(client.callTool("inner").then((called) => called.text));
    },
  });
  await client.listTools().all();
  expect((await client.callTool("outer")).text).toBe("done");
  expect(await Promise.all(inner)).toEqual(["done"]);
});

test("the time that a call may take in all holds while its tool is looked up", async () => {
  const stage = await serveScript(modern((seen) => seen.method === "tools/list"));
  const { client } = await reach(stage.url);
  const error = await errorOf(client.callTool("t", {}, { timeoutMs: 0, maxTimeoutMs: 100 }));
  expect(error.code).toBe("timeout");
  expect(stage.of("tools/call")).toEqual([]);
});

test("a probe that is answered with an empty stream is answered", async () => {
  const stage = await serveScript(
    sessioned((seen, res) => {
      if (seen.method !== "server/discover") return false;
      events(res).end();
      return true;
    }),
  );
  expect((await reach(stage.url)).client.revision).toBe("2025-11-25");
});

test("why HTTP+SSE cannot be used is told", async () => {
  const stage = await serveScript((seen, res) => {
    if (seen.verb === "GET") events(res).raw("event: endpoint\ndata: https://elsewhere.example/m\n\n");
    else json(res, 405);
  });
  const error = await errorOf(reach(stage.url));
  expect(error.message).toContain("HTTP 405");
  expect(error.message).toContain("https://elsewhere.example, which is another origin");
});

test("a POST over HTTP+SSE that is never accepted ends with its call", async () => {
  let stream: ReturnType<typeof events> | undefined;
  const stage = await serveScript((seen, res) => {
    if (seen.verb === "GET") {
      stream = events(res);
      stream.raw("event: endpoint\ndata: /messages\n\n");
    } else if (seen.path === "/mcp") json(res, 404);
    else if (seen.method !== "tools/call") {
      json(res, 202);
      if (seen.method === "initialize")
        stream?.send(
          result(seen.id, {
            protocolVersion: "2024-11-05",
            capabilities: { tools: {} },
            serverInfo: { name: "by hand", version: "1" },
          }),
        );
    }
  });
  const { client } = await reach(stage.url);
  expect((await errorOf(client.callTool("t", {}, { timeoutMs: 50 }))).code).toBe("timeout");
  await (await stage.heard("tools/call")).gone;
  expect(client.state).toBe("open");
});
