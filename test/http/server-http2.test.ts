// A handler behind node:http2, whose API is that of node:http: the host stands in :authority, and there is no header
// Connection.
import { connect, createServer as createHttp2Server, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { type HttpOptions, toNodeHandler } from "plenum/http/node";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { modernBody, modernHeaders } from "./callers.ts";
import type { Obj } from "./harness.ts";
import { call, createStage } from "./stage.ts";

watchStrays();

// Such as of a header that there is not: Node tells of it once.
const warnings: string[] = [];
const onWarning = ({ message }: Error): unknown => warnings.push(message);
beforeAll(() => void process.on("warning", onWarning));
afterAll(() => {
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

type Send = (body: Obj, headers?: { readonly [name: string]: string }) => Promise<Answered>;

async function openHttp2(options: HttpOptions = {}): Promise<{ send: Send; close: () => Promise<void> }> {
  const handler = toNodeHandler(createStage().server, options);
  // The types of the two APIs differ where nobody here looks.
  const server = createHttp2Server(handler as never);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.on("error", () => {});
  onTestFinished(async () => {
    await handler.close(0);
    session.destroy();
    server.close();
  });
  const send: Send = (body, own = {}) => {
    const headers = Object.fromEntries(Object.entries(modernHeaders(body)).filter(([, value]) => value));
    const stream = session.request({ ":method": "POST", ":path": "/mcp", ...(headers as object), ...own });
    stream.setTimeout(10_000, () => stream.close());
    stream.end(JSON.stringify(body));
    stream.setEncoding("utf8");
    return new Promise((resolve, reject) => {
      let text = "";
      let answered: IncomingHttpHeaders & { ":status"?: number | undefined } = {};
      stream.on("response", (given) => {
        answered = given;
      });
      stream.on("data", (data: string) => {
        text += data;
      });
      stream.on("error", reject);
      stream.on("close", () => resolve({ status: answered[":status"], headers: answered, text }));
    });
  };
  return { send, close: () => handler.close(0) };
}

test("a call is answered, as JSON and as a stream", async () => {
  const { send } = await openHttp2();
  const plain = await send(modernBody("tools/call", call("echo", { text: "hi" })));
  expect([plain.status, plain.headers["content-type"]]).toEqual([200, "application/json"]);
  expect(plain.text).toContain('"hi"');
  const told = await send(modernBody("tools/call", call("tell", { key: "k", count: 2 }, "p")));
  expect([told.status, told.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  expect(told.text.match(/^data: /gm)).toHaveLength(3);
  const long = "x".repeat(3_000_000);
  const large = await send(modernBody("tools/call", call("echo", { text: long })));
  expect(large.text).toContain(long);
});

test("another name than the server's is refused", async () => {
  const { send } = await openHttp2();
  const ping = modernBody("tools/list");
  expect((await send(ping, { ":authority": "evil.example" })).status).toBe(403);
  // Which of two somebody on the way has looked at is not known.
  expect((await send(ping, { ":authority": "localhost", host: "evil.example" })).status).toBe(400);
});

test("what is not read to its end, and what comes too late, is answered like any other", async () => {
  const limited = await openHttp2({ maxBodyBytes: 10 });
  expect((await limited.send(modernBody("tools/list"))).status).toBe(413);
  const { send, close } = await openHttp2();
  await close();
  const late = await send(modernBody("tools/list"));
  expect(late.status).toBe(503);
  expect(late.headers["retry-after"]).toBe("5");
});
