// 2026-07-28: what stands in headers is compared with the body before anything runs. Version, method and name; those of
// parameters have a suite of their own.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Obj } from "./answer.ts";
import { callModern, modern, modernBody, modernHeaders } from "./callers.ts";
import { feeds, type Headers, type Http, openHttp } from "./harness.ts";
import { call, createStage, type Stage } from "./stage.ts";

const hold = call("hold", { key: "k" });
const version = "io.modelcontextprotocol/protocolVersion";

describe.each(feeds)("on the %s feed", (feed) => {
  async function open(): Promise<{ http: Http; stage: Stage }> {
    const stage = createStage();
    return { stage, http: await openHttp(stage.server, { revisions: [modern] }, feed) };
  }

  /** The error of a call that must not run. */
  async function refusal(headers: Headers, method = "tools/call", params: Obj = hold): Promise<Obj> {
    const { http, stage } = await open();
    const answer = await callModern(http, method, params, { id: "r", headers });
    expect(answer.status).toBe(400);
    expect(answer.type).toBe("application/json");
    const told = await answer.json();
    expect(told).toEqual({ jsonrpc: "2.0", id: "r", error: expect.anything() });
    expect(stage.begun).toEqual([]);
    const { code, message } = told.error as { code: number; message: string };
    expect(code).toBe(-32020);
    expect(message.length).toBeGreaterThan(10);
    return told.error as Obj;
  }

  test.each(["mcp-protocol-version", "mcp-method", "mcp-name"])("a request without %s is refused", async (name) => {
    covers(["header-missing-rejected", "header-mismatch-jsonrpc-body"]);
    if (name === "mcp-protocol-version") covers("header-version-absent-rejected");
    expect((await refusal({ [name]: undefined })).message).toMatch(new RegExp(name, "i"));
  });

  test("one without a version is told which ones there are", async () => {
    covers("era-modern-only-names-versions");
    expect((await refusal({ "mcp-protocol-version": undefined })).message).toContain(modern);
  });

  test.each([
    ["prompts/get", { name: "greet" }],
    ["resources/read", { uri: "note://1" }],
  ])("%s needs the name, and the right one", async (method, params) => {
    covers(["header-missing-rejected", "header-mismatch-rejected"]);
    await refusal({ "mcp-name": undefined }, method, params);
    await refusal({ "mcp-name": "note://2" }, method, params);
    const { http } = await open();
    expect((await callModern(http, method, params)).status).toBe(200);
  });

  test("a version that is not that of the body is refused, before anybody asks whether it is spoken", async () => {
    covers("header-version-mismatch");
    await refusal({ "mcp-protocol-version": "2025-11-25" });
    await refusal({ "mcp-protocol-version": "2099-01-01" });
    await refusal({}, "tools/call", { ...hold, _meta: { [version]: "2025-11-25" } });
  });

  test.each([
    ["Mcp-Method of another method", { "mcp-method": "tools/list" }],
    ["Mcp-Method that differs by case", { "mcp-method": "Tools/Call" }],
    ["Mcp-Method with something behind it", { "mcp-method": "tools/call/" }],
    ["Mcp-Method twice", { "mcp-method": ["tools/call", "tools/call"] }],
    ["Mcp-Name of another tool", { "mcp-name": "echo" }],
    ["Mcp-Name that differs by case", { "mcp-name": "Hold" }],
    ["Mcp-Name twice", { "mcp-name": ["hold", "hold"] }],
    ["a version that is there twice", { "mcp-protocol-version": [modern, modern] }],
  ])("%s is refused", async (_, headers) => {
    covers(["header-mismatch-rejected", "header-mismatch-jsonrpc-body", "header-values-case-sensitive"]);
    await refusal(headers);
  });

  test.each([
    "=?base64?%%%?=",
    "=?base64?aG9sZA?=",
    "=?base64?/////w==?=",
    "=?base64??=",
    "hold\u00e9",
    "=?BASE64?aG9sZA==?=",
  ])("Mcp-Name %s is refused", async (name) => {
    covers("header-invalid-characters");
    await refusal({ "mcp-name": name });
  });

  test("an encoded name is decoded before it is compared", async () => {
    covers("header-decode-before-compare");
    const { http } = await open();
    const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
    const plain = await callModern(http, "tools/call", call("echo", { text: "a" }), {
      headers: { "mcp-name": encoded("echo") },
    });
    expect(plain.status).toBe(200);
    const other = await callModern(
      http,
      "prompts/get",
      { name: "größe" },
      { headers: { "mcp-name": encoded("größe") } },
    );
    expect(other.status).toBe(200);
    expect(await other.result()).toHaveProperty("messages");
    const wrong = await callModern(
      http,
      "prompts/get",
      { name: "größe" },
      { headers: { "mcp-name": encoded("grösse") } },
    );
    expect(await wrong.code()).toBe(-32020);
  });

  test("names of headers have no case", async () => {
    covers("header-names-case-insensitive");
    const { http } = await open();
    const body = modernBody("tools/call", call("echo", { text: "a" }));
    for (const write of [(name: string) => name.toUpperCase(), (name: string) => name.toLowerCase()]) {
      const headers = Object.fromEntries(
        Object.entries(modernHeaders(body)).map(([name, value]) => [write(name), value]),
      );
      expect((await http.send({ headers, body })).status).toBe(200);
    }
  });

  test("a version that nobody speaks is answered with those that are spoken", async () => {
    covers("header-version-unsupported");
    const stage = createStage();
    for (const revisions of [undefined, [modern] as const]) {
      const http = await openHttp(stage.server, revisions && { revisions }, feed);
      const params = { ...hold, _meta: { [version]: "2099-01-01" } };
      const answer = await callModern(http, "tools/call", params, {
        headers: { "mcp-protocol-version": "2099-01-01" },
      });
      expect(answer.status).toBe(400);
      const { error } = await answer.response();
      expect(error?.code).toBe(-32022);
      expect(error?.data).toMatchObject({ supported: expect.arrayContaining([modern]), requested: "2099-01-01" });
    }
    expect(stage.begun).toEqual([]);
  });

  test("the version is looked at before the other headers, and those before the rest of the body", async () => {
    const { http } = await open();
    const codeOf = async (params: Obj, headers: Headers): Promise<number | undefined> =>
      (await callModern(http, "no/such", params, { headers })).code();
    const unspoken = { _meta: { [version]: "2099-01-01" } };
    const bare = { _meta: { "io.modelcontextprotocol/clientCapabilities": undefined } };
    expect(await codeOf(unspoken, { "mcp-method": "other" })).toBe(-32020);
    expect(await codeOf(unspoken, { "mcp-protocol-version": "2099-01-01", "mcp-method": "other" })).toBe(-32022);
    expect(await codeOf(bare, { "mcp-method": "other" })).toBe(-32020);
    expect(await codeOf(bare, {})).toBe(-32602);
    expect(await codeOf({}, {})).toBe(-32601);
  });

  test("a notification of a version that is not spoken is refused too", async () => {
    covers("http-post-reject-status", modern);
    const http = await openHttp(createStage().server, {}, feed);
    const body = { jsonrpc: "2.0", method: "notifications/unheard" };
    const answer = await http.post(body, { "mcp-protocol-version": "2099-01-01" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: -32022, data: { supported: expect.any(Array) } } });
    expect((await http.post(body, { "mcp-protocol-version": modern })).status).toBe(202);
  });
});
