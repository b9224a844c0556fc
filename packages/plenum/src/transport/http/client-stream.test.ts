// Streams that are taken up again: from where, after how long, and when not.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { McpError } from "../../protocol/errors.ts";
import { Stop } from "../../util/stop.ts";
import type { HttpAnswer } from "./client-carrier.ts";
import { toAnswer } from "./client-fetch.ts";
import { delayOf, type FollowOptions, followStream } from "./client-stream.ts";

const reconnect = { delayMs: 1000, maxDelayMs: 30_000, maxAttempts: Number.POSITIVE_INFINITY };

describe("the pause", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("doubles up to the longest, with jitter that never makes it longer", () => {
    vi.spyOn(Math, "random").mockReturnValue(0.999_999);
    const longest = [0, 1, 2, 3, 4, 5, 6, 50].map((failures) => Math.round(delayOf(reconnect, failures, undefined)));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    vi.spyOn(Math, "random").mockReturnValue(0);
    expect([0, 1, 2, 50].map((failures) => delayOf(reconnect, failures, undefined))).toEqual([500, 1000, 2000, 15_000]);
  });

  test("is never shorter than the server asks for", () => {
    for (const random of [0, 0.5, 0.999]) {
      vi.spyOn(Math, "random").mockReturnValue(random);
      for (const failures of [0, 1, 5]) expect(delayOf(reconnect, failures, 5000)).toBeGreaterThanOrEqual(5000);
      expect(delayOf(reconnect, 0, 100)).toBeLessThanOrEqual(110);
      // One that asks to be asked at once is not overrun when it is down.
      expect(delayOf(reconnect, 3, 0)).toBeGreaterThanOrEqual(4000);
    }
  });
});

test("nobody is asked without a pause, and streams that end in no time are asked for ever less", () => {
  expect([0, 1, 2, 3, 4, 50].map((shorts) => delayOf(reconnect, 0, 0, shorts))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ]);
  // Who wants it shorter says so.
  const quick = { ...reconnect, delayMs: 5, maxDelayMs: 10 };
  expect([0, 1, 50].map((shorts) => delayOf(quick, 0, 0, shorts))).toEqual([5, 10, 10]);
});

const encoder = new TextEncoder();
const toAnswerOf = (body: ReadableStream, type: string, stop: Stop): HttpAnswer =>
  toAnswer(new Response(body, { headers: { "content-type": type } }), stop);
const toStream = (text: string, stop: Stop, type = "text/event-stream"): HttpAnswer => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(text));
      controller.close();
    },
  });
  return toAnswerOf(body, type, stop);
};
const refused = (status: number): McpError => new McpError("peer_error", `HTTP ${status}`, { data: { status } });

interface Followed {
  /** The ids from which the stream was asked for. */
  readonly asked: (string | undefined)[];
  readonly data: string[];
  readonly troubles: (string | undefined)[];
  readonly stop: Stop;
  readonly done: Promise<unknown>;
}

/** Follows a script of answers; done when "end" has come. */
function follow(first: string | undefined, answers: (string | Error)[], given: Partial<FollowOptions> = {}): Followed {
  const stop = new Stop();
  const asked: (string | undefined)[] = [];
  const data: string[] = [];
  const troubles: (string | undefined)[] = [];
  const done = followStream(first === undefined ? undefined : toStream(first, stop), {
    stop,
    maxEventBytes: 1000,
    reconnect,
    resumes: "after-event",
    async open(id) {
      asked.push(id);
      const answer = answers.shift();
      if (answer === undefined) return new Promise(() => {});
      if (answer instanceof Error) throw answer;
      return toStream(answer, stop);
    },
    onData: (text) => data.push(text),
    isDone: () => data.includes("end"),
    onTrouble: (cause) => troubles.push(cause === undefined ? undefined : String((cause as Error).message)),
    ...given,
  }).then(
    () => "done",
    (error) => error,
  );
  return { asked, data, troubles, stop, done };
}

describe("a stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("goes on behind the last event that has an id, whatever has none", async () => {
    const on = follow("id: a\ndata: 1\n\ndata: 2\n\n", ["id: b\ndata:\n\n", "data: 3\n\n", "data: end\n\n"]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await on.done).toBe("done");
    expect(on.asked).toEqual(["a", "b", "b"]);
    expect(on.data).toEqual(["1", "2", "3", "end"]);
    expect(on.troubles).toEqual([]);
  });

  test("without an event to go on from is lost", async () => {
    const on = follow("data: 1\n\n", []);
    await vi.advanceTimersByTimeAsync(0);
    expect(String(await on.done)).toContain("ended the stream before the answer came");
    expect(on.asked).toEqual([]);
  });

  test("an empty id takes back the one before", async () => {
    const on = follow("id: a\ndata: 1\n\nid:\ndata: 2\n\n", []);
    await vi.advanceTimersByTimeAsync(0);
    expect(await on.done).toBeInstanceOf(Error);
  });

  test("that is never taken up again is not, whatever ids it has", async () => {
    const on = follow("id: a\ndata: 1\n\n", ["data: end\n\n"], { resumes: "never" });
    await vi.advanceTimersByTimeAsync(0);
    expect(await on.done).toBeInstanceOf(Error);
    expect(on.asked).toEqual([]);
  });

  test("is tried for without end, and trouble is told once", async () => {
    const down = [503, 500, 429, 409, 408].map(refused);
    const lost = Array.from({ length: 95 }, () => new Error("reset"));
    const on = follow("id: a\ndata: 1\n\n", [...down, ...lost, "data: end\n\n"]);
    await vi.advanceTimersByTimeAsync(101 * 30_000);
    expect(await on.done).toBe("done");
    expect(on.asked).toHaveLength(101);
    expect(on.troubles).toEqual(["HTTP 503", undefined]);
  });

  test.each([400, 401, 404, 405, 501])("that is refused with %i is lost for good", async (status) => {
    const on = follow("id: a\ndata: 1\n\n", [refused(status)]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await on.done).toMatchObject({ data: { status } });
  });

  test("that is a page now is lost for good", async () => {
    const on = follow("id: a\ndata: 1\n\n", [], {
      open: async () => toStream("<h1>", new Stop(), "text/html"),
    });
    await vi.advanceTimersByTimeAsync(2000);
    expect(await on.done).toMatchObject({ message: expect.stringContaining("something else") });
  });

  test("is given up after as many tries as are allowed", async () => {
    const options = { reconnect: { ...reconnect, maxAttempts: 3 } };
    const on = follow("id: a\ndata: 1\n\n", [refused(503), refused(503), refused(503), "data: end\n\n"], options);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await on.done).toMatchObject({ data: { status: 503 } });
    expect(on.asked).toHaveLength(3);
  });

  test("an event begins a new row of tries", async () => {
    const options = { reconnect: { ...reconnect, maxAttempts: 2 } };
    const streams = ["id: b\ndata: 2\n\n", refused(503), "id: c\ndata: 3\n\n", refused(503), "data: end\n\n"];
    const on = follow("id: a\ndata: 1\n\n", streams, options);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await on.done).toBe("done");
  });

  test("one that ends as soon as it is open is not opened in a hurry", async () => {
    const on = follow(
      undefined,
      Array.from({ length: 100 }, () => ": hello\n\n"),
      { resumes: "always" },
    );
    await vi.advanceTimersByTimeAsync(120_000);
    expect(on.asked.length).toBeGreaterThan(5);
    expect(on.asked.length).toBeLessThan(20);
    on.stop.stop();
    expect(await on.done).toBe("done");
  });

  test("one that was quiet for long and then ended is opened again as soon as the first time", async () => {
    const at: number[] = [];
    const on = follow(undefined, [], {
      resumes: "always",
      async open() {
        at.push(Date.now());
        const body = new ReadableStream({
          start: (controller) => void setTimeout(() => controller.close(), 60_000),
        });
        return toAnswerOf(body, "text/event-stream", on.stop);
      },
    });
    await vi.advanceTimersByTimeAsync(10 * 61_000);
    on.stop.stop();
    expect(await on.done).toBe("done");
    expect(at.length).toBeGreaterThanOrEqual(10);
  });

  test("waits as long as the server asks, even if that is longer than a timer can run", async () => {
    const on = follow("retry: 99999999999999\nid: a\ndata: 1\n\n", ["data: end\n\n"]);
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect(on.asked).toEqual([]);
    on.stop.stop();
    expect(await on.done).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an abort ends it in every phase, and leaves no timer", async () => {
    const waiting = follow("id: a\ndata: 1\n\n", []);
    await vi.advanceTimersByTimeAsync(10);
    waiting.stop.stop();
    expect(await waiting.done).toBe("done");
    expect(waiting.asked).toEqual([]);
    const done = follow("data: end\n\n", []);
    await vi.advanceTimersByTimeAsync(0);
    expect(await done.done).toBe("done");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("one that asks to be asked at once is not asked in a hurry", async () => {
    const streams = Array.from({ length: 1000 }, (_, at) => `id: ${at}\nretry: 0\ndata:\n\n`);
    const on = follow(undefined, streams, { resumes: "always" });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(on.asked.length).toBeGreaterThan(15);
    expect(on.asked.length).toBeLessThan(30);
    on.stop.stop();
    expect(await on.done).toBe("done");
  });

  test("with an event that is too long is not taken up again: it would be as long", async () => {
    const on = follow(`id: a\ndata: 1\n\ndata: ${"x".repeat(2000)}\n\n`, [], { resumes: "always" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(String(await on.done)).toContain("maxEventBytes");
    expect(on.asked).toEqual([]);
  });

  test("that nobody waits for any more is not taken up again", async () => {
    let isLeft = false;
    const on = follow("id: a\ndata: 1\n\n", ["data: 2\n\n"], { isDone: () => isLeft });
    await vi.advanceTimersByTimeAsync(10);
    isLeft = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await on.done).toBe("done");
    expect(on.asked).toEqual([]);
  });

  test.each(["a\u0001b", "\u007f", "x".repeat(5000), "ü ", " b"])(
    "an id that no header can carry is passed over",
    async (id) => {
      const on = follow(`id: good\ndata: 1\n\nid: ${id}\ndata: 2\n\n`, ["data: end\n\n"]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await on.done).toBe("done");
      expect(on.asked).toEqual(["good"]);
    },
  );

  test("what is final is the caller's word", async () => {
    const on = follow("id: a\ndata: 1\n\n", [refused(401), "data: end\n\n"], { isFinal: () => false });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await on.done).toBe("done");
    expect(on.troubles).toEqual(["HTTP 401", undefined]);
  });

  test("events of another type are not messages", async () => {
    const on = follow("event: ping\ndata: 1\n\nevent: message\ndata: 2\n\nevent:\ndata: end\n\n", []);
    await vi.advanceTimersByTimeAsync(0);
    expect(await on.done).toBe("done");
    expect(on.data).toEqual(["2", "end"]);
  });
});
