// A page of another site against a server on the user's machine: DNS rebinding and cross-site POST. Whatever the browser
// can be made to send, no tool runs.
import { revisions } from "plenum";
import { toFetchHandler } from "plenum/http";
import { type ServeHttpOptions, serveHttp } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { createTarget, handshake, modern } from "../fuzz/target.ts";
import { covers } from "../requirements/covers.ts";
import { callOf, json, mirrorOf, post, sessionHeaders } from "./attack-requests.ts";
import { expectAlive, expectRefused, openMounted, openSession, openStage } from "./attack-stage.ts";
import { compose, type HeaderList, sendRaw } from "./attack-wire.ts";

watchStrays();

const message = callOf();
const body = JSON.stringify(message);
const rest: HeaderList = [...json, ...mirrorOf(message), ["Content-Length", `${Buffer.byteLength(body)}`]];

/** Host headers that no client of a server on 127.0.0.1 sends, with the status. */
const foreignHosts: readonly [host: string, status: number][] = [
  ["evil.example", 403],
  ["evil.example:PORT", 403],
  ["127.0.0.1.evil.example:PORT", 403],
  ["localhost.evil.example:PORT", 403],
  ["evil.localhost:PORT", 403],
  ["localhost.localdomain", 403],
  ["7f000001.rebind.example:PORT", 403],
  ["0.0.0.0:PORT", 403],
  ["192.168.0.10:PORT", 403],
  ["169.254.169.254", 403],
  ["128.0.0.1:PORT", 403],
  ["[::]:PORT", 403],
  ["[::ffff:7f00:1]:PORT", 403],
  ["[fe80::1]:PORT", 403],
  ["xn--lcalhost-54a:PORT", 403],
  // Spellings of 127.0.0.1 and localhost that readers understand differently.
  ["2130706433:PORT", 400],
  ["0x7f000001:PORT", 400],
  ["0x7f.1", 400],
  ["0177.0.0.1:PORT", 400],
  ["127.1:PORT", 400],
  ["127.0.0.1.:PORT", 400],
  ["localhost.:PORT", 400],
  ["[::1%25lo]:PORT", 400],
  ["localhost:PORT@evil.example", 400],
  ["evil.example@localhost:PORT", 400],
  ["localhost:PORT/evil.example", 400],
  ["localhost:PORT, evil.example", 400],
  ["localhost evil.example", 400],
  ["http://localhost:PORT", 400],
  ["localhost:0", 400],
  ["localhost:99999", 400],
  ["localhost:", 400],
  ["localhost:port", 400],
  ["*", 400],
  ["", 400],
  ["l\u00f6calhost", 400],
  [`${"a".repeat(64)}.example`, 400],
  [`${"a.".repeat(200)}example`, 400],
];

const foreignOrigins = [
  "https://evil.example",
  "http://evil.example:PORT",
  "http://localhost.evil.example:PORT",
  "http://127.0.0.1.evil.example",
  "http://evil.localhost",
  "http://localhost@evil.example",
  "http://localhost:PORT@evil.example",
  "http://localhost:PORT/",
  "http://localhost:PORT/path",
  "http://localhost:PORT, https://evil.example",
  "https://evil.example, http://localhost:PORT",
  "HTTP://LOCALHOST:PORT",
  "http://localhost.:PORT",
  "http://0x7f000001",
  "null",
  "",
  "*",
  "file://",
  "file://localhost",
  "ftp://localhost",
  "javascript://localhost",
  "chrome-extension://localhost",
  "moz-extension://5d1c-8a",
  "vscode-webview://localhost",
  "localhost",
  "//localhost",
];

const requests: readonly [name: string, method: string, path: string, headers: HeaderList, body: string][] = [
  ["a call", "POST", "/mcp", rest, body],
  ["a stream", "GET", "/mcp", [["Accept", "text/event-stream"]], ""],
  ["the end of a session", "DELETE", "/mcp", [["Mcp-Session-Id", "x".repeat(36)]], ""],
  ["HTTP+SSE", "GET", "/sse", [["Accept", "text/event-stream"]], ""],
  ["a message of HTTP+SSE", "POST", "/messages?sessionId=x", rest, body],
  ["a page", "GET", "/healthz", [], ""],
  ["a preflight", "OPTIONS", "/mcp", [["Access-Control-Request-Method", "POST"]], ""],
  ["no page", "GET", "/nothing", [], ""],
];

const open = { sse: true, routes: { "/healthz": () => ({ body: "ok" }) } } satisfies ServeHttpOptions;

describe("DNS rebinding (CVE-2025-66414, CVE-2025-66416, CVE-2026-34742, CVE-2025-64443)", () => {
  test("without an option, only loopback names are answered, on every path and by every method", async () => {
    covers(["http-origin-validation", "http-origin-403", "sse-origin-validation"]);
    const stage = await openStage(open);
    for (const [, method, path, headers, text] of requests) {
      for (const [host, status] of foreignHosts) {
        const line = host.replaceAll("PORT", `${stage.port}`);
        await expectRefused(stage, compose(method, path, [["Host", line], ...headers], text), status);
      }
      for (const origin of foreignOrigins) {
        const from = origin.replaceAll("PORT", `${stage.port}`);
        const raw = compose(method, path, [["Host", `localhost:${stage.port}`], ["Origin", from], ...headers], text);
        const answer = await expectRefused(stage, raw, 403);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      }
    }
    await expectAlive(stage);
  });

  test.each([
    "localhost:PORT",
    "LOCALHOST:PORT",
    "localhost",
    "127.0.0.1:PORT",
    "127.8.9.10",
    "[::1]:PORT",
    "[0:0:0:0:0:0:0:1]",
  ])("Host %s is loopback, and its page may call", async (host) => {
    const stage = await openStage();
    const name = host.replaceAll("PORT", `${stage.port}`);
    const answer = await sendRaw(
      stage.port,
      compose("POST", "/mcp", [["Host", name], ["Origin", "http://localhost:5173"], ...rest], body),
    );
    expect(answer?.status, answer?.body).toBe(200);
    expect(stage.target.ran).toBe(1);
  });

  test("the handler that a framework mounts checks by itself, whatever is in front of it", async () => {
    const stage = await openMounted();
    for (const [host, status] of foreignHosts) {
      const line = host.replaceAll("PORT", `${stage.port}`);
      await expectRefused(stage, compose("POST", "/any/path", [["Host", line], ...rest], body), status);
    }
    await expectAlive(stage);
  });

  test("the web-standard handler checks the same", async () => {
    const target = createTarget();
    const handle = toFetchHandler(target.server);
    const call = (host: string, origin?: string) => {
      const headers = new Headers(rest.map(([name, value]): [string, string] => [name, value]));
      headers.set("host", host);
      if (origin !== undefined) headers.set("origin", origin);
      return handle(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }));
    };
    for (const [host, status] of foreignHosts) {
      expect((await call(host.replaceAll("PORT", "80"))).status, host).toBe(status);
    }
    for (const origin of foreignOrigins) {
      const answer = await call("localhost:80", origin.replaceAll("PORT", "80"));
      expect(answer.status, origin).toBe(403);
      expect(answer.headers.get("content-type")).toBe("application/json");
    }
    expect(target.ran).toBe(0);
    expect((await call("localhost:80", "http://localhost:80")).status).toBe(200);
    expect(target.ran).toBe(1);
    // Where a runtime keeps Host to itself, the address counts.
    const bare = new Headers(rest.map(([name, value]): [string, string] => [name, value]));
    expect((await handle(new Request("http://evil.example/mcp", { method: "POST", headers: bare, body }))).status).toBe(
      403,
    );
    await handle.close(0);
  });

  test("a target in absolute form is no way around the Host", async () => {
    const stage = await openStage();
    const own = `127.0.0.1:${stage.port}`;
    for (const [url, host] of [
      ["http://evil.example/mcp", own],
      [`http://${own}/mcp`, "evil.example"],
      [`http://${own}@evil.example/mcp`, own],
      [`http://evil.example@${own}/mcp`, own],
      ["HTTP://evil.example/mcp", own],
      ["https://evil.example:443/mcp", own],
    ] as const)
      await expectRefused(stage, compose("POST", url, [["Host", host], ...rest], body), 400, 403);
    // Not a URL of HTTP at all.
    for (const url of [
      "ftp://evil.example/mcp",
      "//evil.example/mcp",
      "mcp",
      "*",
      "/mcp/",
      "/MCP",
      "/mcp;x",
      "/./mcp",
      "/%6dcp",
    ])
      await expectRefused(stage, compose("POST", url, [["Host", own], ...rest], body), 400, 404);
    const answer = await sendRaw(stage.port, compose("POST", `http://${own}/mcp?x`, [["Host", own], ...rest], body));
    expect(answer?.status).toBe(200);
  });

  test.each([
    [{ host: "0.0.0.0" }],
    [{ host: "::" }],
    [{ host: "" }],
    [{ host: "192.0.2.1" }],
    [{ host: "0.0.0.0", allowedOrigins: ["https://app.example"] }],
    [{ host: "0.0.0.0", cors: true }],
  ] satisfies [ServeHttpOptions][])("a server does not start open to the network: %o", async (options) => {
    covers(["http-bind-localhost", "sse-bind-localhost"]);
    await expect(serveHttp(createTarget().server, options)).rejects.toThrow(/allowedHosts/);
  });
});

describe("cross-site POST (CVE-2026-33252)", () => {
  /** What a page can send without a preflight, and what is near to it. */
  const types: readonly (string | undefined)[] = [
    undefined,
    "",
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "text/plain, application/json",
    "application/json, text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=application/json",
    "text/html",
    "text/json",
    "application/jsonp",
    "application/json5",
    "application/json-rpc",
    "application/jsonrequest",
    "application/vnd.api+json",
    "application/ld+json",
    "application/json/",
    "application/json x",
    "application/json\u00a0",
    "\u00a0application/json",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=utf-7",
    "application/json; charset",
    "application/json; =",
    'application/json; charset="utf-8',
    "application\\json",
    "application /json",
    "*/*",
    "json",
  ];
  const multipart = `--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n${body}\r\n--x--`;
  const bodies = [body, `${body}=`, multipart, JSON.stringify(handshake("2025-11-25"))];

  test("nothing but application/json reaches a handler, whoever the page is", async () => {
    const stage = await openStage({ sse: true });
    for (const type of types) {
      for (const text of bodies) {
        const headers: HeaderList = [
          ["Host", `127.0.0.1:${stage.port}`],
          ...(type === undefined ? [] : ([["Content-Type", type]] as const)),
          ["Accept", "*/*"],
          ...mirrorOf(message),
          ["Content-Length", `${Buffer.byteLength(text)}`],
        ];
        await expectRefused(stage, compose("POST", "/mcp", headers, text), 415);
        await expectRefused(stage, compose("POST", "/messages?sessionId=x", headers, text), 415);
      }
    }
    await expectAlive(stage);
  });

  test.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    'application/json ; charset="UTF-8"',
    "application/json;",
  ])("%s is JSON", async (type) => {
    const stage = await openStage();
    const raw = post(stage, message, [["Content-Type", type], ["Accept", "*/*"], ...mirrorOf(message)]);
    expect((await sendRaw(stage.port, raw))?.status).toBe(200);
  });

  test.each(revisions.filter((revision) => revision !== "2024-11-05" && revision !== modern))(
    "a form cannot use a session of %s that is open, nor end it",
    async (revision) => {
      const stage = await openStage();
      const id = await openSession(stage, revision);
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
        await expectRefused(
          stage,
          post(stage, message, [["Content-Type", type], ...sessionHeaders(id, revision)]),
          415,
        );
      const from: HeaderList = [
        ["Host", `127.0.0.1:${stage.port}`],
        ["Origin", "https://evil.example"],
        ...sessionHeaders(id, revision),
      ];
      await expectRefused(stage, compose("DELETE", "/mcp", from), 403);
      await expectRefused(stage, compose("GET", "/mcp", [...from, ["Accept", "text/event-stream"]]), 403);
      const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
      const answer = await sendRaw(stage.port, post(stage, ping, [...json, ...sessionHeaders(id, revision)]));
      expect(answer?.status).toBe(200);
    },
  );

  test("a preflight is answered for allowed origins only, and lets no other page read an answer", async () => {
    const stage = await openStage({ cors: true, allowedOrigins: ["https://app.example"] });
    const ask = (origin: string) =>
      compose("OPTIONS", "/mcp", [
        ["Host", `127.0.0.1:${stage.port}`],
        ["Origin", origin],
        ["Access-Control-Request-Method", "POST"],
        ["Access-Control-Request-Headers", "content-type, <script>, mcp-param-<b>, mcp-param-x\u00e9"],
      ]);
    const good = await sendRaw(stage.port, ask("https://app.example"));
    expect(good?.status).toBe(204);
    expect(good?.headers["access-control-allow-origin"]).toBe("https://app.example");
    expect(good?.headers["access-control-allow-credentials"]).toBeUndefined();
    expect(JSON.stringify(good?.headers)).not.toMatch(/<|script/);
    for (const origin of foreignOrigins.filter((one) => one !== ""))
      await expectRefused(stage, ask(origin.replaceAll("PORT", `${stage.port}`)), 403);
  });
});
