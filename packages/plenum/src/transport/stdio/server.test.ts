// Serving on streams that are not the process's own: nothing of the process is touched. The rest is tested with real
// processes, in test/stdio.
import { PassThrough, Writable } from "node:stream";
import { expect, test, vi } from "vitest";
import { createServer } from "../../server/server.ts";
import { serveStdio } from "./server.ts";

const ping = (id: number): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;

async function read(stream: PassThrough): Promise<unknown[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks)
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

test("ends with its input, and leaves the endpoint and the process alone", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const write = process.stdout.write;
  const listeners = process.listenerCount("SIGTERM");
  const disposed: string[] = [];
  const server = createServer({
    name: "s",
    version: "1",
    lifespan: () => ({ [Symbol.dispose]: () => disposed.push("disposed") }),
  });
  const serving = serveStdio(server, { input, output });
  expect(process.stdout.write).toBe(write);
  expect(process.listenerCount("SIGTERM")).toBe(listeners);
  const answers = read(output);
  input.write(ping(1));
  input.end(ping(2));
  await serving.closed;
  expect(await answers).toEqual([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 2, result: {} },
  ]);
  expect(disposed).toEqual([]);
  await server.close();
});

test("one server serves many streams, and closing one leaves the others", async () => {
  const server = createServer({ name: "s", version: "1" });
  const pairs = Array.from({ length: 3 }, () => ({ input: new PassThrough(), output: new PassThrough() }));
  const servings = pairs.map((pair) => serveStdio(server, pair));
  const answers = pairs.map(({ output }) => read(output));
  await servings[0]?.close();
  for (const { input } of pairs.slice(1)) input.end(ping(1));
  expect((await Promise.all(answers)).map((list) => list.length)).toEqual([0, 1, 1]);
  await Promise.all(servings.map((serving) => serving.closed));
});

test("gives what is in flight its time when closed by hand", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = createServer({ name: "s", version: "1" });
  server.handle("com.example/slow", async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { done: true };
  });
  const serving = serveStdio(server, { input, output, graceMs: 60_000 });
  const answers = read(output);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "com.example/slow", params: { _meta } })}\n`);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await serving.close();
  expect(await answers).toMatchObject([{ id: 1, result: { done: true } }]);
});

test("ends when more waits for a client that does not read than may", async () => {
  const input = new PassThrough();
  const output = new Writable({ highWaterMark: 1, write: () => {} });
  const onError = vi.fn();
  const server = createServer({ name: "s", version: "1", onError });
  const serving = serveStdio(server, { input, output, maxQueuedBytes: 1000, graceMs: 60_000 });
  for (let id = 0; id < 100; id++) {
    input.write(ping(id));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await serving.closed;
  expect(output.destroyed).toBe(true);
  const why = expect.objectContaining({ message: expect.stringContaining("bytes are waiting for it") });
  expect(onError).toHaveBeenCalledExactlyOnceWith(why, expect.objectContaining({ method: "stdio" }));
});

test("mistakes are found at once", async () => {
  const server = createServer({ name: "s", version: "1" });
  const streams = { input: new PassThrough(), output: new PassThrough() };
  expect(() => serveStdio(server, { ...streams, graceMs: -1 })).toThrow(TypeError);
  expect(() => serveStdio(server, { ...streams, maxBytes: 0 })).toThrow(TypeError);
  expect(() => serveStdio(server, { ...streams, maxQueuedBytes: 0 })).toThrow(TypeError);
  const serving = serveStdio(server, streams);
  expect(() => serveStdio(server, streams)).toThrow("This input is served already");
  await serving.close();
});
