// What of a message of 2026-07-28 our client writes into headers too, and what it does when the server's tools change.
import { connect } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import {
  errorOf,
  failure,
  json,
  modern,
  type Obj,
  reach,
  result,
  type Seen,
  serveScript,
  sessioned,
} from "./client-stage.ts";

const metaOf = ({ body }: Seen): Obj => (body as { params: { _meta: Obj } }).params._meta;
const versionKey = "io.modelcontextprotocol/protocolVersion";

/** The headers of mirrored arguments. */
const paramsOf = ({ headers }: Seen): Obj =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));

const toolOf = (name: string, properties: Obj): Obj => ({ name, inputSchema: { type: "object", properties } });

const quote = toolOf("quote", {
  region: { type: "string", "x-mcp-header": "Region" },
  order: {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Order-Region" },
      qty: { type: "integer", "x-mcp-header": "Qty" },
      express: { type: "boolean", "x-mcp-header": "Express" },
    },
  },
  note: { type: "string" },
});

test("every POST says its version, its method and what it is about", async () => {
  covers(
    [
      "header-version-every-post",
      "header-version-equals-body",
      "header-mcp-method",
      "header-mcp-name",
      "http-post-per-message",
      "http-post-accept",
      "http-post-body-single-2026",
      "http-client-both-types",
    ],
    "2026-07-28",
  );
  const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const stage = await serveScript(
    modern((seen, res) => {
      if (seen.method === "resources/read") json(res, 200, result(seen.id, { ...complete, contents: [] }));
      else if (seen.method === "prompts/get") json(res, 200, result(seen.id, { ...complete, messages: [] }));
      else if (seen.method === "com.example/told") json(res, 202);
      else return false;
      return true;
    }),
  );
  const { client } = await reach(stage.url);
  await client.callTool("t", { a: 1 });
  await client.readResource("memo://one?x=1");
  await client.getPrompt("p");
  await client.listTools({ fresh: true }).all();
  client.notify("com.example/told", {});
  await stage.heard("com.example/told");
  for (const seen of stage.seen) {
    expect(seen.verb).toBe("POST");
    expect(seen.headers["mcp-protocol-version"]).toBe("2026-07-28");
    expect(seen.headers["mcp-method"]).toBe(seen.method);
    expect(seen.headers["mcp-session-id"]).toBeUndefined();
    expect(seen.headers.accept).toContain("application/json");
    expect(seen.headers.accept).toContain("text/event-stream");
    expect(seen.body).toMatchObject({ jsonrpc: "2.0", method: expect.any(String) });
    if (seen.id !== undefined) expect(metaOf(seen)[versionKey]).toBe("2026-07-28");
  }
  const names = Object.fromEntries(stage.seen.map((seen) => [seen.method, seen.headers["mcp-name"]]));
  expect(names).toEqual({
    "server/discover": undefined,
    "tools/list": undefined,
    "tools/call": "t",
    "resources/read": "memo://one?x=1",
    "prompts/get": "p",
    "com.example/told": undefined,
  });
});

test("a request that goes on after a question says the same", async () => {
  covers(["header-mcp-name", "header-xmcp-client-support"], "2026-07-28");
  const stage = await serveScript(
    modern(
      (seen, res) => {
        if (seen.method !== "tools/call" || stage.of("tools/call").length > 1) return false;
        const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
        const inputRequests = { q: { method: "elicitation/create", params } };
        json(res, 200, result(seen.id, { resultType: "input_required", inputRequests }));
        return true;
      },
      () => [quote],
    ),
  );
  const { client } = await reach(stage.url, { onElicit: () => ({ action: "accept", content: {} }) });
  await client.callTool("quote", { region: "eu" });
  const calls = stage.of("tools/call");
  expect(calls).toHaveLength(2);
  for (const call of calls) {
    expect(call.headers["mcp-name"]).toBe("quote");
    expect(paramsOf(call)).toEqual({ "mcp-param-region": "eu" });
  }
});

test("after a version is refused, the next one stands in header and body alike", async () => {
  covers(["header-version-equals-body", "era-http-modern-error"], "2026-07-28");
  let isFirst = true;
  const stage = await serveScript(
    modern((seen, res) => {
      if (seen.method !== "tools/call" || !isFirst) return false;
      isFirst = false;
      json(res, 400, failure(seen.id, -32022, "no", { supported: ["2026-07-28"] }));
      return true;
    }),
  );
  const { client } = await reach(stage.url);
  await errorOf(client.callTool("t"));
  for (const seen of stage.seen) expect(seen.headers["mcp-protocol-version"]).toBe(metaOf(seen)[versionKey]);
});

test.each([
  ["größe", "=?base64?Z3LDtsOfZQ==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["line\nbreak", "=?base64?bGluZQpicmVhaw==?="],
  ["=?BASE64?Zm9v?=", "=?BASE64?Zm9v?="],
  ["plain name", "plain name"],
])("the name %j is sent as %s", async (name, header) => {
  covers(["header-mcp-name-encoded", "header-param-sentinel-exact"], "2026-07-28");
  const stage = await serveScript(modern(() => false));
  const { client } = await reach(stage.url);
  await client.callTool(name);
  expect(stage.of("tools/call")[0]?.headers["mcp-name"]).toBe(header);
});

test("half of a surrogate pair cannot be sent, and is not", async () => {
  const stage = await serveScript(modern(() => false));
  const { client } = await reach(stage.url);
  expect((await errorOf(client.callTool("\ud800"))).code).toBe("invalid_params");
  expect(stage.of("tools/call")).toEqual([]);
});

describe("arguments that a tool marks", () => {
  test.each<[string, Obj, Obj]>([
    [
      "text, integers and booleans",
      { region: "eu-north", order: { qty: 12, express: true } },
      { region: "eu-north", qty: "12", express: "true" },
    ],
    [
      "what is false, nought or empty",
      { region: "", order: { qty: 0, express: false } },
      { region: "", qty: "0", express: "false" },
    ],
    ["nothing for null or what is not there", { region: null, order: { qty: null } }, {}],
    ["nothing without arguments", {}, {}],
    ["the value at the exact path", { order: { region: "inner" } }, { "order-region": "inner" }],
    ["text that no header has as it is", { region: "München " }, { region: "=?base64?TcO8bmNoZW4g?=" }],
    ["text that looks encoded", { region: "=?base64?literal?=" }, { region: "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" }],
    ["control characters", { region: "a\u0000b" }, { region: "=?base64?YQBi?=" }],
    ["a line break, which no header may be split by", { region: "a\r\nx: y" }, { region: "=?base64?YQ0KeDogeQ==?=" }],
    ["the largest integer", { order: { qty: Number.MAX_SAFE_INTEGER } }, { qty: "9007199254740991" }],
    ["what is not marked never", { note: "secret" }, {}],
  ])("are mirrored: %s", async (_, args, headers) => {
    covers(
      [
        "header-xmcp-client-support",
        "header-param-string-form",
        "header-param-base64",
        "header-param-sentinel-literal",
        "header-param-path",
        "header-param-omit-null",
      ],
      "2026-07-28",
    );
    const stage = await serveScript(
      modern(
        () => false,
        () => [quote],
      ),
    );
    const { client } = await reach(stage.url);
    await client.callTool("quote", args);
    // Its definition is looked up first: nobody has listed it.
    expect(stage.order).toEqual(["server/discover", "tools/list", "tools/call"]);
    const [call] = stage.of("tools/call") as [Seen];
    expect(paramsOf(call)).toEqual(
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [`mcp-param-${name}`, value])),
    );
    expect((call.body as { params: Obj }).params.arguments).toEqual(args);
    await client.callTool("quote", args);
    expect(stage.of("tools/list")).toHaveLength(1);
  });

  test("through `request` as well", async () => {
    covers("header-xmcp-client-support", "2026-07-28");
    const stage = await serveScript(
      modern(
        () => false,
        () => [quote],
      ),
    );
    const { client } = await reach(stage.url);
    await client.request("tools/call", { name: "quote", arguments: { region: "eu" } });
    expect(paramsOf(stage.of("tools/call")[0] as Seen)).toEqual({ "mcp-param-region": "eu" });
  });

  test.each([2 ** 53, 1.5, -(2 ** 53)])("that are no integer a header can carry (%d) are refused here", async (qty) => {
    covers("header-xmcp-safe-integer", "2026-07-28");
    const stage = await serveScript(
      modern(
        () => false,
        () => [quote],
      ),
    );
    const { client } = await reach(stage.url);
    const error = await errorOf(client.callTool("quote", { order: { qty } }));
    expect(error.code).toBe("invalid_arguments");
    expect(error.message).toContain('"order.qty"');
    expect(stage.of("tools/call")).toEqual([]);
  });

  test("are left alone in a session", async () => {
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.method !== "tools/list") return false;
        json(res, 200, result(seen.id, { tools: [quote, bad] }));
        return true;
      }),
    );
    const { client, warnings } = await reach(stage.url);
    expect(await client.listTools().all()).toHaveLength(2);
    await client.callTool("quote", { region: "eu" });
    await client.callTool("bad");
    expect(stage.of("tools/call").map(paramsOf)).toEqual([{}, {}]);
    expect(warnings).toEqual([]);
  });
});

const bad = toolOf("bad", { amount: { type: "number", "x-mcp-header": "Amount" } });

test("a tool whose marks are wrong is left out, with the reason, and cannot be called", async () => {
  covers(["header-xmcp-exclude-tool", "header-xmcp-warn"], "2026-07-28");
  const stage = await serveScript(
    modern(
      () => false,
      () => [bad, quote],
    ),
  );
  const { client, warnings } = await reach(stage.url);
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["quote"]);
  expect(warnings).toEqual([expect.stringMatching(/"bad".*"Amount" at "amount"/)]);
  const error = await errorOf(client.callTool("bad", { amount: 1 }));
  expect(error.code).toBe("invalid_params");
  expect(error.message).toMatch(/"bad" cannot be called over HTTP.*"Amount"/);
  expect(stage.of("tools/call")).toEqual([]);
  expect((await client.callTool("quote")).text).toBe("done");
});

describe("headers that the server does not agree with", () => {
  test("are made anew from the tools as they are now, once", async () => {
    covers("header-param-refresh", "2026-07-28");
    let mark = "Old";
    const stage = await serveScript(
      modern(
        (seen, res) => {
          if (seen.method !== "tools/call" || paramsOf(seen)["mcp-param-new"] === "x" || mark === "Old") return false;
          json(res, 400, failure(seen.id, -32020, "Header mismatch: Mcp-Param-New is missing"));
          return true;
        },
        () => [toolOf("t", { a: { type: "string", "x-mcp-header": mark } })],
      ),
    );
    const { client } = await reach(stage.url);
    await client.callTool("t", { a: "x" });
    mark = "New";
    expect((await client.callTool("t", { a: "x" })).text).toBe("done");
    const calls = stage.of("tools/call");
    expect(calls.map(paramsOf)).toEqual([{ "mcp-param-old": "x" }, { "mcp-param-old": "x" }, { "mcp-param-new": "x" }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(stage.of("tools/list")).toHaveLength(2);
  });

  test("are not made anew for ever", async () => {
    covers("header-param-refresh", "2026-07-28");
    const stage = await serveScript(
      modern(
        (seen, res) => {
          if (seen.method !== "tools/call") return false;
          json(res, 400, failure(seen.id, -32020));
          return true;
        },
        () => [quote],
      ),
    );
    const { client } = await reach(stage.url);
    expect((await errorOf(client.callTool("quote", { region: "x" }))).rpcCode).toBe(-32020);
    expect(stage.of("tools/call")).toHaveLength(2);
  });
});

describe("headers of one's own", () => {
  test("go with every request, and cannot take the place of the protocol's", async () => {
    const stage = await serveScript(sessioned(() => false));
    const headers = { authorization: "Bearer abc", "Mcp-Session-Id": "mine", accept: "text/html" };
    const { client } = await reach({ url: stage.url, headers });
    await client.callTool("t");
    await stage.heard("GET");
    await client.close();
    for (const seen of stage.seen) {
      expect(seen.headers.authorization).toBe("Bearer abc");
      if (seen.verb !== "DELETE") expect(seen.headers.accept).not.toContain("html");
    }
    expect(stage.of("tools/call")[0]?.headers["mcp-session-id"]).toBe("session-1");
  });

  test("may be others each time", async () => {
    let count = 0;
    const stage = await serveScript(modern(() => false));
    const { client } = await reach({ url: stage.url, headers: async () => ({ authorization: `Bearer ${++count}` }) });
    await client.listTools().all();
    expect(stage.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  });

  test("a fetch of one's own is used for everything, and its failures are told", async () => {
    const stage = await serveScript(modern(() => false));
    const asked: string[] = [];
    const client = await connect({
      url: stage.url,
      fetch: (url, init) => {
        asked.push(`${init.method} ${init.redirect} ${url}`);
        if (asked.length > 2) throw new Error("not signed in");
        return fetch(url, init);
      },
    });
    await client.listTools().all();
    expect(asked).toEqual([`POST manual ${stage.url}`, `POST manual ${stage.url}`]);
    expect((await errorOf(client.callTool("t"))).message).toContain("not signed in");
    await client.close();
  });
});
