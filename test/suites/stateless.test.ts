// Statelessness of 2026-07-28: a request is served by what it says itself, whatever came before it and wherever.
import { createServer, jsonSchema } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { inOrder, modern, type Obj, openPeer } from "./peer.ts";
import { createQuietServer, textOf } from "./tool-peer.ts";

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const infoKey = "io.modelcontextprotocol/clientInfo";
const levelKey = "io.modelcontextprotocol/logLevel";

function createAsking() {
  const { server } = createQuietServer();
  server.tool("roots", {}, (_, ctx) => ctx.roots());
  server.tool("form", {}, (_, ctx) => ctx.elicit("?", jsonSchema({ type: "object", properties: {} })));
  server.tool("url", {}, (_, ctx) => ctx.elicitUrl("?", "https://example.com/"));
  server.tool("sample", {}, (_, ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
  server.tool("sampleTools", {}, (_, ctx) => ctx.sample({ messages: [], maxTokens: 1, tools: [] }));
  server.tool("who", {}, (_, ctx) => JSON.stringify([ctx.client.info ?? null, ctx.client.capabilities]));
  return server;
}

const missing = (requiredCapabilities: Obj) => ({ code: -32021, data: { requiredCapabilities } });

describe("capabilities", () => {
  test("that a request does not declare are not there, whatever an earlier one declared", async () => {
    covers(["stateless-no-prior-context", "meta-capability-missing-error", "meta-capability-not-relied"]);
    const peer = await openPeer(createAsking(), modern);
    const all = { roots: {}, elicitation: { form: {}, url: {} }, sampling: { tools: {} }, extensions: {} };
    const asks: [string, Obj][] = [
      ["roots", { roots: {} }],
      ["form", { elicitation: { form: {} } }],
      ["url", { elicitation: { url: {} } }],
      ["sample", { sampling: {} }],
      ["sampleTools", { sampling: { tools: {} } }],
    ];
    for (const [name, needed] of asks) {
      const declared = await peer.request("tools/call", { name, _meta: { [capabilitiesKey]: all } });
      expect(declared.error?.code, name).not.toBe(-32021);
      expect(await peer.fail("tools/call", { name }), name).toMatchObject(missing(needed));
    }
    expect(peer.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test("are taken at their word: a form is no page, sampling is no sampling with tools", async () => {
    covers(["meta-capability-not-relied", "meta-capability-missing-error"]);
    const peer = await openPeer(createAsking(), modern);
    const fail = (name: string, declared: Obj) =>
      peer.fail("tools/call", { name, _meta: { [capabilitiesKey]: declared } });
    expect(await fail("url", { elicitation: {} })).toMatchObject(missing({ elicitation: { url: {} } }));
    expect(await fail("url", { elicitation: { form: {} } })).toMatchObject(missing({ elicitation: { url: {} } }));
    expect(await fail("form", { elicitation: { url: {} } })).toMatchObject(missing({ elicitation: { form: {} } }));
    expect(await fail("sampleTools", { sampling: {} })).toMatchObject(missing({ sampling: { tools: {} } }));
    expect(await fail("roots", { sampling: {}, elicitation: {} })).toMatchObject(missing({ roots: {} }));
  });

  test("and names belong to the request that carries them", async () => {
    covers(["stateless-no-prior-context"]);
    const peer = await openPeer(createAsking(), modern);
    const who = async (meta: Obj): Promise<unknown> =>
      JSON.parse(textOf(await peer.call("tools/call", { name: "who", _meta: meta })));
    const info = { name: "a", version: "1" };
    expect(await who({ [infoKey]: info, [capabilitiesKey]: { roots: {} } })).toEqual([info, { roots: {} }]);
    expect(await who({ [infoKey]: undefined, [capabilitiesKey]: {} })).toEqual([null, {}]);
  });
});

test("requests of several conversations on one channel are served side by side, each by its own metadata", async () => {
  covers("stateless-multi-conversation");
  const { server } = createQuietServer();
  const waiting: (() => void)[] = [];
  server.tool("talk", {}, async (_, ctx) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    ctx.log.info(`i ${ctx.requestId}`);
    ctx.log.error(`e ${ctx.requestId}`);
    return `${ctx.client.info?.name} ${Object.keys(ctx.client.capabilities)}`;
  });
  const peer = await openPeer(server, modern);
  const meta = (name: string, capabilities: Obj, level?: string): Obj => ({
    [infoKey]: { name, version: "1" },
    [capabilitiesKey]: capabilities,
    ...(level && { [levelKey]: level }),
  });
  peer.start("tools/call", { name: "talk", _meta: meta("ann", { roots: {} }, "error") }, "a");
  peer.start("tools/call", { name: "talk", _meta: meta("bob", { sampling: {} }, "info") }, "b");
  peer.start("tools/call", { name: "talk", _meta: meta("cy", {}) }, "c");
  await peer.settle();
  for (const go of waiting.reverse()) go();
  await peer.settle();
  const answers = peer.messages.flatMap(({ id, result }) => (result ? [[id, textOf(result)]] : []));
  const expected = [
    ["c", "cy "],
    ["b", "bob sampling"],
    ["a", "ann roots"],
  ];
  expect(inOrder(answers)).toEqual(inOrder(expected));
  const logs = peer.notifications("notifications/message").map(({ params }) => params?.data);
  expect(inOrder(logs)).toEqual(inOrder(["i b", "e b", "e a"]));
});

describe("related requests", () => {
  const secret = "a secret that all nodes know";
  const createNode = (own = secret) => {
    const server = createServer({ name: "node", version: "1", secret: own, pageSize: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) server.tool(name, {}, () => "");
    server.handle("tools/call", (params) =>
      params.requestState === undefined
        ? { resultType: "input_required", requestState: `saw ${params.name}` }
        : { content: [{ type: "text", text: `${params.requestState}` }] },
    );
    return server;
  };

  test("may each go to another node: pages and rounds of input continue anywhere", async () => {
    covers("stateless-no-affinity");
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const peer = await openPeer(createNode(), modern);
      const page = await peer.call("tools/list", cursor === undefined ? {} : { cursor });
      names.push((page.tools as Obj[]).map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual([["a", "b"], ["c", "d"], ["e"]]);

    const first = await (await openPeer(createNode(), modern)).call("tools/call", { name: "x" });
    const { requestState } = first;
    const second = await (await openPeer(createNode(), modern)).call("tools/call", { name: "x", requestState });
    expect(textOf(second)).toBe("saw x");
  });

  test("are tied together by what their params name, never by the connection", async () => {
    covers("stateless-explicit-handle");
    const server = createNode();
    const [one, two] = [await openPeer(server, modern), await openPeer(server, modern)];
    const { nextCursor } = await one.call("tools/list");
    // The same cursor leads to the same page, whoever sends it; without it everybody begins anew.
    const pages = [
      await two.call("tools/list", { cursor: nextCursor }),
      await one.call("tools/list", { cursor: nextCursor }),
      await one.call("tools/list"),
    ];
    expect(pages.map(({ tools }) => (tools as Obj[]).map(({ name }) => name))).toEqual([
      ["c", "d"],
      ["c", "d"],
      ["a", "b"],
    ]);
    // And a handle that this server did not give out is worth nothing.
    const foreign = await openPeer(createNode("another secret, of other nodes"), modern);
    expect((await foreign.fail("tools/list", { cursor: nextCursor })).code).toBe(-32602);
  });
});
