import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Feed } from "./node-feed.ts";

const kib = 1024;

/** A response that never has room; `take` is its reader, who takes all that it holds. */
function open() {
  const portions: number[] = [];
  const response = Object.assign(new EventEmitter(), {
    writableLength: 0,
    isEnded: false,
    write(data: string | Buffer) {
      portions.push(Buffer.byteLength(data));
      response.writableLength += Buffer.byteLength(data);
      return false;
    },
    end(data?: string | Buffer) {
      if (data) portions.push(Buffer.byteLength(data));
      response.isEnded = true;
    },
  });
  const take = (afterMs: number): void => {
    vi.advanceTimersByTime(afterMs);
    response.writableLength = 0;
    response.emit("drain");
  };
  return { feed: new Feed(response as unknown as ServerResponse), response, portions, take };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the portions of a long answer", () => {
  test("grow for a reader who takes them in a moment, up to 512 KiB", () => {
    const { feed, portions, take, response } = open();
    feed.end("x".repeat(3000 * kib));
    for (let i = 0; i < 8; i++) take(10);
    expect(portions).toEqual([64, 256, 512, 512, 512, 512, 512, 120].map((count) => count * kib));
    expect(response.isEnded).toBe(true);
  });

  test("are small again for one who has become slow", () => {
    const { feed, portions, take } = open();
    feed.end("x".repeat(1000 * kib));
    for (const ms of [10, 500, 500, 10]) take(ms);
    expect(portions).toEqual([64, 256, 64, 64, 256].map((count) => count * kib));
    expect(feed.waitingBytes).toBe((1000 - 64 - 256 - 64 - 64) * kib);
  });

  test("put together what was written meanwhile, whole and in order", () => {
    const { feed, response, take } = open();
    let text = "";
    const write = response.write;
    response.write = (data) => {
      text += data;
      return write(data);
    };
    const parts = ["a".repeat(70 * kib), "b", "c".repeat(100), "d".repeat(90 * kib), "e"];
    for (const part of parts) feed.write(part);
    feed.end();
    for (let i = 0; i < 9 && !response.isEnded; i++) take(1000);
    expect(text).toBe(parts.join(""));
    expect(response.isEnded).toBe(true);
  });
});
