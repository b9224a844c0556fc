// CVE-2025-53365, CVE-2025-53366: what user code throws or returns never ends the server. Every request gets exactly one
// answer, nothing of the fault is told, and no rejection goes unhandled.
import { createServer, revisions, ToolError } from "plenum";
import { describe, expect, test } from "vitest";
import { openPeer } from "../suites/peer.ts";
import { watchStrays } from "./strays.ts";
import { calm, type Obj } from "./target.ts";

watchStrays();

const secret = "hunter2";

function cyclic(): object {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  return circle;
}

const thrown: { readonly [what: string]: () => unknown } = {
  "an Error": () => new Error(secret),
  undefined: () => undefined,
  null: () => null,
  "a string": () => secret,
  "a number": () => 42,
  "an empty object": () => ({}),
  "a function": () => () => secret,
  "a symbol": () => Symbol(secret),
  "a frozen object": () => Object.freeze({ message: secret }),
  "an object without prototype": () => Object.assign(Object.create(null), { message: secret }),
  "an error whose message throws": () =>
    Object.defineProperty(new Error(), "message", {
      get() {
        throw new Error(secret);
      },
    }),
  "an error whose stack throws": () =>
    Object.defineProperty(new Error(secret), "stack", {
      get() {
        throw new Error(secret);
      },
    }),
  "a proxy that refuses everything": () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error(secret);
        },
        getPrototypeOf() {
          throw new Error(secret);
        },
      },
    ),
  "an AbortError": () => new DOMException(secret, "AbortError"),
  "an aggregate": () => new AggregateError([new Error(secret)], secret),
};

const returned: { readonly [what: string]: () => unknown } = {
  "a BigInt": () => 1n,
  "a cycle": cyclic,
  "a cycle in content": () => ({ content: [{ type: "text", text: "a", _meta: { circle: cyclic() } }] }),
  "a BigInt in _meta": () => ({ content: [{ type: "text", text: "a" }], _meta: { big: 1n } }),
  "a value whose toJSON throws": () => ({
    toJSON() {
      throw new Error(secret);
    },
  }),
  "a getter that throws": () => ({
    get content() {
      throw new Error(secret);
    },
  }),
  "a thenable that throws": () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the fault
    then() {
      throw new Error(secret);
    },
  }),
  "a thenable that rejects twice": () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the fault
    then(_: unknown, reject: (reason: unknown) => void) {
      reject(new Error(secret));
      reject(new Error(secret));
    },
  }),
  "content of no kind": () => ({ content: [{ type: "hologram" }] }),
};

// Tools may return promises in a list; elsewhere a rejected one is the handler's own loose end.
const returnedByTools = {
  ...returned,
  "a list with a rejected promise": () => [Promise.reject(new Error(secret)), "a"],
};

/** A server every piece of whose user code does the same mischief. */
function createMischief(act: () => unknown, onError: () => void) {
  const server = createServer({ name: "mischief", version: "1.0.0", onError });
  const free = createServer({ name: "mischief", version: "1.0.0", onError });
  const never = act as () => never;
  for (const each of [server, free]) {
    each.tool("act", {}, never);
    each.tool("later", {}, async () => {
      await Promise.resolve();
      return act();
    });
    each.resource("act:///{id}", { complete: { id: never } }, never);
    each.prompt("act", { complete: {} }, never);
  }
  server.resource("list:///{id}", { list: never }, () => "ok");
  server.handle("x/act", never);
  return { server, free };
}

const calls: readonly (readonly [string, Obj])[] = [
  ["tools/call", { name: "act" }],
  ["tools/call", { name: "later" }],
  ["resources/read", { uri: "act:///1" }],
  ["prompts/get", { name: "act" }],
  ["completion/complete", { ref: { type: "ref/resource", uri: "act:///{id}" }, argument: { name: "id", value: "" } }],
  ["resources/list", {}],
  ["x/act", {}],
];

const acts: readonly (readonly [string, () => unknown])[] = [
  ...Object.entries(thrown).map(([what, make]) => {
    const act = (): never => {
      throw make();
    };
    return [`throws ${what}`, act] as const;
  }),
  ...Object.entries(thrown).map(([what, make]) => [`rejects with ${what}`, () => Promise.reject(make())] as const),
  ...Object.entries(returned).map(([what, make]) => [`returns ${what}`, make] as const),
];

describe.each(revisions)("user code in %s", (revision) => {
  test.each(acts)("that %s takes nothing with it", async (what, act) => {
    const { server } = createMischief(act, () => {
      throw new Error("the reporter fails, too");
    });
    const peer = await openPeer(server, revision);
    for (const [method, params] of calls) {
      const before = peer.messages.length;
      const answer = await peer.request(method, params);
      await calm();
      expect(peer.messages.slice(before), `${method}: one answer`).toEqual([answer]);
      expect(JSON.stringify(answer)).not.toContain(secret);
      if (what.startsWith("returns")) continue;
      // What does not even say what it is cannot be told from an error of the protocol.
      const isOpaque = what.includes("a proxy");
      if (method === "tools/call" && !isOpaque) expect(answer.result).toMatchObject({ isError: true });
      else expect(answer.error?.code, method).toBe(-32603);
    }
    // The server lives, and what is right is still answered.
    expect((await peer.call("tools/list")).tools).toHaveLength(2);
  });
});

describe("a batch in which one result cannot be written", () => {
  test.each(Object.entries(returnedByTools))("%s: all members are answered", async (_, make) => {
    const { free: server } = createMischief(make, () => {});
    server.tool("fine", {}, () => "fine");
    const peer = await openPeer(server, "2025-03-26");
    const call = (id: number, name: string) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
    peer.raw.send([call(101, "fine"), call(102, "act"), call(103, "later"), call(104, "fine")]);
    await peer.settle();
    const batch = peer.messages.at(-1) as unknown as { id: number; result?: Obj; error?: Obj }[];
    expect(batch.map(({ id }) => id).sort()).toEqual([101, 102, 103, 104]);
    expect(batch.filter(({ id }) => id === 101 || id === 104).every(({ result }) => result && !result.isError)).toBe(
      true,
    );
    expect(await peer.call("ping")).toEqual({});
  });
});

test.each(revisions)("a ToolError is told as it stands in %s, and nothing else of it", async (revision) => {
  const server = createServer({ name: "told", version: "1.0.0" });
  server.tool("told", {}, () => {
    throw new ToolError("the city is unknown", { cause: new Error(secret) });
  });
  const peer = await openPeer(server, revision);
  const result = await peer.call("tools/call", { name: "told" });
  expect(result).toMatchObject({ content: [{ type: "text", text: "the city is unknown" }], isError: true });
  expect(JSON.stringify(result)).not.toContain(secret);
});
