import { describe, expect, test, vi } from "vitest";
import type { Channel, Receiver } from "../jsonrpc/channel.ts";
import { type Message, toIncoming } from "../jsonrpc/message.ts";
import type { Change, Description, Endpoint } from "./endpoint.ts";
import { serveMany } from "./negotiate.ts";

/** An endpoint that counts who watches it, and channels to it whose far ends are the test. */
function createStage() {
  const listeners = new Set<(change: Change) => void>();
  const describe = (): Description => ({
    info: { name: "test", version: "1.0.0" },
    capabilities: { tools: { listChanged: true } },
    instructions: undefined,
    logLevel: "info",
  });
  const endpoint: Endpoint = {
    describe,
    handles: () => false,
    call: () => describe() as never,
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    report: () => "",
    cacheHints: () => ({ ttlMs: 0, cacheScope: "private" }),
  };
  const serve = serveMany(endpoint);
  async function open() {
    const sent: Message[] = [];
    let receiver: Receiver | undefined;
    const channel: Channel = {
      oneStream: true,
      open: (given) => {
        receiver = given;
      },
      send: vi.fn((message) => sent.push(message)),
      close: () => receiver?.closed(),
    };
    const serving = serve(channel);
    const hear = (message: unknown): void => receiver?.receive(toIncoming(message));
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    hear({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    // In the turn in which it came: nothing had to be waited for.
    expect([serving.revision(), sent.length]).toEqual(["2025-11-25", 1]);
    hear({ jsonrpc: "2.0", method: "notifications/initialized" });
    return { serving, channel, sent };
  }
  const tell = (change: Change): void => {
    for (const listener of listeners) listener(change);
  };
  return { listeners, open, tell };
}

const told = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

describe("many channels", () => {
  test("one watches for all of them, as long as there are any", async () => {
    const { listeners, open } = createStage();
    expect(listeners.size).toBe(0);
    const all = [await open(), await open()];
    expect(listeners.size).toBe(1);
    for (const [index, { serving }] of all.entries()) {
      const { closed } = serving;
      serving.close();
      await closed;
      expect(listeners.size).toBe(index === 0 ? 1 : 0);
    }
    await open();
    expect(listeners.size).toBe(1);
  });

  test("a change is told to each of them, also behind one that cannot be written to", async () => {
    const { open, tell } = createStage();
    const [broken, whole] = [await open(), await open()];
    vi.mocked(broken.channel.send).mockImplementation(() => {
      throw new Error("no");
    });
    tell({ kind: "tools" });
    expect(whole.sent.at(-1)).toEqual(told);
    expect(broken.sent).toHaveLength(1);
  });

  test("who asks for the end when it has come is told at once", async () => {
    const { open } = createStage();
    const { serving, channel } = await open();
    channel.close();
    await serving.closed;
    await serving.closed;
  });
});
