// subscriptions/listen of 2026-07-28 over HTTP: a stream of its own, acknowledged first, true to its filter, ended by
// closing it from either side.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Obj } from "./answer.ts";
import { callModern, modern } from "./callers.ts";
import { feeds, type Http, openHttp, until } from "./harness.ts";
import { createStage } from "./stage.ts";

const idKey = "io.modelcontextprotocol/subscriptionId";
const listen = (http: Http, notifications: Obj, id: string | number): Promise<Answer> =>
  callModern(http, "subscriptions/listen", { notifications }, { id });

describe.each(feeds)("on the %s feed", (feed) => {
  test("the acknowledgement comes first, then what the filter asks for, each tagged", async () => {
    covers(["subscription-ack-first", "http-sse-no-buffering", "http-sse-no-resume"], modern);
    const { server } = createStage();
    const http = await openHttp(server, {}, feed);
    const answer = await listen(http, { toolsListChanged: true, resourceSubscriptions: ["note://1"] }, "L");
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("text/event-stream");
    expect(answer.header("x-accel-buffering")).toBe("no");
    expect(answer.header("mcp-session-id")).toBeUndefined();
    const first = await answer.next();
    expect(first).not.toHaveProperty("id");
    expect(JSON.parse(first?.data ?? "")).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["note://1"] },
        _meta: { [idKey]: "L" },
      },
    });
    server.prompt("new", {}, () => "");
    server.resourcesChanged();
    server.resourceUpdated("note://2");
    server.resourceUpdated("note://1");
    server.tool("new", {}, () => "");
    expect(await answer.message()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "note://1" },
    });
    expect(await answer.message()).toMatchObject({
      method: "notifications/tools/list_changed",
      params: { _meta: { [idKey]: "L" } },
    });
  });

  test("two streams get what each asked for, even under one id", async () => {
    covers(["http-sse-related-2026", "http-multiple-clients"], modern);
    const { server } = createStage();
    const http = await openHttp(server, {}, feed);
    const tools = await listen(http, { toolsListChanged: true }, 1);
    const prompts = await listen(http, { promptsListChanged: true }, 1);
    for (const one of [tools, prompts]) await one.message();
    server.tool("new", {}, () => "");
    server.prompt("new", {}, () => "");
    expect((await tools.message())?.method).toBe("notifications/tools/list_changed");
    expect((await prompts.message())?.method).toBe("notifications/prompts/list_changed");
    await http.close();
    for (const one of [tools, prompts]) expect(await one.messages()).toMatchObject([{ id: 1, result: {} }]);
  });

  test("when the server closes, the stream ends with the result, and without notifications/cancelled", async () => {
    covers(["cancel-server-only-listen", "http-sse-close-after"], modern);
    const { server } = createStage();
    const http = await openHttp(server, {}, feed);
    const answer = await listen(http, { toolsListChanged: true }, 7);
    await answer.message();
    await http.close();
    const messages = await answer.messages();
    expect(messages).toMatchObject([{ id: 7, result: { resultType: "complete", _meta: { [idKey]: 7 } } }]);
    expect(answer.isWhole).toBe(true);
  });

  test("a server that is closed itself ends them, too", async () => {
    const { server } = createStage();
    const http = await openHttp(server, {}, feed);
    const answer = await listen(http, {}, 7);
    await answer.message();
    await server.close();
    expect(await answer.messages()).toMatchObject([{ id: 7, result: {} }]);
  });

  test("a client ends its subscription by closing the stream", async () => {
    covers(["subscription-client-cancel-http", "http-disconnect-is-cancel"], modern);
    const { server } = createStage();
    const ended: string[] = [];
    const http = await openHttp(
      server,
      { onAccess: ({ outcome, rpcMethod }) => ended.push(`${rpcMethod} ${outcome}`) },
      feed,
    );
    const answer = await listen(http, { resourceSubscriptions: ["note://1"] }, 1);
    await answer.message();
    answer.drop();
    await until(() => ended.includes("subscriptions/listen gone"), "the server hears of it");
    server.resourceUpdated("note://1");
    const next = await listen(http, { resourceSubscriptions: ["note://1"] }, 1);
    await next.message();
    server.resourceUpdated("note://1");
    expect(await next.message()).toMatchObject({ method: "notifications/resources/updated" });
    // Nothing holds the server back: what listened is not waited for.
    await http.close(60_000);
    expect(await next.messages()).toHaveLength(1);
  });

  test("streams beyond the limit are refused, and there is room again when one ends", async () => {
    const http = await openHttp(createStage().server, { maxStreams: 1 }, feed);
    const first = await listen(http, {}, 1);
    await first.message();
    const refused = await listen(http, {}, 2);
    expect(refused.status).toBe(503);
    first.drop();
    await expect.poll(async () => (await listen(http, {}, 3)).status, { timeout: 5000, interval: 20 }).toBe(200);
  });
});
