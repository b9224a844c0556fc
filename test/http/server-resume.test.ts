// Streams that break and go on: event ids, what is replayed and what is not, and in 2025-11-25 connections that the server
// ends itself.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, SseEvent } from "./answer.ts";
import { openSession, type Session, sessioned } from "./callers.ts";
import { feeds, openHttp, pause } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const polling = "2025-11-25";
const progressOf = ({ data }: SseEvent): unknown => JSON.parse(data ?? "{}").params?.progress;

/** The next event that carries something. */
async function nextFull(answer: Answer): Promise<SseEvent> {
  for (;;) {
    const event = await answer.next();
    if (!event) throw new Error("The stream has ended");
    if (event.data) return event;
  }
}

const tell = (session: Session, key: string, count: number): Promise<Answer> =>
  session.request("tools/call", call("tell", { key, count }, key));

describe.each(feeds)("on the %s feed", (feed) => {
  async function open(revision: string, options = {}) {
    const stage = createStage();
    const http = await openHttp(stage.server, options, feed);
    return { stage, http, session: await openSession(http, revision) };
  }

  describe.each(sessioned)("in %s", (revision) => {
    test("from each event of a stream the rest can be had, in order, and nothing else", async () => {
      covers(["http-resume-replay", "http-resume-same-stream", "http-event-id-per-stream", "http-resumable"], revision);
      const { session } = await open(revision);
      const [one, two] = await Promise.all([tell(session, "one", 4), tell(session, "two", 4)]);
      const events = (await one.events()).filter(({ data }) => data);
      await two.events();
      expect(events).toHaveLength(5);
      for (const [at, { id }] of events.entries()) {
        const rest = await session.resume(id);
        expect(rest.status).toBe(200);
        expect(rest.type).toBe("text/event-stream");
        expect(await rest.events()).toEqual(events.slice(at + 1));
        expect(rest.isWhole).toBe(true);
      }
    });

    test.each(["auto", "stream"] as const)("an answer that is long is replayed as it was (%s)", async (answers) => {
      const { session } = await open(revision, { answers });
      // Of several bytes each, and more than is held in one text.
      const text = "aé\u{1f600}".repeat(50_000);
      const first = await tell(session, "k", 1);
      const [{ id = "" } = {}] = (await first.events()).filter(({ data }) => data);
      const stream = (await (await session.request("tools/call", call("echo", { text }))).messages()) as unknown[];
      expect(stream).toMatchObject([{ result: { content: [{ text }] } }]);
      const long = await session.request("tools/call", call("tell", { key: text, count: 1 }, "p"));
      const events = (await long.events()).filter(({ data }) => data);
      expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({ result: { content: [{ text }] } });
      expect(await (await session.resume(events[0]?.id)).events()).toEqual(events.slice(1));
      expect(await (await session.resume(id)).events()).toHaveLength(1);
    });

    test("ids are unique over all streams of a session", async () => {
      covers("http-event-id-unique", revision);
      const { session, stage } = await open(revision);
      const listening = await session.get();
      const answers = await Promise.all(["a", "b", "c"].map((key) => tell(session, key, 3)));
      stage.server.tool("new", {}, () => "");
      const ids = [(await nextFull(listening)).id];
      for (const answer of answers) for (const { id } of await answer.events()) ids.push(id);
      await session.delete();
      for (const { id } of await listening.events()) ids.push(id);
      expect(ids.length).toBeGreaterThanOrEqual(13);
      expect(ids.every((id) => id !== undefined && /^[\x21-\x7e]+$/.test(id))).toBe(true);
      expect(new Set(ids).size).toBe(ids.length);
    });

    test("a stream that is taken up again goes on with what comes", async () => {
      covers(["http-resume-replay", "http-disconnect-not-cancel"], revision);
      const { session, stage } = await open(revision);
      const broken = await session.request("tools/call", call("hold", { key: "k" }, "p"), "H");
      const { id } = await nextFull(broken);
      broken.drop();
      const again = await session.resume(id);
      stage.release("k");
      const [progress, answer, ...more] = await again.events();
      expect(progressOf(progress as SseEvent)).toBe(2);
      expect(JSON.parse(answer?.data ?? "")).toMatchObject({ id: "H", result: {} });
      expect(more).toEqual([]);
      // Once more, though all of it was given.
      expect(await (await session.resume(id)).events()).toEqual([progress, answer]);
    });

    test("with two broken streams each has its own", async () => {
      covers("http-resume-same-stream", revision);
      const { session, stage } = await open(revision);
      const keys = ["a", "b"];
      const broken = await Promise.all(keys.map((key) => session.request("tools/call", call("hold", { key }, key))));
      const ids = await Promise.all(broken.map(async (answer) => (await nextFull(answer)).id));
      for (const answer of broken) answer.drop();
      for (const key of keys) stage.release(key);
      for (const [at, id] of ids.entries()) {
        const texts = (await (await session.resume(id)).events()).map(({ data }) => data);
        expect(texts).toHaveLength(2);
        for (const text of texts) expect(text).toContain(`"${keys[at]}"`);
      }
    });

    test("the stream that listens is taken up again, too", async () => {
      covers(["http-resume-replay", "http-get-no-response"], revision);
      const { session, stage } = await open(revision);
      const change = async (name: string): Promise<void> => {
        stage.server.tool(name, {}, () => "");
        await pause(5);
      };
      const first = await session.get();
      await change("one");
      const { id } = await nextFull(first);
      first.drop();
      await tell(session, "other", 2);
      await change("two");
      const second = await session.resume(id);
      await nextFull(second);
      await change("three");
      await nextFull(second);
      await session.delete();
      expect(await second.messages()).toEqual([]);
    });

    test("what is not kept any more is 400, and so is an id that never was", async () => {
      const { session, stage } = await open(revision, { sessions: { maxEvents: 3 } });
      const events = (await (await tell(session, "k", 6)).events()).filter(({ data }) => data);
      expect(events).toHaveLength(7);
      const statuses = [];
      for (const { id } of events) {
        const answer = await session.resume(id);
        statuses.push(answer.status);
        if (answer.status === 400) expect(await answer.json()).toMatchObject({ error: { code: -32600 } });
      }
      expect(statuses).toEqual([400, 400, 400, 200, 200, 200, 200]);
      for (const id of ["0-99999", "99-1", "x", "1", "-1-1", "1-2-3", "1-1; drop", `${"9".repeat(400)}-1`])
        expect((await session.resume(id)).status, id).toBe(400);
      // A GET without an id listens all the same.
      const listening = await session.get();
      stage.server.tool("new", {}, () => "");
      expect((await listening.message())?.method).toBe("notifications/tools/list_changed");
    });

    test("where nothing is kept, nothing can be had again; what is sent arrives", async () => {
      const { session, stage } = await open(revision, { sessions: { maxEvents: 0 } });
      const events = (await (await tell(session, "k", 2)).events()).filter(({ data }) => data);
      expect(events).toHaveLength(3);
      expect((await session.resume(events[0]?.id)).status).toBe(400);
      const listening = await session.get();
      stage.server.tool("new", {}, () => "");
      expect((await listening.message())?.method).toBe("notifications/tools/list_changed");
    });
  });

  describe.each(sessioned.filter((revision) => revision !== polling))("before polling, in %s", (revision) => {
    test("no stream is primed, and no connection ended", async () => {
      covers("http-sse-no-early-close", revision);
      const { session, http, stage } = await open(revision, { answers: "stream" });
      const answer = await session.request("tools/call", call("work", { key: "k" }), 1);
      expect(await answer.events()).toMatchObject([{ data: /"cannot"/ as never }]);
      const held = await session.request("tools/call", call("hold", { key: "h" }), 2);
      const listening = await session.get();
      await stage.held("h");
      http.disconnect(5);
      stage.release("h");
      const events = await held.events();
      expect(events.map(({ retry, data }) => [retry, Boolean(data)])).toEqual([[undefined, true]]);
      stage.server.tool("new", {}, () => "");
      expect(await listening.next()).toMatchObject({ data: /list_changed/ as never });
    });
  });

  describe(`polling, in ${polling}`, () => {
    test("a stream begins with an event that has an id, a time and no data", async () => {
      covers(["http-sse-prime", "http-sse-retry-sent"]);
      const { session } = await open(polling, { answers: "stream", retryMs: 1234 });
      const streams = [await session.request("ping"), await tell(session, "k", 1), await session.get()];
      for (const stream of streams)
        expect(await stream.next()).toEqual({ id: expect.any(String), retry: "1234", data: "" });
      const resumed = await session.resume((await nextFull(streams[1] as Answer)).id);
      expect((await resumed.next())?.data).toContain("result");
    });

    test("a handler ends the connection; the client comes back for the answer", async () => {
      covers(["http-sse-close-connection", "http-sse-retry-sent", "http-sse-includes-response"], polling);
      const { session, stage } = await open(polling);
      const answer = await session.request("tools/call", call("work", { key: "k", retryMs: 25 }, "p"), "W");
      const events = await answer.events();
      expect(events).toEqual([{ id: expect.any(String), retry: "1000", data: "" }, { retry: "25" }]);
      expect(answer.isWhole).toBe(true);
      const early = await session.resume(events[0]?.id);
      stage.release("k");
      expect(await early.messages()).toMatchObject([{ method: "notifications/progress" }, { id: "W", result: {} }]);
      // And whoever comes late has it as well.
      const late = await session.resume(events[0]?.id);
      expect(await late.messages()).toMatchObject([{ method: "notifications/progress" }, { id: "W", result: {} }]);
    });

    test("the server ends all connections; streams go on where they were", async () => {
      covers(["http-get-retry", "http-sse-retry-sent", "http-get-server-close"], polling);
      const { session, http, stage } = await open(polling);
      const listening = await session.get();
      const calling = await session.request("tools/call", call("hold", { key: "k" }, "p"), 1);
      const primed = [(await listening.next())?.id, (await calling.next())?.id];
      expect(progressOf(await nextFull(calling))).toBe(1);
      http.disconnect(15);
      for (const stream of [listening, calling]) {
        expect(await stream.events()).toEqual([{ retry: "15" }]);
        expect(stream.isWhole).toBe(true);
      }
      stage.server.tool("new", {}, () => "");
      stage.release("k");
      const [again, rest] = await Promise.all(primed.map((id) => session.resume(id)));
      expect(await again?.message()).toMatchObject({ method: "notifications/tools/list_changed" });
      expect(await rest?.messages()).toMatchObject([
        { params: { progress: 1 } },
        { params: { progress: 2 } },
        { id: 1 },
      ]);
      expect((await session.request("ping")).status).toBe(200);
    });
  });
});
