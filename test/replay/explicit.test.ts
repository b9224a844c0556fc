// The explicit form of asking: a handler that returns its questions is run again with the answers and its state, in
// every revision.
import { type Context, createServer, inputRequired, type Json, revisions, type Server } from "plenum";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { type Message, modern, type Obj, openPeer, type Peer } from "../suites/peer.ts";
import { type Answer, capabilities, converse, drive, toLeg } from "./rounds.ts";
import { accept, createStage, leg, onward, textOf } from "./stage.ts";

watchStrays();

const form = z.object({ ok: z.boolean() });
const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const confirm = { method: "elicitation/create", params: { message: "Sure?", requestedSchema } } as const;
const roots = { method: "roots/list" } as const;

/** The last response of a call, in any revision. */
async function complete(peer: Peer, method: string, params: Obj, answer: Answer): Promise<Message> {
  return peer.revision === modern
    ? (await drive(peer, method, params, answer)).last
    : converse(peer, method, params, answer);
}

/** Asks for roots twice, counts in its state, and tells what it found in each run. */
function counting(seen: unknown[]): (ctx: Context) => unknown {
  return (ctx) => {
    seen.push(ctx.input);
    const n = (ctx.input?.state as number | undefined) ?? 0;
    if (n < 2) return inputRequired({ requests: { [`dirs-${n}`]: roots }, state: n + 1 });
    return JSON.stringify(ctx.input);
  };
}

describe.each(revisions)("in %s", (revision) => {
  const open = (server: Server, more: Obj = capabilities): Promise<Peer> =>
    openPeer(server, revision, { capabilities: more });

  test.each<[method: string, params: Obj, member: string]>([
    ["tools/call", { name: "t" }, "content"],
    ["prompts/get", { name: "p" }, "messages"],
    ["resources/read", { uri: "a:x" }, "contents"],
  ])("%s is run again with the answers and its state", async (method, params, member) => {
    covers(["mrtr-supported-methods", "mrtr-repeat", "mrtr-result-type"], revision);
    const seen: unknown[] = [];
    const server = createServer({ name: "explicit", version: "1.0.0" });
    const run = counting(seen);
    server.tool("t", {}, (_, ctx) => run(ctx));
    server.prompt("p", {}, (_, ctx) => run(ctx) as string);
    server.resource("a:x", {}, (_, ctx) => run(ctx));
    const { result } = await complete(await open(server), method, params, accept);
    const answer = { roots: [{ uri: "file:///a" }] };
    expect(seen).toEqual([
      undefined,
      { responses: { "dirs-0": answer }, state: 1 },
      { responses: { "dirs-1": answer }, state: 2 },
    ]);
    expect(JSON.stringify(result?.[member])).toContain("dirs-1");
    if (revision === modern && method === "resources/read")
      expect(result).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  });

  test("a state alone runs the handler again", async () => {
    covers("mrtr-at-least-one", revision);
    const states: unknown[] = [];
    const { server } = createStage((ctx) => {
      states.push(ctx.input?.state);
      return states.length < 3 ? inputRequired({ state: { n: states.length } }) : "done";
    });
    const peer = await open(server, {});
    expect(textOf(await complete(peer, "tools/call", { name: "run" }, accept))).toBe("done");
    expect(states).toEqual([undefined, { n: 1 }, { n: 2 }]);
  });

  test.each<Json>([null, false, 0, "", "text", [1, { a: null }], { deep: { er: ["é", 1.5] } }])(
    "the state %j comes back as it was",
    async (state) => {
      const { server } = createStage((ctx) => (ctx.input ? JSON.stringify(ctx.input.state) : inputRequired({ state })));
      const peer = await open(server);
      expect(textOf(await complete(peer, "tools/call", { name: "run" }, accept))).toBe(JSON.stringify(state));
    },
  );

  test("what the client did not declare is not asked for, and nothing else either", async () => {
    covers("sampling-needs-capability", revision);
    const { server } = createStage((ctx) =>
      ctx.input
        ? "done"
        : inputRequired({
            requests: { a: roots, b: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } },
          }),
    );
    const peer = await open(server, { roots: {} });
    const { result, error } = await peer.request("tools/call", { name: "run" });
    const message = "sampling/createMessage needs the client capability sampling";
    if (revision === modern) {
      expect(error).toEqual({ code: -32021, message, data: { requiredCapabilities: { sampling: {} } } });
    } else expect(result).toEqual({ content: [{ type: "text", text: message }], isError: true });
    expect(peer.messages.filter(({ method, id }) => method !== undefined && id !== undefined)).toEqual([]);
  });

  test("a resource that asks this way can be read by a tool", async () => {
    const seen: unknown[] = [];
    const { server } = createStage(async (ctx) => {
      const { contents } = await ctx.readResource("a:x");
      const [last] = await ctx.roots();
      return `${(contents[0] as { text: string }).text} ${last?.uri}`;
    });
    const run = counting(seen);
    server.resource("a:x", {}, (_, ctx) => run(ctx));
    const response = await complete(await open(server), "tools/call", { name: "run" }, accept);
    expect(textOf(response)).toBe('{"responses":{"dirs-1":{"roots":[{"uri":"file:///a"}]}},"state":2} file:///a');
  });

  test("what the handler reads itself finds no input that is not its own", async () => {
    const inputs: unknown[] = [];
    const { server } = createStage(async (ctx) => {
      if (!ctx.input) return inputRequired({ requests: { dirs: roots }, state: 1 });
      await ctx.readResource("a:x");
      return "done";
    });
    server.resource("a:x", {}, (_, ctx) => {
      inputs.push(ctx.input);
      return "x";
    });
    expect(textOf(await complete(await open(server), "tools/call", { name: "run" }, accept))).toBe("done");
    expect(inputs).toEqual([undefined]);
  });

  test("a middleware that asks for nothing at all is told so", async () => {
    covers("mrtr-at-least-one", revision);
    const { server, errors } = createStage(() => "never");
    server.use((call, next) => (call.method === "tools/call" ? { resultType: "input_required" } : next(call)));
    expect((await (await open(server)).fail("tools/call", { name: "run" })).code).toBe(-32603);
    expect(errors.map(({ message }) => message)).toEqual(["inputRequired: give requests, a state, or both"]);
  });

  test("the handler may also ask straight on: it finds the same input in every run", async () => {
    const inputs: unknown[] = [];
    const { server } = createStage(async (ctx) => {
      if (!ctx.input) return inputRequired({ requests: { first: roots }, state: "begun" });
      inputs.push(JSON.stringify(ctx.input));
      (ctx.input as { state: unknown }).state = "changed";
      const more = await ctx.roots();
      return `done ${more.length}`;
    });
    const peer = await open(server);
    expect(textOf(await complete(peer, "tools/call", { name: "run" }, accept))).toBe("done 1");
    const input = '{"responses":{"first":{"roots":[{"uri":"file:///a"}]}},"state":"begun"}';
    expect(inputs).toEqual(Array(revision === modern ? 2 : 1).fill(input));
  });

  test("steps are taken anew in a run that begins anew", async () => {
    let times = 0;
    const { server } = createStage(async (ctx) => {
      await ctx.step("reserve", () => times++);
      await ctx.roots();
      return ctx.input ? "done" : inputRequired({ requests: { a: roots } });
    });
    expect(textOf(await complete(await open(server), "tools/call", { name: "run" }, accept))).toBe("done");
    expect(times).toBe(2);
  });

  test.each<[what: string, result: () => unknown]>([
    ["neither questions nor a state", () => inputRequired({})],
    ["no questions in the list, and no state", () => inputRequired({ requests: {} })],
    ["a question of another kind", () => inputRequired({ requests: { a: { method: "tools/call" } as never } })],
    ["no question", () => inputRequired({ requests: { a: null as never } })],
    ["params that are none", () => inputRequired({ requests: { a: { method: "roots/list", params: 5 } as never } })],
    [
      "a form without a message",
      () => inputRequired({ requests: { a: { ...confirm, params: { requestedSchema } } as never } }),
    ],
    ["a state that is no JSON", () => inputRequired({ state: 1n as never })],
  ])("%s is an error of the server's", async (_, make) => {
    covers(["mrtr-at-least-one", "mrtr-request-kinds"], revision);
    const { server, errors } = createStage(make);
    const peer = await open(server, { elicitation: {}, roots: {} });
    const { result, error } = await peer.request("tools/call", { name: "run" });
    const told = error?.message ?? textOf({ result } as Message);
    if (revision < "2025-06-18" && told === `${revision} has no elicitation/create`) return;
    expect(told).toMatch(/^Internal error \([0-9a-f-]{36}\)$/);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(TypeError);
  });

  test("an object that only looks like it is a value like any other", async () => {
    const value = { resultType: "input_required", inputRequests: {} };
    const { server } = createStage(() => value);
    expect(textOf(await (await open(server)).request("tools/call", { name: "run" }))).toBe(JSON.stringify(value));
  });
});

test.each([{}, { requests: {} }, { requests: {}, state: undefined as never }])("%j asks for nothing", (parts) => {
  expect(() => inputRequired(parts)).toThrow(new TypeError("inputRequired: give requests, a state, or both"));
});

test("on the wire it is exact, and the keys are the handler's", async () => {
  covers(["mrtr-request-shape", "mrtr-result-type", "mrtr-request-kinds", "elicitation-url-params-2026"], modern);
  const page = {
    method: "elicitation/create",
    params: { mode: "url", message: "Go", url: "https://example.com" },
  } as const;
  const sample = { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } } as const;
  const { open } = createStage((ctx) =>
    ctx.input
      ? JSON.stringify(ctx.input.responses)
      : inputRequired({ requests: { confirm, "a page": page, sample, roots } }),
  );
  const peer = await open();
  const { result } = await leg(peer);
  expect(result).toEqual({
    resultType: "input_required",
    inputRequests: { confirm, "a page": page, sample, roots },
    requestState: expect.stringMatching(/^v1\./),
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "stage", version: "1.0.0" } },
  });
});

test("answers are checked for their shape; missing ones are missing, unknown ones ignored", async () => {
  covers(["mrtr-server-validates", "mrtr-server-ignores-extra"], modern);
  const { open } = createStage((ctx) =>
    ctx.input ? Object.keys(ctx.input.responses).join() : inputRequired({ requests: { confirm, roots } }),
  );
  const peer = await open();
  const { state } = await leg(peer);
  const go = (inputResponses: Obj): Promise<Message> =>
    peer.request("tools/call", { name: "run", requestState: state, inputResponses });
  const { error } = await go({ confirm: { roots: [] } });
  expect(error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('params.inputResponses["confirm"].action'),
  });
  expect(textOf(await go({ confirm: { action: "decline" }, other: { roots: [] } }))).toBe("confirm");
  expect(textOf(await go({}))).toBe("");
});

test("answers that come without a state are there by key, and are no state", async () => {
  covers(["mrtr-server-ignores-extra", "mrtr-server-validates"], modern);
  const inputs: unknown[] = [];
  const { open } = createStage((ctx) => {
    inputs.push(ctx.input);
    return ctx.input?.responses.confirm ? "done" : inputRequired({ requests: { confirm } });
  });
  const peer = await open();
  const go = (inputResponses: Obj): Promise<Message> => peer.request("tools/call", { name: "run", inputResponses });
  const answers = { confirm: { action: "accept", content: { ok: true } }, other: { roots: [] } };
  expect(textOf(await go(answers))).toBe("done");
  expect(inputs).toEqual([{ responses: answers, state: undefined }]);
  expect((await go({ other: { roots: [] } })).result).toMatchObject({ inputRequests: { confirm } });
  expect((await go({ confirm: 5 })).error).toMatchObject({ code: -32602 });
  expect(inputs).toHaveLength(2);
});

test("in sessions questions are put together, with what their revision wants", async () => {
  const { server } = createStage((ctx) =>
    ctx.input
      ? JSON.stringify(ctx.input.responses)
      : inputRequired({
          requests: {
            page: { method: "elicitation/create", params: { mode: "url", message: "Go", url: "https://example.com" } },
            dirs: roots,
          },
        }),
  );
  const peer = await openPeer(server, "2025-11-25", { capabilities });
  const response = peer.request("tools/call", { name: "run" });
  const [first, second] = [await peer.asked(), await peer.asked()];
  expect(first.params?.elicitationId).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toEqual({ jsonrpc: "2.0", id: expect.anything(), method: "roots/list" });
  peer.answer(second, { roots: [] });
  peer.answer(first, { action: "accept" });
  expect(textOf(await response)).toBe('{"page":{"action":"accept"},"dirs":{"roots":[]}}');
});

test("a handler that asks for ever is stopped in sessions", async () => {
  let runs = 0;
  const { server } = createStage(() => {
    runs++;
    return inputRequired({ state: runs });
  });
  const peer = await openPeer(server, "2025-11-25");
  const { error } = await peer.request("tools/call", { name: "run" });
  expect(error).toMatchObject({ code: -32603, message: "tools/call still asks for input after 16 rounds" });
  expect(runs).toBe(17);
});

test("what its state holds is bound like any other", async () => {
  const { open } = createStage((ctx, { n }) =>
    ctx.input ? `went on with ${n}` : inputRequired({ requests: { roots }, state: n as number }),
  );
  const peer = await open();
  const more = onward(await leg(peer, { arguments: { n: 1 } }));
  const { error } = await peer.request("tools/call", { name: "run", arguments: { n: 2 }, ...more });
  expect(error?.message).toContain("it belongs to a call with other arguments");
  expect(textOf(await peer.request("tools/call", { name: "run", arguments: { n: 1 }, ...more }))).toBe(
    "went on with 1",
  );
});

test("handlers are typed: with an output schema, questions may be returned too", async () => {
  const server = createServer({ name: "typed", version: "1.0.0" });
  server.tool("t", { output: z.object({ n: z.number() }) }, (_, ctx) => {
    const answer = ctx.input?.responses.confirm;
    if (!answer) return inputRequired({ requests: { confirm } });
    return { n: "action" in answer && answer.action === "accept" ? 1 : 0 };
  });
  // @ts-expect-error a question needs what its method takes
  const wrong = () => inputRequired({ requests: { a: { method: "elicitation/create", params: {} } } });
  const peer = await openPeer(server, modern, { capabilities });
  const first = toLeg(await peer.request("tools/call", { name: "t" }));
  const { result } = await peer.request("tools/call", { name: "t", ...onward(first as never) });
  expect(result?.structuredContent).toEqual({ n: 1 });
  expect(wrong).toBeTypeOf("function");
});

test("the form is checked by nobody but the handler", async () => {
  const { open } = createStage((ctx) =>
    ctx.input
      ? JSON.stringify(form.safeParse((ctx.input.responses.confirm as { content: unknown }).content).success)
      : inputRequired({ requests: { confirm } }),
  );
  const peer = await open();
  const { state } = await leg(peer);
  const inputResponses = { confirm: { action: "accept", content: { ok: "perhaps" } } };
  expect(textOf(await peer.request("tools/call", { name: "run", requestState: state, inputResponses }))).toBe("false");
});
