// Sessions under attack: guessed, fixed, stolen, or resumed by others.
import { createHash } from "node:crypto";
import { type AuthInfo, createServer, type Revision } from "plenum";
import type { Authenticate, ServeHttpOptions } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { calm, createTarget, handshake, meta, modern, type Obj, request } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import {
  eventStream,
  get,
  goodCall,
  hostOf,
  json,
  latest,
  mirrorOf,
  post,
  remove,
  sessionHeaders,
  sessionPost,
} from "./attack-requests.ts";
import { createGate, expectAlive, expectRefused, openSession, openStage, openStream, until } from "./attack-stage.ts";
import { compose, eventsIn, type HeaderList, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

const sessioned: readonly Revision[] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const call = (id: unknown = 1, name = "echo", args: Obj = { message: "hi" }): Obj =>
  request(latest, "tools/call", { name, arguments: args }, id);

describe("an id that is not the client's own", () => {
  test.each(sessioned)("guesses are 404 in %s, and tell nothing", async (revision) => {
    covers(["session-terminated-404", "session-missing-400"], revision);
    const stage = await openStage();
    const id = await openSession(stage, revision);
    const ended = await openSession(stage, revision);
    expect((await sendRaw(stage.port, remove(stage, ended)))?.status).toBe(204);
    const near = [...id].map((letter, i) => `${id.slice(0, i)}${letter === "a" ? "b" : "a"}${id.slice(i + 1)}`);
    const guesses = [
      ...near,
      ended,
      id.toUpperCase(),
      id.slice(1),
      `${id}x`,
      ` ${id} x`,
      "undefined",
      "__proto__",
      "0",
      "../x",
      `"${id}"`,
    ];
    const bodies = new Set<string>();
    for (const guess of guesses.filter((one) => one !== id)) {
      const raws = [sessionPost(stage, guess, revision), get(stage, guess), remove(stage, guess)];
      for (const raw of raws) bodies.add((await expectRefused(stage, raw, 404)).body);
    }
    expect(bodies.size).toBe(1);
    await expectRefused(stage, post(stage, call(), json), 400);
    await expectRefused(stage, post(stage, call(), [...json, ["Mcp-Session-Id", ""]]), 400, 404);
    expect((await sendRaw(stage.port, sessionPost(stage, id, revision)))?.status).toBe(200);
  });

  test("ids are random, long, and visible ASCII", async () => {
    covers(["session-id-secure", "session-id-charset", "session-id-nondeterministic", "session-id-csprng"]);
    const stage = await openStage();
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) ids.push(await openSession(stage, latest));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
    // Every position that varies at all takes many values, and no two ids are near each other.
    const shared = ids.slice(1).map((id, i) => [...id].filter((letter, at) => letter === ids[i]?.[at]).length);
    expect(Math.max(...shared)).toBeLessThan(20);
  });

  test("a client cannot choose its id, nor open two sessions at once", async () => {
    const stage = await openStage();
    for (const id of ["chosen-by-the-attacker-0001", "x"])
      await expectRefused(stage, post(stage, handshake(latest), [...json, ["Mcp-Session-Id", id]]), 404);
    const own = await openSession(stage, latest);
    const again = await sendRaw(stage.port, post(stage, handshake(latest), [...json, ...sessionHeaders(own, latest)]));
    expect(again?.headers["mcp-session-id"]).toBeUndefined();
    expect(JSON.parse(again?.body ?? "")).toHaveProperty("error");
    // The newest revision has none, and takes none.
    const answer = await sendRaw(stage.port, goodCall(stage, [["Mcp-Session-Id", own]]));
    expect(answer?.headers["mcp-session-id"]).toBeUndefined();
  });

  test("it never stands in an answer's body, a log or an error", async () => {
    const lines: string[] = [];
    const stage = await openStage({
      onAccess: (entry) => void lines.push(JSON.stringify(entry)),
      onMetrics: (sample) => void lines.push(JSON.stringify(sample)),
    });
    const id = await openSession(stage, latest);
    for (const raw of [
      sessionPost(stage, id, latest),
      get(stage, id, [["Last-Event-ID", "9-9"]]),
      remove(stage, id),
      remove(stage, id),
    ]) {
      const answer = await sendRaw(stage.port, raw);
      lines.push(answer?.body ?? "");
    }
    await calm();
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.join("\n")).not.toContain(id);
  });
});

describe("another principal", () => {
  const users: { readonly [token: string]: AuthInfo } = {
    ann: { subject: "ann", scopes: [] },
    bob: { subject: "bob", scopes: [] },
    robot: { clientId: "ann", scopes: [] },
    other: { subject: "ann", claims: { iss: "https://other.example" }, scopes: [] },
  };
  const auth: Authenticate = (head) => {
    const token = /^Bearer (\w+)$/.exec(head.header("authorization") ?? "")?.[1] ?? "";
    const known = Object.hasOwn(users, token) ? users[token] : undefined;
    return known ?? { status: 401, headers: { "www-authenticate": "Bearer" } };
  };
  const bearer = (token: string): HeaderList => [["Authorization", `Bearer ${token}`]];

  test.each(sessioned)(
    "a session of %s is no authentication, and serves nobody but who opened it",
    async (revision) => {
      covers(
        ["security-verify-inbound", "session-not-auth", "session-bind-user", "session-queue-key", "http-authenticate"],
        revision,
      );
      if (revision === latest) covers("security-local-server-access", revision);
      const stage = await openStage({ auth });
      const id = await openSession(stage, revision, bearer("ann"));
      const raws = (extra: HeaderList) => [
        post(stage, call(), [...json, ...sessionHeaders(id, revision), ...extra]),
        get(stage, id, extra),
        get(stage, id, [["Last-Event-ID", "0-0"], ...extra]),
        remove(stage, id, extra),
      ];
      for (const raw of raws([])) {
        const answer = await expectRefused(stage, raw, 401);
        expect(answer.headers["www-authenticate"]).toBe("Bearer");
      }
      for (const raw of raws(bearer("mallory"))) await expectRefused(stage, raw, 401);
      // Somebody else is told what one is told of a session that never was.
      for (const token of ["bob", "robot", "other"]) {
        for (const raw of raws(bearer(token))) {
          const { status, body } = await expectRefused(stage, raw, 403, 404);
          const never = await sendRaw(stage.port, get(stage, "x".repeat(36), bearer(token)));
          expect({ status, body }).toEqual({ status: never?.status, body: never?.body });
        }
      }
      const own = await sendRaw(
        stage.port,
        post(stage, call(), [...json, ...sessionHeaders(id, revision), ...bearer("ann")]),
      );
      expect(own?.status).toBe(200);
    },
  );

  test("in 2026-07-28 every request is verified by itself", async () => {
    covers(["security-verify-inbound", "http-authenticate", "security-local-server-access"], modern);
    const stage = await openStage({ auth });
    await expectAlive(stage, bearer("ann"));
    for (const extra of [[], bearer("mallory"), bearer("__proto__")]) {
      await expectRefused(stage, goodCall(stage, extra), 401);
      for (const method of ["GET", "DELETE", "PUT", "OPTIONS"])
        await expectRefused(stage, compose(method, "/mcp", [hostOf(stage), ...extra]), 401);
    }
  });

  test("the state of a call that waits for an answer is no authentication, and serves nobody but its caller", async () => {
    covers(["security-handle-not-auth", "security-handle-user-bound"]);
    const server = createServer({ name: "ask", version: "1", onError: () => {} });
    const target = { server, ran: 0 };
    server.tool("ask", {}, async (_, ctx) => {
      const told = await ctx.elicit("Sure?", { type: "object", properties: { sure: { type: "boolean" } } });
      target.ran++;
      return JSON.stringify(told);
    });
    const stage = await openStage({ auth }, target);
    const ask = (more: Obj = {}): Obj => {
      const params = { name: "ask", ...more, _meta: meta({ elicitation: { form: {} } }) };
      return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    };
    const send = (message: Obj, extra: HeaderList) => post(stage, message, [...json, ...mirrorOf(message), ...extra]);
    const asked = await sendRaw(stage.port, send(ask(), bearer("ann")));
    const { inputRequests, requestState } = JSON.parse(asked?.body ?? "").result;
    expect(requestState).toBeTypeOf("string");
    const answers = Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { sure: true } }]);
    const onward = ask({ requestState, inputResponses: Object.fromEntries(answers) });
    await expectRefused(stage, send(onward, []), 401);
    for (const token of ["bob", "robot", "other"]) await expectRefused(stage, send(onward, bearer(token)), 200, 400);
    const own = await sendRaw(stage.port, send(onward, bearer("ann")));
    expect(JSON.parse(own?.body ?? "").result.content[0].text).toContain('"sure":true');
    expect(target.ran).toBe(1);
  });

  test("HTTP+SSE: the address that a stream names serves nobody else", async () => {
    covers("sse-authenticate");
    const stage = await openStage({ auth, sse: true });
    await expectRefused(stage, compose("GET", "/sse", [hostOf(stage), eventStream]), 401);
    const wire = await openStream(stage, compose("GET", "/sse", [hostOf(stage), eventStream, ...bearer("ann")]));
    const address = eventsIn((await wire.chunk()) ?? "")[0]?.data ?? "";
    const opening = handshake("2024-11-05");
    await expectRefused(stage, post(stage, opening, json, address), 401);
    await expectRefused(stage, post(stage, opening, [...json, ...bearer("bob")], address), 404);
    await expectRefused(stage, post(stage, opening, [...json, ...bearer("ann")], "/messages"), 400);
    await expectRefused(stage, post(stage, opening, [...json, ...bearer("ann")], `${address}x`), 404);
    expect((await sendRaw(stage.port, post(stage, opening, [...json, ...bearer("ann")], address)))?.status).toBe(202);
    expect(eventsIn((await wire.chunk()) ?? "")[0]?.data).toContain('"protocolVersion":"2024-11-05"');
    wire.close();
  });

  test("a token is in no log line and in no answer", async () => {
    covers("security-token-storage-server");
    const lines: string[] = [];
    const target = createTarget();
    const stage = await openStage(
      { auth, sse: true, onAccess: (entry) => void lines.push(JSON.stringify(entry)) },
      target,
    );
    const secret = createHash("sha256").update("secret").digest("hex");
    for (const raw of [
      goodCall(stage, bearer(secret)),
      get(stage, "x", bearer(secret)),
      compose("GET", `/mcp?access_token=${secret}`, [hostOf(stage)]),
    ]) {
      const answer = await sendRaw(stage.port, raw);
      lines.push(JSON.stringify(answer));
      expect(answer?.status).toBe(401);
    }
    await calm();
    expect(lines.length).toBeGreaterThanOrEqual(6);
    expect(lines.join("\n")).not.toContain(secret);
  });
});

describe("events of others", () => {
  let begun = 0;
  let gate = createGate();

  function tell(options: ServeHttpOptions = {}) {
    const server = createServer({ name: "tell", version: "1", onError: () => {}, progressPerSecond: 1e6 });
    server.tool("tell", { input: { type: "object" } }, async ({ word, rest }, ctx) => {
      for (let i = 0; i < 3; i++) ctx.progress(i + 1, 3, `${word}-${i}`);
      begun++;
      if (rest) await gate.passed;
      return String(word);
    });
    return openStage(options, { server, ran: 0 });
  }

  test("Last-Event-ID opens nothing but streams of the own session", async () => {
    covers("http-resume-same-stream");
    const stage = await tell();
    const [ann, bob] = [await openSession(stage, latest), await openSession(stage, latest)];
    const said = async (id: string, word: string, n: number) => {
      const message = {
        ...call(n, "tell", { word }),
        params: { name: "tell", arguments: { word }, _meta: { progressToken: n } },
      };
      const answer = await sendRaw(stage.port, sessionPost(stage, id, latest, message));
      return eventsIn(answer?.body ?? "");
    };
    const [first, second] = [await said(ann, "ann-one", 1), await said(ann, "ann-two", 2)];
    const bobs = await said(bob, "bob-one", 1);
    expect(bobs.filter(({ data }) => data?.includes("bob-one")).length).toBeGreaterThan(1);
    const ids = [...first, ...second].flatMap(({ id }) => id ?? []);
    expect(ids.length).toBeGreaterThan(4);
    for (const last of [
      ...ids,
      "0-0",
      "1-0",
      "2-0",
      "3-0",
      "1-999999999999999",
      "-1-0",
      "1",
      "1-",
      "a-b",
      "1-1-1",
      "1e3-1",
      "\u00b9-1",
      "9".repeat(40),
    ]) {
      for (const [id, other] of [
        [ann, "bob"],
        [bob, "ann"],
      ] as const) {
        const wire = await openWire(stage.port);
        wire.write(get(stage, id, [["Last-Event-ID", last]]));
        const head = await wire.head();
        expect([200, 400]).toContain(head?.status);
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect(wire.text, `${last} of ${other}`).not.toContain(`${other}-`);
        wire.close();
      }
    }
    // One stream's events do not come with another's.
    const wire = await openStream(stage, get(stage, ann, [["Last-Event-ID", first[0]?.id ?? ""]]));
    await wire.until((text) => (text.includes('"result"') ? true : undefined));
    expect(wire.text).toContain("ann-one");
    expect(wire.text).not.toContain("ann-two");
    wire.close();
  });

  test("who takes a stream over before it has begun leaves no exchange behind", async () => {
    const stage = await tell({ maxInFlight: 3 });
    const id = await openSession(stage, latest);
    for (let round = 0; round < 6; round++) {
      begun = 0;
      gate = createGate();
      const posted = await openWire(stage.port);
      const message = request(latest, "tools/call", { name: "tell", arguments: { word: "slow", rest: true } }, round);
      posted.write(sessionPost(stage, id, latest, message));
      await until(() => begun === 1, "the call");
      const taken = await openStream(stage, get(stage, id, [["Last-Event-ID", `${round + 2}-0`]]));
      // The POST ends in order: its answer has another way now.
      const answer = await posted.answer();
      expect(answer?.status).toBe(200);
      gate.open();
      await taken.until((text) => (text.includes('"result"') ? true : undefined));
      expect(taken.text).toContain("slow");
      posted.close();
      taken.close();
    }
  });
});
