// A stream that is cut at every byte, and again on the way: every message comes exactly once and in order.
import { connect } from "plenum";
import { expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { initialized, result, text } from "./client-stage.ts";

const encoder = new TextEncoder();
const words = ["one", "größe", "drei\u2028", "四", "🎈 five", "six"];

interface Event {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The whole exchange: a priming event, log messages, and the answer. */
function record(id: unknown): Event[] {
  const messages = words.map((data, at) => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", data: `${at} ${data}` },
  }));
  const texts = ["", ...[...messages, result(id, text("all"))].map((message) => JSON.stringify(message))];
  return texts.map((data, at) => {
    const end = at % 2 === 0 ? "\n" : "\r\n";
    const comment = at % 3 === 0 ? `: still here${end}${end}` : "";
    return { id: `e-${at}`, bytes: encoder.encode(`${comment}id: e-${at}${end}data: ${data}${end}${end}`) };
  });
}

const join = (events: readonly Event[]): Uint8Array => new Uint8Array(events.flatMap(({ bytes }) => [...bytes]));

/** In two pieces, and then the end: in order or by breaking. */
function toStream(bytes: Uint8Array, isBroken: boolean): Response {
  const half = bytes.length >> 1;
  const pieces = [bytes.slice(0, half), bytes.slice(half)];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else if (isBroken) controller.error(new Error("reset"));
      else controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("wherever a stream is cut, nothing is lost and nothing comes twice", async () => {
  covers(["http-resume-last-event-id", "http-sse-empty-data"]);
  const total = join(record(0)).length;
  expect(total).toBeGreaterThan(500);
  /** Bytes that each stream has left before it is cut; the last ones are whole. */
  let cuts: number[] = [];
  let call: unknown;
  const serve = (events: readonly Event[]): Response => {
    const bytes = join(events);
    const cut = cuts.shift();
    return toStream(cut === undefined ? bytes : bytes.slice(0, cut), (cut ?? 0) % 2 === 1);
  };
  const client = await connect(
    {
      url: "http://cuts.example/mcp",
      reconnect: { delayMs: 0.01, maxDelayMs: 0.01 },
      async fetch(_, { method, headers, body }) {
        if (method === "DELETE") return new Response(null, { status: 200 });
        if (method === "GET") {
          const last = (headers as Headers).get("last-event-id");
          if (last === null) return new Response(null, { status: 405 });
          const events = record(call);
          return serve(events.slice(events.findIndex(({ id }) => id === last) + 1));
        }
        const message = JSON.parse(String(body));
        if (message.method === "initialize") {
          const answer = JSON.stringify(result(message.id, initialized("2025-11-25")));
          return new Response(answer, { headers: { "content-type": "application/json", "mcp-session-id": "s" } });
        }
        if (message.id === undefined) return new Response(null, { status: 202 });
        call = message.id;
        return serve(record(call));
      },
    },
    { revision: "2025-11-25", onLog: ({ data }) => heard.push(data) },
  );
  onTestFinished(() => client.close());
  let heard: unknown[] = [];
  // The answer's id is part of the length: it is the same for all calls of one row of digits.
  const primed = (record(0)[0] as Event).bytes.length;
  const expected = words.map((data, at) => `${at} ${data}`);
  let lost = 0;
  for (let at = 0; at <= total; at++) {
    heard = [];
    // And what is left is cut as well, twice, somewhere else.
    cuts = [at, (at * 7) % 211, (at * 13) % 97];
    const told = await client.callTool("t").then(
      (answer) => answer.text,
      (error) => error.code,
    );
    if (told === "connection_lost") {
      // Before the first event there is nothing to go on from.
      expect(at).toBeLessThan(primed);
      expect(heard).toEqual([]);
      lost++;
    } else {
      expect(told, `cut at ${at}`).toBe("all");
      expect(heard, `cut at ${at}`).toEqual(expected);
    }
  }
  expect(lost).toBe(primed);
});
