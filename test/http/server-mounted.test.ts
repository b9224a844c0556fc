// The Node handler behind what applications put in front of it and around its responses.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "plenum";
import { toNodeHandler } from "plenum/http/node";
import { afterEach, expect, test } from "vitest";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function mount(before: (request: IncomingMessage, response: ServerResponse) => void, answers?: "stream") {
  const server = createServer({ name: "mounted", version: "1.0.0", onError: () => {} });
  server.tool("echo", {}, () => "hello");
  server.tool("tell", {}, async (_, ctx) => {
    ctx.progress(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    return "told";
  });
  const handler = toNodeHandler(server, { maxInFlight: 6, ...(answers && { answers }) });
  const http = createHttpServer((request, response) => {
    before(request, response);
    handler(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => handler.close(0),
    () => new Promise((resolve) => http.close(resolve)),
  );
  const { port } = http.address() as AddressInfo;
  const call = (name: string, headers: readonly string[] = [`Host: 127.0.0.1:${port}`]): Promise<string> => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      progressToken: 1,
    };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: {}, _meta },
    });
    const head = [
      "POST /mcp HTTP/1.1",
      ...headers,
      "Content-Type: application/json",
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      `Mcp-Name: ${name}`,
      "Connection: close",
      `Content-Length: ${body.length}`,
    ];
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("error", reject).on("close", () => resolve(text));
      socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    });
  };
  return { call, port };
}

test("headers that an application adds hide none that came twice", async () => {
  const { call, port } = await mount(({ headers }) => {
    headers["x-request-id"] = "1";
  });
  expect(await call("echo")).toMatch(/^HTTP\/1.1 200/);
  const hosts = [`Host: 127.0.0.1:${port}`, "Host: evil.example"];
  expect(await call("echo", hosts)).toMatch(/^HTTP\/1.1 400/);
  const types = [`Host: 127.0.0.1:${port}`, "Content-Type: text/plain"];
  expect(await call("echo", types)).toMatch(/^HTTP\/1.1 415/);
});

test.each(["echo", "tell"])("what stands around writeHead is given an object: %s", async (name) => {
  const given: unknown[] = [];
  const { call } = await mount((_, response) => {
    const { writeHead } = response;
    response.writeHead = ((status: number, headers: object) => {
      given.push(headers);
      return writeHead.call(response, status, headers as never);
    }) as typeof writeHead;
  });
  expect(await call(name)).toMatch(/^HTTP\/1.1 200/);
  expect(given).toEqual([expect.objectContaining({ "content-type": expect.any(String) })]);
});

test("a response that cannot be begun costs its own client, and nothing else", async () => {
  let isBroken = true;
  const { call } = await mount((_, response) => {
    if (!isBroken) return;
    response.writeHead = () => {
      throw new Error("not today");
    };
  });
  for (let i = 0; i < 5; i++) expect(await call("tell").catch(() => "")).toBe("");
  isBroken = false;
  expect(await call("tell")).toMatch(/^HTTP\/1.1 200/);
});
