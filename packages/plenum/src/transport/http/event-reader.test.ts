// Events however the bytes are cut, and no more of them than is allowed.
import { describe, expect, test } from "vitest";
import { Stop } from "../../util/stop.ts";
import type { HttpAnswer } from "./client-carrier.ts";
import { toAnswer } from "./client-fetch.ts";
import { readEvents, type ServerEvent } from "./event-reader.ts";

const encoder = new TextEncoder();

function toBody(chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}

const toRead = (body: ReadableStream<Uint8Array>, stop = new Stop()): HttpAnswer => toAnswer(new Response(body), stop);

async function read(chunks: readonly (string | Uint8Array)[], maxEventBytes = 1000) {
  const events: ServerEvent[] = [];
  const retries: number[] = [];
  await readEvents(toRead(toBody(chunks)), {
    maxEventBytes,
    stop: new Stop(),
    onEvent: (event) => events.push(event),
    onRetry: (ms) => retries.push(ms),
  });
  return { events, retries };
}

const recorded =
  'retry: 800\n\nid: 1\ndata:\n\n: ping\n\nevent: message\nid: 2\ndata: {"a":"größe"}\r\n\r\ndata: x\ndata: y\n\n';
const expected: ServerEvent[] = [
  { id: "1", event: undefined, data: "" },
  { id: "2", event: "message", data: '{"a":"größe"}' },
  { id: undefined, event: undefined, data: "x\ny" },
];

test("the same events wherever the stream is cut, even inside a character", async () => {
  const bytes = encoder.encode(recorded);
  for (let at = 0; at <= bytes.length; at++) {
    const { events, retries } = await read([bytes.slice(0, at), bytes.slice(at)]);
    expect(events, `cut at ${at}`).toEqual(expected);
    expect(retries).toEqual([800]);
  }
});

test("byte by byte", async () => {
  const { events } = await read([...encoder.encode(recorded)].map((byte) => Uint8Array.of(byte)));
  expect(events).toEqual(expected);
});

test("what is no UTF-8 harms its own event alone", async () => {
  const { events } = await read([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a), "data: ok\n\n"]);
  expect(events.map(({ data }) => data)).toEqual(["\ufffd", "ok"]);
});

test("an event that the stream ends in is none", async () => {
  expect((await read(["data: whole\n\ndata: half"])).events.map(({ data }) => data)).toEqual(["whole"]);
});

describe("an event that is too long", () => {
  test.each<[string, string[]]>([
    ["in one chunk", [`data: ${"x".repeat(101)}\n\n`]],
    ["in one line without end", ["data: ", ...Array.from({ length: 20 }, () => "x".repeat(10))]],
    ["in many lines", Array.from({ length: 60 }, () => "data: x\n")],
    ["in a field of no meaning", ["nothing: ", ...Array.from({ length: 20 }, () => "x".repeat(10))]],
  ])("%s", async (_, chunks) => {
    await expect(read(chunks, 100)).rejects.toThrow("more than 100 bytes (maxEventBytes)");
  });

  test("many that are not too long are no harm", async () => {
    const { events } = await read([`data: ${"x".repeat(90)}\n\n`.repeat(50)], 100);
    expect(events).toHaveLength(50);
  });
});

test("an abort ends it, and lets go of the stream", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode("data: 1\n\n")),
    cancel() {
      isCancelled = true;
    },
  });
  const stop = new Stop();
  const events: string[] = [];
  await readEvents(toRead(body, stop), {
    maxEventBytes: 100,
    stop,
    onEvent({ data }) {
      events.push(data);
      stop.stop();
    },
    onRetry() {},
  });
  expect(events).toEqual(["1"]);
  expect(isCancelled).toBe(true);
});

test("a stream that breaks rejects with why", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("cut")) });
  const options = { maxEventBytes: 100, stop: new Stop(), onEvent() {}, onRetry() {} };
  await expect(readEvents(toRead(body), options)).rejects.toThrow("cut");
});
