// What is kept and passed on of stderr, and which words are shown.
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { findLastWords, readStderr } from "./stderr.ts";

describe("lastWords", () => {
  test.each<[string, string, string | undefined]>([
    ["nothing", " \n\r\n", undefined],
    ["one line", "listening\n", '"listening"'],
    ["the last lines", "1\n2\n3\n4\n5\n", '"3 4 5"'],
    [
      "of Node",
      "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module '/x.js'\n    at Function.x (node:y)\n  code: 'MODULE_NOT_FOUND',\n}\n\nNode.js v20.20.2\n",
      `"Error: Cannot find module '/x.js' code: 'MODULE_NOT_FOUND', }"`,
    ],
    [
      "of Python",
      "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nModuleNotFoundError: No module named 'x'\n",
      "\"ModuleNotFoundError: No module named 'x'\"",
    ],
    [
      "of npm",
      "npm error code E404\nnpm error 404 Not Found\nnpm error A complete log\n",
      '"npm error code E404 npm error 404 Not Found npm error A complete log"',
    ],
    ["colours and control characters", "\u001b[31mfatal\u001b[0m: a\u0007\u0000b\n", '"fatal: a b"'],
    ["quotes", 'error "x"', '"error \\"x\\""'],
  ])("%s", (_, text, expected) => {
    expect(findLastWords(text)).toBe(expected);
  });

  test("bounded, whatever comes", () => {
    expect(findLastWords(`${"x".repeat(8000)} y`)).toMatch(/^"…x{297} y"$/);
    expect(findLastWords("error\n".repeat(2000))?.length).toBeLessThan(310);
  });
});

test("the end is kept, however much comes; characters are not split", async () => {
  const stream = new PassThrough();
  const told: string[] = [];
  const stderr = readStderr(stream, (text) => {
    told.push(text);
    throw new Error("a fault of the listener");
  });
  const bytes = Buffer.from(`${"日本語 ".repeat(5000)}\nthe end: ü\n`);
  for (let at = 0; at < bytes.length; at += 7) stream.write(bytes.subarray(at, at + 7));
  stream.end(Buffer.from([0xc3]));
  await stderr.ended;
  expect(told.join("")).toBe(`${bytes.toString()}\ufffd`);
  expect(stderr.lastWords()).toMatch(/^"….*the end: ü \ufffd"$/);
  expect(told.every((text) => text !== "")).toBe(true);
});

test("inherit passes it on", async () => {
  const write = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  try {
    const stream = new PassThrough();
    const stderr = readStderr(stream, "inherit");
    stream.end("hello");
    await stderr.ended;
    expect(write.mock.calls.map(([chunk]) => String(chunk)).join("")).toBe("hello");
    expect(stderr.lastWords()).toBe('"hello"');
  } finally {
    write.mockRestore();
  }
});

test("a listener that rejects is ignored as one that throws", async () => {
  const rejections: unknown[] = [];
  const listener = (reason: unknown): unknown => rejections.push(reason);
  process.on("unhandledRejection", listener);
  try {
    const stream = new PassThrough();
    const stderr = readStderr(stream, async () => {
      throw new Error("a fault of the listener");
    });
    stream.end("hello");
    await stderr.ended;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(rejections).toEqual([]);
  } finally {
    process.off("unhandledRejection", listener);
  }
});

test("inherit goes at the speed of our own stderr, and stops when that breaks", async () => {
  let isTaken = true;
  const write = vi.spyOn(process.stderr, "write").mockImplementation(() => isTaken);
  const passed = (): string => write.mock.calls.map(([chunk]) => String(chunk)).join("");
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  try {
    const stream = new PassThrough({ highWaterMark: 1 });
    const stderr = readStderr(stream, "inherit");
    isTaken = false;
    stream.write("a");
    await settled();
    stream.write("b");
    await settled();
    expect(passed()).toBe("a");
    expect(stream.isPaused()).toBe(true);
    isTaken = true;
    process.stderr.emit("drain");
    await settled();
    expect(passed()).toBe("ab");
    isTaken = false;
    stream.write("c");
    await settled();
    expect(process.stderr.emit("error", new Error("EPIPE"))).toBe(true);
    stream.end("d");
    await stderr.ended;
    expect(passed()).toBe("abc");
    expect(stderr.lastWords()).toBe('"abcd"');
  } finally {
    write.mockRestore();
  }
});

test("a stream that breaks has ended; one that is not there has too", async () => {
  const stream = new PassThrough();
  const stderr = readStderr(stream, "capture");
  stream.destroy(new Error("broken"));
  await stderr.ended;
  const none = readStderr(null, "ignore");
  await none.ended;
  expect(none.lastWords()).toBeUndefined();
});
