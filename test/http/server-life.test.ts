// How a server over HTTP lives and ends: keep-alive lines, slow readers, closing in order, pages beside it, and what its
// operator hears of requests.
import { connect, type Socket } from "node:net";
import type { AccessEntry, MetricsSample } from "plenum/http";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { callModern, initializeBody, modern, modernBody, openSession, sessioned } from "./callers.ts";
import { feeds, type Http, openHttp, pause, until } from "./harness.ts";
import { call, createStage } from "./stage.ts";

describe.each(feeds)("on the %s feed", (feed) => {
  describe("streams", () => {
    test("that are silent are kept alive by comments", async () => {
      covers("http-sse-keep-alive");
      const { server } = createStage();
      const http = await openHttp(server, { keepAliveMs: 40 }, feed);
      const listening = await callModern(http, "subscriptions/listen", { notifications: { toolsListChanged: true } });
      await listening.message();
      const session = await openSession(http, "2025-06-18");
      const getting = await session.get();
      const told = [listening.message(), getting.message()];
      await until(() => listening.comments >= 3 && getting.comments >= 3, "comments come");
      server.tool("new", {}, () => "");
      for (const message of await Promise.all(told)) expect(message?.method).toBe("notifications/tools/list_changed");
    });

    test("begin where an answer takes long, and only there", async () => {
      const stage = createStage();
      const http = await openHttp(stage.server, { streamAfterMs: 60 }, feed);
      const slow = await callModern(http, "tools/call", call("hold", { key: "k" }), { id: 1 });
      expect(slow.type).toBe("text/event-stream");
      stage.release("k");
      expect(await slow.messages()).toMatchObject([{ id: 1, result: {} }]);
      expect((await callModern(http, "tools/list")).type).toBe("application/json");
      const never = await openHttp(stage.server, { streamAfterMs: Number.POSITIVE_INFINITY }, feed);
      const held = callModern(never, "tools/call", call("hold", { key: "j" }));
      await pause(150);
      stage.release("j");
      expect((await held).type).toBe("application/json");
    });

    /** Opens a call whose events nobody reads. */
    async function deaf(http: Http): Promise<Socket> {
      const body = JSON.stringify(modernBody("tools/call", call("flood", {}, "p")));
      const head = ["POST /mcp HTTP/1.1", `Host: 127.0.0.1:${http.port}`, "Content-Type: application/json"];
      head.push("Mcp-Method: tools/call", "Mcp-Name: flood", `MCP-Protocol-Version: ${modern}`);
      const socket = connect(http.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.pause();
      socket.write(`${head.join("\r\n")}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      return socket;
    }

    test.each([
      ["that takes nothing for too long", { readerTimeoutMs: 100, maxQueuedBytes: 1e9 }],
      ["for whom too much waits", { readerTimeoutMs: 60_000, maxQueuedBytes: 500_000 }],
    ])("are cut off for a reader %s", async (_, limits) => {
      const stage = createStage();
      let cut: unknown;
      stage.server.tool("flood", {}, async (_, ctx) => {
        const text = "x".repeat(100_000);
        for (let n = 1; n < 500 && !ctx.signal.aborted; n++) {
          ctx.progress(n, 500, text);
          await pause(5);
        }
        cut = ctx.signal.aborted;
        return "";
      });
      const ended: string[] = [];
      const onAccess = ({ outcome }: AccessEntry): unknown => ended.push(outcome);
      const http = await openHttp(stage.server, { ...limits, onAccess }, feed);
      const socket = await deaf(http);
      await until(() => cut !== undefined, "the call ends", 10_000);
      expect(cut).toBe(true);
      expect(ended).toEqual(["gone"]);
      socket.destroy();
    });
  });

  describe("closing", () => {
    test("what runs comes to its end, and nothing new begins", async () => {
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const session = await openSession(http, "2025-11-25");
      const running = [
        callModern(http, "tools/call", call("hold", { key: "a" }), { id: "A" }),
        callModern(http, "tools/call", call("hold", { key: "b" }, "p"), { id: "B" }),
        session.request("tools/call", call("hold", { key: "c" }), "C"),
        session.request("tools/call", call("hold", { key: "d" }, "p"), "D"),
      ];
      const listening = await callModern(http, "subscriptions/listen", { notifications: {} }, { id: "L" });
      await listening.message();
      const getting = await session.get();
      for (const key of ["a", "b", "c", "d"]) await stage.held(key);
      const closed = http.close(10_000);
      // Ended at once: nobody can say how long it would be.
      expect(await listening.messages()).toMatchObject([{ id: "L", result: {} }]);
      const late = await callModern(http, "tools/list").catch(() => undefined);
      expect(late === undefined || late.status === 503).toBe(true);
      for (const key of ["a", "b", "c", "d"]) stage.release(key);
      for (const [at, answer] of (await Promise.all(running)).entries()) {
        expect(await answer.response()).toMatchObject({ id: "ABCD"[at], result: {} });
        expect(answer.isWhole).toBe(true);
      }
      await closed;
      await getting.ended();
      expect(getting.isWhole).toBe(true);
      expect(stage.aborted).toEqual([]);
    });

    test("what does not end in time is cancelled, and answered", async () => {
      covers("lifecycle-shutdown-http");
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const session = await openSession(http, "2025-06-18");
      const running = [
        callModern(http, "tools/call", call("hold", { key: "a" }), { id: "A" }),
        callModern(http, "tools/call", call("hold", { key: "b" }, "p"), { id: "B" }),
        session.request("tools/call", call("hold", { key: "c" }), "C"),
        session.request("tools/call", call("hold", { key: "d" }, "p"), "D"),
      ];
      for (const key of ["a", "b", "c", "d"]) await stage.held(key);
      await http.close(50);
      for (const [at, answer] of (await Promise.all(running)).entries()) {
        expect(await answer.response()).toMatchObject({
          id: "ABCD"[at],
          error: { code: -32603, message: /closing/ as never },
        });
      }
      expect(stage.aborted.sort()).toEqual(["a", "b", "c", "d"]);
      await expect(callModern(http, "tools/list")).rejects.toThrow();
    });

    test("twice is once, and streams that only listen hold nothing up", async () => {
      const { server } = createStage();
      const http = await openHttp(server, { sse: true }, feed);
      const streams = [await callModern(http, "subscriptions/listen", { notifications: {} })];
      for (const revision of sessioned) streams.push(await (await openSession(http, revision)).get());
      streams.push(await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } }));
      await Promise.all([http.close(60_000), http.close(60_000)]);
      for (const stream of streams) {
        await stream.ended();
        expect(stream.isWhole).toBe(true);
      }
    });
  });

  describe("pages beside it", () => {
    test("are answered as they say, without credentials", async () => {
      const routes = {
        "/healthz": () => ({ body: "ok" }),
        "/info": async () => ({ status: 203, headers: { "x-a": "b" }, body: { a: 1 } }),
        "/empty": () => ({ status: 204 }),
        "/echo": async (request: {
          method: string;
          query: string;
          body(max: number, ms: number): Promise<string>;
        }) => ({
          body: `${request.method} ${request.query} ${await request.body(100, 1000)}`,
        }),
        "/broken": () => {
          throw new Error("the password is hunter2");
        },
      };
      const stage = createStage();
      const http = await openHttp(stage.server, { routes, auth: () => ({ status: 401 }) }, feed);
      const page = (path: string, more = {}) => http.send({ method: "GET", path, ...more });
      const health = await page("/healthz");
      expect([health.status, health.type, await health.text()]).toEqual([200, "text/plain; charset=utf-8", "ok"]);
      const info = await page("/info");
      expect([info.status, info.header("x-a"), info.type]).toEqual([203, "b", "application/json"]);
      expect(await info.json()).toEqual({ a: 1 });
      expect((await page("/empty")).status).toBe(204);
      expect(await (await page("/echo?q=1", { method: "POST", body: "hi" })).text()).toBe("POST q=1 hi");
      const long = await page("/echo", { method: "POST", body: "x".repeat(200) });
      expect(long.status).toBe(413);
      const broken = await page("/broken");
      expect(broken.status).toBe(500);
      expect(await broken.text()).not.toContain("hunter2");
      expect((await page("/healthz", { headers: { origin: "https://evil.example" } })).status).toBe(403);
      expect((await page("/other")).status).toBe(404);
      expect((await callModern(http, "tools/list")).status).toBe(401);
    });
  });

  describe("what the operator hears", () => {
    async function open(options = {}) {
      const entries: AccessEntry[] = [];
      const samples: MetricsSample[] = [];
      const stage = createStage();
      const http = await openHttp(
        stage.server,
        {
          onAccess: (entry) => entries.push(entry),
          onMetrics: (sample) => samples.push(sample),
          sse: true,
          ...options,
        },
        feed,
      );
      return { stage, http, entries, samples };
    }

    test("one entry and one sample for each request, when it is over", async () => {
      const { http, entries, samples } = await open();
      await (await callModern(http, "tools/call", call("echo", { text: "hi" }))).text();
      await (await callModern(http, "tools/call", call("tell", { key: "k", count: 2 }, "p"))).text();
      await (await callModern(http, "no/such")).text();
      await (await http.send({ method: "PUT", path: "/nowhere?secret=1" })).text();
      await until(() => samples.length === 4, "all are told");
      expect(entries).toHaveLength(4);
      const of = ({ method, path, status, rpcMethod, revision, outcome }: AccessEntry) => [
        ...[method, path, status, rpcMethod, revision, outcome],
      ];
      expect(entries.map(of)).toEqual([
        ["POST", "/mcp", 200, "tools/call", modern, "answered"],
        ["POST", "/mcp", 200, "tools/call", modern, "streamed"],
        ["POST", "/mcp", 404, "no/such", modern, "answered"],
        ["PUT", "/nowhere", 404, undefined, undefined, "answered"],
      ]);
      expect(samples.map(({ rpcMethod, events }) => [rpcMethod, events])).toEqual([
        ["tools/call", 0],
        ["tools/call", 3],
        // A name that a client makes up is no series.
        [undefined, 0],
        [undefined, 0],
      ]);
      for (const { requestBytes, responseBytes, durationMs, firstByteMs } of samples.slice(0, 3)) {
        expect(requestBytes).toBeGreaterThan(100);
        expect(responseBytes).toBeGreaterThan(20);
        expect(firstByteMs).toBeLessThanOrEqual(durationMs);
      }
    });

    test("no session id, no query, no token and no argument", async () => {
      const { http, entries, samples } = await open({ auth: () => ({ subject: "ada", scopes: [] }) });
      const session = await openSession(http, "2025-11-25", { headers: { authorization: "Bearer t0ken" } });
      await (await session.request("tools/call", call("echo", { text: "s3cret" }))).text();
      await (await session.delete()).text();
      const stream = await http.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } });
      const address = (await stream.next())?.data ?? "";
      await (
        await http.send({ path: address, headers: { "content-type": "application/json" }, body: initializeBody("x") })
      ).text();
      stream.drop();
      await until(() => entries.length === 6, "all are told");
      const text = JSON.stringify([entries, samples]);
      expect(text).toContain("/messages");
      for (const hidden of [session.id, address.split("=")[1] ?? "?", "sessionId", "t0ken", "s3cret", "ada"])
        expect(text).not.toContain(hidden);
    });

    test("a client that leaves is told as gone, and hooks that fail are nobody's fault", async () => {
      const { http, stage, entries } = await open({
        onMetrics: () => {
          throw new Error("no room");
        },
      });
      const listening = await callModern(http, "subscriptions/listen", { notifications: {} });
      await listening.message();
      listening.drop();
      await until(() => entries.length === 1, "it is told");
      expect(entries[0]).toMatchObject({ status: 200, outcome: "gone", rpcMethod: "subscriptions/listen" });
      expect((await callModern(http, "tools/list")).status).toBe(200);
      expect(stage.errors).toEqual([]);
    });
  });
});
