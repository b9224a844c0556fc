// Which status each request gets, whatever feeds the core and whichever revision is spoken; and in which order the checks
// come. Nothing that is refused reaches a handler.
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { callModern, modern, modernBody, modernHeaders, openSession, sessioned } from "./callers.ts";
import { feeds, type Http, jsonHeaders, openHttp } from "./harness.ts";
import { call, createStage } from "./stage.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

describe.each(feeds)("on the %s feed", (feed) => {
  describe.each([...sessioned, modern])("in %s", (revision) => {
    /** Headers under which a body of the revision is served. */
    async function open(options = {}): Promise<{ http: Http; headers: Record<string, string>; body: object }> {
      const http = await openHttp(createStage().server, options, feed);
      if (revision === modern) {
        const body = modernBody("tools/call", call("echo", { text: "hi" }));
        return { http, body, headers: modernHeaders(body) as Record<string, string> };
      }
      const session = await openSession(http, revision);
      const headers = { ...jsonHeaders, ...session.headers } as Record<string, string>;
      return { http, headers, body: { ...ping, method: "tools/call", params: call("echo", { text: "hi" }) } };
    }

    test("a request is answered with JSON, one object", async () => {
      covers(
        ["http-single-endpoint", "http-single-endpoint-2026", "http-json-one-object", "http-post-response-type"],
        revision,
      );
      const { http, headers, body } = await open();
      const answer = await http.send({ headers, body });
      expect(answer.status).toBe(200);
      expect(answer.type).toBe("application/json");
      expect(answer.header("cache-control")).toBe("no-store");
      expect(answer.header("x-content-type-options")).toBe("nosniff");
      expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", id: 1, result: { content: [{ text: "hi" }] } });
    });

    test("or always with events, where the server is told so", async () => {
      covers(["http-post-response-type", "http-sse-includes-response", "http-sse-close-after"], revision);
      const { http, headers, body } = await open({ answers: "stream" });
      const answer = await http.send({ headers, body });
      expect(answer.status).toBe(200);
      expect(answer.type).toBe("text/event-stream");
      const events = await answer.events();
      const [last, ...rest] = events.reverse();
      expect(last?.event).toBe("message");
      expect(JSON.parse(last?.data ?? "")).toMatchObject({ id: 1, result: { content: [{ text: "hi" }] } });
      expect(rest.filter(({ data }) => data)).toEqual([]);
      expect(answer.isWhole).toBe(true);
    });

    test("a notification is accepted with 202 and nothing else", async () => {
      covers("http-post-202", revision);
      const { http, headers } = await open();
      const answer = await http.send({
        headers,
        body: { jsonrpc: "2.0", method: "notifications/unheard", params: {} },
      });
      expect(answer.status).toBe(202);
      expect(await answer.text()).toBe("");
      expect(answer.header("content-type")).toBeUndefined();
    });

    test.each([
      ["no JSON", "{", -32700],
      ["nothing", "", -32700],
      ["a number", "1", -32600],
      ["an empty array", "[]", -32600],
      ["no version", '{"id":1,"method":"ping"}', -32600],
      ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ["a notification without a version", '{"method":"notifications/x"}', -32600],
      ["a notification whose method is a number", '{"jsonrpc":"2.0","method":3}', -32600],
      ["a response that is both", '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', -32600],
      [
        "too deep",
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
        -32600,
      ],
    ])("400 for a body that is %s", async (_, body, code) => {
      covers(["http-post-reject-status", "http-post-reject-body"], revision);
      const { http, headers } = await open();
      const answer = await http.send({ headers, body });
      expect(answer.status).toBe(400);
      expect(answer.type).toBe("application/json");
      const told = await answer.json();
      expect(told).toMatchObject({ jsonrpc: "2.0", error: { code, message: expect.any(String) } });
      if (!body.includes('"id":1')) expect(told).not.toHaveProperty("id");
    });

    test("400 for what is no UTF-8", async () => {
      const { http, headers } = await open();
      const body = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from([0xff, 0x22, 0x7d])]);
      const answer = await http.send({ headers, body });
      expect(answer.status).toBe(400);
      expect(await answer.code()).toBe(-32700);
    });

    test("406 unless both types are accepted", async () => {
      const { http, headers, body } = await open();
      for (const accept of [
        "application/json",
        "text/event-stream",
        "text/html",
        "application/json, text/event-stream;q=0",
      ]) {
        expect((await http.send({ headers: { ...headers, accept }, body })).status, accept).toBe(406);
      }
      for (const accept of ["*/*", "application/*, text/*", "text/event-stream, application/json;q=0.5", undefined]) {
        expect((await http.send({ headers: { ...headers, accept }, body })).status, accept).toBe(200);
      }
    });

    test("415 for anything but JSON", async () => {
      const { http, headers, body } = await open();
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", undefined]) {
        expect((await http.send({ headers: { ...headers, "content-type": type }, body })).status, type).toBe(415);
      }
      const answer = await http.send({
        headers: { ...headers, "content-type": "application/json; charset=utf-8" },
        body,
      });
      expect(answer.status).toBe(200);
    });

    test("413 for too long a body, announced or not", async () => {
      const { http, headers } = await open({ maxBodyBytes: 1000 });
      const body = `"${"x".repeat(5000)}"`;
      expect((await http.send({ headers, body })).status).toBe(413);
      const answer = await http.send({ headers: { ...headers, "transfer-encoding": "chunked" }, body });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ error: { code: -32600 } });
    });

    test("404 on another path, 405 for other methods", async () => {
      const { http, headers, body } = await open();
      for (const path of ["/", "/mcp/", "/mcpx", "/MCP", "/sse", "/messages"])
        expect((await http.send({ path, headers, body })).status, path).toBe(404);
      for (const method of ["PUT", "PATCH", "OPTIONS", "HEAD"]) {
        const answer = await http.send({ method, headers });
        expect(answer.status, method).toBe(405);
        expect(answer.header("allow")).toBe("GET, POST, DELETE");
      }
    });
  });

  test("408 for a body that does not come", async () => {
    const { server } = createStage();
    const { port } = await openHttp(server, { bodyTimeoutMs: 100 }, feed);
    const socket = connect(port, "127.0.0.1");
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: 127.0.0.1:${port}`,
      "Content-Type: application/json",
      "Content-Length: 50",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n{"jsonrpc"`);
    let text = "";
    await new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        text += chunk;
        if (text.includes("}}")) resolve();
      });
      socket.on("close", () => resolve());
    });
    socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"code":-32600');
  });

  test("503 for more requests than may be open at once, and the next one is served again", async () => {
    const stage = createStage();
    const http = await openHttp(stage.server, { maxInFlight: 2 }, feed);
    const held = ["a", "b"].map((key) => callModern(http, "tools/call", call("hold", { key })));
    await stage.held("a");
    await stage.held("b");
    const refused = await callModern(http, "tools/call", call("echo", { text: "c" }));
    expect(refused.status).toBe(503);
    expect(refused.header("retry-after")).toBe("1");
    expect(await refused.code()).toBe(-32603);
    for (const key of ["a", "b"]) stage.release(key);
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
    expect((await callModern(http, "tools/call", call("echo", { text: "c" }))).status).toBe(200);
  });

  test("the checks come in order: origin, path, who it is, method, accept, type, size, JSON", async () => {
    const auth = (head: { header(name: string): string | undefined }) =>
      head.header("authorization") ? { scopes: [] } : { status: 401 };
    const http = await openHttp(createStage().server, { auth, maxBodyBytes: 100, allowedHosts: ["127.0.0.1"] }, feed);
    const wrong = {
      method: "PUT",
      path: "/elsewhere",
      headers: { origin: "https://evil.example", accept: "text/html", "content-type": "text/plain" },
      body: "x".repeat(200),
    };
    const statusOf = async (sending: object): Promise<number> => (await http.send({ ...wrong, ...sending })).status;
    const { origin: _, ...own } = wrong.headers;
    const known = { ...own, authorization: "x" };
    const welcome = { ...known, accept: "*/*" };
    const json = { ...welcome, "content-type": "application/json" };
    expect(await statusOf({})).toBe(403);
    expect(await statusOf({ headers: own })).toBe(404);
    expect(await statusOf({ headers: own, path: "/mcp" })).toBe(401);
    expect(await statusOf({ headers: known, path: "/mcp" })).toBe(405);
    expect(await statusOf({ headers: known, path: "/mcp", method: "POST" })).toBe(406);
    expect(await statusOf({ headers: welcome, path: "/mcp", method: "POST" })).toBe(415);
    expect(await statusOf({ headers: json, path: "/mcp", method: "POST" })).toBe(413);
    const answer = await http.send({ headers: json, path: "/mcp", method: "POST", body: "x" });
    expect(answer.status).toBe(400);
    expect(await answer.code()).toBe(-32700);
  });

  test("no text of the request comes back where it is refused", async () => {
    const http = await openHttp(createStage().server, {}, feed);
    const mark = "<script>alert(1)</script>";
    const sendings = [
      { path: `/${encodeURIComponent(mark)}`, headers: jsonHeaders, body: "{}" },
      { headers: { ...jsonHeaders, "mcp-protocol-version": mark }, body: ping },
      { headers: { ...jsonHeaders, "mcp-session-id": mark }, body: ping },
      { headers: { ...jsonHeaders, origin: mark }, body: ping },
      { headers: { ...jsonHeaders, "content-type": mark }, body: ping },
      { headers: jsonHeaders, body: mark },
      { method: "GET", headers: { accept: "text/event-stream", "last-event-id": mark } },
    ];
    for (const sending of sendings) {
      const answer = await http.send(sending);
      expect(answer.status, JSON.stringify(sending)).toBeGreaterThanOrEqual(400);
      expect(answer.type).toBe("application/json");
      expect(await answer.text()).not.toMatch(/script|alert/);
    }
  });
});
