// Sessions of 2025-03-26 to 2025-11-25: how they begin, whose they are, how they end, and what their ids are.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer } from "./answer.ts";
import { initializeBody, openSession, type Session, sessioned } from "./callers.ts";
import { feeds, type Headers, type Http, openHttp, pause, until } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const byToken = (head: { header(name: string): string | undefined }) => {
  const subject = head.header("authorization")?.replace("Bearer ", "");
  return subject ? { subject, scopes: [] } : { status: 401, headers: { "www-authenticate": "Bearer" } };
};
const as = (subject: string): Headers => ({ authorization: `Bearer ${subject}` });

/** The statuses of every way to use a session. */
async function uses(session: Session, headers: Headers = {}): Promise<number[]> {
  const answers: Answer[] = [
    await session.post({ jsonrpc: "2.0", id: "u", method: "ping" }, headers),
    await session.post({ jsonrpc: "2.0", method: "notifications/x" }, headers),
    await session.get(headers),
    await session.get({ ...headers, "last-event-id": "0-999" }),
    await session.delete(headers),
  ];
  return answers.map(({ status }) => status);
}

describe.each(feeds)("on the %s feed", (feed) => {
  describe.each(sessioned)("in %s", (revision) => {
    const open = (options = {}): Promise<Http> => openHttp(createStage().server, options, feed);

    test.each(["auto", "stream"] as const)(
      "the id comes with the answer to initialize: answers %s",
      async (answers) => {
        covers(["session-assign", "session-id-charset", "session-id-secure", "session-id-nondeterministic"], revision);
        const http = await open({ answers });
        const ids = new Set<string>();
        for (let n = 0; n < 20; n++) {
          const answer = await http.post(initializeBody(revision));
          expect(answer.type).toBe(answers === "stream" ? "text/event-stream" : "application/json");
          const id = answer.header("mcp-session-id") ?? "";
          expect(id).toMatch(/^[\x21-\x7e]+$/);
          // 128 bits and more, at 6 bits a character.
          expect(id).toMatch(/^[\w-]{22,}$/);
          expect(await answer.result()).toMatchObject({ protocolVersion: revision });
          ids.add(id);
        }
        // No part of them counts up, or stays.
        for (const part of [(id: string) => id.slice(0, 8), (id: string) => id.slice(-8)])
          expect(new Set([...ids].map(part)).size).toBe(20);
      },
    );

    test("an application's own ids are held to the same rule", async () => {
      covers("session-id-charset", revision);
      const given = [
        "has a space in it!",
        "höchst unsicher!!",
        "short",
        "good-enough-for-anybody",
        "good-enough-for-anybody",
      ];
      const stage = createStage();
      const http = await openHttp(stage.server, { sessions: { createId: () => given.shift() ?? "" } }, feed);
      const ids = [];
      for (let n = 0; n < 5; n++) {
        const answer = await http.post(initializeBody(revision));
        ids.push(`${answer.status} ${answer.header("mcp-session-id")}`);
        await answer.text();
      }
      expect(ids).toEqual([...Array(3).fill("500 undefined"), "200 good-enough-for-anybody", "500 undefined"]);
      expect(stage.errors).toHaveLength(4);
    });

    test("a handshake that fails opens nothing", async () => {
      const http = await open();
      for (const params of [{}, { protocolVersion: 3 }]) {
        const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
        expect(answer.header("mcp-session-id")).toBeUndefined();
        expect(await answer.code()).toBe(-32602);
      }
    });

    test("without the id a request is 400, with one that never was 404", async () => {
      covers(["session-missing-400", "session-terminated-404"], revision);
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call("hold", { key: "k" }) };
      const missing = [await http.post(body), await http.get(), await http.delete()];
      expect(missing.map(({ status }) => status)).toEqual([400, 400, 400]);
      for (const answer of missing)
        expect(await answer.json()).toMatchObject({ error: { message: /Mcp-Session-Id/ as never } });
      const headers = { "mcp-session-id": "00000000-0000-4000-8000-000000000000" };
      const unknown = [await http.post(body, headers), await http.get(headers), await http.delete(headers)];
      expect(unknown.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect((await http.post(initializeBody(revision), headers)).status).toBe(404);
      expect(stage.begun).toEqual([]);
    });

    test("GET opens a stream, on the path that POST has", async () => {
      covers(["http-single-endpoint", "http-get-stream-or-405"], revision);
      const session = await openSession(await open(), revision);
      const answer = await session.get();
      expect(answer.status).toBe(200);
      expect(answer.type).toBe("text/event-stream");
      expect(answer.header("x-accel-buffering")).toBe("no");
      expect((await session.get({ accept: "application/json" })).status).toBe(406);
    });

    test("DELETE ends it: its streams end, what ran is cancelled, and its id is 404 from then on", async () => {
      covers(
        ["session-terminated-404", "session-terminate", "session-expiry-ends-streams", "lifecycle-shutdown-http"],
        revision,
      );
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const session = await openSession(http, revision);
      const other = await openSession(http, revision);
      const listening = await session.get();
      const running = await session.request("tools/call", call("hold", { key: "k" }, "p"), 5);
      const pending = session.start("tools/call", call("hold", { key: "j" }), 6);
      await stage.held("j");
      const ended = await session.delete();
      expect(ended.status).toBe(204);
      expect(await ended.text()).toBe("");
      await listening.ended();
      expect(listening.isWhole).toBe(true);
      expect((await running.messages()).at(-1)).toMatchObject({ id: 5, error: { code: -32603 } });
      expect((await (await pending.answer).response()).error).toBeDefined();
      await until(() => stage.aborted.length === 2, "the calls are cancelled");
      expect(await uses(session)).toEqual([404, 404, 404, 404, 404]);
      expect(await uses(other)).toEqual([200, 202, 200, 400, 204]);
    });

    test("beyond the limit initialize is 503, until one ends", async () => {
      const http = await open({ sessions: { max: 2 } });
      const first = await openSession(http, revision);
      await openSession(http, revision);
      const refused = await http.post(initializeBody(revision));
      expect(refused.status).toBe(503);
      expect(refused.header("retry-after")).toBeDefined();
      expect(await refused.code()).toBe(-32603);
      await first.delete();
      await openSession(http, revision);
    });

    test("the id is no key: who may do nothing without it may do nothing with it", async () => {
      covers("session-not-auth", revision);
      const http = await open({ auth: byToken });
      const session = await openSession(http, revision, { headers: as("ada") });
      expect(await uses(session, { authorization: undefined })).toEqual([401, 401, 401, 401, 401]);
      expect((await session.request("ping")).status).toBe(200);
    });

    test("a session of one principal is none for another, nor are its events", async () => {
      covers(["session-bind-user", "session-queue-key"], revision);
      const stage = createStage();
      const http = await openHttp(stage.server, { auth: byToken }, feed);
      const session = await openSession(http, revision, { headers: as("ada") });
      const call1 = await session.request("tools/call", call("tell", { key: "secret", count: 1 }, "p"));
      const last = (await call1.events())[0]?.id;
      expect(last).toBeDefined();
      const eve = await openSession(http, revision, { headers: as("eve") });
      expect(await uses(session, as("eve"))).toEqual([404, 404, 404, 404, 404]);
      expect((await eve.resume(last)).status).toBe(400);
      expect((await session.resume(last)).status).toBe(200);
      expect((await session.request("ping")).status).toBe(200);
    });

    test("two sessions hear nothing of one another, though their ids of requests are the same", async () => {
      covers(["http-multiple-clients", "http-no-broadcast"], revision);
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const sessions = [await openSession(http, revision), await openSession(http, revision)];
      const answers = await Promise.all(
        sessions.map((session, n) => session.request("tools/call", call("hold", { key: `k${n}` }, "p"), 1)),
      );
      for (const key of ["k1", "k0"]) stage.release(key);
      for (const [n, answer] of answers.entries()) {
        const texts = (await answer.messages()).map((message) => JSON.stringify(message));
        expect(texts).toHaveLength(3);
        for (const text of texts) expect(text).toContain(`"k${n}"`);
      }
    });
  });

  describe("time", () => {
    test("one that nobody uses ends after a while; what listens or works keeps it", async () => {
      covers(["session-id-rotation", "session-terminated-404"], "2025-11-25");
      const stage = createStage();
      const http = await openHttp(stage.server, { sessions: { idleMs: 200 } }, feed);
      const idle = await openSession(http, "2025-11-25");
      const listening = await openSession(http, "2025-11-25");
      const working = await openSession(http, "2025-11-25");
      const stream = await listening.get();
      const running = working.start("tools/call", call("hold", { key: "k" }));
      await pause(600);
      expect((await idle.request("ping")).status).toBe(404);
      expect((await listening.request("ping")).status).toBe(200);
      stage.release("k");
      expect(await (await running.answer).result()).toMatchObject({ content: [{ text: "k" }] });
      stream.drop();
      await pause(600);
      expect((await listening.request("ping")).status).toBe(404);
      expect((await working.request("ping")).status).toBe(404);
    });

    test("the time begins anew when a stream ends, however long it was open", async () => {
      const ended: string[] = [];
      const onAccess = ({ method }: { method: string }): unknown => ended.push(method);
      const http = await openHttp(createStage().server, { sessions: { idleMs: 1200 }, onAccess }, feed);
      const session = await openSession(http, "2025-11-25");
      const stream = await session.get();
      await pause(1400);
      stream.drop();
      await until(() => ended.includes("GET"), "the server hears of it");
      expect((await session.request("ping")).status).toBe(200);
    });

    test("one that is old ends, used or not", async () => {
      covers(["session-terminate", "session-terminated-404", "session-expiry-ends-streams"], "2025-11-25");
      const http = await openHttp(createStage().server, { sessions: { maxAgeMs: 1000 } }, feed);
      const session = await openSession(http, "2025-11-25");
      const stream = await session.get();
      await stream.ended();
      expect(stream.isWhole).toBe(true);
      expect(await uses(session)).toEqual([404, 404, 404, 404, 404]);
    });
  });

  describe("the version", () => {
    const later = sessioned.filter((revision) => revision !== "2025-03-26");

    test.each(later)("that nobody speaks is 400, in a session of %s", async (revision) => {
      covers("header-version-invalid-400", revision);
      const stage = createStage();
      const http = await openHttp(stage.server, {}, feed);
      const session = await openSession(http, revision);
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call("hold", { key: "k" }) };
      for (const version of ["bogus", "1999-01-01", "2099-01-01", "", `${revision}, ${revision}`]) {
        const headers = { "mcp-protocol-version": version || " " };
        expect((await session.post(body, headers)).status, version).toBe(400);
        expect((await session.post({ jsonrpc: "2.0", method: "notifications/x" }, headers)).status, version).toBe(400);
        expect((await session.get(headers)).status, version).toBe(400);
        expect((await session.delete(headers)).status, version).toBe(400);
      }
      expect(stage.begun).toEqual([]);
    });

    test.each(later)("is known from the handshake where the header is not there: %s", async (revision) => {
      covers("header-version-default", revision);
      const http = await openHttp(createStage().server, {}, feed);
      const session = await openSession(http, revision);
      const bare = { "mcp-protocol-version": undefined };
      expect((await session.post({ jsonrpc: "2.0", id: 1, method: "ping" }, bare)).status).toBe(200);
      // What only 2025-03-26 has stays refused.
      expect((await session.post([{ jsonrpc: "2.0", id: 2, method: "ping" }], bare)).status).toBe(400);
    });

    test("that the client wants and nobody speaks is answered with the newest", async () => {
      const http = await openHttp(createStage().server, {}, feed);
      const answer = await http.post(initializeBody("2024-01-01"));
      expect(await answer.result()).toMatchObject({ protocolVersion: "2025-11-25" });
    });
  });
});
