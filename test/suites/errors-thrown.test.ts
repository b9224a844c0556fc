// Whatever a handler throws, rejects with or returns: the peer gets exactly one answer, and learns nothing it should not.
import { jsonSchema, type Middleware, revisions, type Server } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer, type Peer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const touchy = Object.defineProperty(new Error("x"), "message", {
  get() {
    throw new Error("the getter throws too");
  },
});
// biome-ignore lint/suspicious/noThenProperty: the point of the test
const thenable = { then: (resolve: (value: unknown) => void) => resolve("resolved") };

const thrown: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a string", "a string"],
  ["a symbol", Symbol("s")],
  ["a number", 0],
  ["an error", new Error("secret")],
  ["an error whose message throws", touchy],
  ["a thenable", thenable],
  ["a rejected promise", Promise.reject(new Error("inner"))],
  ["an object without prototype", Object.create(null)],
];
for (const [, value] of thrown) if (value instanceof Promise) value.catch(() => {});

/** The places in which code of the user's runs, each with the request that runs it. */
const places: [string, (server: Server, run: () => never) => [string, Obj]][] = [
  [
    "a tool",
    (server, run) => {
      server.tool("t", {}, run);
      return ["tools/call", { name: "t" }];
    },
  ],
  [
    "a tool's visibility",
    (server, run) => {
      server.tool("t", { visible: run }, () => "");
      return ["tools/list", {}];
    },
  ],
  [
    "a resource",
    (server, run) => {
      server.resource("x://a", {}, run);
      return ["resources/read", { uri: "x://a" }];
    },
  ],
  [
    "a template's list",
    (server, run) => {
      server.resource("x://{a}", { list: run }, () => "");
      return ["resources/list", {}];
    },
  ],
  [
    "a prompt",
    (server, run) => {
      server.prompt("p", {}, run);
      return ["prompts/get", { name: "p" }];
    },
  ],
  [
    "a completer",
    (server, run) => {
      server.resource("x://{a}", { complete: { a: run } }, () => "");
      const ref = { type: "ref/resource", uri: "x://{a}" };
      return ["completion/complete", { ref, argument: { name: "a", value: "" } }];
    },
  ],
  [
    "a method of its own",
    (server, run) => {
      server.handle("com.example/own", run);
      return ["com.example/own", {}];
    },
  ],
  [
    "a method of the protocol's",
    (server, run) => {
      server.handle("tools/call", run);
      return ["tools/call", { name: "t" }];
    },
  ],
  [
    "a middleware",
    (server, run) => {
      const around: Middleware = (call, next) => (call.method === "com.example/own" ? run() : next(call));
      server.use(around);
      server.handle("com.example/own", () => ({}));
      return ["com.example/own", {}];
    },
  ],
];

async function answersOf(peer: Peer, method: string, params: Obj) {
  await peer.settle();
  const before = peer.messages.length;
  peer.start(method, params, "the one");
  await peer.settle();
  return peer.messages.slice(before);
}

const sync = (value: unknown) => (): never => {
  throw value;
};
const async = (value: unknown) => (() => Promise.reject(value)) as () => never;

describe.each(revisions)("in %s", (revision) => {
  test.each(places)(
    "%s that throws anything, at once or later, gives one masked answer each time",
    async (place, register) => {
      covers(["rpc-code-internal-error", "rpc-error-code-and-message", "rpc-error-code-integer"], revision);
      const { server, errors } = createQuietServer();
      let run: () => never = sync("not yet");
      const [method, params] = register(server, () => run());
      const peer = await openPeer(server, revision);
      const runs = thrown.flatMap(([what, value]) => [
        { what, value, run: sync(value) },
        { what: `${what}, later`, value, run: async(value) },
      ]);
      for (const [index, one] of runs.entries()) {
        run = one.run;
        const { result, error } = await peer.request(method, params, one.what);
        expect(errors, one.what).toHaveLength(index + 1);
        expect(errors[index]?.error, one.what).toBe(one.value);
        const { errorId = "" } = errors[index] ?? {};
        expect(errorId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
        const message = `Internal error (${errorId})`;
        if (place === "a tool") {
          expect(result?.isError, one.what).toBe(true);
          expect(textOf(result ?? {}), one.what).toBe(message);
        } else expect(error, one.what).toEqual({ code: -32603, message, data: { errorId } });
      }
      await peer.settle();
      const answers = peer.messages.map(({ id }) => id).filter((id) => typeof id === "string");
      expect(answers).toEqual(runs.map(({ what }) => what));
    },
  );

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["text", "text"],
    ["a number", 5],
    ["an array", []],
    ["a boolean", true],
  ])("a method whose handler or middleware gives %s for a result answers with an error", async (_, value) => {
    covers(["rpc-response-result-or-error"], revision);
    for (const method of ["com.example/own", "tools/call", "ping"]) {
      const { server, errors } = createQuietServer();
      if (method === "ping") server.use((call, next) => (call.method === "ping" ? (value as never) : next(call)));
      else server.handle(method, () => value as never);
      const peer = await openPeer(server, revision);
      if (method === "ping" && peer.isModern) continue;
      const answers = await answersOf(peer, method, { name: "x" });
      expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([["the one", -32603]]);
      expect(errors).toHaveLength(1);
      expect(answers[0]?.error?.data).toEqual({ errorId: errors[0]?.errorId });
    }
  });

  test.each([
    ["a BigInt", { content: [], structuredContent: { n: 1n }, n: 1n }],
    [
      "a cycle",
      (() => {
        const cycle: Obj = { content: [] };
        cycle.structuredContent = cycle;
        return cycle;
      })(),
    ],
    [
      "a toJSON that throws",
      {
        content: [],
        structuredContent: {
          toJSON() {
            throw new Error("no");
          },
        },
      },
    ],
  ])("a result with %s in it is answered all the same, and the connection lives", async (_, value) => {
    const { server, errors } = createQuietServer();
    server.handle("com.example/own", () => value as never);
    const peer = await openPeer(server, revision);
    const [answer, ...more] = await answersOf(peer, "com.example/own", {});
    const [{ method, errorId } = { method: "", errorId: "" }, ...others] = errors;
    expect([answer?.id, more, method, others]).toEqual(["the one", [], "com.example/own", []]);
    expect(answer?.error).toEqual({ code: -32603, message: `Internal error (${errorId})`, data: { errorId } });
    expect((await peer.fail("no/such")).code).toBe(-32601);
  });

  test("a value whose very look throws is answered too", async () => {
    const nasty = new Proxy(new Error("x"), {
      getPrototypeOf() {
        throw new Error("trap");
      },
      get() {
        throw new Error("trap");
      },
    });
    for (const [, register] of places) {
      const { server } = createQuietServer();
      const [method, params] = register(server, sync(nasty));
      const peer = await openPeer(server, revision);
      expect((await answersOf(peer, method, params)).map(({ id, error }) => [id, error?.code])).toEqual([
        ["the one", -32603],
      ]);
    }
  });

  test("thenables that a handler returns are waited for, also those that fail", async () => {
    const { server, errors } = createQuietServer();
    server.tool("fine", {}, () => thenable);
    // biome-ignore lint/suspicious/noThenProperty: the point of the test
    server.tool("rejects", {}, () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(undefined) }));
    // biome-ignore lint/suspicious/noThenProperty: the point of the test
    server.tool("throws", {}, () => ({ then: sync(undefined) }));
    const peer = await openPeer(server, revision);
    expect(textOf(await peer.call("tools/call", { name: "fine" }))).toBe("resolved");
    expect(await peer.call("tools/call", { name: "rejects" })).toMatchObject({ isError: true });
    expect(await peer.call("tools/call", { name: "throws" })).toMatchObject({ isError: true });
    expect(errors.map(({ error }) => error)).toEqual([undefined, undefined]);
  });

  test("an onError that throws takes no answer with it; without one the console is told", async () => {
    const { server } = createQuietServer({
      onError: () => {
        throw new Error("the reporter fails");
      },
    });
    server.tool("t", {}, sync("x"));
    const peer = await openPeer(server, revision);
    expect(textOf(await peer.call("tools/call", { name: "t" }))).toMatch(/^Internal error \(/);

    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const { server: loud } = createQuietServer({ onError: undefined as never });
      loud.tool("t", { input: jsonSchema({ type: "object" }) }, sync("x"));
      const other = await openPeer(loud, revision);
      const text = textOf(await other.call("tools/call", { name: "t" }));
      expect(print.mock.calls).toEqual([[`plenum: tools/call t failed ${text.replace("Internal error ", "")}`, "x"]]);
    } finally {
      print.mockRestore();
    }
  });
});
