// Batches exist in 2025-03-26 alone: answered by one array, or by events; refused everywhere else.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Message, Obj } from "./answer.ts";
import { callModern, initializeBody, modern, modernBody, openSession, type Session, sessioned } from "./callers.ts";
import { feeds, type Http, openHttp, until } from "./harness.ts";
import { call, createStage, type Stage, sampled } from "./stage.ts";

const revision = "2025-03-26";
const request = (id: string | number, method = "ping", params?: Obj): Obj => ({ jsonrpc: "2.0", id, method, params });
const tool = (id: string | number, name: string, args: Obj, token?: string): Obj =>
  request(id, "tools/call", call(name, args, token));
const note = { jsonrpc: "2.0", method: "notifications/unheard" };
const response = { jsonrpc: "2.0", id: 99, result: {} };
const byId = (messages: readonly Message[]): Obj =>
  Object.fromEntries(messages.map(({ id, result, error }) => [String(id), result ? "result" : error?.code]));

interface Sender {
  readonly stage: Stage;
  readonly http: Http;
  readonly session?: Session;
  send(body: unknown): ReturnType<Http["post"]>;
}

describe.each(feeds)("on the %s feed", (feed) => {
  const kinds = { "in a session": {}, "without sessions": { sessions: false } } as const;

  async function open(kind: keyof typeof kinds, options = {}): Promise<Sender> {
    const stage = createStage();
    const http = await openHttp(stage.server, { ...kinds[kind], ...options }, feed);
    if (kind === "without sessions") return { stage, http, send: (body) => http.post(body) };
    const session = await openSession(http, revision, { capabilities: { sampling: {} } });
    return { stage, http, session, send: (body) => session.post(body) };
  }

  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])("%s", (kind) => {
    test("requests are answered by one array", async () => {
      covers(["http-json-batch-reply", "http-post-body-batchable"], revision);
      const { send } = await open(kind);
      const answer = await send([request(1), note, tool("a", "echo", { text: "hi" }), request(3, "no/such")]);
      expect(answer.status).toBe(200);
      expect(answer.type).toBe("application/json");
      const all = (await answer.json()) as unknown as Message[];
      expect(Array.isArray(all)).toBe(true);
      expect(byId(all)).toEqual({ 1: "result", a: "result", 3: -32601 });
    });

    test("one request in an array is answered by an array of one", async () => {
      covers("http-json-batch-reply", revision);
      const { send } = await open(kind);
      expect(await (await send([request(1)])).json()).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    });

    test.each(["auto", "stream"] as const)("or by events, one for each: answers %s", async (answers) => {
      covers(["http-sse-includes-response", "http-sse-close-after", "http-post-response-type"], revision);
      const { send } = await open(kind, { answers });
      const answer = await send([
        tool(1, "tell", { key: "a", count: 2 }, "pa"),
        tool(2, "tell", { key: "b", count: 1 }, "pb"),
      ]);
      expect(answer.type).toBe("text/event-stream");
      const messages = await answer.messages();
      expect(messages.filter(({ method }) => method).map(({ params }) => params?.progressToken)).toEqual([
        "pa",
        "pa",
        "pb",
      ]);
      expect(byId(messages.filter(({ id }) => id !== undefined))).toEqual({ 1: "result", 2: "result" });
      expect(messages).toHaveLength(5);
      expect(answer.isWhole).toBe(true);
    });

    test("an answer that is early waits for those that are late", async () => {
      covers("http-sse-no-early-close", revision);
      const { send, stage } = await open(kind);
      const answering = send([tool(1, "hold", { key: "k" }, "p"), request(2)]);
      await stage.held("k");
      const answer = await answering;
      expect(await answer.message()).toMatchObject({ method: "notifications/progress" });
      stage.release("k");
      expect(byId((await answer.messages()).filter(({ id }) => id !== undefined))).toEqual({
        1: "result",
        2: "result",
      });
    });

    test("notifications or responses alone are accepted with 202", async () => {
      covers("http-post-202", revision);
      const { send } = await open(kind);
      for (const body of [
        [note, note],
        [response, { ...response, id: 98 }],
      ]) {
        const answer = await send(body);
        expect([answer.status, await answer.text()]).toEqual([202, ""]);
      }
    });

    test("responses mixed with anything else are refused whole", async () => {
      covers(["http-post-body-batchable", "http-post-reject-status"], revision);
      const { send, stage } = await open(kind);
      for (const body of [
        [tool(1, "hold", { key: "k" }), response],
        [note, response],
      ]) {
        const answer = await send(body);
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
      }
      expect(stage.begun).toEqual([]);
      // Nothing of it is left: the id is free.
      expect((await send([request(1), request(2)])).status).toBe(200);
    });

    test("an array in which nothing is a message, or that is empty or too long, is 400", async () => {
      covers("http-post-reject-status", revision);
      const { send } = await open(kind);
      for (const body of [[], [1, "x"], [{}], [note, { jsonrpc: "2.0", method: 1 }], Array(1001).fill(note)]) {
        const answer = await send(body);
        expect(answer.status, JSON.stringify(body).slice(0, 50)).toBe(400);
        await answer.text();
      }
    });

    test("initialize stands alone", async () => {
      const { send } = await open(kind);
      const answer = await send([initializeBody(revision, {}, 1), request(2)]);
      expect(answer.status).toBe(400);
      expect(answer.header("mcp-session-id")).toBeUndefined();
      expect((await send([request(2)])).status).toBe(200);
    });
  });

  test.each(["auto", "stream"] as const)(
    "what is no message has its place among the answers: answers %s",
    async (answers) => {
      const { send } = await open("in a session", { answers });
      const answer = await send([5, { id: 7, method: "ping" }, request(1)]);
      expect(answer.status).toBe(200);
      expect(byId(await answer.messages())).toEqual({ 1: "result", 7: -32600, undefined: -32600 });
      expect((await send(request(1))).status).toBe(200);
    },
  );

  test("a member that asks is answered, and the batch with it", async () => {
    covers("http-sse-pre-response", revision);
    const { send, session } = await open("in a session");
    const answer = await send([tool(1, "ask", { key: "k" }), request(2)]);
    const asked = (await answer.message()) as Message;
    expect(asked.method).toBe("sampling/createMessage");
    expect((await session?.respond(asked, sampled))?.status).toBe(202);
    expect(byId(await answer.messages())).toEqual({ 1: "result", 2: "result" });
  });

  test.each(["auto", "stream"] as const)(
    "a member that is cancelled is left out, and its id is free: answers %s",
    async (answers) => {
      covers(["cancel-no-response", "cancel-stop-processing"], revision);
      const { send, session, stage, http } = await open("in a session", { answers });
      const answering = send([tool(1, "hold", { key: "a" }), tool(2, "hold", { key: "b" }), request(3)]);
      await stage.held("b");
      await session?.notify("notifications/cancelled", { requestId: 1 });
      stage.release("b");
      const answer = await answering;
      expect(byId(await answer.messages())).toEqual({ 2: "result", 3: "result" });
      expect(stage.aborted).toEqual(["a"]);
      expect((await send([request(1), request(2), request(3)])).status).toBe(200);
      expect((await http.post(initializeBody(revision))).status).toBe(200);
    },
  );

  test.each(["auto", "stream"] as const)(
    "a batch of which all is cancelled ends without an answer: answers %s",
    async (answers) => {
      covers(["cancel-no-response", "cancel-stop-processing"], revision);
      const { send, session, stage } = await open("in a session", { answers });
      const answering = send([tool(1, "hold", { key: "a" }), tool(2, "hold", { key: "b" })]);
      await stage.held("b");
      for (const requestId of [2, 1]) await session?.notify("notifications/cancelled", { requestId });
      await until(() => stage.aborted.length === 2, "both are cancelled");
      const answer = await answering;
      expect(answer.status).toBe(200);
      expect(await answer.messages()).toEqual([]);
      expect(answer.isWhole).toBe(true);
      expect((await send([request(1), request(2)])).status).toBe(200);
    },
  );

  test("no other revision has them", async () => {
    covers(["http-post-body-single", "http-post-body-single-2026"]);
    const stage = createStage();
    const http = await openHttp(stage.server, {}, feed);
    const unbound = await openHttp(stage.server, { sessions: false }, feed);
    const body = [tool(1, "hold", { key: "k" })];
    for (const later of sessioned.filter((one) => one !== revision)) {
      const session = await openSession(http, later);
      for (const answer of [await session.post(body), await unbound.post(body, { "mcp-protocol-version": later })]) {
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ error: { code: -32600 } });
      }
    }
    const headers = { "mcp-protocol-version": modern };
    expect((await http.post([modernBody("tools/call", call("hold", { key: "k" }))], headers)).status).toBe(400);
    expect((await callModern(http, "tools/list")).status).toBe(200);
    expect(stage.begun).toEqual([]);
  });
});
