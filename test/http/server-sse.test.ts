// HTTP+SSE, the transport of 2024-11-05: a stream that names the address to post to, and is the session.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "plenum";
import { toNodeHandler } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Message, Obj } from "./answer.ts";
import { callModern, initializeBody, openSession, sessioned } from "./callers.ts";
import { feeds, type Headers, type Http, jsonHeaders, openHttp, toHttp, until } from "./harness.ts";
import { call, createStage, sampled } from "./stage.ts";

const revision = "2024-11-05";
const request = (id: number | string, method: string, params?: Obj): Obj => ({ jsonrpc: "2.0", id, method, params });

interface Old {
  readonly stream: Answer;
  readonly address: string;
  post(body: unknown, headers?: Headers): Promise<Answer>;
  next(): Promise<Message>;
}

async function openOld(http: Http, path = "/sse", headers: Headers = {}): Promise<Old> {
  const stream = await http.send({ method: "GET", path, headers: { accept: "text/event-stream", ...headers } });
  expect(stream.status).toBe(200);
  expect(stream.type).toBe("text/event-stream");
  const first = await stream.next();
  expect(first?.event).toBe("endpoint");
  const url = new URL(first?.data ?? "", `http://127.0.0.1:${http.port}${path}`);
  expect(url.origin).toBe(`http://127.0.0.1:${http.port}`);
  const address = url.pathname + url.search;
  return {
    stream,
    address,
    post: (body, more) => http.send({ path: address, body, headers: { ...jsonHeaders, ...headers, ...more } }),
    async next() {
      const event = await stream.next();
      expect(event).toEqual({ event: "message", data: expect.any(String) });
      return JSON.parse(event?.data ?? "") as Message;
    },
  };
}

async function shake(old: Old): Promise<Old> {
  expect((await old.post(initializeBody(revision, { sampling: {} }))).status).toBe(202);
  expect(await old.next()).toMatchObject({ id: "init", result: { protocolVersion: revision } });
  expect((await old.post({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
  return old;
}

describe.each(feeds)("on the %s feed", (feed) => {
  async function open(options = {}) {
    const stage = createStage();
    return { stage, http: await openHttp(stage.server, { sse: true, ...options }, feed) };
  }

  test("the stream names the address first; what is posted there is answered on the stream", async () => {
    covers(["sse-two-endpoints", "sse-endpoint-event", "sse-message-event"]);
    const { http } = await open();
    const old = await shake(await openOld(http));
    expect(old.address).toMatch(/^\/messages\?sessionId=/);
    expect(old.stream.header("x-accel-buffering")).toBe("no");
    const taken = await old.post(request(1, "tools/call", call("tell", { key: "k", count: 2 }, "p")));
    expect([taken.status, await taken.text()]).toEqual([202, ""]);
    expect(await old.next()).toMatchObject({ method: "notifications/progress", params: { progress: 1 } });
    expect(await old.next()).toMatchObject({ method: "notifications/progress", params: { progress: 2 } });
    expect(await old.next()).toMatchObject({ id: 1, result: { content: [{ text: "k" }] } });
  });

  test("the server asks and tells on the stream", async () => {
    covers("sse-message-event");
    const { http, stage } = await open();
    const old = await shake(await openOld(http));
    await old.post(request(1, "tools/call", call("ask", { key: "k" })));
    const asked = await old.next();
    expect(asked.method).toBe("sampling/createMessage");
    expect((await old.post({ jsonrpc: "2.0", id: asked.id, result: sampled })).status).toBe(202);
    expect(await old.next()).toMatchObject({ id: 1, result: {} });
    stage.server.tool("new", {}, () => "");
    expect(await old.next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  });

  test("two clients have an address each, and hear nothing of one another", async () => {
    covers("sse-multiple-clients");
    const { http, stage } = await open();
    const all = [await shake(await openOld(http)), await shake(await openOld(http))];
    expect(all[0]?.address).not.toBe(all[1]?.address);
    for (const [n, old] of all.entries())
      await old.post(request(1, "tools/call", call("hold", { key: `k${n}` }, `k${n}`)));
    for (const key of ["k1", "k0"]) stage.release(key);
    for (const [n, old] of all.entries()) {
      for (let m = 0; m < 3; m++) expect(JSON.stringify(await old.next())).toContain(`"k${n}"`);
    }
    stage.server.tool("new", {}, () => "");
    for (const old of all) expect((await old.next()).method).toBe("notifications/tools/list_changed");
  });

  test("a client ends its session by closing the stream", async () => {
    covers(["sse-client-close", "lifecycle-shutdown-http"], revision);
    const { http, stage } = await open();
    const old = await shake(await openOld(http));
    const other = await shake(await openOld(http));
    await old.post(request(1, "tools/call", call("hold", { key: "k" })));
    await stage.held("k");
    old.stream.drop();
    await until(() => stage.aborted.includes("k"), "what ran is cancelled");
    const late = await old.post(request(2, "ping"));
    expect(late.status).toBe(404);
    expect(await late.code()).toBe(-32001);
    expect((await other.post(request(2, "ping"))).status).toBe(202);
    expect(await other.next()).toMatchObject({ id: 2, result: {} });
  });

  test("the server ends it by closing the stream; what is open is answered", async () => {
    covers("lifecycle-shutdown-http", revision);
    const { http, stage } = await open();
    const old = await shake(await openOld(http));
    await old.post(request(1, "tools/call", call("hold", { key: "k" })));
    await stage.held("k");
    await http.close(0);
    expect(await old.stream.messages()).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    expect(old.stream.isWhole).toBe(true);
    expect(stage.aborted).toEqual(["k"]);
  });

  test("sessions are bounded in age and number", async () => {
    const { http } = await open({ sessions: { max: 1, maxAgeMs: 1000 } });
    const old = await openOld(http);
    const refused = await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } });
    expect(refused.status).toBe(503);
    await old.stream.ended();
    expect((await old.post(request(1, "ping"))).status).toBe(404);
    await openOld(http);
  });

  test("what is wrong with a post is its status", async () => {
    const { http } = await open();
    const old = await openOld(http);
    expect((await old.post("{")).status).toBe(400);
    expect((await old.post("1")).status).toBe(400);
    expect((await old.post(request(1, "ping"), { "content-type": "text/plain" })).status).toBe(415);
    const to = (path: string): Promise<Answer> => http.send({ path, headers: jsonHeaders, body: request(1, "ping") });
    expect((await to("/messages")).status).toBe(400);
    expect((await to("/messages?sessionId=00000000-0000-4000-8000-000000000000")).status).toBe(404);
    expect((await to("/sse")).status).toBe(405);
    expect((await http.send({ method: "GET", path: old.address, headers: jsonHeaders })).status).toBe(405);
    expect((await http.send({ method: "GET", path: "/sse", headers: { accept: "text/html" } })).status).toBe(406);
  });

  test("a foreign origin is refused on both, before anything comes of it", async () => {
    covers("sse-origin-validation");
    const { http, stage } = await open();
    const evil = { origin: "https://evil.example" };
    const stream = await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream", ...evil } });
    expect(stream.status).toBe(403);
    const old = await shake(await openOld(http, "/sse", { origin: `http://localhost:${http.port}` }));
    expect((await old.post(request(1, "tools/call", call("hold", { key: "k" })), evil)).status).toBe(403);
    expect(stage.begun).toEqual([]);
  });

  test("who is not let in is 401 on both, and an address is no key", async () => {
    covers("sse-authenticate");
    const auth = (head: { header(name: string): string | undefined }) => {
      const subject = head.header("authorization");
      return subject ? { subject, scopes: [] } : { status: 401 };
    };
    const { http } = await open({ auth });
    expect((await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } })).status).toBe(
      401,
    );
    const old = await shake(await openOld(http, "/sse", { authorization: "ada" }));
    expect((await old.post(request(1, "ping"), { authorization: undefined })).status).toBe(401);
    expect((await old.post(request(1, "ping"), { authorization: "eve" })).status).toBe(404);
    await old.post(request(2, "tools/call", call("whoami")));
    expect(await old.next()).toMatchObject({ id: 2, result: { content: [{ text: /ada/ as never }] } });
  });

  test("it stands beside Streamable HTTP, on the same port", async () => {
    covers("sse-compat-server");
    const { http } = await open();
    const old = await shake(await openOld(http));
    for (const one of sessioned) expect((await (await openSession(http, one)).request("ping")).status).toBe(200);
    expect((await callModern(http, "tools/list")).status).toBe(200);
    await old.post(request(1, "ping"));
    expect(await old.next()).toMatchObject({ id: 1, result: {} });
  });

  test("it is off unless it is asked for", async () => {
    covers("sse-not-adopted-2026");
    const http = await openHttp(createStage().server, {}, feed);
    expect((await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } })).status).toBe(
      404,
    );
    expect((await http.send({ path: "/messages", headers: jsonHeaders, body: "{}" })).status).toBe(404);
  });

  test("newer revisions can be spoken on it", async () => {
    const { http } = await open();
    const old = await openOld(http);
    await old.post(initializeBody("2025-06-18"));
    expect(await old.next()).toMatchObject({ result: { protocolVersion: "2025-06-18" } });
  });

  test("other paths can be given", async () => {
    const { http } = await open({ sse: { path: "/old/stream", messagesPath: "/old/post" } });
    const old = await shake(await openOld(http, "/old/stream"));
    expect(old.address).toMatch(/^\/old\/post\?/);
  });

  test("it is refused where no older revision is spoken, or without sessions", async () => {
    const { server } = createStage();
    await expect(openHttp(server, { sse: true, sessions: false }, feed)).rejects.toThrow(TypeError);
    await expect(openHttp(server, { sse: true, revisions: ["2026-07-28"] }, feed)).rejects.toThrow(TypeError);
  });
});

test("under a prefix that a framework took off, the address has it", async () => {
  covers("sse-endpoint-event");
  const handler = toNodeHandler(createServer({ name: "s", version: "1" }), { sse: true });
  const server = createHttpServer((incoming, outgoing) => {
    const mounted = Object.assign(incoming, {
      originalUrl: incoming.url,
      url: incoming.url?.replace(/^\/api\/v1/, ""),
    });
    handler(mounted, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    await handler.close(0);
    server.close();
    server.closeAllConnections();
  };
  const http = toHttp({ port, close, disconnect: handler.disconnect });
  const old = await shake(await openOld(http, "/api/v1/sse"));
  expect(old.address).toMatch(/^\/api\/v1\/messages\?/);
});

describe.each(feeds)("a handler without a path, on the %s feed", (feed) => {
  test("is found behind any prefix", async () => {
    covers("sse-endpoint-event");
    const stage = createStage();
    const http = await openHttp(stage.server, { path: undefined, sse: true }, feed);
    const old = await shake(await openOld(http, "/some/where/sse"));
    expect(old.address).toMatch(/^\/some\/where\/messages\?/);
    expect((await http.post({ ...initializeBody("2025-11-25") })).status).toBe(200);
  });
});
