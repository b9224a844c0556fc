// Requests that two readers could understand differently: headers twice, folded, in odd case or with look-alike names, two
// lengths, methods and versions of HTTP that MCP has no use for. What is not clear is refused, and runs nothing.
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { createTarget, modern, request } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import { callOf, goodCall, hostOf, json, mirrorOf, post, sessionHeaders } from "./attack-requests.ts";
import {
  expectAlive,
  expectHarmless,
  expectRefused,
  openMounted,
  openSession,
  openStage,
  type Stage,
} from "./attack-stage.ts";
import { compose, eventsIn, type HeaderList, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

const message = callOf();
const body = JSON.stringify(message);
const length: HeaderList[number] = ["Content-Length", `${Buffer.byteLength(body)}`];

function headersOf(stage: Stage): HeaderList {
  return [hostOf(stage), ...json, ...mirrorOf(message), length];
}

/** The good request with one header after or before the one of the same name. */
function doubled(stage: Stage, name: string, value: string, isFirst: boolean): string {
  const headers = headersOf(stage);
  return compose("POST", "/mcp", isFirst ? [[name, value], ...headers] : [...headers, [name, value]], body);
}

describe("one header twice", () => {
  test("is not one argument with a comma", async () => {
    const target = createTarget();
    let ran = 0;
    const properties = { region: { type: "string", "x-mcp-header": "Region" } } as const;
    target.server.tool("place", { input: { type: "object", properties } }, () => `${++ran}`);
    const stage = await openStage({}, target);
    const sent = callOf({ region: "eu, us" }, "place");
    const send = async (regions: HeaderList) => (await sendRaw(stage.port, goodCall(stage, regions, sent)))?.status;
    expect(await send([["Mcp-Param-Region", "eu, us"]])).toBe(200);
    const [eu, us] = [["Mcp-Param-Region", "eu"] as const, ["Mcp-Param-Region", "us"] as const];
    expect(await send([eu, us])).toBe(400);
    expect(await send([["Mcp-Param-Region", "eu, us"], us])).toBe(400);
    expect(ran).toBe(1);
  });

  test.each([
    ["Host", "evil.example", [400]],
    ["Host", "127.0.0.1", [400]],
    ["hOST", "evil.example", [400]],
    ["Content-Type", "text/plain", [415]],
    ["Content-Type", "application/json", [415]],
    ["content-type", "application/x-www-form-urlencoded", [415]],
    ["MCP-Protocol-Version", modern, [400]],
    ["MCP-Protocol-Version", "2025-11-25", [400]],
    ["mcp-protocol-version", "2025-03-26", [400]],
    ["Mcp-Method", "tools/call", [400]],
    ["Mcp-Method", "tools/list", [400]],
    ["MCP-METHOD", "ping", [400]],
    ["Mcp-Name", "echo", [400]],
    ["Mcp-Name", "add", [400]],
    ["mcp-name", "=?base64?ZWNobw==?=", [400]],
    ["Content-Length", "5", [400]],
    ["Transfer-Encoding", "chunked", [400]],
    ["transfer-encoding", "identity, chunked", [400]],
    ["Transfer-Encoding", "xchunked", [400]],
    ["Transfer-Encoding", "chunked, gzip", [400]],
  ] as [string, string, number[]][])("%s: %s beside the right one", async (name, value, statuses) => {
    const stage = await openStage();
    for (const isFirst of [true, false]) await expectRefused(stage, doubled(stage, name, value, isFirst), ...statuses);
    await expectAlive(stage);
  });

  test("two Origins are none, even if either alone were allowed", async () => {
    const stage = await openStage({ allowedOrigins: ["https://app.example"] });
    const own = `http://127.0.0.1:${stage.port}`;
    for (const pair of [
      [own, "https://evil.example"],
      ["https://evil.example", own],
      [own, own],
      [own, "https://app.example"],
    ] as const)
      await expectRefused(
        stage,
        goodCall(stage, [
          ["Origin", pair[0]],
          ["oRIGIN", pair[1]],
        ]),
        403,
      );
    await expectAlive(stage, [["Origin", own]]);
    await expectAlive(stage, [["Origin", "https://app.example"]]);
  });

  test("two session ids are none, in every order and for every method", async () => {
    const stage = await openStage();
    const [one, two] = [await openSession(stage, "2025-11-25"), await openSession(stage, "2025-11-25")];
    const call = request("2025-11-25", "tools/call", { name: "echo", arguments: { message: "hi" } });
    for (const [first, second] of [
      [one, two],
      [two, one],
      [one, one],
      [one, "x"],
    ] as const) {
      const twice: HeaderList = [
        ["Mcp-Session-Id", first],
        ["mcp-session-id", second],
        ["MCP-Protocol-Version", "2025-11-25"],
      ];
      await expectRefused(stage, post(stage, call, [...json, ...twice]), 404);
      await expectRefused(
        stage,
        compose("GET", "/mcp", [hostOf(stage), ["Accept", "text/event-stream"], ...twice]),
        404,
      );
      await expectRefused(stage, compose("DELETE", "/mcp", [hostOf(stage), ...twice]), 404);
    }
    for (const id of [one, two]) {
      const answer = await sendRaw(stage.port, post(stage, call, [...json, ...sessionHeaders(id, "2025-11-25")]));
      expect(answer?.status).toBe(200);
    }
  });

  test("two Authorization headers are not one of them", async () => {
    const seen: (string | undefined)[] = [];
    const stage = await openStage({
      auth(head) {
        const token = head.header("authorization");
        seen.push(token);
        return token === "Bearer good" ? { scopes: [] } : { status: 401 };
      },
    });
    for (const pair of [
      ["Bearer good", "Bearer bad"],
      ["Bearer bad", "Bearer good"],
    ] as const)
      await expectRefused(
        stage,
        goodCall(stage, [
          ["Authorization", pair[0]],
          ["authorization", pair[1]],
        ]),
        401,
      );
    expect(seen).toEqual(["Bearer good, Bearer bad", "Bearer bad, Bearer good"]);
    await expectAlive(stage, [["Authorization", "Bearer good"]]);
  });
});

describe("headers that are not what they seem", () => {
  test.each([
    ["folded, the end of a value on a line of its own", ["", "Mcp-Name: ec\r\n ho"], [400]],
    ["folded Content-Type", ["", "Content-Type: application/json;\r\n\tcharset=utf-8"], [400]],
    ["a space before the colon", ["", "Mcp-Name : echo"], [400]],
    ["a line without a colon", ["", "Mcp-Name"], [400]],
    ["an empty name", ["", ": echo"], [400]],
    ["a bare line feed", ["", "X: y\nMcp-Name: add"], [400]],
    ["a bare carriage return", ["", "X: y\rMcp-Name: add"], [400]],
    ["a NUL in a value", ["X", "a\0b"], [400]],
    ["a NUL in a name", ["X\0", "a"], [400]],
    ["a control character", ["X", "a\x01b"], [400]],
    ["a name in brackets", ["(X)", "a"], [400]],
  ] as [string, [string, string], number[]][])("%s", async (_, extra, statuses) => {
    const stage = await openStage();
    const kept = headersOf(stage).filter(([name]) => !extra[1].startsWith(name));
    await expectRefused(stage, compose("POST", "/mcp", [...kept, extra], body), ...statuses);
    await expectRefused(stage, compose("POST", "/mcp", [extra, ...kept], body), ...statuses);
    await expectAlive(stage);
  });

  test("a name with an underscore, a space or a suffix is another name", async () => {
    const stage = await openStage();
    const session = await openSession(stage, "2025-11-25");
    for (const [name, look] of [
      ["Content-Type", "Content_Type"],
      ["MCP-Protocol-Version", "MCP_Protocol_Version"],
      ["Mcp-Method", "Mcp_Method"],
      ["Mcp-Method", "HTTP_MCP_METHOD"],
      ["Mcp-Name", "Mcp_Name"],
      ["Mcp-Name", "X-Mcp-Name"],
      ["Host", "X-Forwarded-Host"],
    ] as const) {
      const headers = headersOf(stage).map(([one, value]) => [one === name ? look : one, value] as const);
      await expectRefused(stage, compose("POST", "/mcp", headers, body), name === "Content-Type" ? 415 : 400);
    }
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    await expectRefused(stage, post(stage, ping, [...json, ["Mcp_Session_Id", session]]), 400);
    // Beside the right one it changes nothing.
    await expectAlive(stage, [
      ["Mcp_Method", "tools/list"],
      ["Mcp_Name", "add"],
      ["X-Forwarded-Host", "evil.example"],
      ["X-HTTP-Method-Override", "DELETE"],
      ["X-Original-URL", "/admin"],
    ]);
  });

  test("names in any case are the same, values are not", async () => {
    covers(["header-names-case-insensitive", "header-values-case-sensitive"]);
    const stage = await openStage();
    for (const change of [(name: string) => name.toLowerCase(), (name: string) => name.toUpperCase()]) {
      const headers = headersOf(stage).map(([name, value]) => [change(name), value] as const);
      expect((await sendRaw(stage.port, compose("POST", "/mcp", headers, body)))?.status).toBe(200);
    }
    for (const name of ["Mcp-Method", "Mcp-Name"]) {
      const headers = headersOf(stage).map(
        ([one, value]) => [one, one === name ? value.toUpperCase() : value] as const,
      );
      const answer = await expectRefused(stage, compose("POST", "/mcp", headers, body), 400);
      expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32020 } });
    }
  });

  test("what the headers say and the body does is never two things", async () => {
    covers(["header-mismatch-rejected", "header-mismatch-jsonrpc-body", "header-version-mismatch"]);
    const stage = await openStage();
    const read = request(modern, "resources/read", { uri: "note:///one" }, 1);
    for (const [sent, mirror] of [
      [callOf(), callOf({}, "add")],
      [callOf(), request(modern, "tools/list")],
      [callOf(), request(modern, "prompts/get", { name: "echo" })],
      [read, request(modern, "resources/read", { uri: "note:///two" })],
      [read, request(modern, "resources/read", { uri: "NOTE:///one" })],
      [read, request(modern, "resources/read", { uri: "note:///%6fne" })],
    ] as const) {
      const answer = await expectRefused(stage, post(stage, sent, [...json, ...mirrorOf(mirror)]), 400);
      expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32020 } });
    }
    for (const name of [
      "=?base64?ZWNobw==",
      "=?base64?ZWNobw?=",
      "=?base64?ZWN\u00f6bw==?=",
      "=?BASE64?ZWNobw==?=",
      "=?base64?/w==?=",
      "",
      "echo\u00a0",
      "\u00ebcho",
    ]) {
      const headers = [
        ...json,
        ...mirrorOf(message).map(([one, value]) => [one, one === "Mcp-Name" ? name : value] as const),
      ];
      const answer = await expectRefused(stage, post(stage, message, headers), 400);
      expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32020 } });
    }
    for (const version of ["2025-11-25", "2026-07-29", "2026-07-28 ", "x"].filter((one) => one.trim() !== modern)) {
      const headers = [
        ...json,
        ...mirrorOf(message).map(([one, value]) => [one, one === "MCP-Protocol-Version" ? version : value] as const),
      ];
      const answer = await expectRefused(stage, post(stage, message, headers), 400);
      expect(JSON.parse(answer.body)).toMatchObject({ id: 1, error: { code: -32020 } });
    }
    await expectAlive(stage);
  });

  test("headers beyond the limit are refused, and so is a request line", async () => {
    const stage = await openStage({ maxHeaderBytes: 4096 });
    const call = (extra: HeaderList) => goodCall(stage, extra);
    await expectRefused(stage, call([["X", "a".repeat(5000)]]), 431);
    await expectRefused(stage, call(Array.from({ length: 500 }, (_, i) => [`X-${i}`, "aaaaaaaa"])), 431);
    await expectRefused(stage, call([["Mcp-Name", "a".repeat(4096)]]), 431);
    await expectRefused(stage, compose("GET", `/mcp?${"a".repeat(5000)}`, [hostOf(stage)]), 431);
    await expectAlive(stage, [["X", "a".repeat(3000)]]);
    const usual = await openStage();
    await expectRefused(usual, goodCall(usual, [["X", "a".repeat(17_000)]]), 431);
    // So many that the parser itself drops some: those that are left must still say one thing.
    const many = Array.from({ length: 1900 }, (_, i) => [`${i}`, ""] as const);
    const answer = await sendRaw(usual.port, goodCall(usual, many));
    expect([200, 400, 431]).toContain(answer?.status);
    await expectAlive(usual);
  });
});

describe("methods, targets and versions of HTTP", () => {
  test("methods that MCP does not have are refused with what there is", async () => {
    const stage = await openStage();
    for (const method of ["PUT", "PATCH", "TRACE", "OPTIONS", "HEAD", "PROPFIND", "REPORT", "SEARCH", "QUERY"]) {
      const answer = await expectRefused(stage, compose(method, "/mcp", headersOf(stage), body), 405, 400);
      if (answer.status === 405) expect(answer.headers.allow).toBe("GET, POST, DELETE");
      expect(answer.body).not.toContain("echo");
    }
    for (const method of ["post", "Post", "BREW", "POST\t", "P\u00d6ST"])
      await expectRefused(stage, compose(method, "/mcp", headersOf(stage), body), 400);
    await expectRefused(stage, compose("OPTIONS", "*", headersOf(stage), body), 404);
    await expectAlive(stage);
  });

  test("CONNECT and upgrades give no tunnel", async () => {
    const stage = await openStage();
    const wire = await openWire(stage.port);
    wire.write(compose("CONNECT", "evil.example:443", [["Host", "evil.example:443"]], goodCall(stage)));
    await wire.closed;
    expect(wire.text).not.toMatch(/ 200 /);
    expect(stage.target.ran).toBe(0);
    for (const protocol of ["websocket", "h2c", "TLS/1.2"]) {
      const upgrade: HeaderList = [
        ["Connection", "Upgrade"],
        ["Upgrade", protocol],
      ];
      await expectRefused(stage, compose("GET", "/mcp", [hostOf(stage), ...upgrade]), 400);
    }
    await expectRefused(stage, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400);
    await expectAlive(stage);
  });

  test("HTTP/1.0 is answered, other versions and noise are not", async () => {
    const stage = await openStage();
    const headers = headersOf(stage);
    const answer = await sendRaw(stage.port, compose("POST", "/mcp", headers, body, "1.0"));
    expect(answer?.status).toBe(200);
    expect(stage.target.ran).toBe(1);
    await expectRefused(stage, compose("POST", "/mcp", headers.slice(1), body, "1.0"), 400);
    await expectRefused(stage, compose("POST", "/mcp", headers.slice(1), body), 400);
    for (const version of ["3", "1.2", "1.1.1", "x"])
      await expectRefused(stage, compose("POST", "/mcp", headers, body, version), 400, 505);
    for (const noise of [
      "GET /mcp\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "{}\r\n\r\n",
      "\0\0\0\0",
      body,
    ])
      await expectRefused(stage, noise, 400);
    await expectAlive(stage);
  });

  test("an expectation is met or refused, and costs nothing", async () => {
    const stage = await openStage();
    const wire = await openWire(stage.port);
    wire.write(compose("POST", "/mcp", [...headersOf(stage), ["Expect", "100-continue"]]));
    await wire.until((text) => (text.includes("100 Continue") ? true : undefined));
    wire.write(body);
    expect((await wire.answer())?.status).toBe(200);
    wire.close();
    await expectRefused(stage, goodCall(stage, [["Expect", "a-miracle"]]), 417);
    await expectAlive(stage);
  });

  test("the address of HTTP+SSE never leads to another host", async () => {
    const mounted = await openMounted({ sse: true });
    for (const path of [
      "//evil.example/sse",
      "///evil.example/sse",
      "/\\evil.example/sse",
      "/\\/evil.example/sse",
      "http://127.0.0.1:PORT//evil.example/sse",
    ]) {
      const wire = await openWire(mounted.port);
      const target = path.replace("PORT", `${mounted.port}`);
      wire.write(compose("GET", target, [hostOf(mounted), ["Accept", "text/event-stream"]]));
      const head = await wire.head();
      if (head?.status === 200) {
        const [first] = eventsIn((await wire.chunk()) ?? "");
        expect(first?.event).toBe("endpoint");
        const url = new URL(first?.data ?? "", `http://127.0.0.1:${mounted.port}${target}`);
        expect(url.host, target).toBe(`127.0.0.1:${mounted.port}`);
      } else expect([400, 404, 405]).toContain(head?.status);
      wire.close();
    }
  });

  test("requests sent ahead are answered each, in order, and what was refused runs nothing", async () => {
    const stage = await openStage();
    const wire = await openWire(stage.port);
    const count = 60;
    const kinds = Array.from({ length: count }, (_, i) => i % 3);
    wire.write(
      kinds
        .map((kind, i) => {
          if (kind === 0) return goodCall(stage, [], callOf({ message: `m${i}` }, "echo", i));
          if (kind === 1) return compose("GET", "/nothing", [hostOf(stage)]);
          return post(stage, "{", json);
        })
        .join(""),
    );
    for (const [i, kind] of kinds.entries()) {
      const answer = await wire.answer();
      expect(answer?.status).toBe([200, 404, 400][kind]);
      if (answer) expectHarmless(answer);
      if (kind === 0)
        expect(JSON.parse(answer?.body ?? "")).toMatchObject({ id: i, result: { content: [{ text: `m${i}` }] } });
    }
    expect(stage.target.ran).toBe(count / 3);
    wire.close();
    // A body that claims to be shorter than it is does not smuggle a second request past the checks.
    const inner = compose(
      "POST",
      "/mcp",
      headersOf(stage).map(([n, v]) => (n === "Host" ? [n, "evil.example"] : [n, v])),
      body,
    );
    const short = compose("POST", "/mcp", [hostOf(stage), ...json, ["Content-Length", "0"]], inner);
    const tricky = await openWire(stage.port);
    tricky.write(short);
    expect((await tricky.answer())?.status).toBe(400);
    expect([403, undefined]).toContain((await tricky.answer())?.status);
    tricky.close();
    expect(stage.target.ran).toBe(count / 3);
  });
});
