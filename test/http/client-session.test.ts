// Sessions of 2025-03-26 to 2025-11-25 over HTTP, from our client's side: its headers, its streams, its end, and what
// becomes of it when the server has forgotten it.
import { type Revision, revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  errorOf,
  events,
  failure,
  initialized,
  json,
  reach,
  result,
  type Seen,
  serveScript,
  sessioned,
  text,
} from "./client-stage.ts";

const inSessions = revisions.filter((revision) => revision > "2024-11-05" && revision < "2026-07-28");
const idOf = ({ headers }: Seen): unknown => headers["mcp-session-id"];
const versionOf = ({ headers }: Seen): unknown => headers["mcp-protocol-version"];

describe.each(inSessions)("in %s", (revision: Revision) => {
  test("every message is a POST of its own with the session's headers, and the end is a DELETE", async () => {
    covers(
      [
        "http-post-per-message",
        "http-post-accept",
        "http-post-body-single",
        "http-post-body-batchable",
        "session-echo",
        "session-delete",
        "header-version-after-init",
        "header-version-negotiated",
        "http-get-listen",
        "http-get-accept",
        "http-get-405-tolerated",
      ],
      revision,
    );
    const stage = await serveScript(sessioned(() => false, { revision }));
    const { client, warnings, states } = await reach(stage.url);
    expect(client.revision).toBe(revision);
    await client.listTools().all();
    await client.ping();
    await stage.heard("GET");
    await client.callTool("t");
    await client.close();
    const [probe, opening, ...rest] = stage.seen as [Seen, Seen, ...Seen[]];
    expect([idOf(probe), idOf(opening), versionOf(opening)]).toEqual([undefined, undefined, undefined]);
    for (const one of rest) {
      expect(idOf(one), one.method).toBe("session-1");
      // The header is new in 2025-06-18.
      expect(versionOf(one), one.method).toBe(revision >= "2025-06-18" ? revision : undefined);
    }
    for (const { verb, headers, body } of stage.seen) {
      if (verb === "POST") {
        expect(headers["content-type"]).toBe("application/json");
        expect(headers.accept).toContain("application/json");
        expect(body).toMatchObject({ jsonrpc: "2.0", method: expect.any(String) });
      }
      if (verb !== "DELETE") expect(headers.accept).toContain("text/event-stream");
    }
    expect(stage.order.at(-1)).toBe("DELETE");
    expect(stage.order.slice(2).sort()).toEqual(
      ["notifications/initialized", "GET", "tools/list", "ping", "tools/call", "DELETE"].sort(),
    );
    expect(warnings).toEqual([]);
    expect(states).toEqual(["connecting", "open", "closed"]);
  });

  test("both kinds of answer will do", async () => {
    covers(["http-client-both-types", "http-multiple-streams"], revision);
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.method !== "initialize" && seen.method !== "tools/call") return false;
          const stream = events(res, { "mcp-session-id": "abc" });
          stream.raw(": hello\n\n");
          stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "first" } });
          stream.send(result(seen.id, seen.method === "initialize" ? initialized(revision) : text("streamed")));
          stream.end();
          return true;
        },
        { revision },
      ),
    );
    const heard: unknown[] = [];
    const { client } = await reach(stage.url, { onLog: ({ data }) => heard.push(data) });
    const calls = await Promise.all([1, 2, 3].map(() => client.callTool("t")));
    expect(calls.map((call) => call.text)).toEqual(["streamed", "streamed", "streamed"]);
    expect(heard.filter((one) => one === "first").length).toBeGreaterThanOrEqual(3);
    expect(stage.of("tools/call").every((one) => idOf(one) === "abc")).toBe(true);
  });

  test("a call that is given up is cancelled by a message", async () => {
    covers("http-explicit-cancel", revision);
    const stage = await serveScript(sessioned((seen) => seen.method === "tools/call", { revision }));
    const { client } = await reach(stage.url);
    const stop = new AbortController();
    const call = errorOf(client.callTool("t", {}, { signal: stop.signal }));
    const { id, gone } = await stage.heard("tools/call");
    stop.abort("enough");
    expect((await call).code).toBe("aborted");
    const cancelled = await stage.heard("notifications/cancelled");
    expect(cancelled.body?.params).toMatchObject({ requestId: id });
    await gone;
  });

  test("what the server asks and tells by itself comes on its own stream", async () => {
    covers(["http-get-listen", "http-get-client-close"], revision);
    let stream: ReturnType<typeof events> | undefined;
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.verb !== "GET") return false;
          stream = events(res);
          return true;
        },
        { revision },
      ),
    );
    const kinds: string[] = [];
    const { client } = await reach(stage.url, { onListChanged: (kind) => kinds.push(kind) });
    const { gone } = await stage.heard("GET");
    stream?.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    stream?.send({ jsonrpc: "2.0", id: "q", method: "ping" });
    const { body } = await stage.heard("answer");
    expect(body).toEqual({ jsonrpc: "2.0", id: "q", result: {} });
    expect(kinds).toEqual(["tools"]);
    await client.close();
    await gone;
    expect(stage.order.at(-1)).toBe("DELETE");
  });

  test("a session that the server has forgotten is opened anew, and what was refused is sent again", async () => {
    covers(["session-404-reinit"], revision);
    let isForgetful = false;
    const stage = await serveScript(
      sessioned(
        (seen, res) => {
          if (seen.method === "initialize") isForgetful = false;
          if (!isForgetful || seen.id === undefined) return false;
          json(res, 404, failure(null, -32001, `Session ${idOf(seen)} not found`));
          return true;
        },
        { revision },
      ),
    );
    const { client, states, warnings } = await reach(stage.url);
    await client.listTools().all();
    isForgetful = true;
    // None of them ran, so all are sent again, whatever they do.
    const calls = await Promise.all([1, 2, 3].map(() => client.callTool("t")));
    expect(calls.map((call) => call.text)).toEqual(["done", "done", "done"]);
    expect(states).toEqual(["connecting", "open", "restarting", "open"]);
    const again = stage.of("initialize")[1] as Seen;
    expect([idOf(again), versionOf(again)]).toEqual([undefined, undefined]);
    const after = stage.seen.slice(stage.seen.indexOf(again) + 1);
    expect(after.filter((one) => one.method === "tools/call")).toHaveLength(3);
    for (const one of after) expect(idOf(one)).toBe("session-2");
    expect(JSON.stringify(warnings)).not.toContain("session-");
    // And again, some time later.
    isForgetful = true;
    expect((await client.callTool("t")).text).toBe("done");
    await client.close();
    expect(stage.of("DELETE").map(idOf)).toEqual(["session-3"]);
  });
});

test("a session id is the server's secret with us: it is in no warning and no error", async () => {
  covers("session-id-secret");
  const secret = "topsecret0123456789";
  const stage = await serveScript(
    sessioned(
      (seen, res) => {
        if (seen.method === "tools/call") json(res, 500, { message: `session ${secret} is broken` });
        else if (seen.method === "prompts/get") json(res, 400, failure(seen.id, -32000, `${secret} is wrong`));
        else if (seen.method === "notifications/roots/list_changed") json(res, 500, `no ${secret}`);
        else return false;
        return true;
      },
      { session: () => secret },
    ),
  );
  const { client, warnings } = await reach(stage.url, { roots: [] });
  const errors = [await errorOf(client.callTool("t")), await errorOf(client.getPrompt("p"))];
  client.setRoots([]);
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toContain("HTTP 500");
  expect(errors[0]?.message).toContain("HTTP 500");
  expect(errors[1]).toMatchObject({ code: "peer_error", rpcCode: -32000 });
  for (const one of [...errors.map(String), ...warnings, client.server])
    expect(JSON.stringify(one)).not.toContain(secret);
});

test("a session id with characters that it cannot have is refused", async () => {
  const stage = await serveScript(sessioned(() => false, { session: () => "with space" }));
  const error = await errorOf(reach(stage.url));
  expect(error.message).toContain("session id");
});

test("a server without sessions is none the worse for it", async () => {
  const stage = await serveScript(sessioned(() => false, { session: () => undefined }));
  const { client } = await reach(stage.url);
  await client.callTool("t");
  await client.close();
  expect(stage.seen.map(idOf).filter((id) => id !== undefined)).toEqual([]);
  expect(stage.of("DELETE")).toEqual([]);
});

test("nothing is asked before the server has heard that the session is open", async () => {
  let isOpen = false;
  const stage = await serveScript(
    sessioned(async (seen, res) => {
      if (seen.method === "notifications/initialized") {
        await new Promise((resolve) => setTimeout(resolve, 50));
        isOpen = true;
      } else if (
        seen.id !== undefined &&
        seen.method !== "initialize" &&
        seen.method !== "server/discover" &&
        !isOpen
      ) {
        json(res, 400, failure(seen.id, -32600, "too early"));
        return true;
      }
      return false;
    }),
  );
  const { client } = await reach(stage.url, { logLevel: "info" });
  expect((await client.callTool("t")).text).toBe("done");
  expect(stage.of("logging/setLevel")).toHaveLength(1);
});

describe("a session that is gone", () => {
  test("is told by 400 and words too, as some servers do", async () => {
    let isForgetful = false;
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method === "initialize") isForgetful = false;
        if (!isForgetful || seen.id === undefined) return false;
        json(res, 400, failure(null, -32000, "Bad Request: No valid session ID provided"));
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    await client.listTools().all();
    isForgetful = true;
    expect((await client.callTool("t")).text).toBe("done");
    expect(stage.of("initialize")).toHaveLength(2);
  });

  test("is not told by 404 with a method that the server does not know", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "com.example/own") return false;
        json(res, 404, failure(seen.id, -32601));
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    expect((await errorOf(client.request("com.example/own"))).rpcCode).toBe(-32601);
    expect(stage.of("initialize")).toHaveLength(1);
  });

  test("is not what a 404 right after it was opened anew tells: that is the call's, and the rest goes on", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "tools/call") return false;
        json(res, 404);
        return true;
      }),
    );
    const { client, states } = await reach(stage.url);
    const error = await errorOf(client.callTool("t"));
    expect(error).toMatchObject({ code: "peer_error", data: { status: 404 } });
    expect(stage.of("initialize")).toHaveLength(2);
    expect(stage.of("tools/call")).toHaveLength(2);
    expect(states).toEqual(["connecting", "open", "restarting", "open"]);
    await client.ping();
  });

  test("is not what a 404 tells that answers the call", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "tools/call") return false;
        json(res, 404, failure(seen.id, -32602, "Unknown tool: t"));
        return true;
      }),
    );
    const { client, states } = await reach(stage.url);
    await client.listTools().all();
    expect(await errorOf(client.callTool("t"))).toMatchObject({ code: "peer_error", rpcCode: -32602 });
    expect(stage.of("tools/call")).toHaveLength(1);
    expect(states).toEqual(["connecting", "open"]);
  });

  test("is left alone where nothing is to be opened again", async () => {
    covers("session-404-reinit");
    let isForgetful = false;
    const stage = await serveScript(
      sessioned((_, res) => {
        if (!isForgetful) return false;
        json(res, 404);
        return true;
      }),
    );
    const { client, states } = await reach(stage.url, { restart: false });
    isForgetful = true;
    const error = await errorOf(client.callTool("t"));
    expect(error).toMatchObject({ code: "connection_lost", cause: { isUnrun: true } });
    expect(states.at(-1)).toBe("closed");
    expect(stage.of("initialize")).toHaveLength(1);
  });

  test("takes calls with it that may have run; those that are safe are made again", async () => {
    let isForgetful = false;
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method === "initialize") isForgetful = false;
        if (isForgetful && seen.method === "ping") json(res, 404);
        // On its way when the session is lost: it may have had its effect.
        else if (stage.of("initialize").length === 1 && seen.method === "tools/call") events(res);
        else if (stage.of("initialize").length === 1 && seen.method === "prompts/list") events(res);
        else return false;
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    const call = errorOf(client.callTool("t"));
    const list = client.listPrompts().all();
    await Promise.all([stage.heard("tools/call"), stage.heard("prompts/list")]);
    isForgetful = true;
    await client.ping();
    expect((await call).code).toBe("connection_lost");
    expect(await list).toEqual([]);
    expect(stage.of("tools/call")).toHaveLength(1);
    expect(stage.of("prompts/list")).toHaveLength(2);
  });

  test("takes nothing with it that is to hold on: log level and watched resources", async () => {
    let isForgetful = false;
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method === "initialize") isForgetful = false;
        if (!isForgetful || seen.id === undefined) return false;
        json(res, 404);
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    await client.subscribe("x:1");
    await client.setLogLevel("error");
    isForgetful = true;
    await client.callTool("t");
    expect(stage.of("resources/subscribe").map(idOf)).toEqual(["session-1", "session-2"]);
    expect(stage.of("logging/setLevel").map(idOf)).toEqual(["session-1", "session-2"]);
  });
});

describe("the end", () => {
  test.each([405, 404, 500])("does not depend on the DELETE being welcome (%i)", async (status) => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "DELETE") return false;
        json(res, status);
        return true;
      }),
    );
    const { client, warnings, states } = await reach(stage.url);
    await client.close();
    expect(stage.of("DELETE")).toHaveLength(1);
    expect(warnings).toEqual([]);
    expect(states.at(-1)).toBe("closed");
  });

  test("comes even if the DELETE is never answered, and ends what is under way", async () => {
    const stage = await serveScript(sessioned((seen) => seen.verb === "DELETE" || seen.method === "tools/call"));
    const { client } = await reach(stage.url);
    const call = errorOf(client.callTool("t"));
    const { gone } = await stage.heard("tools/call");
    await client.close();
    expect((await call).code).toBe("connection_lost");
    await gone;
  });
});
