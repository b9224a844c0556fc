// Bodies that come whole and are no good: no UTF-8, no JSON, deep, or JSON with a trap in it; and what comes back of them.
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { good, modern, type Obj, request } from "../fuzz/target.ts";
import { callOf, goodCall, hostOf, json, mirrorOf, post, sessionPost } from "./attack-requests.ts";
import { expectAlive, expectHarmless, expectRefused, openSession, openStage, type Stage } from "./attack-stage.ts";
import { compose, type HeaderList, sendRaw } from "./attack-wire.ts";

watchStrays();

const message = callOf();
const body = JSON.stringify(message);
const size = Buffer.byteLength(body);
const mirror = mirrorOf(message);

function headOf(stage: Stage, ...extra: HeaderList): string {
  return compose("POST", "/mcp", [hostOf(stage), ...json, ...mirror, ...extra]);
}

describe("text", () => {
  const bytes = (stage: Stage, text: Buffer): Buffer =>
    Buffer.concat([Buffer.from(headOf(stage, ["Content-Length", `${text.length}`])), text]);

  test("what is no UTF-8 is refused, wherever it stands", async () => {
    const stage = await openStage();
    for (const wrong of ["ff", "c0af", "e28228", "eda080", "f4908080", "c3", "80", "f0288cbc"]) {
      const [before = "", after = ""] = body.split("hi");
      const text = Buffer.concat([Buffer.from(before), Buffer.from(wrong, "hex"), Buffer.from(after)]);
      const answer = await expectRefused(stage, bytes(stage, text), 400);
      expect(JSON.parse(answer.body).error.code).toBe(-32700);
    }
    for (const encoding of ["utf16le", "latin1"] as const)
      await expectRefused(stage, bytes(stage, Buffer.from(body.replace("hi", "h\u00ef"), encoding)), 400);
    await expectAlive(stage);
  });

  test("one byte order mark in front is passed over, anywhere else it is text or a mistake", async () => {
    const stage = await openStage();
    const answer = await sendRaw(stage.port, bytes(stage, Buffer.from(`\ufeff${body}`)));
    expect(answer?.status).toBe(200);
    await expectRefused(stage, bytes(stage, Buffer.from(`\ufeff\ufeff${body}`)), 400);
    await expectRefused(stage, bytes(stage, Buffer.from(`${body}\ufeff`)), 400);
    await expectRefused(stage, bytes(stage, Buffer.from(`{\ufeff${body.slice(1)}`)), 400);
  });

  test.each([
    ["nothing", ""],
    ["white space", " \r\n\t "],
    ["NUL", `${body}\0`],
    ["NUL in front", `\0${body}`],
    ["NUL in a string", body.replace("hi", "h\0i")],
    ["two values", `${body}${body}`],
    ["a line more", `${body}\n${body}`],
    ["half of it", body.slice(0, size >> 1)],
    ["single quotes", body.replaceAll('"', "'")],
    ["a comment", `/**/${body}`],
    ["a trailing comma", body.replace(/}$/, ",}")],
    ["NaN", body.replace('"id":1', '"id":NaN')],
    ["a prefix against hijacking", `)]}',\n${body}`],
    ["no JSON at all", "<html><script>alert(1)</script>"],
    ["a form", "jsonrpc=2.0&id=1&method=tools%2Fcall"],
    ["null", "null"],
    ["a number", "1"],
    ["a string", JSON.stringify(body)],
    ["an empty batch", "[]"],
    ["a batch", `[${body}]`],
    ["a batch in a batch", `[[${body}]]`],
    ["a huge batch", `[${Array.from({ length: 1001 }, () => body).join(",")}]`],
    ["a huge batch of nothing", `[${"0,".repeat(100_000)}0]`],
    ["depth", body.replace('"hi"', "[".repeat(129) + "]".repeat(129))],
    ["great depth", "[".repeat(1_000_000)],
    ["great depth of objects", '{"a":'.repeat(500_000)],
    ["an id that is null", body.replace('"id":1', '"id":null')],
    ["an id that is an object", body.replace('"id":1', '"id":{"toString":1}')],
    ["an id that is no integer", body.replace('"id":1', '"id":1.5')],
    ["an id beyond what numbers hold", body.replace('"id":1', '"id":9007199254740993')],
    ["another version of JSON-RPC", body.replace('"2.0"', '"1.0"')],
    ["no version of JSON-RPC", body.replace('"jsonrpc":"2.0",', "")],
    ["params that are an array", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}'],
  ])("%s is refused", async (_, text) => {
    const stage = await openStage();
    await expectRefused(stage, post(stage, text, [...json, ...mirror]), 400);
    const id = await openSession(stage, "2025-11-25");
    await expectRefused(stage, sessionPost(stage, id, "2025-11-25", text), 400);
    await expectAlive(stage);
  });

  test("a batch beyond the limit, or deep, or with one id twice, runs nothing where there are batches", async () => {
    const stage = await openStage();
    const id = await openSession(stage, "2025-03-26");
    const call = request("2025-03-26", "tools/call", good["tools/call"]);
    const many = Array.from({ length: 1001 }, (_, i) => ({ ...call, id: i }));
    await expectRefused(stage, sessionPost(stage, id, "2025-03-26", many), 400);
    await expectRefused(stage, sessionPost(stage, id, "2025-03-26", []), 400);
    await expectRefused(stage, sessionPost(stage, id, "2025-03-26", [[call]]), 400);
    const answer = await sendRaw(stage.port, sessionPost(stage, id, "2025-03-26", many.slice(0, 1000)));
    expect(answer?.status).toBe(200);
    expect(new Set((JSON.parse(answer?.body ?? "") as Obj[]).map((one) => one.id)).size).toBe(1000);
    expect(stage.target.ran).toBe(1000);
    const twice = await sendRaw(stage.port, sessionPost(stage, id, "2025-03-26", [call, call]));
    expect([200, 400]).toContain(twice?.status);
    expect(stage.target.ran).toBeLessThanOrEqual(1001);
    await expectAlive(stage);
  });

  test("member names are what they are, in case and in spelling (CVE-2026-27896)", async () => {
    const stage = await openStage();
    for (const [from, to, status] of [
      ['"method"', '"Method"', 400],
      ['"method"', '"METHOD"', 400],
      ['"jsonrpc"', '"JSONRPC"', 400],
      ['"params"', '"Params"', 400],
      ['"name":"echo"', '"Name":"echo"', 200],
      ['"_meta"', '"_META"', 400],
      ['"io.modelcontextprotocol/protocolVersion"', '"IO.modelcontextprotocol/protocolVersion"', 400],
      ['"method"', '"meth\\u006fd "', 400],
    ] as const)
      await expectRefused(stage, post(stage, body.replace(from, to), [...json, ...mirror]), status);
    // Another spelling beside the right one is another member.
    const beside = body.replace('"name":"echo"', '"name":"echo","Name":"add","NAME":"bag"');
    const answer = await sendRaw(stage.port, post(stage, beside, [...json, ...mirror]));
    expect(JSON.parse(answer?.body ?? "").result.content[0].text).toBe("hi");
    // Of two of one name the last one counts for the check of the headers too.
    const twice = body.replace('"name":"echo"', '"name":"add","name":"echo"');
    expect((await sendRaw(stage.port, post(stage, twice, [...json, ...mirror])))?.status).toBe(200);
    const other = body.replace('"name":"echo"', '"name":"echo","name":"add"');
    await expectRefused(stage, post(stage, other, [...json, ...mirror]), 400);
  });

  test("__proto__ is a name like any other", async () => {
    const stage = await openStage();
    const traps = [
      '"__proto__":{"polluted":1}',
      '"constructor":{"prototype":{"polluted":1}}',
      '"toString":1,"hasOwnProperty":1',
    ];
    for (const trap of traps) {
      for (const place of ['{"jsonrpc"', '{"name"', '{"message"', '{"io.modelcontextprotocol/protocolVersion"']) {
        const text = body.replace(place, `{${trap},${place.slice(1)}`);
        const answer = await sendRaw(stage.port, post(stage, text, [...json, ...mirror]));
        expect([200, 400], answer?.body).toContain(answer?.status);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const call = callOf({}, name);
      await expectRefused(stage, post(stage, call, [...json, ...mirrorOf(call)]), 200);
      const unknown = request(modern, name);
      await expectRefused(stage, post(stage, unknown, [...json, ...mirrorOf(unknown)]), 404);
    }
    await expectAlive(stage);
  });
});

describe("echo", () => {
  const page = "<script>alert(1)</script>";

  test("no answer can be taken for a page, whatever was sent and wherever it stood", async () => {
    const stage = await openStage({ sse: true, cors: true });
    const session = await openSession(stage, "2025-11-25");
    const headers: HeaderList = [...json, ...mirror];
    const asked = (method: string, params: Obj) => request(modern, method, params, page);
    const texts = [
      post(stage, page, headers),
      post(stage, body, headers, `/${page}`),
      compose("GET", `/mcp?${page}`, [hostOf(stage)]),
      post(stage, asked(page, {}), [...json, ["MCP-Protocol-Version", modern], ["Mcp-Method", page]]),
      post(stage, asked("tools/call", { name: page }), [
        ...json,
        ["MCP-Protocol-Version", modern],
        ["Mcp-Method", "tools/call"],
        ["Mcp-Name", page],
      ]),
      post(stage, asked("resources/read", { uri: `x:${page}` }), [
        ...json,
        ["MCP-Protocol-Version", modern],
        ["Mcp-Method", "resources/read"],
        ["Mcp-Name", `x:${page}`],
      ]),
      post(stage, callOf({ message: 1, [page]: page }), headers),
      post(stage, { ...message, id: page, method: "tools/list" }, headers),
      goodCall(stage, [["Origin", page]]),
      goodCall(stage, [["Origin", `http://${page}`]]),
      compose("POST", "/mcp", [["Host", page], ...headers, ["Content-Length", `${size}`]], body),
      post(stage, body, [...json, ["MCP-Protocol-Version", page]]),
      post(stage, body, [
        ["Content-Type", page],
        ["Accept", page],
      ]),
      post(stage, { jsonrpc: "2.0", id: page, method: "ping" }, [...json, ["Mcp-Session-Id", page]]),
      compose("GET", "/mcp", [
        hostOf(stage),
        ["Accept", "text/event-stream"],
        ["Mcp-Session-Id", session],
        ["Last-Event-ID", page],
      ]),
      compose("GET", `/sse/${page}`, [hostOf(stage)]),
      post(stage, body, headers, `/messages?sessionId=${page}`),
      sessionPost(stage, session, "2025-11-25", { jsonrpc: "2.0", id: page, method: page, params: { [page]: page } }),
      compose(page, "/mcp", [hostOf(stage)]),
      compose("GET", "/mcp", [hostOf(stage)], "", page),
    ];
    for (const text of texts) {
      const answer = await sendRaw(stage.port, text);
      expect(answer?.status, text).toBeGreaterThanOrEqual(200);
      if (answer) expectHarmless(answer);
      expect(JSON.stringify(answer?.headers), text).not.toContain("script");
      const said = answer?.body.startsWith("{") ? JSON.parse(answer.body) : undefined;
      // The id is the client's own, and the name of what is not there is told; nothing else comes back.
      if (said?.error && said.id === undefined) expect(said.error.message).not.toContain("script");
    }
    expect(stage.target.ran).toBe(0);
    await expectAlive(stage);
  });
});
