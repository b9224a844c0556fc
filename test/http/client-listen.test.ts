// What our client watches in 2026-07-28 while a server comes and goes.
import { createServer, type Server } from "plenum";
import { serveHttp } from "plenum/http/node";
import { expect, onTestFinished, test } from "vitest";
import { events, failure, json, modern, reach, type Seen, serveScript } from "./client-stage.ts";

const acknowledge = (seen: Seen) => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: {
    notifications: (seen.body as { params: { notifications: unknown } }).params.notifications,
    _meta: { "io.modelcontextprotocol/subscriptionId": seen.id },
  },
});

test("a subscription outlives an orderly restart of the server", async () => {
  const build = (): Server => {
    const server = createServer({ name: "watched", version: "1" });
    server.resource("a://b", {}, () => "x");
    return server;
  };
  const first = await serveHttp(build());
  const heard: string[] = [];
  const { client, warnings } = await reach(first.url, { onResourceUpdated: (uri) => heard.push(uri) });
  await client.subscribe("a://b");
  await first.close();
  const server = build();
  const second = await serveHttp(server, { port: first.port });
  onTestFinished(() => second.close(0));
  await expect
    .poll(
      () => {
        server.resourceUpdated("a://b");
        return heard.length;
      },
      { timeout: 30_000, interval: 100 },
    )
    .toBeGreaterThan(0);
  expect(warnings).toEqual([expect.stringContaining("until the subscription is open again: the server ended it")]);
});

test.each([503, 500, 429, 408])(
  "one that is refused with %i in words of the protocol is tried for again",
  async (status) => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "subscriptions/listen") return false;
        const count = stage.of("subscriptions/listen").length;
        if (count === 2) json(res, status, failure(seen.id, -32603, "The server is closing"));
        else {
          const stream = events(res);
          stream.send(acknowledge(seen));
          if (count === 1) setTimeout(stream.cut, 20);
        }
        return true;
      }),
    );
    const { client, warnings } = await reach(stage.url, { onListChanged() {} });
    await stage.heard("subscriptions/listen", 3);
    await client.listTools().all();
    expect(warnings).toEqual([expect.stringContaining("until the subscription is open again")]);
  },
);

test("one that the server will not have is not tried for again", async () => {
  const stage = await serveScript(
    modern((seen, res) => {
      if (seen.method !== "subscriptions/listen") return false;
      if (stage.of("subscriptions/listen").length > 1) json(res, 400, failure(seen.id, -32602, "not any more"));
      else {
        const stream = events(res);
        stream.send(acknowledge(seen));
        setTimeout(stream.cut, 20);
      }
      return true;
    }),
  );
  const { warnings } = await reach(stage.url, { onListChanged() {} });
  await expect.poll(() => warnings, { timeout: 20_000 }).toHaveLength(2);
  expect(warnings[1]).toContain("Changes are not heard any more");
});
