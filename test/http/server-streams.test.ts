// What travels on which stream in sessions: what belongs to a request on its POST's, everything else on the one that
// listens, nothing on two.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Message } from "./answer.ts";
import { openSession, sessioned } from "./callers.ts";
import { feeds, openHttp, until } from "./harness.ts";
import { call, createStage, sampled } from "./stage.ts";

const listChanged = "notifications/tools/list_changed";
const sampling = { capabilities: { sampling: {} } };
const methodsOf = async (answer: Answer) => (await answer.messages()).map(({ method }) => method);

describe.each(feeds)("on the %s feed", (feed) => {
  describe.each(sessioned)("in %s", (revision) => {
    async function open(options = {}) {
      const stage = createStage();
      const http = await openHttp(stage.server, options, feed);
      const change = (name: string): unknown => stage.server.tool(name, {}, () => "");
      return { stage, http, change, session: await openSession(http, revision, sampling) };
    }

    test("what a handler tells comes on its call's stream, before the answer; then the stream ends", async () => {
      covers(
        ["http-sse-pre-response", "http-sse-includes-response", "http-sse-close-after", "http-resumable"],
        revision,
      );
      covers(["http-event-id", "http-post-response-type"], revision);
      const { session } = await open();
      const answer = await session.request("tools/call", call("tell", { key: "k", count: 2 }, "p"), "T");
      expect(answer.type).toBe("text/event-stream");
      const events = (await answer.events()).filter(({ data }) => data);
      expect(events.map(({ data }) => JSON.parse(data ?? ""))).toMatchObject([
        { method: "notifications/progress", params: { progress: 1, progressToken: "p" } },
        { method: "notifications/progress", params: { progress: 2, progressToken: "p" } },
        { id: "T", result: { content: [{ text: "k" }] } },
      ]);
      for (const { id, event } of events) expect([id, event]).toEqual([expect.any(String), "message"]);
      expect(answer.isWhole).toBe(true);
    });

    test("calls at the same time tell on their own streams, and nothing on the one that listens", async () => {
      covers(["http-sse-related", "http-get-unrelated", "http-get-no-response", "http-no-broadcast"], revision);
      const { stage, session, change } = await open();
      const listening = await session.get();
      const keys = ["a", "b"];
      const answers = await Promise.all(
        keys.map((key) => session.request("tools/call", call("hold", { key }, `p-${key}`))),
      );
      for (const key of ["b", "a"]) stage.release(key);
      for (const [n, answer] of answers.entries()) {
        const messages = await answer.messages();
        expect(messages.map(({ params }) => params?.progressToken)).toEqual([
          `p-${keys[n]}`,
          `p-${keys[n]}`,
          undefined,
        ]);
      }
      expect((await session.request("tools/call", call("echo", { text: "JSON" }))).type).toBe("application/json");
      change("late");
      expect(await listening.message()).toEqual({ jsonrpc: "2.0", method: listChanged });
      await session.delete();
      expect(await listening.messages()).toEqual([]);
    });

    test("a question of the server's comes on the stream of the call that asks, and nowhere else", async () => {
      covers(
        ["http-sse-pre-response", "http-sse-related", "http-get-unrelated", "http-no-broadcast", "http-post-202"],
        revision,
      );
      const { session } = await open();
      const listening = await session.get();
      const one = await session.request("tools/call", call("ask", { key: "one" }), 1);
      const two = await session.request("tools/call", call("ask", { key: "two" }), 2);
      const asked = [(await one.message()) as Message, (await two.message()) as Message];
      expect(asked.map(({ method }) => method)).toEqual(Array(2).fill("sampling/createMessage"));
      expect(asked.map((message) => JSON.stringify(message).match(/"(one|two)"/)?.[1])).toEqual(["one", "two"]);
      for (const message of asked.reverse()) {
        const taken = await session.respond(message, sampled);
        expect([taken.status, await taken.text()]).toEqual([202, ""]);
      }
      expect(await one.messages()).toMatchObject([{ id: 1, result: { content: [{ text: /yes/ as never }] } }]);
      expect(await two.messages()).toMatchObject([{ id: 2, result: {} }]);
      await session.delete();
      expect(await listening.messages()).toEqual([]);
    });

    test("what is about no request comes on the stream that listens", async () => {
      covers(["http-get-server-messages", "http-no-broadcast"], revision);
      const { session, change, stage } = await open();
      const listening = await session.get();
      const running = await session.request("tools/call", call("hold", { key: "k" }, "p"));
      change("new");
      expect(await listening.message()).toEqual({ jsonrpc: "2.0", method: listChanged });
      stage.release("k");
      expect(await methodsOf(running)).toEqual(["notifications/progress", "notifications/progress", undefined]);
    });

    test("of two that listen the newer has it; the older ends", async () => {
      covers(["http-no-broadcast", "http-get-server-close"], revision);
      const { session, change } = await open();
      const older = await session.get();
      const newer = await session.get();
      change("new");
      expect((await newer.message())?.method).toBe(listChanged);
      expect(await older.messages()).toEqual([]);
      expect(older.isWhole).toBe(true);
    });

    test("what nobody listened to is kept for whoever listens next, once", async () => {
      covers("http-no-broadcast", revision);
      const { session, stage } = await open();
      const uris = ["note://1", "note://2"];
      for (const uri of uris) await (await session.request("resources/subscribe", { uri })).result();
      for (const uri of uris) stage.server.resourceUpdated(uri);
      // They are told in the next turn.
      for (let n = 0; n < 2; n++) await (await session.request("ping")).text();
      const first = await session.get();
      for (const uri of uris)
        expect(await first.message()).toMatchObject({ method: "notifications/resources/updated", params: { uri } });
      const second = await session.get();
      await first.ended();
      await session.delete();
      expect(await second.messages()).toEqual([]);
    });

    test("an answer that takes long becomes a stream; an answer in time does not", async () => {
      covers("http-sse-no-early-close", revision);
      const { session, stage } = await open({ streamAfterMs: 50, keepAliveMs: 50 });
      const answer = await session.request("tools/call", call("hold", { key: "k" }), 1);
      expect(answer.type).toBe("text/event-stream");
      const done = answer.messages();
      await until(() => answer.comments >= 2, "the stream is kept alive");
      stage.release("k");
      expect(await done).toMatchObject([{ id: 1, result: {} }]);
      expect((await session.request("ping")).type).toBe("application/json");
    });

    test("a cancelled request ends its exchange without an answer, whatever it had become", async () => {
      covers(["cancel-stop-processing", "cancel-no-response"], revision);
      const { session, stage } = await open();
      const json = session.start("tools/call", call("hold", { key: "json" }), 1);
      const stream = await session.request("tools/call", call("hold", { key: "stream" }, "p"), 2);
      await stage.held("json");
      for (const requestId of [1, 2]) {
        expect((await session.notify("notifications/cancelled", { requestId })).status).toBe(202);
      }
      await until(() => stage.aborted.length === 2, "both are cancelled");
      const ended = await json.answer;
      expect(ended.status).toBe(200);
      expect(await ended.messages()).toEqual([]);
      expect(await methodsOf(stream)).toEqual(["notifications/progress"]);
      expect([ended.isWhole, stream.isWhole]).toEqual([true, true]);
      // Nobody waits for them, and their ids are free.
      expect((await session.request("ping", {}, 1)).status).toBe(200);
    });

    test("an id that is still open is refused, and what it stands for goes on", async () => {
      const { session, stage } = await open();
      const first = session.start("tools/call", call("hold", { key: "k" }), 1);
      await stage.held("k");
      const again = await session.request("tools/call", call("hold", { key: "k2" }), 1);
      expect(again.status).toBe(400);
      expect(await again.code()).toBe(-32600);
      stage.release("k");
      expect(await (await first.answer).result()).toMatchObject({ content: [{ text: "k" }] });
      expect(stage.begun).toEqual(["k"]);
    });

    test("a client that leaves has not cancelled: the call runs on, and what it told can be had", async () => {
      covers("http-disconnect-not-cancel", revision);
      const { session, stage } = await open();
      const silent = session.start("tools/call", call("hold", { key: "json" }), 1);
      const stream = await session.request("tools/call", call("hold", { key: "stream" }, "p"), 2);
      if (revision === "2025-11-25") await stream.next();
      const event = await stream.next();
      await stage.held("json");
      silent.drop();
      stream.drop();
      // The server has heard of both when it answers a third.
      for (let n = 0; n < 3; n++) await (await session.request("ping")).text();
      for (const key of ["json", "stream"]) stage.release(key);
      await until(() => stage.done.length === 2, "both come to their end");
      expect(stage.aborted).toEqual([]);
      const rest = await session.resume(event?.id);
      expect(await rest.messages()).toMatchObject([{ method: "notifications/progress" }, { id: 2, result: {} }]);
    });

    test("where no stream can be opened a question fails at once, and the answer comes all the same", async () => {
      const { session, stage } = await open({ maxStreams: 1 });
      await session.get();
      stage.server.tool("try", {}, async (_, ctx) => {
        const messages = [{ role: "user" as const, content: { type: "text" as const, text: "?" } }];
        return ctx.sample({ messages, maxTokens: 1 }).then(
          () => "asked",
          (error) => `${error.code}: ${error.message}`,
        );
      });
      const tried = await session.request("tools/call", call("try"));
      expect(tried.type).toBe("application/json");
      expect(JSON.stringify(await tried.result())).toMatch(/connection_lost: .*maxStreams/);
      const working = session.request("tools/call", call("work", { key: "w" }));
      await stage.held("w");
      stage.release("w");
      const text = revision === "2025-11-25" ? "w" : "cannot";
      expect(await (await working).result()).toMatchObject({ content: [{ text }] });
    });
  });
});

test.each(["short", "é".repeat(100_000)])("a stream that is whole when it begins has its length", async (text) => {
  const { server } = createStage();
  const session = await openSession(await openHttp(server, { answers: "stream" }), "2025-11-25");
  const answer = await session.request("tools/call", call("echo", { text }));
  expect(answer.type).toBe("text/event-stream");
  expect(Number(answer.header("content-length"))).toBeGreaterThan(Buffer.byteLength(text));
  expect((await answer.messages()).at(-1)).toMatchObject({ result: { content: [{ text }] } });
  expect(answer.isWhole).toBe(true);
});
