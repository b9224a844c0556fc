// The older revisions without sessions: any process can answer any request. Nothing is asked, nothing comes outside a
// request, and what a client does not say is 2025-03-26.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Obj } from "./answer.ts";
import { callModern, initializeBody, modern, sessioned } from "./callers.ts";
import { feeds, type Http, jsonHeaders, openHttp, until } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const request = (id: number, method: string, params: Obj = {}): Obj => ({ jsonrpc: "2.0", id, method, params });

describe.each(feeds)("on the %s feed", (feed) => {
  async function open(options = {}) {
    const stage = createStage();
    return { stage, http: await openHttp(stage.server, { sessions: false, ...options }, feed) };
  }

  describe.each(sessioned)("in %s", (revision) => {
    const headers = { "mcp-protocol-version": revision };
    const send = (http: Http, body: unknown): Promise<Answer> => http.post(body, headers);

    test("a handshake gives no id, and calls need neither", async () => {
      covers(["session-assign", "http-json-one-object", "http-post-response-type"], revision);
      const { http } = await open();
      const opening = await http.post(initializeBody(revision));
      expect(opening.header("mcp-session-id")).toBeUndefined();
      expect(await opening.result()).toMatchObject({ protocolVersion: revision, capabilities: { tools: {} } });
      const taken = await send(http, { jsonrpc: "2.0", method: "notifications/initialized" });
      expect([taken.status, await taken.text()]).toEqual([202, ""]);
      const answer = await send(http, request(1, "tools/call", call("echo", { text: "hi" })));
      expect(answer.type).toBe("application/json");
      expect(await answer.json()).toEqual({
        jsonrpc: "2.0",
        id: 1,
        result: { content: [{ type: "text", text: "hi" }] },
      });
      // An id from another life is passed over.
      expect((await http.post(request(1, "ping"), { ...headers, "mcp-session-id": "old" })).status).toBe(200);
    });

    test("responses of the client are accepted and forgotten", async () => {
      covers("http-post-202", revision);
      const { http } = await open();
      expect((await send(http, { jsonrpc: "2.0", id: 1, result: {} })).status).toBe(202);
    });

    test.each(["auto", "stream"] as const)("what a handler tells comes on its stream: answers %s", async (answers) => {
      covers(
        ["http-sse-related", "http-sse-includes-response", "http-sse-close-after", "http-multiple-clients"],
        revision,
      );
      const { http, stage } = await open({ answers });
      const keys = ["a", "b"];
      const streams = await Promise.all(
        keys.map((key) => send(http, request(1, "tools/call", call("hold", { key }, "same")))),
      );
      for (const key of keys) stage.release(key);
      for (const [n, stream] of streams.entries()) {
        expect(stream.type).toBe("text/event-stream");
        const events = await stream.events();
        expect(events.map(({ id, retry }) => id ?? retry)).toEqual([undefined, undefined, undefined]);
        for (const { data } of events) expect(data).toContain(`"${keys[n]}"`);
      }
    });

    test("GET and DELETE are 405: there is nothing to listen to, and nothing to end", async () => {
      covers(["http-get-stream-or-405", "http-single-endpoint", "session-delete-405"], revision);
      const { http } = await open();
      for (const answer of [await http.get(headers), await http.delete(headers)]) {
        expect(answer.status).toBe(405);
        expect(answer.header("allow")).toBe("POST");
      }
    });

    test("nothing is asked of the client: the call says so", async () => {
      const { http } = await open();
      const answer = await send(http, request(1, "tools/call", call("ask", { key: "k" })));
      const { result, error } = await answer.response();
      expect(error ?? result).toMatchObject(error ? { code: -32600 } : { isError: true });
    });

    test("a client that leaves has not cancelled", async () => {
      covers("http-disconnect-not-cancel", revision);
      const { http, stage } = await open();
      const body = request(1, "tools/call", call("hold", { key: "k" }));
      const started = http.start({ body, headers: { ...jsonHeaders, ...headers } });
      await stage.held("k");
      started.drop();
      for (let n = 0; n < 3; n++) await (await send(http, request(2, "ping"))).text();
      stage.release("k");
      await until(() => stage.done.includes("k"), "the call comes to its end");
      expect(stage.aborted).toEqual([]);
    });

    test("unknown methods and wrong params are errors with status 200", async () => {
      const { http } = await open();
      for (const [body, code] of [
        [request(1, "no/such"), -32601],
        [request(1, "tools/call", { name: "nobody" }), -32602],
      ] as const) {
        const answer = await send(http, body);
        expect([answer.status, await answer.code()]).toEqual([200, code]);
      }
    });
  });

  test("without a header the revision is 2025-03-26", async () => {
    covers(["header-version-default", "header-version-absent-legacy"]);
    const { http } = await open();
    // Which alone has batches.
    const bare = await http.post([request(1, "ping"), request(2, "ping")]);
    expect(await bare.json()).toHaveLength(2);
    const stated = await http.post([request(1, "ping")], { "mcp-protocol-version": "2025-11-25" });
    expect(stated.status).toBe(400);
  });

  test("one that nobody speaks is 400", async () => {
    covers("header-version-invalid-400");
    const { http, stage } = await open();
    for (const version of ["bogus", "1999-01-01", "2099-01-01"]) {
      const body = request(1, "tools/call", call("hold", { key: "k" }));
      expect((await http.post(body, { "mcp-protocol-version": version })).status).toBe(400);
    }
    const few = await openHttp(stage.server, { sessions: false, revisions: ["2025-06-18"] }, feed);
    expect((await few.post(request(1, "ping"), { "mcp-protocol-version": "2025-11-25" })).status).toBe(400);
    expect((await few.post(request(1, "ping"), { "mcp-protocol-version": "2025-06-18" })).status).toBe(200);
    expect(stage.begun).toEqual([]);
  });

  test("2026-07-28 is served beside it", async () => {
    covers(["era-dual-server", "era-dual-concurrent"]);
    const { http } = await open();
    expect(await (await callModern(http, "server/discover")).result()).toMatchObject({
      supportedVersions: expect.arrayContaining([modern, "2025-03-26"]),
    });
    expect((await http.post(request(1, "ping"))).status).toBe(200);
  });
});
