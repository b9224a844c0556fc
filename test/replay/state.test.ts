// `requestState`: who may go on with a call, for how long, how often, and with which secrets. What is wrong with a
// state is found before anything runs.
import { createServer } from "plenum";
import { createMemoryPair } from "plenum/memory";
import { serve } from "plenum/protocol";
import { createMemoryStore, type Store } from "plenum/store";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Call, Endpoint } from "../../packages/plenum/src/protocol/endpoint.ts";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { modern, type Obj, openPeer, type Peer } from "../suites/peer.ts";
import { capabilities, drive, type Leg } from "./rounds.ts";
import { accept, createStage, leg, onward, type Stage, secret, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });

interface Counted extends Stage {
  runs(): number;
}

/** Asks twice, with a step in between, and counts its runs. */
function createCounted(options: Parameters<typeof createStage>[1] = {}): Counted {
  let runs = 0;
  const stage = createStage(async (ctx) => {
    runs++;
    const { action } = await ctx.elicit("?", form);
    const step = await ctx.step("once", () => 1);
    await ctx.elicit("More?", form);
    return `${action} ${step}`;
  }, options);
  return { ...stage, runs: () => runs };
}

/** The message of the refusal; anything else, or a run of the handler, fails the test. */
async function refusalOf(peer: Peer, { runs }: Counted, more: Obj): Promise<string> {
  const before = runs();
  const { error, result } = await peer.request("tools/call", { name: "run", ...more });
  expect(result).toBeUndefined();
  expect(error?.code).toBe(-32602);
  expect(runs()).toBe(before);
  expect(error?.message).toMatch(/^Invalid requestState: .*\. Start the call again without requestState$/);
  return error?.message ?? "";
}

describe("a state that was not made here", () => {
  test.each<[what: string, state: (good: string) => string]>([
    ["nothing", () => ""],
    ["words", () => "let me in"],
    ["JSON", () => '{"method":"tools/call"}'],
    ["a head alone", (good) => good.slice(0, 12)],
    ["a head with a little", (good) => `${good.slice(0, 12)}AAAA`],
    ["cut off by one", (good) => good.slice(0, -1)],
    ["cut off by four", (good) => good.slice(0, -4)],
    ["one more", (good) => `${good}A`],
    ["padding", (good) => `${good}=`],
    ["a blank", (good) => `${good} `],
    ["a blank in front", (good) => ` ${good}`],
    ["a line break", (good) => `${good}\n`],
    ["another version", (good) => good.replace("v1.", "v2.")],
    ["two", (good) => good + good],
    ["another alphabet", (good) => good.replace(/[-_]/g, "+")],
  ])("is refused: %s", async (_, change) => {
    covers(["mrtr-state-untrusted", "mrtr-state-reject-invalid", "mrtr-server-protocol-error"], modern);
    const stage = createCounted();
    const peer = await stage.open();
    const { state } = await leg(peer);
    const changed = change(state);
    // A state may happen to have neither of the letters.
    if (changed !== state) await refusalOf(peer, stage, { requestState: changed });
    expect(stage.errors).toEqual([]);
  });

  test("no change of a single letter goes unseen", async () => {
    covers(["mrtr-state-integrity", "mrtr-state-reject-invalid"], modern);
    const stage = createCounted();
    const peer = await stage.open();
    const { state } = await leg(peer);
    for (let at = 0; at < state.length; at++) {
      const changed = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
      await refusalOf(peer, stage, { requestState: changed });
    }
  });

  test("is refused unread when it is too long", async () => {
    const stage = createCounted({ maxStateBytes: 5000 });
    const peer = await stage.open();
    const message = await refusalOf(peer, stage, { requestState: "x".repeat(5001) });
    expect(message).toContain("it is longer than 5000 characters");
  });
});

describe("a state", () => {
  const auth = { subject: "ada", clientId: "app", scopes: [] };

  test("is for its caller alone", async () => {
    covers(["mrtr-state-principal", "elicitation-state-bound", "elicitation-bound-identity"], modern);
    const stage = createCounted();
    const ada = await stage.open({ sender: { auth } });
    const more = onward(await leg(ada));
    const others = [
      { sender: { auth: { ...auth, subject: "eve" } } },
      { sender: { auth: { ...auth, clientId: "other" } } },
      { sender: { auth: { subject: "ada", scopes: [] } } },
      { sender: { auth: { subject: "app", clientId: "ada", scopes: [] } } },
      {},
    ];
    for (const options of others)
      expect(await refusalOf(await stage.open(options), stage, more)).toContain("it belongs to another caller");
    // Whatever else changes about her, she is who she is.
    const again = await stage.open({ sender: { auth: { ...auth, scopes: ["more"], expiresAt: 5 } } });
    await leg(again, more);
  });

  test("goes on with the caller that authorization names in each round", async () => {
    covers("elicitation-state-user-from-auth", modern);
    const { open } = createStage(async (ctx) => {
      const before = ctx.auth?.subject;
      await ctx.elicit(`For ${before}?`, form);
      return `${before} ${ctx.auth?.subject}`;
    });
    const peer = await open({ sender: { auth }, clientInfo: { name: "eve", version: "1" } });
    const { last } = await drive(peer, "tools/call", { name: "run" }, accept);
    expect(textOf(last)).toBe("ada ada");
  });

  test("of nobody in particular is not for somebody", async () => {
    covers("mrtr-state-principal", modern);
    const stage = createCounted();
    const more = onward(await leg(await stage.open()));
    expect(await refusalOf(await stage.open({ sender: { auth } }), stage, more)).toContain("another caller");
  });

  test("is for its method and its arguments alone, however they are written", async () => {
    covers("mrtr-state-request-binding", modern);
    const stage = createCounted();
    stage.server.prompt("run", { arguments: form }, () => "never");
    const peer = await stage.open();
    const args = { a: { x: 1, y: [1, 2] }, b: "é" };
    const first = await leg(peer, { arguments: args });
    const more = onward(first);
    for (const other of [
      {},
      { arguments: { ...args, c: 1 } },
      { arguments: { a: args.a } },
      { arguments: { ...args, b: "e" } },
      { arguments: { ...args, a: { x: 1, y: [2, 1] } } },
      { arguments: args, more: true },
    ])
      expect(await refusalOf(peer, stage, { ...other, ...more })).toContain(
        "it belongs to a call with other arguments",
      );
    stage.server.tool("walk", {}, () => "never");
    expect(await refusalOf(peer, stage, { arguments: args, ...more, name: "walk" })).toContain("other arguments");
    const prompt = await peer.request("prompts/get", { name: "run", arguments: args as never, ...more });
    expect(prompt.error?.code).toBe(-32602);

    const turned = { b: "é", a: { y: [1, 2], x: 1 } };
    await leg(peer, { ...more, arguments: turned, _meta: { progressToken: 5 } });
  });

  test("is for its server alone, whoever has the secret", async () => {
    const more = onward(await leg(await createCounted().open()));
    const stage = createCounted({ name: "another" });
    expect(await refusalOf(await stage.open(), stage, more)).toContain("Invalid requestState");
    // A new version of the same goes on.
    await leg(await createCounted({ version: "2.0.0" }).open(), more);
  });

  test.each([
    ["10 minutes by default", undefined, 600_000],
    ["as long as an ask waits", 5000, 5000],
  ])("lives %s", async (_, askTimeoutMs, lifeMs) => {
    covers("mrtr-state-expiry", modern);
    const stage = createCounted();
    const peer = await stage.open(askTimeoutMs === undefined ? {} : { askTimeoutMs });
    const more = onward(await leg(peer));
    const now = Date.now();
    const clock = vi.spyOn(Date, "now");
    try {
      clock.mockReturnValue(now + lifeMs + 1000);
      expect(await refusalOf(peer, stage, more)).toContain("it has expired");
      clock.mockReturnValue(now + lifeMs - 1000);
      // The next one has a life of its own.
      const next = onward(await leg(peer, more));
      clock.mockReturnValue(now + lifeMs + 1000);
      expect(textOf(await peer.request("tools/call", { name: "run", ...next }))).toBe("accept 1");
    } finally {
      clock.mockRestore();
    }
  });

  test.each([0, Number.POSITIVE_INFINITY])("lives for ever where an ask waits for ever (%d)", async (askTimeoutMs) => {
    const stage = createCounted();
    const peer = await stage.open({ askTimeoutMs });
    const more = onward(await leg(peer));
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 1e12);
    try {
      await leg(peer, more);
    } finally {
      clock.mockRestore();
    }
  });

  test("shows nothing of what is in it", async () => {
    const { open } = createStage(async (ctx) => {
      await ctx.step("secret step", () => "a secret value");
      await ctx.elicit("?", form);
    });
    const { state } = await leg(await open());
    const raw = Buffer.from(state.slice(12), "base64url").toString("latin1");
    for (const word of ["secret", "tools/call", "elicitation", "stage"]) expect(raw).not.toContain(word);
  });

  test("of one call is not that of another", async () => {
    const stage = createCounted();
    const peer = await stage.open();
    const [a, b] = [await leg(peer), await leg(peer)];
    expect(a.state).not.toBe(b.state);
    expect(a.state.slice(0, 12)).toBe(b.state.slice(0, 12));
  });
});

describe("a state that comes twice", () => {
  test("goes on twice, from where it was made", async () => {
    const ran: number[] = [];
    const { open } = createStage(async (ctx) => {
      await ctx.step("before", () => ran.push(1));
      await ctx.elicit("?", form);
      await ctx.step("after", () => ran.push(2));
      return "done";
    });
    const peer = await open();
    const more = onward(await leg(peer));
    const both = await Promise.all([1, 2].map(() => peer.request("tools/call", { name: "run", ...more })));
    expect(both.map(textOf)).toEqual(["done", "done"]);
    // What was done before it is done once; what comes after, once for each time.
    expect(ran).toEqual([1, 2, 2]);
  });

  test("goes on once where a store remembers it", async () => {
    covers("mrtr-state-single-use", modern);
    const stateStore = createMemoryStore();
    // Two nodes with one store.
    const stages = [createCounted({ stateStore }), createCounted({ stateStore })] as const;
    const peers = [await stages[0].open(), await stages[1].open()] as const;
    const first = await leg(peers[0]);
    const more = onward(first);
    const answers = await Promise.all(
      [0, 1, 0, 1].map((at) => (peers[at] as Peer).request("tools/call", { name: "run", ...more })),
    );
    const asking = answers.filter(({ result }) => result?.resultType === "input_required");
    expect(asking).toHaveLength(1);
    expect(stages[0].runs() + stages[1].runs()).toBe(2);
    for (const { error } of answers) if (error) expect(error.message).toContain("it was used already");
    const { result } = asking[0] as { result: Obj };
    const next = onward({ state: result.requestState, questions: result.inputRequests } as Leg);
    expect(textOf(await peers[1].request("tools/call", { name: "run", ...next }))).toBe("accept 1");
    expect(await refusalOf(peers[0], stages[0], next)).toContain("it was used already");
  });

  test("is not used up by an answer that is refused", async () => {
    const stage = createCounted({ stateStore: createMemoryStore() });
    const peer = await stage.open();
    const { requestState, inputResponses } = onward(await leg(peer));
    const bad = { requestState, inputResponses: { "ask-1": { roots: [] } } };
    const { error } = await peer.request("tools/call", { name: "run", ...bad });
    expect(error?.code).toBe(-32602);
    await leg(peer, { requestState, inputResponses });
  });

  test("is remembered for longer than it lives, since clocks differ, and a store that fails lets nothing run", async () => {
    const puts: unknown[][] = [];
    let isDown = false;
    const stateStore: Store = {
      ...createMemoryStore(),
      async put(...args) {
        if (isDown) throw new Error("no route to the store");
        puts.push(args);
        return true;
      },
    };
    const stage = createCounted({ stateStore });
    const peer = await stage.open({ askTimeoutMs: 60_000 });
    const first = await leg(peer);
    // Nothing is kept for a call that nobody goes on with.
    expect(puts).toEqual([]);
    await leg(peer, onward(first));
    expect(puts).toEqual([
      [expect.stringMatching(/^plenum:state:[0-9a-f-]{36}$/), "used", { expected: null, ttlMs: expect.any(Number) }],
    ]);
    const ttlMs = (puts[0]?.[2] as { ttlMs: number } | undefined)?.ttlMs;
    expect(ttlMs).toBeGreaterThan(350_000);
    expect(ttlMs).toBeLessThanOrEqual(360_000);
    isDown = true;
    const before = stage.runs();
    const { error } = await peer.request("tools/call", { name: "run", ...onward(first) });
    expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(/^Internal error \(/) });
    expect(stage.runs()).toBe(before);
    expect(stage.errors.map(({ message }) => message)).toEqual(["no route to the store"]);
  });
});

describe("secrets", () => {
  const [old, next] = ["the secret of yesterday", new Uint8Array(32).fill(9)];

  test("the first seals and all open, so that one can take the place of another", async () => {
    const [before, during, after] = [old, [next, old], [next]].map((given) => createCounted({ secret: given }));
    const first = onward(await leg(await (before as Counted).open()));
    const second = onward(await leg(await (during as Counted).open(), first));
    const { last } = await drive(await (after as Counted).open(), "tools/call", { name: "run", ...second }, accept);
    expect(textOf(last)).toBe("accept 1");
    const message = await refusalOf(await (after as Counted).open(), after as Counted, first);
    expect(message).toContain("it was sealed by another process or with an old key; all nodes need the same secret");
    await refusalOf(await (before as Counted).open(), before as Counted, second);
    for (const stage of [before, during, after]) expect(stage?.errors).toEqual([]);
  });

  test("without one, whoever runs the server is told when another process would have had to know it, once", async () => {
    const [stage, other] = [
      createCounted({ secret: undefined as never }),
      createCounted({ secret: undefined as never }),
    ];
    const more = onward(await leg(await other.open()));
    const peer = await stage.open();
    for (let i = 0; i < 3; i++) await refusalOf(peer, stage, more);
    expect(stage.errors.map(({ message }) => message)).toEqual([
      "A requestState came that another process sealed. Give all nodes the same secret (createServer)",
    ]);
    // Its own calls go on.
    expect(textOf((await drive(peer, "tools/call", { name: "run" }, accept)).last)).toBe("accept 1");
    expect(stage.errors).toHaveLength(1);
  });

  test.each([
    ["without one", undefined, 1],
    ["with one", secret, 0],
  ])("%s, a call that is suspended where others could go on with it is told of, once", async (_, given, times) => {
    const stage = createCounted({ secret: given as never });
    const [near, far] = createMemoryPair();
    // As over HTTP, where the next request may reach another process.
    serve(stage.server, {
      oneStream: false,
      open: (receiver) => far.open(receiver),
      send: (message, about) => far.send(message, about),
      close: () => far.close(),
    });
    const results: unknown[] = [];
    near.open({ receive: ({ message }: never) => results.push(message), closed() {} } as never);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    for (let id = 0; id < 3; id++)
      near.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "run", _meta } } as never);
    await expect.poll(() => results).toHaveLength(3);
    near.close();
    expect(stage.errors.map(({ message }) => message)).toEqual(
      Array(times).fill(
        "A call was suspended, and only this process can go on with it. Give createServer a secret, the same on all nodes",
      ),
    );
  });

  test.each([["short"], [[]], [[secret, "short"]], [new Uint8Array(15)]])("%j is none", (given) => {
    expect(() => createServer({ name: "s", version: "1", secret: given as never })).toThrow("16 bytes or more");
  });
});

describe("size", () => {
  test("what is too large to travel is an error that says so, and nothing is asked", async () => {
    const { open, errors } = createStage(
      async (ctx) => {
        await ctx.step("load", () => "x".repeat(3000));
        await ctx.elicit("?", form);
      },
      { maxStateBytes: 4000 },
    );
    const { error } = await (await open()).request("tools/call", { name: "run" });
    expect(error?.code).toBe(-32603);
    expect(error?.message).toMatch(
      /^tools\/call cannot be suspended: its answers and steps take \d{4} characters, and 4000 may travel in requestState \(maxStateBytes\)/,
    );
    expect(errors.map(({ message }) => message)).toEqual([error?.message]);
  });

  test("the bound is 131,072 characters by default, and no more than that is needed", async () => {
    const { open } = createStage(async (ctx, { size }) => {
      await ctx.step("load", () => "x".repeat(size as number));
      return (await ctx.elicit("?", form)).action;
    });
    const peer = await open();
    const params = { name: "run", arguments: { size: 97_000 } };
    expect(textOf((await drive(peer, "tools/call", params, accept)).last)).toBe("accept");
    const { error } = await peer.request("tools/call", { name: "run", arguments: { size: 99_000 } });
    expect(error?.message).toContain("131072 may travel");
  });

  test.each([0, -1, Number.NaN])("%d is no bound", (maxStateBytes) => {
    expect(() => createServer({ name: "s", version: "1", maxStateBytes })).toThrow(TypeError);
  });
});

test("an endpoint that says nothing of secrets has its own", async () => {
  const { server } = createCounted();
  const { rounds: _, ...rest } = server;
  const calls: Call[] = [];
  const endpoint: Endpoint = {
    ...rest,
    call(call) {
      calls.push(call);
      return server.call(call);
    },
  };
  const peer = await openPeer(endpoint, modern, { capabilities });
  const { last } = await drive(peer, "tools/call", { name: "run" }, accept);
  expect(textOf(last)).toBe("accept 1");
  // What is only for the era does not reach it.
  for (const { params } of calls) expect(Object.keys(params)).toEqual(["name"]);
  expect(calls).toHaveLength(3);
});
