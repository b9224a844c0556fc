import { describe, expect, test } from "vitest";
import type { EventSink, Outlet } from "./exchange.ts";
import type { Beating } from "./pulse.ts";
import { Reply } from "./reply.ts";

/** A stream whose reader takes what it is told to, and the clock of it. */
function openStream(isTaken = false) {
  const reader = { waiting: 0, isCut: false, streams: 0, beating: new Set<Beating>(), lost: 0 };
  let lose = (): void => {};
  const sink: EventSink = {
    write(text) {
      reader.waiting += text.length;
    },
    end() {},
    abort() {
      reader.isCut = true;
    },
    get waitingBytes() {
      return reader.waiting;
    },
  };
  const outlet: Outlet = {
    answer() {},
    stream() {
      if (isTaken) lose();
      return sink;
    },
    onGone(listener) {
      lose = () => listener.gone();
    },
  };
  const reply = new Reply(outlet, {
    settings: { keepAliveMs: 15_000, readerTimeoutMs: 30_000, maxQueuedBytes: 1000 },
    pulse: reader.beating,
    mayStream: () => true,
    streamed(delta) {
      reader.streams += delta;
    },
    done() {},
  });
  reply.onGone({ gone: () => reader.lost++ });
  let now = Date.now();
  const beat = (seconds: number): void => {
    now += seconds * 1000;
    for (const one of reader.beating) one.beat(now);
  };
  return { reader, reply, stream: reply.stream(), beat };
}

describe("what waits for a reader", () => {
  test("may be one event of any length, and not another behind it", () => {
    const { reader, stream } = openStream();
    stream.write("x".repeat(100_000));
    expect(reader.isCut).toBe(false);
    stream.write("y");
    expect(reader.isCut).toBe(true);
    expect(reader.waiting).toBe(100_000);
  });

  test("may be as much as before, as long as something of it is taken", () => {
    const { reader, stream, beat } = openStream();
    stream.write("x".repeat(300));
    for (let second = 0; second < 100; second++) {
      stream.write("x".repeat(500));
      reader.waiting -= 500;
      beat(1);
    }
    expect(reader.isCut).toBe(false);
    for (let second = 0; second < 35; second++) beat(1);
    expect(reader.isCut).toBe(true);
  });

  test("is given up where it only grows", () => {
    const { reader, stream, beat } = openStream();
    for (let second = 0; second < 35; second++) {
      stream.write("x");
      beat(1);
    }
    expect(reader.isCut).toBe(true);
  });
});

test("a stream that turns out to be somebody else's is none, and is not counted", () => {
  const { reader, reply, stream } = openStream(true);
  expect(reply.isOver).toBe(true);
  expect(reader).toMatchObject({ lost: 1, streams: 0 });
  expect(reader.beating.size).toBe(0);
  stream.write("x");
  expect(reader.waiting).toBe(0);
});
