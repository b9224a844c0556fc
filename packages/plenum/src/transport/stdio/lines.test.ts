// The framing: what the chunks are must not matter.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLines } from "./lines.ts";

const unlimited = 2 ** 20;

/** What comes of the chunks, in order: texts, and the word "too long" for each line that is. */
function read(chunks: readonly Uint8Array[], maxBytes = unlimited): string[] {
  const seen: string[] = [];
  const lines = createLines({
    maxBytes,
    onLine: (text) => seen.push(`line ${text}`),
    onTooLong: () => seen.push("too long"),
  });
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return seen;
}

/** The same by the simplest means: all the bytes at once. */
function readWhole(bytes: Uint8Array, maxBytes = unlimited): string[] {
  const seen: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(10, from);
    const end = newline < 0 ? bytes.length : newline;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, end)).replace(/\r$/, "");
    if (end - from > maxBytes) seen.push("too long");
    else if (text.trim() !== "") seen.push(`line ${text}`);
    from = end + 1;
  }
  return seen;
}

/** Cuts at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

/** Every way to cut once, byte by byte, and one at random. */
function chunkings(bytes: Uint8Array, places: readonly number[]): Uint8Array[][] {
  const once = Array.from(bytes, (_, i) => [bytes.subarray(0, i), bytes.subarray(i)]);
  return [...once, Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)), cut(bytes, places)];
}

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({
    unit: fc.constantFrom("\n", "\r", "\r\n", "\u2028", "\u2029", "\u0085", "é", "☃", "🧊", "\ud800", "\ufeff", '"'),
  }),
);
const message = fc.record({
  jsonrpc: fc.constant("2.0"),
  id: fc.oneof(fc.integer(), text),
  method: text,
  params: fc.dictionary(text, fc.jsonValue({ stringUnit: "grapheme", maxDepth: 2 }), { maxKeys: 3 }),
});
const lineEnd = fc.constantFrom("\n", "\r\n", "\n\n", "\r\n\r\n", "\n \t\n", "\n\r\n");
const places = fc.array(fc.nat(), { maxLength: 20 });

describe("chunks", () => {
  test("never change the messages", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(message, lineEnd), { maxLength: 6 }),
        places,
        fc.boolean(),
        (sent, cuts, isOpen) => {
          const texts = sent.map(([value]) => JSON.stringify(value));
          const stream = sent.map(([_, end], i) => `${texts[i]}${isOpen && i === sent.length - 1 ? "" : end}`).join("");
          const bytes = new TextEncoder().encode(stream);
          for (const chunks of chunkings(bytes, cuts)) expect(read(chunks)).toEqual(texts.map((one) => `line ${one}`));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("never change what is made of any bytes at all, within a limit", () => {
    const byte = fc.oneof(fc.constantFrom(10, 10, 13, 32, 0x61, 0xc3, 0xa9, 0xe2, 0x98, 0xf0, 0xff, 0), fc.nat(255));
    const bytes = fc.array(byte, { maxLength: 120 }).map((values) => Uint8Array.from(values));
    fc.assert(
      fc.property(bytes, places, fc.integer({ min: 1, max: 12 }), (stream, cuts, maxBytes) => {
        const expected = readWhole(stream, maxBytes);
        for (const chunks of chunkings(stream, cuts)) expect(read(chunks, maxBytes)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("of all sizes make one long line", () => {
    const line = Array.from({ length: 60_000 }, (_, i) => `é${i}`).join("");
    const bytes = Buffer.from(`${line}\n${line}`);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 6000 }), { minLength: 1 }), (sizes) => {
        const chunks: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] as number;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(read(chunks)).toEqual([`line ${line}`, `line ${line}`]);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a line that is too long", () => {
  test("is reported once, as soon as it is, and skipped up to its newline", () => {
    const sizes: number[] = [];
    const texts: string[] = [];
    const lines = createLines({ maxBytes: 8, onLine: (one) => texts.push(one), onTooLong: (size) => sizes.push(size) });
    lines.push(Buffer.from("12345678\n12345"));
    expect(sizes).toEqual([]);
    lines.push(Buffer.from("6789"));
    expect(sizes).toEqual([9]);
    lines.push(Buffer.from("more of it"));
    lines.push(Buffer.from("and its end\nok\n1234567890\nfine"));
    lines.end();
    expect(sizes).toEqual([9, 10]);
    expect(texts).toEqual(["12345678", "ok", "fine"]);
  });

  test("is not held", () => {
    const lines = createLines({ maxBytes: 1000, onLine: () => {}, onTooLong: () => {} });
    const held = measureHeld(() => {
      for (let i = 0; i < 300; i++) lines.push(Buffer.alloc(100_000, 0x61));
    });
    expect(held).toBeLessThan(10e6);
    lines.end();
  });
});

test("a line that comes byte by byte takes little more memory than it has bytes", () => {
  const line: string[] = [];
  const lines = createLines({ maxBytes: 2e6, onLine: (one) => line.push(one), onTooLong: () => {} });
  const held = measureHeld(() => {
    for (let i = 0; i < 500_000; i++) lines.push(Buffer.from([0x61 + (i % 26)]));
  });
  expect(held).toBeLessThan(10e6);
  lines.push(Buffer.from("\n"));
  expect(line[0]).toHaveLength(500_000);
  expect(line[0]?.slice(0, 30)).toBe("abcdefghijklmnopqrstuvwxyzabcd");
});

test("a byte order mark before the first line is dropped, however it is cut", () => {
  const bytes = Buffer.from('\ufeff{"a":1}\n\ufeff{"b":2}\n');
  for (const size of [1, 2, 4, 100]) {
    const texts: string[] = [];
    const lines = createLines({ maxBytes: 100, onLine: (one) => texts.push(one), onTooLong: () => {} });
    for (let at = 0; at < bytes.length; at += size) lines.push(bytes.subarray(at, at + size));
    expect(texts).toEqual(['{"a":1}', '\ufeff{"b":2}']);
  }
  const texts: string[] = [];
  const lines = createLines({ maxBytes: 100, onLine: (one) => texts.push(one), onTooLong: () => {} });
  lines.push(Buffer.from("\ufeff\r\n\ufeffx\n"));
  expect(texts).toEqual(["\ufeffx"]);
});

/** Bytes that are still held after something was done. */
function measureHeld(act: () => void): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const weigh = (): number => {
    gc();
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = weigh();
  act();
  return weigh() - before;
}
