// A visit to a server over HTTP with nothing but fetch: what a client sends in a session of 2025-11-25 and in 2026-07-28, and
// what must come back. The examples serve one server (examples/http/launch-pad.ts), so that one visit fits all of them.
import { expect, vi } from "vitest";

type Obj = Record<string, unknown>;

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Obj;
  readonly result?: Obj;
  readonly error?: { readonly code: number; readonly message: string };
}

/** No single thing may take longer, on a machine that is busy with others. */
const patienceMs = 20_000;

/** The messages of a stream of events, one at a time, as they come. */
export class Events {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #text = "";

  constructor(response: Response) {
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    if (!response.body) throw new Error("A stream of events without a body.");
    this.#reader = response.body.getReader();
  }

  /** The next message; undefined when the stream has ended in order. */
  next(): Promise<Message | undefined> {
    return within(this.#next(), "the next message");
  }

  async #next(): Promise<Message | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
        // Comments keep the stream alive; an event without data only tells where it stands.
        if (data.join("") !== "") return JSON.parse(data.join("\n")) as Message;
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** All messages until the stream ends. */
  async rest(): Promise<Message[]> {
    const all: Message[] = [];
    for (let one = await this.next(); one; one = await this.next()) all.push(one);
    return all;
  }

  /** Goes away in the middle. */
  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${patienceMs / 1000} s for ${what}.`)), patienceMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const both = "application/json, text/event-stream";

function post(url: string, message: Obj, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
  const answer = fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: both, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...(signal && { signal }),
  });
  return within(answer, `the answer to ${String(message.method)}`);
}

/** The one message of an answer in JSON. */
async function json(response: Response): Promise<Message> {
  const text = await within(response.text(), "the body");
  expect([response.status, response.headers.get("content-type")], text).toEqual([
    200,
    expect.stringMatching(/^application\/json\b/),
  ]);
  return JSON.parse(text) as Message;
}

const textOf = (message: Message | undefined): unknown =>
  (message?.result?.content as { text: string }[] | undefined)?.[0]?.text;

const progressOf = (messages: readonly Message[]): unknown[] =>
  messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params?.progress);

const updated = { method: "notifications/resources/updated", params: { uri: "pad://events" } };

/** A session of 2025-11-25 from beginning to end: calls in JSON and as a stream, an ask, the GET stream, DELETE. */
export async function visitWithSession(url: string): Promise<void> {
  const opened = await post(
    url,
    {
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { elicitation: {} },
        clientInfo: { name: "visitor", version: "1" },
      },
    },
    {},
  );
  const session = opened.headers.get("mcp-session-id") ?? "";
  expect(session).toMatch(/^[\x21-\x7e]{16,}$/);
  expect(await json(opened)).toMatchObject({
    id: 0,
    result: { protocolVersion: "2025-11-25", serverInfo: { name: "launch-pad" } },
  });
  const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
  const send = (message: Obj): Promise<Response> => post(url, message, headers);
  expect((await send({ method: "notifications/initialized" })).status).toBe(202);

  const listed = await json(await send({ id: 1, method: "tools/list" }));
  expect(listed.result?.tools).toMatchObject([{ name: "count_down" }, { name: "launch" }]);

  const counted = new Events(
    await send({
      id: 2,
      method: "tools/call",
      params: { name: "count_down", arguments: { from: 3 }, _meta: { progressToken: "p" } },
    }),
  );
  const messages = await counted.rest();
  expect(progressOf(messages)).toEqual([0, 1, 2]);
  expect(messages.at(-1)?.id).toBe(2);
  expect(textOf(messages.at(-1))).toBe("Zero.");

  const get = fetch(url, { headers: { accept: "text/event-stream", ...headers } });
  const listening = new Events(await within(get, "the GET stream"));
  expect(await json(await send({ id: 3, method: "resources/subscribe", params: { uri: "pad://events" } }))).toEqual({
    jsonrpc: "2.0",
    id: 3,
    result: {},
  });
  // The question comes on the stream of the call that asks, and its answer is another POST.
  const launching = new Events(await send({ id: 4, method: "tools/call", params: { name: "launch", arguments: {} } }));
  const question = await launching.next();
  expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Launch now?" } });
  const answer = { id: question?.id, result: { action: "accept", content: { sure: true } } };
  expect((await send(answer)).status).toBe(202);
  const launched = await launching.rest();
  expect(launched).toHaveLength(1);
  expect(textOf(launched[0])).toMatch(/^Launched/);
  expect(await listening.next()).toMatchObject(updated);

  const deleted = await within(fetch(url, { method: "DELETE", headers }), "the answer to DELETE");
  expect([200, 204]).toContain(deleted.status);
  expect(await listening.rest()).toEqual([]);
  expect((await send({ id: 5, method: "tools/list" })).status).toBe(404);
}

/** A revision with a handshake, from a server that keeps no sessions: each request stands alone. */
export async function visitWithoutSession(url: string): Promise<void> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "visitor", version: "1" } };
  const opened = await post(url, { id: 0, method: "initialize", params }, {});
  expect(opened.headers.get("mcp-session-id")).toBeNull();
  expect(await json(opened)).toMatchObject({ id: 0, result: { protocolVersion: "2025-11-25" } });
  const headers = { "mcp-protocol-version": "2025-11-25" };
  expect((await post(url, { method: "notifications/initialized" }, headers)).status).toBe(202);
  const called = { name: "count_down", arguments: { from: 2 } };
  const plain = await json(await post(url, { id: 1, method: "tools/call", params: called }, headers));
  expect(textOf(plain)).toBe("Zero.");
  const streamed = { ...called, _meta: { progressToken: 1 } };
  const events = new Events(await post(url, { id: 2, method: "tools/call", params: streamed }, headers));
  const messages = await events.rest();
  expect(progressOf(messages)).toEqual([0, 1]);
  expect(textOf(messages.at(-1))).toBe("Zero.");
  const got = await within(fetch(url, { headers: { accept: "text/event-stream", ...headers } }), "the answer to GET");
  await got.body?.cancel();
  expect(got.status).toBe(405);
}

type Send = (method: string, params?: Obj, meta?: Obj, signal?: AbortSignal) => Promise<Response>;

/** Sends requests of 2026-07-28, each with all that it needs. */
function createSend(url: string): Send {
  let id = 0;
  return (method, params = {}, meta = {}, signal) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "visitor", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
      ...meta,
    };
    const name = (params.name ?? params.uri) as string | undefined;
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(name && { "mcp-name": name }) };
    return post(url, { id: ++id, method, params: { ...params, _meta } }, headers, signal);
  };
}

/** 2026-07-28: discovery, calls in JSON and as a stream, an ask in two rounds, a watched resource. */
export async function visitStateless(url: string): Promise<void> {
  const send = createSend(url);
  const discovered = await json(await send("server/discover"));
  expect(discovered.result?.supportedVersions).toContain("2026-07-28");
  expect(textOf(await json(await send("tools/call", { name: "count_down", arguments: { from: 1 } })))).toBe("Zero.");

  const counting = await send("tools/call", { name: "count_down", arguments: { from: 3 } }, { progressToken: "p" });
  const messages = await new Events(counting).rest();
  expect(progressOf(messages)).toEqual([0, 1, 2]);
  expect(textOf(messages.at(-1))).toBe("Zero.");

  const notifications = { resourceSubscriptions: ["pad://events"] };
  const listening = new Events(await send("subscriptions/listen", { notifications }));
  expect(await listening.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });

  const call = { name: "launch", arguments: {} };
  const asked = await json(await send("tools/call", call));
  expect(asked.result).toMatchObject({ resultType: "input_required" });
  const { inputRequests, requestState } = asked.result as { inputRequests: Obj; requestState: string };
  const [key = ""] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { sure: true } } };
  const launched = await json(await send("tools/call", { ...call, inputResponses, requestState }));
  expect(textOf(launched)).toMatch(/^Launched/);
  expect(await listening.next()).toMatchObject(updated);
  await listening.leave();
}

/** Goes away in the middle of a call, which in 2026-07-28 cancels it: from its stream, or before anything was answered. */
export async function visitAndLeave(url: string, from: "stream" | "json"): Promise<void> {
  const send = createSend(url);
  const countStops = async (): Promise<number> => {
    const { result } = await json(await send("resources/read", { uri: "pad://events" }));
    const contents = result?.contents as { text: string }[] | undefined;
    return contents?.[0]?.text.split("\n").filter((event) => event === "count-down stopped").length ?? Number.NaN;
  };
  const before = await countStops();
  const call = { name: "count_down", arguments: { from: 100 } };
  if (from === "stream") {
    const counting = new Events(await send("tools/call", call, { progressToken: "p" }));
    expect(progressOf([(await counting.next()) as Message])).toEqual([0]);
    await counting.leave();
  } else {
    const leaving = new AbortController();
    const answer = send("tools/call", call, {}, leaving.signal);
    setTimeout(() => leaving.abort(), 200);
    await expect(answer).rejects.toThrow("aborted");
  }
  await vi.waitFor(async () => expect(await countStops()).toBe(before + 1), { timeout: 4000, interval: 50 });
}
