// One endpoint for all revisions at once: the era of each request is read from the request. And servers that speak only
// some of them.
import { revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { callModern, initializeBody, modern, modernBody, modernHeaders, openSession, sessioned } from "./callers.ts";
import { feeds, openHttp } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const old = revisions.filter((revision) => revision !== modern);
const echo = call("echo", { text: "hi" });
const content = [{ type: "text", text: "hi" }];

describe.each(feeds)("on the %s feed", (feed) => {
  test("clients of all eras are served at the same time, each in its own form", async () => {
    covers(["era-dual-server", "era-dual-dispatch", "era-dual-concurrent", "http-multiple-clients"]);
    const stage = createStage();
    const http = await openHttp(stage.server, {}, feed);
    const sessions = await Promise.all(sessioned.map((revision) => openSession(http, revision)));
    for (let round = 0; round < 3; round++) {
      const [now, ...before] = await Promise.all([
        callModern(http, "tools/call", echo, { id: round }),
        ...sessions.map((session) => session.request("tools/call", echo, `r${round}`)),
      ]);
      expect(await now?.json()).toMatchObject({ id: round, result: { resultType: "complete", content } });
      for (const answer of before)
        expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: `r${round}`, result: { content } });
    }
  });

  test("_meta says it, whatever else a request has with it; then the headers count", async () => {
    covers(["era-dual-dispatch", "header-missing-rejected"], modern);
    const http = await openHttp(createStage().server, {}, feed);
    const session = await openSession(http, "2025-11-25");
    const body = modernBody("tools/list");
    const within = await http.send({ body, headers: { ...modernHeaders(body), "mcp-session-id": session.id } });
    expect(await within.result()).toMatchObject({ resultType: "complete" });
    const bare = await http.post(body);
    expect([bare.status, await bare.code()]).toEqual([400, -32020]);
    const older = await session.post(body);
    expect([older.status, await older.code()]).toEqual([400, -32020]);
  });

  test("without _meta the header says it; without either it is a client of the older ones", async () => {
    covers(["header-version-absent-legacy", "era-dual-dispatch"]);
    const http = await openHttp(createStage().server, {}, feed);
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const stated = await http.post(body, { "mcp-protocol-version": modern, "mcp-method": "tools/list" });
    expect([stated.status, await stated.code()]).toEqual([400, -32602]);
    const later = await http.post(body, { "mcp-protocol-version": "2099-01-01" });
    expect([later.status, await later.code()]).toEqual([400, -32022]);
    // No session: that is all that is wrong with it.
    expect((await http.post(body)).status).toBe(400);
    const session = await openSession(http, "2025-03-26");
    expect((await session.request("tools/list")).status).toBe(200);
  });

  test("a probe is told what is spoken", async () => {
    const http = await openHttp(createStage().server, {}, feed);
    const discovered = await (await callModern(http, "server/discover")).result();
    expect(discovered.supportedVersions).toEqual([...revisions].reverse());
  });

  describe("where 2026-07-28 is not spoken", () => {
    test("a modern request is refused without a modern error, so that its client falls back", async () => {
      const stage = createStage();
      const http = await openHttp(stage.server, { revisions: old }, feed);
      for (const method of ["server/discover", "tools/call"]) {
        const answer = await callModern(http, method, call("hold", { key: "k" }));
        expect(answer.status).toBe(400);
        expect([-32020, -32021, -32022]).not.toContain(await answer.code());
      }
      expect(stage.begun).toEqual([]);
      for (const revision of sessioned)
        expect((await (await openSession(http, revision)).request("ping")).status).toBe(200);
    });

    test("nor in a session, nor without sessions", async () => {
      const { server } = createStage();
      const http = await openHttp(server, { revisions: old }, feed);
      const session = await openSession(http, "2025-11-25");
      expect((await session.post(modernBody("tools/list"), { "mcp-protocol-version": modern })).status).toBe(400);
      const unbound = await openHttp(server, { revisions: old, sessions: false }, feed);
      expect((await callModern(unbound, "tools/list")).status).toBe(400);
    });

    test("initialize is offered what is spoken", async () => {
      const http = await openHttp(createStage().server, { revisions: ["2025-03-26", "2025-06-18"] }, feed);
      const answer = await http.post(initializeBody("2025-11-25"));
      expect(await answer.result()).toMatchObject({ protocolVersion: "2025-06-18" });
    });
  });

  test("where nothing else is spoken, what has no version is refused, and no session begins", async () => {
    covers(["header-version-absent-rejected", "http-modern-session-id-ignored", "http-single-endpoint-2026"]);
    const http = await openHttp(createStage().server, { revisions: [modern] }, feed);
    for (const method of ["initialize", "ping", "tools/list"]) {
      const answer = await http.post({ jsonrpc: "2.0", id: 1, method, params: {} });
      expect(answer.status, method).toBe(400);
      expect(answer.header("mcp-session-id")).toBeUndefined();
      expect(await answer.code()).toBe(-32020);
    }
    const answer = await callModern(http, "tools/call", echo, { headers: { "mcp-session-id": "x" } });
    expect([answer.status, answer.header("mcp-session-id")]).toEqual([200, undefined]);
  });
});
