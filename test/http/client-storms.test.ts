// Servers that let go of their clients again and again: none of them is overrun by ours.
import { describe, expect, test } from "vitest";
import { events, initialized, json, reach, result, type Seen, serveScript, sessioned } from "./client-stage.ts";

/** What a client may do in this time that is not in a hurry; one that is does it a hundred times. */
const watchMs = 1500;
const fewTimes = 8;
const watched = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, watchMs));
const idOf = ({ headers }: Seen): unknown => headers["mcp-session-id"];

describe("a client is in no hurry", () => {
  test("when the server forgets each session after one answer", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const before = stage.of("GET").filter((one) => idOf(one) === idOf(seen));
        if (before.length > 1) json(res, 404);
        else {
          const stream = events(res);
          stream.raw("id: 1\nretry: 0\ndata:\n\n");
          setTimeout(stream.end, 5);
        }
        return true;
      }),
    );
    const { client, states } = await reach({ url: stage.url, reconnect: { delayMs: 1 } }, { logLevel: "info" });
    await stage.heard("initialize", 3);
    await watched();
    expect(stage.of("initialize").length).toBeLessThan(fewTimes);
    // It answers, and so it is there.
    expect(states).not.toContain("closed");
    await client.close();
  });

  test("but gives up on one that forgets each session before it has answered anything", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const before = stage.of("GET").filter((one) => idOf(one) === idOf(seen));
        if (before.length > 1) json(res, 404);
        else setTimeout(events(res).end, 5);
        return true;
      }),
    );
    const { client } = await reach(
      { url: stage.url, reconnect: { delayMs: 1 } },
      { restart: { delayMs: 10, maxAttempts: 3 } },
    );
    await expect.poll(() => client.state, { timeout: 20_000 }).toBe("closed");
    expect(stage.of("initialize")).toHaveLength(4);
  });

  test("when a stream of HTTP+SSE ends after each answer", async () => {
    let stream: ReturnType<typeof events> | undefined;
    const stage = await serveScript((seen, res) => {
      if (seen.verb === "GET") {
        stream = events(res);
        stream.raw("event: endpoint\ndata: /messages?s=1\n\n");
        return;
      }
      json(res, seen.path === "/mcp" ? 404 : 202);
      if (seen.path === "/mcp" || seen.id === undefined) return;
      stream?.send(result(seen.id, seen.method === "initialize" ? initialized("2024-11-05") : {}));
      if (seen.method !== "initialize") setTimeout(() => stream?.end(), 1);
    });
    await reach(stage.url, { logLevel: "info" });
    await stage.heard("logging/setLevel", 2);
    await watched();
    expect(stage.of("GET").length).toBeLessThan(fewTimes);
  });

  test("when the server's own stream ends after each event, and asks to be asked at once", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const stream = events(res);
        stream.raw(`id: ${stage.of("GET").length}\nretry: 0\ndata:\n\n`);
        stream.end();
        return true;
      }),
    );
    await reach(stage.url);
    await stage.heard("GET", 2);
    await watched();
    expect(stage.of("GET").length).toBeLessThan(fewTimes);
  });
});
