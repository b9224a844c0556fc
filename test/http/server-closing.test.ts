// What a server that closes does with what is on its way in: nothing begins once it has closed, and what has begun is waited
// for.
import { createServer as createNodeServer } from "node:http";
import { createServer, type Server } from "plenum";
import { toFetchHandler } from "plenum/http";
import { toNodeHandler } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { createGate } from "./attack-stage.ts";
import { callModern, initializeBody, modernBody, modernHeaders, openSession } from "./callers.ts";
import { feeds, jsonHeaders, type Obj, openHttp, pause, toHttp, until } from "./harness.ts";
import { startSlowly } from "./slow-body.ts";
import { call } from "./stage.ts";

watchStrays();

function createCounted(): { server: Server; ran: () => number } {
  let ran = 0;
  const server = createServer({ name: "closing", version: "1.0.0", onError: () => {} });
  server.tool("count", {}, () => `${++ran}`);
  return { server, ran: () => ran };
}

const toRequest = (body: Obj, headers: object): Request =>
  new Request("http://localhost/mcp", { method: "POST", headers: { ...headers }, body: JSON.stringify(body) });

/** Whether a promise has settled by now, and in a while. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  await pause(100);
  return isSettled;
}

test("closing waits for those who are let in slowly, and they begin nothing", async () => {
  const { server, ran } = createCounted();
  const gate = createGate();
  const auth = async () => {
    await gate.passed;
    return { subject: "ann", scopes: [] };
  };
  const handler = toFetchHandler(server, { auth, path: "/mcp", sse: true });
  const body = modernBody("tools/call", call("count"));
  const answers = [
    handler(toRequest(body, modernHeaders(body))),
    handler(toRequest(initializeBody("2025-11-25"), jsonHeaders)),
    handler(new Request("http://localhost/sse")),
  ];
  const closing = handler.close(10_000);
  expect(await isSettled(closing)).toBe(false);
  gate.open();
  for (const { status, headers } of await Promise.all(answers)) {
    expect(status).toBe(503);
    expect(headers.get("mcp-session-id")).toBeNull();
  }
  await closing;
  expect(ran()).toBe(0);
});

test("a handshake that is under way is waited for, and answered", async () => {
  const { server } = createCounted();
  const gate = createGate();
  let begun = 0;
  server.use(async (one, next) => {
    begun++;
    await gate.passed;
    return next(one);
  });
  const handler = toFetchHandler(server);
  const opening = handler(toRequest(initializeBody("2025-11-25"), jsonHeaders));
  await until(() => begun === 1, "the handshake begins");
  const closing = handler.close(10_000);
  expect(await isSettled(closing)).toBe(false);
  gate.open();
  expect(await (await opening).json()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  await closing;
});

describe.each(feeds)("on the %s feed", (feed) => {
  test("a body that comes when it has begun to close is not looked at", async () => {
    const { server, ran } = createCounted();
    const http = await openHttp(server, {}, feed);
    const slow = await startSlowly(http.port, "tools/call", call("count"));
    await pause(100);
    const closing = http.close(10_000);
    await pause(50);
    slow.finish();
    expect(await slow.status).toBe(503);
    await closing;
    expect(ran()).toBe(0);
  });

  test("a handshake that takes longer than the grace is told so", async () => {
    const { server } = createCounted();
    const gate = createGate();
    let begun = 0;
    server.use(async (one, next) => {
      begun++;
      await gate.passed;
      return next(one);
    });
    const http = await openHttp(server, {}, feed);
    const opening = http.post(initializeBody("2025-11-25"));
    await until(() => begun === 1, "the handshake begins");
    await http.close(50);
    expect((await (await opening).response()).error?.message).toContain("closing");
    gate.open();
  });
});

test.each(["node", "web"] as const)("a handler whose server has closed serves no more (%s)", async (kind) => {
  const { server, ran } = createCounted();
  if (kind === "web") {
    const handler = toFetchHandler(server);
    await server.close();
    const asked = await handler(new Request("http://localhost/mcp", { method: "POST", body: "{}" }));
    expect(asked.status).toBe(503);
    return;
  }
  const handler = toNodeHandler(server);
  const node = createNodeServer(handler);
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const { port } = node.address() as { port: number };
  const close = async (): Promise<void> => {
    node.closeAllConnections();
    node.close();
  };
  const http = toHttp({ port, close, disconnect() {} });
  const session = await openSession(http, "2025-11-25");
  await server.close();
  const all = [callModern(http, "tools/call", call("count")), http.post(initializeBody("2025-11-25"))];
  for (const answer of [...(await Promise.all(all)), await session.request("ping")]) expect(answer.status).toBe(503);
  expect(ran()).toBe(0);
});
