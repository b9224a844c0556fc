// The first page that a process ever names, dealt with at once. Alone in its file: what asking takes must not be loaded.
import { createServer, elicitationRequired } from "plenum";
import { expect, test } from "vitest";
import { openPeer } from "../suites/peer.ts";
import { capabilities } from "./rounds.ts";

test("a page that is dealt with at once is told of, after the answer that names it", async () => {
  const server = createServer({ name: "s", version: "1", onError: () => {} });
  server.tool("run", {}, () => {
    setTimeout(() => server.elicitationComplete("p1"));
    throw elicitationRequired([{ message: "m", url: "https://example.com/", id: "p1" }]);
  });
  const peer = await openPeer(server, "2025-11-25", { capabilities });
  const id = peer.start("tools/call", { name: "run" });
  const told = "notifications/elicitation/complete";
  await expect.poll(() => peer.messages.some(({ method }) => method === told)).toBe(true);
  const order = peer.messages.filter((message) => message.id === id || message.method === told);
  expect(order.map(({ method }) => method)).toEqual([undefined, told]);
});
