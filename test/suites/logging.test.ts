// Log messages: at the level the peer chose, to that peer and nobody else, redacted, limited and checked.
import { readFileSync } from "node:fs";
import { type LogLevel, revisions } from "plenum";
import { afterEach, describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { inOrder, knowsClient, modern, type Obj, openPeer, type Peer, sessioned } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const levels: readonly LogLevel[] = "debug info notice warning error critical alert emergency".split(" ") as LogLevel[];
const levelKey = "io.modelcontextprotocol/logLevel";

type ServerOptions = Parameters<typeof createQuietServer>[0];

function createLogging(options: ServerOptions = {}) {
  const { server, errors } = createQuietServer(options);
  server.tool("all", {}, (_, ctx) => {
    for (const level of levels) ctx.log[level](`at ${level}`);
  });
  return { server, errors };
}

const logsOf = (peer: Peer): Obj[] => peer.notifications("notifications/message").map(({ params }) => params ?? {});
const at = (peer: Peer, level: LogLevel = "debug"): Obj => (peer.isModern ? { _meta: { [levelKey]: level } } : {});

/** A peer of any revision that wants every level. */
async function openListening(server: Parameters<typeof openPeer>[0], revision: (typeof revisions)[number]) {
  const peer = await openPeer(server, revision);
  if (!peer.isModern) await peer.call("logging/setLevel", { level: "debug" });
  return peer;
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each(sessioned)("the level of a session of %s", (revision) => {
  test.each(levels)("%s lets that level through and all above it", async (level) => {
    covers(["logging-threshold", "logging-levels", "logging-set-level", "logging-set-level-result"], revision);
    const peer = await openPeer(createLogging().server, revision);
    expect(await peer.call("logging/setLevel", { level })).toEqual({});
    await peer.call("tools/call", { name: "all" });
    expect(logsOf(peer).map((log) => log.level)).toEqual(levels.slice(levels.indexOf(level)));
    expect(logsOf(peer)[0]).toEqual({ level, data: `at ${level}` });
  });

  test("is the server's to choose until the client sets one: info, or another", async () => {
    covers(["logging-default-level"], revision);
    for (const logLevel of [undefined, "alert"] as const) {
      const peer = await openPeer(createLogging(logLevel && { logLevel }).server, revision);
      await peer.call("tools/call", { name: "all" });
      expect(logsOf(peer).map((log) => log.level)).toEqual(levels.slice(levels.indexOf(logLevel ?? "info")));
    }
  });

  test("can be changed, and is one session's alone", async () => {
    covers(["logging-threshold", "logging-control-access"], revision);
    const { server } = createLogging();
    const [one, two] = [await openPeer(server, revision), await openPeer(server, revision)];
    await one.call("logging/setLevel", { level: "debug" });
    await one.call("logging/setLevel", { level: "emergency" });
    await two.call("logging/setLevel", { level: "alert" });
    await one.call("tools/call", { name: "all" });
    expect(logsOf(one)).toHaveLength(1);
    expect(logsOf(two)).toHaveLength(0);
    await two.call("tools/call", { name: "all" });
    expect(logsOf(one)).toHaveLength(1);
    expect(logsOf(two)).toHaveLength(2);
  });

  test.each(["loud", "", "INFO", "warn", 3, null, undefined])(
    "cannot be %j: -32602, and the level stays",
    async (level) => {
      covers(["logging-invalid-level-code", "logging-levels"], revision);
      const peer = await openPeer(createLogging().server, revision);
      await peer.call("logging/setLevel", { level: "emergency" });
      expect((await peer.fail("logging/setLevel", { level })).code).toBe(-32602);
      await peer.call("tools/call", { name: "all" });
      expect(logsOf(peer)).toHaveLength(1);
    },
  );

  test("stays when the handler that sets it fails, which is -32603", async () => {
    covers(["logging-config-error-code"], revision);
    const { server } = createLogging({ logLevel: "emergency" });
    server.handle("logging/setLevel", () => {
      throw new Error("the sink is full");
    });
    const peer = await openPeer(server, revision);
    const error = await peer.fail("logging/setLevel", { level: "debug" });
    expect(error.code).toBe(-32603);
    expect(error.message).not.toContain("sink");
    await peer.call("tools/call", { name: "all" });
    expect(logsOf(peer)).toHaveLength(1);
  });

  test("is no matter of _meta: the key of a later revision means nothing", async () => {
    const peer = await openPeer(createLogging({ logLevel: "emergency" }).server, revision);
    await peer.call("tools/call", { name: "all", _meta: { [levelKey]: "debug" } });
    expect(logsOf(peer)).toHaveLength(1);
  });
});

describe(`the level of a request in ${modern}`, () => {
  test.each(levels)("%s lets that level through and all above it, before the answer", async (level) => {
    covers(["logging-per-request-threshold", "logging-levels"], modern);
    const peer = await openPeer(createLogging().server, modern);
    await peer.call("tools/call", { name: "all", ...at(peer, level) });
    expect(logsOf(peer).map((log) => log.level)).toEqual(levels.slice(levels.indexOf(level)));
    expect(peer.messages.at(-1)?.result).toBeDefined();
    expect(logsOf(peer)[0]).toEqual({ level, data: `at ${level}` });
  });

  test("is none unless the request names it, whatever others named", async () => {
    covers("logging-per-request-opt-in");
    const peer = await openPeer(createLogging({ logLevel: "debug" }).server, modern);
    await peer.call("tools/call", { name: "all", ...at(peer, "emergency") });
    expect(logsOf(peer)).toHaveLength(1);
    await peer.call("tools/call", { name: "all" });
    expect(logsOf(peer)).toHaveLength(1);
  });

  test.each(["loud", "", "INFO", 3, null])("cannot be %j: -32602", async (level) => {
    covers(["logging-invalid-level-code", "logging-levels"], modern);
    const peer = await openPeer(createLogging().server, modern);
    expect((await peer.fail("tools/call", { name: "all", _meta: { [levelKey]: level } })).code).toBe(-32602);
    expect(logsOf(peer)).toEqual([]);
  });

  test("holds for that request alone: two at once and a subscription stay apart", async () => {
    covers(["logging-own-stream-only", "logging-control-access", "subscription-no-request-scoped"], modern);
    const { server } = createQuietServer();
    const go: (() => void)[] = [];
    server.tool("log", {}, async (_, ctx) => {
      await new Promise<void>((resolve) => go.push(resolve));
      ctx.progress(1);
      ctx.log.info(`info of ${ctx.requestId}`);
      ctx.log.error(`error of ${ctx.requestId}`);
    });
    const peer = await openPeer(server, modern);
    const notifications = { toolsListChanged: true, resourcesListChanged: true };
    peer.start("subscriptions/listen", { notifications, _meta: { [levelKey]: "debug", progressToken: "L" } }, "L");
    peer.start("tools/call", { name: "log", ...at(peer, "error") }, "strict");
    peer.start("tools/call", { name: "log", _meta: { [levelKey]: "debug", progressToken: "p" } }, "chatty");
    await peer.settle();
    for (const one of go.reverse()) one();
    await peer.settle();
    const logged = logsOf(peer).map(({ data }) => data);
    expect(inOrder(logged)).toEqual(inOrder(["info of chatty", "error of chatty", "error of strict"]));
    const tagged = peer.notifications().filter(({ params }) => params?._meta !== undefined);
    expect(tagged.map(({ method }) => method)).toEqual(["notifications/subscriptions/acknowledged"]);
    expect(peer.notifications("notifications/progress").map(({ params }) => params?.progressToken)).toEqual(["p"]);
  });
});

describe.each(revisions)("a log message in %s", (revision) => {
  test("holds any JSON value and, where it has one, the name of its logger", async () => {
    covers(["logging-message-shape", "logging-logger-names"], revision);
    const values = ["text", 5, 0, "", false, null, [], {}, { deep: [{ er: null }] }];
    const { server } = createQuietServer();
    server.tool("log", {}, (_, ctx) => {
      for (const value of values) ctx.log.info(value, "db");
      ctx.log.info(undefined);
      ctx.log.info({ left: undefined });
    });
    const peer = await openListening(server, revision);
    await peer.call("tools/call", { name: "log", ...at(peer) });
    expect(logsOf(peer)).toEqual([
      ...values.map((data) => ({ level: "info", logger: "db", data })),
      { level: "info", data: null },
      { level: "info", data: {} },
    ]);
  });

  test("that is no JSON is refused at the line that logs it, and nothing is sent", async () => {
    covers(["logging-validate-data"], revision);
    const cycle: Obj = {};
    cycle.self = cycle;
    const { server } = createQuietServer();
    const caught: unknown[] = [];
    server.tool("log", {}, (_, ctx) => {
      for (const data of [cycle, 1n, { n: 1n }, () => {}, Symbol("s")]) {
        try {
          ctx.log.error(data);
        } catch (error) {
          caught.push((error as Error).message);
        }
      }
      return "survived";
    });
    const peer = await openListening(server, revision);
    expect(textOf(await peer.call("tools/call", { name: "log", ...at(peer) }))).toBe("survived");
    expect(caught).toHaveLength(5);
    for (const message of caught) expect(message).toMatch(/^Log data must be a JSON value/);
    // Whatever the caller listens to.
    const deaf = await openPeer(server, revision);
    if (!deaf.isModern) await deaf.call("logging/setLevel", { level: "emergency" });
    await deaf.call("tools/call", { name: "log" });
    expect(caught).toHaveLength(10);
    expect([...logsOf(peer), ...logsOf(deaf)]).toEqual([]);
  });

  test("of an error, or with one in it, tells its name and its message, and never its stack", async () => {
    covers(["logging-no-internals"], revision);
    const { server } = createQuietServer();
    const error = Object.assign(new RangeError("too far"), { toJSON: () => ({ stack: "at secret.ts" }), token: "x" });
    server.tool("log", {}, (_, ctx) => {
      ctx.log.error(error);
      ctx.log.error({ during: "work", error });
    });
    const peer = await openListening(server, revision);
    await peer.call("tools/call", { name: "log", ...at(peer) });
    const told = { name: "RangeError", message: "too far" };
    expect(logsOf(peer).map(({ data }) => data)).toEqual([told, { during: "work", error: told }]);
  });

  test("is not sent by a server without logging, nor can a level be set there", async () => {
    covers(["logging-capability"], revision);
    const { server } = createLogging({ logging: false });
    const peer = await openPeer(server, revision);
    const { capabilities } = peer.isModern ? await peer.call("server/discover") : peer.opening;
    expect(capabilities).not.toHaveProperty("logging");
    expect((await peer.fail("logging/setLevel", { level: "debug" })).code).toBe(-32601);
    await peer.call("tools/call", { name: "all", ...at(peer) });
    expect(logsOf(peer)).toEqual([]);

    const speaking = await openListening(createLogging().server, revision);
    const declared = speaking.isModern ? await speaking.call("server/discover") : speaking.opening;
    expect(declared.capabilities).toHaveProperty("logging", {});
    await speaking.call("tools/call", { name: "all", ...at(speaking) });
    // Without a session the level that was set is forgotten: all but debug is sent.
    expect(logsOf(speaking)).toHaveLength(knowsClient(revision) ? 8 : 7);
  });

  test("goes past redactLog first, which may change it, hold it back or fail", async () => {
    covers(["logging-remove-sensitive"], revision);
    const seen: unknown[] = [];
    const { server } = createQuietServer({
      redactLog: (entry) => {
        seen.push(entry);
        if (entry.data === "drop") return undefined;
        if (entry.data === "fail") throw new Error("no");
        return { ...entry, data: String(entry.data).replace(/token=\S+/, "token=***") };
      },
    });
    server.tool("log", {}, (_, ctx) => {
      ctx.log.info("token=abc123 sent", "http");
      ctx.log.info("drop");
      expect(() => ctx.log.info("fail")).toThrow("no");
    });
    const peer = await openListening(server, revision);
    expect((await peer.call("tools/call", { name: "log", ...at(peer) })).isError).toBeUndefined();
    expect(logsOf(peer)).toEqual([{ level: "info", logger: "http", data: "token=*** sent" }]);
    expect(seen).toEqual([
      { level: "info", logger: "http", data: "token=abc123 sent" },
      { level: "info", data: "drop" },
      { level: "info", data: "fail" },
    ]);
  });

  test("in a flood is dropped beyond the limit, call by call", async () => {
    covers(["logging-rate-limit"], revision);
    vi.useFakeTimers({ toFake: ["performance"] });
    const { server } = createQuietServer({ logsPerSecond: 20 });
    server.tool("flood", {}, (_, ctx) => {
      for (let n = 0; n < 10_000; n++) ctx.log.error(n);
      vi.advanceTimersByTime(100);
      for (let n = 0; n < 10_000; n++) ctx.log.error("later");
    });
    const peer = await openListening(server, revision);
    await peer.call("tools/call", { name: "flood", ...at(peer) });
    const expected = [...Array.from({ length: 20 }, (_, n) => n), "later", "later"];
    expect(logsOf(peer).map(({ data }) => data)).toEqual(expected);
    await peer.call("tools/call", { name: "flood", ...at(peer) });
    expect(logsOf(peer)).toHaveLength(2 * expected.length);
  });

  test("is never the library's own: failures, credentials and paths stay here", async () => {
    covers(["logging-no-secrets", "logging-no-internals"], revision);
    const { server, errors } = createQuietServer();
    server.tool("crash", {}, () => {
      throw new Error("password=hunter2 in /srv/app/secret.ts");
    });
    server.resource("x://crash", {}, () => {
      throw new Error("password=hunter2 in /srv/app/secret.ts");
    });
    const auth = { subject: "ann", clientId: "c", scopes: ["s"], claims: { raw: "Bearer hunter2" } };
    const peer = await openPeer(server, revision, { sender: { auth } });
    if (!peer.isModern) await peer.call("logging/setLevel", { level: "debug" });
    await peer.request("tools/call", { name: "crash", ...at(peer) });
    await peer.request("resources/read", { uri: "x://crash", ...at(peer) });
    await peer.request("tools/call", { name: "none", ...at(peer) });
    peer.raw.send("{");
    await peer.settle();
    expect(errors).toHaveLength(2);
    expect(logsOf(peer)).toEqual([]);
    expect(JSON.stringify(peer.messages)).not.toMatch(/hunter2|secret\.ts|node_modules| {4}at |Bearer/);
  });
});

test("logging is marked as deprecated where it is offered", () => {
  covers("logging-deprecated");
  const file = new URL("../../packages/plenum/src/server/context.ts", import.meta.url);
  expect(readFileSync(file, "utf8")).toMatch(/@deprecated [^*]*logging[^*]*\n {3}\*\/\n {2}readonly log: Log;/);
});
