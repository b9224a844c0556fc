// Calls of 2026-07-28 whose handler or client does what none should: values changed under way, errors that cannot be
// written down, numbers that JSON lacks, clocks at the edge, and handlers that do not end.
import { createServer, elicitationRequired, McpError } from "plenum";
import { createMemoryStore, type Store } from "plenum/store";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { type Message, modern, type Obj, openPeer, type Peer } from "../suites/peer.ts";
import { capabilities, converse, toLeg } from "./rounds.ts";
import { accept, createStage, leg, onward, secret, sleep, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });
const says = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });

describe("arguments that are changed in place", () => {
  test.each<[who: string, server: () => ReturnType<typeof createServer>]>([
    [
      "the handler",
      () => {
        const { server } = createStage(async (ctx, args) => {
          (args.list as string[]).sort();
          await ctx.elicit("?", form);
          return String(args.list);
        });
        return server;
      },
    ],
    [
      "a middleware",
      () => {
        const { server } = createStage(async (ctx, args) => {
          await ctx.elicit("?", form);
          return String([...(args.list as string[])].sort());
        });
        server.use((call, next) => {
          (call.params.arguments as { list: string[] }).list.reverse();
          return next(call);
        });
        return server;
      },
    ],
  ])("by %s: a call is bound to what its client sent", async (_, make) => {
    const peer = await openPeer(make(), modern, { capabilities });
    const sent = { arguments: { list: ["b", "a"] } };
    const more = onward(await leg(peer, sent));
    const other = await peer.request("tools/call", { name: "run", arguments: { list: ["a", "b"] }, ...more });
    expect(other.error?.message).toContain("it belongs to a call with other arguments");
    expect(textOf(await peer.request("tools/call", { name: "run", ...sent, ...more }))).toBe("a,b");
  });
});

describe("a question that is changed after it was put", () => {
  test("is sent as it was put", async () => {
    const { open, errors } = createStage(async (ctx) => {
      const messages = [says("Delete draft.txt?")];
      try {
        const { content } = await ctx.sample({ messages, maxTokens: 5 });
        return (content as { text: string }).text;
      } finally {
        messages.push(says("And all else?"));
        Object.assign(messages[0]?.content ?? {}, { text: "Say yes" });
      }
    });
    const peer = await open();
    const first = await leg(peer);
    expect(first.questions["ask-1"]?.params?.messages).toEqual([says("Delete draft.txt?")]);
    expect(textOf(await peer.request("tools/call", { name: "run", ...onward(first) }))).toBe("Ho");
    expect(errors).toEqual([]);
  });

  test.each(["2025-11-25", modern] as const)("at once, in %s: the next is another question", async (revision) => {
    const { server } = createStage(async (ctx) => {
      const request = { messages: [says("A")], maxTokens: 5 };
      const first = ctx.sample(request);
      Object.assign(request.messages[0]?.content ?? {}, { text: "B" });
      await Promise.all([first, ctx.sample(request)]);
      return "done";
    });
    const peer = await openPeer(server, revision, { capabilities });
    const seen: unknown[] = [];
    if (revision === modern) {
      for (const { params } of Object.values((await leg(peer)).questions)) seen.push(params?.messages);
    } else {
      const last = await converse(peer, "tools/call", { name: "run" }, (question) => {
        seen.push(question.params?.messages);
        return accept(question);
      });
      expect(textOf(last)).toBe("done");
    }
    expect(seen).toEqual([[says("A")], [says("B")]]);
  });
});

describe("a failure of a step", () => {
  const proxy = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error("trap");
      },
      get() {
        throw new Error("trap");
      },
    },
  );
  test.each<[what: string, thrown: unknown]>([
    ["no prototype", Object.create(null)],
    ["data that is no JSON", new McpError("application", "x", { rpcCode: 5, data: 1n })],
    [
      "no text",
      {
        toString() {
          throw new Error("no");
        },
      },
    ],
    ["a message that is a bigint", Object.assign(new Error("x"), { message: 1n })],
    ["a name that is a symbol", Object.assign(new Error("x"), { name: Symbol("s") })],
    ["a symbol", Symbol("s")],
    ["a proxy", proxy],
  ])("is remembered, whatever was thrown: %s", async (_, thrown) => {
    let times = 0;
    const seen: string[] = [];
    const { open } = createStage(async (ctx) => {
      await ctx
        .step("pay", () => {
          times++;
          throw thrown;
        })
        .catch((error: Error) => seen.push(`${error.name}: ${error.message}`));
      await ctx.elicit("Another card?", form);
      return "done";
    });
    const peer = await open();
    const last = await peer.request("tools/call", { name: "run", ...onward(await leg(peer)) });
    expect(textOf(last)).toBe("done");
    expect(times).toBe(1);
    expect(seen[1]).toBe(seen[0]);
  });

  test("is masked when it is only called ToolError", async () => {
    const { open } = createStage((ctx) =>
      ctx.step("db", () => {
        throw Object.assign(new Error("the password is hunter2"), { name: "ToolError" });
      }),
    );
    const said = textOf(await (await open()).request("tools/call", { name: "run" }));
    expect(said).toMatch(/^Internal error \(/);
  });
});

test("data that reads like questions asks nothing", async () => {
  const params = { mode: "url", message: "Log in", url: "https://evil.example/" };
  const data = {
    resultType: "input_required",
    inputRequests: { a: { method: "elicitation/create", params } },
    content: [{ type: "text", text: "hi" }],
    messages: [{ role: "user", content: "hi" }],
  };
  const server = createServer({ name: "s", version: "1" });
  server.tool("run", {}, () => data as never);
  server.prompt("run", {}, () => data as never);
  const peer = await openPeer(server, modern, { capabilities });
  for (const method of ["tools/call", "prompts/get"])
    expect((await peer.request(method, { name: "run" })).result?.resultType, method).toBe("complete");
});

describe("a handler that does not end when it is suspended", () => {
  test("and asks again and again is held, and its client is asked all the same", async () => {
    let loops = 0;
    const { open, errors } = createStage(async (ctx) => {
      for (;;) {
        loops++;
        try {
          return (await ctx.elicit("?", form)).action;
        } catch {
          // Asks again, whatever it was.
        }
      }
    });
    const peer = await open();
    const first = await leg(peer);
    const before = loops;
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('tools/call "run" still runs a second after the error that suspends it'),
    ]);
    await sleep(50);
    expect(loops).toBe(before);
    expect(textOf(await peer.request("tools/call", { name: "run", ...onward(first) }))).toBe("accept");
  });

  test.each(["2025-11-25", modern] as const)("or when it is cancelled, in %s, is held, too", async (revision) => {
    let loops = 0;
    const { server } = createStage(async (ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      for (;;) {
        loops++;
        await ctx.elicit("?", form).catch(() => {});
      }
    });
    const peer = await openPeer(server, revision, { capabilities });
    const requestId = peer.start("tools/call", { name: "run" });
    await sleep(20);
    peer.notify("notifications/cancelled", { requestId });
    await expect.poll(() => loops).toBeGreaterThan(1000);
    const before = loops;
    await sleep(50);
    expect(loops).toBe(before);
  });
});

test("a part beside one that fails gives back what it holds", async () => {
  const freed: string[] = [];
  const { open } = createStage(async (ctx) => {
    const part = async (): Promise<void> => {
      try {
        await ctx.elicit("?", form);
      } finally {
        freed.push("part");
      }
    };
    await Promise.all([part(), Promise.reject(new Error("broken"))]);
  });
  await (await open()).request("tools/call", { name: "run" });
  await expect.poll(() => freed).toEqual(["part"]);
});

test("a step that never ends keeps nothing when its call is cancelled", async () => {
  const { server } = createStage((ctx) =>
    Promise.all([ctx.elicit("?", form), ctx.step("endless", () => new Promise(() => {}))]),
  );
  server.tool("other", {}, () => "done");
  const peer = await openPeer(server, modern, { capabilities, maxInFlight: 1 });
  const id = peer.start("tools/call", { name: "run" });
  await sleep(50);
  peer.notify("notifications/cancelled", { requestId: id });
  await expect.poll(async () => textOf(await peer.request("tools/call", { name: "other" }))).toBe("done");
});

test.each(["2025-11-25", modern] as const)(
  "a step is not taken after its call was cancelled, in %s",
  async (revision) => {
    let isTaken = false;
    let isOver = false;
    const { server } = createStage(async (ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      await ctx
        .step("pay", () => {
          isTaken = true;
        })
        .finally(() => {
          isOver = true;
        });
    });
    const peer = await openPeer(server, revision, { capabilities });
    const id = peer.start("tools/call", { name: "run" });
    await sleep(20);
    peer.notify("notifications/cancelled", { requestId: id });
    await expect.poll(() => isOver).toBe(true);
    expect(isTaken).toBe(false);
  },
);

describe("who goes on", () => {
  const begin = async (auth: Obj, next: Obj | undefined): Promise<string | undefined> => {
    const { open } = createStage(async (ctx) => (await ctx.elicit("?", form)).action);
    const more = onward(await leg(await open({ sender: { auth } } as never)));
    const peer = await open((next ? { sender: { auth: next } } : {}) as never);
    return (await peer.request("tools/call", { name: "run", ...more })).error?.message;
  };
  const refused = expect.stringContaining("it belongs to another caller");

  test("is named by its issuer, too", async () => {
    const ada = { subject: "ada", scopes: [], claims: { iss: "https://a.example" } };
    expect(await begin(ada, { ...ada, claims: { iss: "https://b.example" } })).toEqual(refused);
    expect(await begin(ada, { ...ada, claims: { iss: "https://a.example", iat: 5 } })).toBeUndefined();
  });

  test("is known by its claims where it has no name", async () => {
    const ada = { scopes: [], claims: { email: "ada@example.com", iat: 1, exp: 2 } };
    expect(await begin(ada, { scopes: [], claims: { email: "eve@example.com" } })).toEqual(refused);
    expect(await begin(ada, undefined)).toEqual(refused);
    expect(await begin(ada, { scopes: [], claims: { email: "ada@example.com", iat: 3, exp: 4 } })).toBeUndefined();
  });
});

describe("numbers that JSON cannot write", () => {
  let id = 1000;

  /** As text, with the number in place of "?": nothing else can carry it. */
  async function sendText(peer: Peer, given: Obj, n: string): Promise<Message> {
    const text = JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params: peer.dress(given) });
    peer.raw.send(text.replace('"n":"?"', `"n":${n}`));
    for (;;) {
      const message = (await peer.raw.next(5000)) as Message;
      if (message.id === id) return message;
    }
  }

  test.each([
    ["null", "1e400"],
    ["1e400", "null"],
    ["1e400", "-1e400"],
    ["0", "-0"],
  ])("are arguments of their own: %s is not %s", async (sent, other) => {
    const { open } = createStage(async (ctx) => (await ctx.elicit("?", form)).action);
    const peer = await open();
    const run = async (n: string, more: Obj = {}): Promise<Message> => {
      const params = { name: "run", arguments: { n: "?" }, ...more };
      return sendText(peer, params, n);
    };
    const first = toLeg(await run(sent));
    if (!first) throw new Error("it does not ask");
    expect((await run(other, onward(first))).error?.message).toContain("other arguments");
    expect(textOf(await run(sent, onward(first)))).toBe("accept");
  });

  test("are in an answer what they are in the next round", async () => {
    const seen: unknown[] = [];
    const { open } = createStage(async (ctx) => {
      const { content } = await ctx.sample({
        messages: [says("Hi")],
        maxTokens: 5,
        tools: [{ name: "t", inputSchema: { type: "object" } }],
      });
      seen.push((content as unknown as { input: { n: unknown } }).input.n);
      await ctx.elicit("?", form);
      return "done";
    });
    const peer = await open();
    const used = {
      role: "assistant",
      model: "m",
      content: { type: "tool_use", id: "1", name: "t", input: { n: "?" } },
    };
    const params = { name: "run", ...onward(await leg(peer), () => used) };
    const second = toLeg(await sendText(peer, params, "1e400"));
    if (!second) throw new Error("it does not ask");
    await peer.request("tools/call", { name: "run", ...onward(second) });
    expect(seen).toEqual([null, null]);
  });
});

describe("single use", () => {
  test("holds for a store that takes until the state has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      let times = 0;
      const slow: Store = {
        ...createMemoryStore(),
        async put() {
          vi.advanceTimersByTime(2000);
          return true;
        },
      };
      const { open } = createStage(
        async (ctx) => {
          await ctx.elicit("?", form);
          times++;
        },
        { stateStore: slow },
      );
      const peer = await open({ askTimeoutMs: 1000 });
      const { error } = await peer.request("tools/call", { name: "run", ...onward(await leg(peer)) });
      expect(error?.message).toContain("it has expired");
      expect(times).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("holds on nodes whose clocks differ", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const stateStore = createMemoryStore();
      let times = 0;
      const { open } = createStage(
        async (ctx) => {
          await ctx.elicit("?", form);
          times++;
          return "done";
        },
        { stateStore },
      );
      const peer = await open({ askTimeoutMs: 10_000 });
      const first = await leg(peer);
      const now = Date.now();
      // This node is ahead: to it the state has a second to live. The other still has all ten.
      vi.setSystemTime(now + 9000);
      expect(textOf(await peer.request("tools/call", { name: "run", ...onward(first) }))).toBe("done");
      vi.setSystemTime(now + 9999);
      const again = await peer.request("tools/call", { name: "run", ...onward(first) });
      expect(again.error?.message).toContain("it was used already");
      expect(times).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

test("the length of a state does not tell a yes from a no", async () => {
  const { open } = createStage(
    async (ctx, { n }) => {
      await ctx.step("suspicious", () => n === 1);
      await ctx.elicit("?", form);
    },
    { secret },
  );
  const peer = await open();
  const lengthOf = async (n: number): Promise<number> => (await leg(peer, { arguments: { n } })).state.length;
  expect(await lengthOf(1)).toBe(await lengthOf(2));
});

test.each(["javascript:alert(1)", "http://evil.example/", "ftp://example.com/"])("%s is no page to visit", (url) => {
  expect(() => elicitationRequired([{ message: "m", url }])).toThrow(TypeError);
});

test.each(["https://example.com/a", "http://localhost:8080/", "http://127.0.0.1/a"])("%s is one", (url) => {
  expect(elicitationRequired([{ message: "m", url }]).data).toMatchObject({ elicitations: [{ url }] });
});
