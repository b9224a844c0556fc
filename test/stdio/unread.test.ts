// Peers that do not read, as real processes: memory stays bounded, and both sides come to an end.
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createConnection } from "../../packages/plenum/src/jsonrpc/connection.ts";
import { stdioTarget } from "../../packages/plenum/src/transport/stdio/client.ts";
import { watchStrays } from "../fuzz/strays.ts";
import { startWorkshop } from "./child.ts";

watchStrays();

test("a server that never reads is given up when too much waits for it", async () => {
  const target = stdioTarget({
    command: process.execPath,
    args: ["-e", "setInterval(() => {}, 1000)"],
    maxQueuedBytes: 1_000_000,
    closeMs: 50,
    killMs: 50,
  });
  const channel = await target.open();
  const closed = new Promise<unknown>((resolve) => {
    const connection = createConnection(channel, {
      onRequest: () => ({ result: {} }),
      onNotification() {},
      onClose: resolve,
    });
    connection.open();
    const sending = setInterval(() => connection.notify("notifications/x", { text: "x".repeat(100_000) }), 1);
    channel.ended.then(() => clearInterval(sending));
  });
  expect(String(await closed)).toMatch(/The peer does not read: \d+ bytes are waiting/);
  await channel.ended;
});

test.skipIf(process.platform === "win32").each([
  ["its end can be seen", 40, 0],
  ["its end is behind too much", 40, 4_000_000],
])("a client that floods, never reads, and ends stdin: %s", async (_, calls, rest) => {
  const child = await startWorkshop();
  child.process.stdout.pause();
  for (let i = 0; i < calls; i++) {
    child.call("big", { length: 1_000_000 });
    // Not all in one chunk.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.process.stdin.end(" ".repeat(rest));
  const ended = new Promise<number | null>((resolve) => child.process.once("exit", resolve));
  const begin = performance.now();
  expect(await ended).toBe(0);
  // A few seconds, and what a busy machine adds; without a look at the end it is a minute, or for good.
  expect(performance.now() - begin).toBeLessThan(25_000);
  child.process.stdout.resume();
});

test("arguments do not come out with the error of a start that failed", async () => {
  const target = stdioTarget({ command: "/nonexistent/program", args: ["--token", "s3cret-arg"] });
  const error: unknown = await target.open().then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(Error);
  expect(inspect(error, { depth: 10 })).not.toContain("s3cret-arg");
});
