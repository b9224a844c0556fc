// Streamable HTTP of 2026-07-28: every POST complete in itself. Status codes, answers that become streams, and clients that
// leave.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Obj } from "./answer.ts";
import { callModern, initializeBody, modern, modernBody, modernHeaders, startModern } from "./callers.ts";
import { feeds, openHttp, until } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const textOf = (result: Obj = {}): unknown => (result.content as Obj[] | undefined)?.[0]?.text;
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

describe.each(feeds)("on the %s feed", (feed) => {
  test("an unknown method is 404 and -32601; so is one that this revision has not", async () => {
    covers(["http-unknown-method-404", "rpc-removed-methods-2026"]);
    const http = await openHttp(createStage().server, {}, feed);
    for (const method of ["no/such", "ping", "logging/setLevel", "resources/subscribe"]) {
      const answer = await callModern(http, method, {}, { id: method });
      expect(answer.status, method).toBe(404);
      expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", id: method, error: { code: -32601 } });
    }
  });

  test("a _meta that lacks something is 400", async () => {
    covers("meta-missing-field-status");
    const http = await openHttp(createStage().server, {}, feed);
    const body = modernBody("tools/list", { _meta: { [capabilitiesKey]: undefined } });
    const answer = await http.send({ body, headers: modernHeaders(body) });
    expect(answer.status).toBe(400);
    expect(await answer.code()).toBe(-32602);
    const bare = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const none = await http.send({ body: bare, headers: modernHeaders({ ...bare, params: {} }) });
    expect(none.status).toBe(400);
    expect(await none.code()).toBe(-32602);
  });

  test("a capability that the client has not declared is 400", async () => {
    covers("meta-capability-missing-status");
    const http = await openHttp(createStage().server, {}, feed);
    const answer = await callModern(http, "tools/call", call("ask", { key: "k" }));
    expect(answer.status).toBe(400);
    const { error } = await answer.response();
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } });
  });

  test("other errors are 200: unknown tools, wrong params, faults of the server", async () => {
    const stage = createStage();
    const http = await openHttp(stage.server, {}, feed);
    const unknown = await callModern(http, "tools/call", call("nobody"));
    expect([unknown.status, await unknown.code()]).toEqual([200, -32602]);
    const lost = await callModern(http, "resources/read", { uri: "note://99" });
    expect([lost.status, await lost.code()]).toEqual([200, -32602]);
    const broken = await callModern(http, "tools/call", call("broken"));
    expect(broken.status).toBe(200);
    expect(await broken.text()).not.toContain("hunter2");
    expect(stage.errors).toHaveLength(1);
  });

  test("arrays and responses are no bodies of this revision", async () => {
    covers(["rpc-client-no-responses", "transport-directions"]);
    const http = await openHttp(createStage().server, {}, feed);
    const headers = { "mcp-protocol-version": modern, "mcp-method": "tools/list" };
    for (const body of [[modernBody("tools/list")], { jsonrpc: "2.0", id: 1, result: {} }]) {
      const answer = await http.post(body, headers);
      expect(answer.status).toBe(400);
      expect(await answer.code()).toBe(-32600);
    }
  });

  test("an answer becomes a stream when the handler sends something first, and ends with the answer", async () => {
    covers(
      ["rpc-request-scoped-notifications", "http-sse-no-buffering", "http-sse-no-resume", "http-sse-close-after"],
      modern,
    );
    covers("http-post-response-type", modern);
    const http = await openHttp(createStage().server, {}, feed);
    const answer = await callModern(http, "tools/call", call("tell", { key: "k", count: 3 }, "p"), { id: "T" });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("text/event-stream");
    expect(answer.header("x-accel-buffering")).toBe("no");
    expect(answer.header("cache-control")).toContain("no-transform");
    const events = await answer.events();
    expect(events.map((event) => Object.keys(event).sort())).toEqual(Array(4).fill(["data", "event"]));
    const messages = events.map(({ data }) => JSON.parse(data ?? ""));
    expect(messages.slice(0, 3)).toEqual(
      [1, 2, 3].map((progress) => ({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "p", progress, total: 3, message: "k" },
      })),
    );
    expect(messages[3]).toMatchObject({ id: "T", result: { resultType: "complete", content: [{ text: "k" }] } });
    expect(answer.isWhole).toBe(true);
  });

  test("errors that come first have their status, also where answers are streams", async () => {
    const http = await openHttp(createStage().server, { answers: "stream" }, feed);
    const answer = await callModern(http, "no/such");
    expect(answer.status).toBe(404);
    expect(await answer.code()).toBe(-32601);
  });

  test("calls at the same time, with the same ids, hear nothing of one another", async () => {
    covers(["http-sse-related-2026", "http-multiple-clients"], modern);
    const stage = createStage();
    const http = await openHttp(stage.server, {}, feed);
    const keys = ["a", "b", "c"];
    const answers = await Promise.all(
      keys.map((key) => callModern(http, "tools/call", call("hold", { key }, "same"), { id: 1 })),
    );
    for (const key of ["c", "a", "b"]) stage.release(key);
    for (const [at, answer] of answers.entries()) {
      const messages = await answer.messages();
      expect(messages.map(({ params, result }) => params?.message ?? textOf(result))).toEqual(Array(3).fill(keys[at]));
    }
  });

  test.each(["JSON", "events"])("a client that leaves has cancelled: an answer in %s", async (kind) => {
    covers(
      ["http-disconnect-is-cancel", "http-disconnect-stop", "http-disconnect-silent", "cancel-stop-processing"],
      modern,
    );
    const stage = createStage();
    const http = await openHttp(stage.server, {}, feed);
    const token = kind === "events" ? "p" : undefined;
    const started = startModern(http, "tools/call", call("hold", { key: "k" }, token));
    await stage.held("k");
    if (kind === "events") expect((await (await started.answer).next())?.data).toContain("notifications/progress");
    started.drop();
    await until(() => stage.aborted.includes("k"), "the call is cancelled");
    stage.release("k");
    expect((await callModern(http, "tools/call", call("echo", { text: "still here" }))).status).toBe(200);
    expect(stage.done).toEqual([]);
    expect(stage.errors).toEqual([]);
  });

  test("the server never asks: what it wants to know is in the result", async () => {
    covers("rpc-server-no-requests");
    const http = await openHttp(createStage().server, { answers: "stream" }, feed);
    const answer = await callModern(http, "tools/call", call("ask", { key: "k" }), { capabilities: { sampling: {} } });
    const messages = await answer.messages();
    expect(messages.filter(({ method }) => method !== undefined)).toEqual([]);
    expect(messages[0]?.result).toMatchObject({ resultType: "input_required", inputRequests: expect.anything() });
  });

  test("session ids and event ids of a client are passed over, and none are given", async () => {
    covers(["http-modern-session-id-ignored", "http-modern-last-event-id-ignored"]);
    for (const options of [{}, { revisions: [modern] as const }]) {
      const http = await openHttp(createStage().server, options, feed);
      const headers = { "mcp-session-id": "whatever", "last-event-id": "1-1" };
      const answer = await callModern(http, "tools/call", call("echo", { text: "a" }), { headers });
      expect(answer.status).toBe(200);
      expect(answer.header("mcp-session-id")).toBeUndefined();
      const told = await callModern(http, "tools/call", call("tell", { key: "k", count: 1 }, "p"), { headers });
      expect(told.header("mcp-session-id")).toBeUndefined();
      expect((await told.events()).map(({ id }) => id)).toEqual([undefined, undefined]);
    }
  });

  describe("where nothing else is spoken", () => {
    test("GET and DELETE are 405", async () => {
      covers("http-modern-get-delete-405");
      const http = await openHttp(createStage().server, { revisions: [modern] }, feed);
      for (const answer of [await http.get(), await http.delete(), await http.get({ "mcp-session-id": "x" })]) {
        expect(answer.status).toBe(405);
        expect(answer.header("allow")).toBe("POST");
      }
    });

    test("initialize is refused, with the versions that are spoken", async () => {
      covers(["era-modern-only-names-versions", "header-version-absent-rejected"]);
      const http = await openHttp(createStage().server, { revisions: [modern] }, feed);
      for (const headers of [{}, { "mcp-protocol-version": "2025-11-25" }]) {
        const answer = await http.post(initializeBody("2025-11-25"), headers);
        expect(answer.status).toBe(400);
        expect(answer.header("mcp-session-id")).toBeUndefined();
        const { error } = await answer.response();
        expect(JSON.stringify(error)).toContain(modern);
      }
    });
  });
});
