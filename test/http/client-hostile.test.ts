// Servers that our client must survive: what leads it elsewhere, what never ends, what is no message.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, events, json, modern, reach, result, serveScript, sessioned, text } from "./client-stage.ts";

describe("a redirect", () => {
  test.each([307, 308])("with %i within the origin is followed, with method, body and headers", async (status) => {
    const stage = await serveScript((seen, res) => {
      if (seen.path !== "/moved") json(res, status, undefined, { location: "/moved" });
      else modern(() => false)(seen, res);
    });
    const { client } = await reach({ url: stage.url, headers: { authorization: "Bearer abc" } });
    await client.listTools().all();
    const moved = stage.seen.filter(({ path }) => path === "/moved");
    expect(
      moved.map(({ verb, method, headers }) => [verb, method, headers.authorization, headers["mcp-method"]]),
    ).toEqual([
      ["POST", "server/discover", "Bearer abc", "server/discover"],
      ["POST", "tools/list", "Bearer abc", "tools/list"],
    ]);
  });

  test.each([301, 302, 303, 307, 308])("with %i to another origin is not followed", async (status) => {
    const elsewhere = await serveScript(modern(() => false));
    const stage = await serveScript((_, res) =>
      json(res, status, undefined, { location: `${elsewhere.origin}/mcp?token=abc` }),
    );
    const error = await errorOf(reach({ url: stage.url, headers: { authorization: "Bearer abc" } }));
    expect(error.code).toBe("peer_error");
    expect(error.message).toContain(elsewhere.origin);
    expect(error.message).not.toContain("abc");
    expect(elsewhere.seen).toEqual([]);
    expect(stage.seen).toHaveLength(1);
  });

  test.each(["http://user:pass@127.0.0.1", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x"])(
    "to %s is not followed",
    async (location) => {
      const stage = await serveScript((_, res) => json(res, 307, undefined, { location }));
      const error = await errorOf(reach(stage.url));
      expect(error.message).toMatch(/redirects to /);
      expect(error.message).not.toMatch(/passw|user|alert/);
      expect(stage.seen).toHaveLength(1);
    },
  );

  test.each([301, 302, 303])("with %i would change the request, and is not followed", async (status) => {
    const stage = await serveScript((_, res) => json(res, status, undefined, { location: "/moved" }));
    expect((await errorOf(reach(stage.url))).message).toContain(`HTTP ${status}`);
    expect(stage.seen).toHaveLength(1);
  });

  test("without end is not followed for ever", async () => {
    const stage = await serveScript((_, res) => json(res, 307, undefined, { location: `/${Math.random()}` }));
    expect((await errorOf(reach(stage.url))).message).toContain("redirects more than 5 times");
    expect(stage.seen).toHaveLength(6);
  });

  test.each([undefined, "http://["])("to %s is none", async (location) => {
    const stage = await serveScript((_, res) => json(res, 307, undefined, location === undefined ? {} : { location }));
    expect((await errorOf(reach(stage.url))).code).toBe("peer_error");
  });
});

describe("an answer without end", () => {
  test.each<[string, string, string]>([
    ["as JSON", "application/json", " ".repeat(10_000)],
    ["as one event", "text/event-stream", "data: x\n".repeat(1000)],
    ["as one line", "text/event-stream", "x".repeat(10_000)],
  ])("%s is cut off, and only its call is lost", async (_, type, chunk) => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call" || stage.of("tools/call").length > 1) return false;
        res.writeHead(200, { "content-type": type });
        // Bounded, for the case that nobody cuts it off.
        let left = 2000;
        const write = (): void => {
          while (left-- > 0 && !res.destroyed) if (!res.write(chunk)) return void res.once("drain", write);
          if (!res.destroyed) res.end();
        };
        write();
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, maxResponseBytes: 100_000, maxEventBytes: 100_000 });
    const call = errorOf(client.callTool("t"));
    const { gone } = await stage.heard("tools/call");
    const error = await call;
    expect(error.code).toBe("connection_lost");
    expect(error.message).toContain("more than 100000 bytes");
    await gone;
    expect((await client.callTool("t")).text).toBe("done");
  });

  test("of an error is read as far as it is of use", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        res.writeHead(500, { "content-type": "text/plain" });
        res.write(`word ${"x".repeat(200_000)}`);
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    const error = await errorOf(client.callTool("t"));
    expect(error.message).toContain("HTTP 500");
    expect(error.message.length).toBeLessThan(400);
  });

  test("what is longer than allowed by what goes on is not: events are counted one by one", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        const stream = events(res);
        for (let at = 0; at < 500; at++) stream.raw(`: ${"c".repeat(500)}\n\n`);
        stream.send(result(seen.id, { resultType: "complete", ...text("done") }));
        stream.end();
        return true;
      }),
    );
    const { client } = await reach({ url: stage.url, maxEventBytes: 2000 });
    expect((await client.callTool("t")).text).toBe("done");
  });
});

describe("a stream of rubbish", () => {
  test("is told of, and the answer behind it still found", async () => {
    covers("http-sse-ignore-comments");
    const rubbish = [
      "data: {not json\n\n",
      ": a comment\n\n:\n\n",
      "data: 5\n\n",
      "data: null\n\n",
      'data: {"jsonrpc":"1.0"}\n\n',
      "event: other\ndata: {}\n\n",
      "nonsense\n\nretry: soon\n\nid\n\n",
      "data: [\ndata: ]\n\n",
      `data: ${"[".repeat(200)}\n\n`,
      '\u0000\u0001\ndata: {"jsonrpc":"2.0","id":"nobody","result":{}}\n\n',
    ];
    for (const build of [modern, sessioned]) {
      const stage = await serveScript(
        build((seen, res) => {
          if (seen.method !== "tools/call") return false;
          const stream = events(res);
          for (const one of rubbish) stream.raw(one);
          stream.send(result(seen.id, { resultType: "complete", ...text("found") }));
          stream.end();
          return true;
        }),
      );
      const { client, warnings, states } = await reach(stage.url);
      expect((await client.callTool("t")).text).toBe("found");
      expect(warnings).toContainEqual(expect.stringContaining("{not json"));
      expect(warnings.length).toBeLessThan(10);
      expect(states).toEqual(["connecting", "open"]);
    }
  });

  test("on the server's own stream does no harm either", async () => {
    covers("http-sse-ignore-comments");
    const stage = await serveScript(
      sessioned((seen, res) => {
        if (seen.verb !== "GET") return false;
        const stream = events(res);
        stream.raw(": hello\n\ndata: rubbish\n\n");
        stream.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
        return true;
      }),
    );
    const kinds: string[] = [];
    const { client, warnings } = await reach(stage.url, { onListChanged: (kind) => kinds.push(kind) });
    await expect.poll(() => kinds).toEqual(["tools"]);
    expect(warnings).toEqual([expect.stringContaining("rubbish")]);
    expect(client.state).toBe("open");
  });

  test("behind the answer is not read for ever", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        const stream = events(res);
        stream.send(result(seen.id, { resultType: "complete", ...text("first") }));
        const timer = setInterval(() => stream.raw(": more\n\n"), 20);
        res.on("close", () => clearInterval(timer));
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    expect((await client.callTool("t")).text).toBe("first");
    await (await stage.heard("tools/call")).gone;
  });
});

describe("an answer to something else", () => {
  test.each<[string, (id: unknown) => unknown]>([
    ["another id", () => result("other", text("no"))],
    ["a request", () => ({ jsonrpc: "2.0", id: 1, method: "ping" })],
    ["nothing of the protocol", () => ({ ok: true })],
    ["an empty list", () => []],
  ])("%s ends the call, and nothing else", async (_, body) => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call" || stage.of("tools/call").length > 1) return false;
        json(res, 200, body(seen.id));
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    expect(["connection_lost", "invalid_result"]).toContain((await errorOf(client.callTool("t"))).code);
    expect((await client.callTool("t")).text).toBe("done");
  });

  test("a page in place of an answer is not shown, and the URL is asked about", async () => {
    const stage = await serveScript(
      modern((seen, res) => {
        if (seen.method !== "tools/call") return false;
        const status = stage.of("tools/call").length === 1 ? 200 : 502;
        res.writeHead(status, { "content-type": "text/html" }).end("<html><script>alert(1)</script></html>");
        return true;
      }),
    );
    const { client } = await reach(stage.url);
    const errors = [await errorOf(client.callTool("t")), await errorOf(client.callTool("t"))];
    expect(errors[0]?.message).toContain("the URL of an MCP server?");
    expect(errors[1]?.message).toContain("HTTP 502");
    for (const { message } of errors) expect(message).not.toContain("<");
  });
});

test("what is broken off in the middle of the headers is a lost call", async () => {
  const server = createServer((_, res) => res.socket?.end("HTTP/1.1 200 OK\r\ncontent-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const error = await errorOf(reach(`http://127.0.0.1:${port}/mcp`));
  expect(error.code).toBe("connection_lost");
});
