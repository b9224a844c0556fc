// Bodies that lie about their size, come slowly or not at all, or are cut off.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toFetchHandler } from "plenum/http";
import { toNodeHandler } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { createTarget, modern } from "../fuzz/target.ts";
import { callOf, goodCall, hostOf, json, mirrorOf, post } from "./attack-requests.ts";
import { expectAlive, expectRefused, openSession, openStage, type Stage } from "./attack-stage.ts";
import { compose, type HeaderList, openWire, sendRaw } from "./attack-wire.ts";

watchStrays();

const message = callOf();
const body = JSON.stringify(message);
const size = Buffer.byteLength(body);
const mirror = mirrorOf(message);

function headOf(stage: Stage, ...extra: HeaderList): string {
  return compose("POST", "/mcp", [hostOf(stage), ...json, ...mirror, ...extra]);
}

const chunked: HeaderList[number] = ["Transfer-Encoding", "chunked"];
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe("size", () => {
  test("a body over the limit is refused, by what it says and by what it is", async () => {
    const stage = await openStage({ maxBodyBytes: 1000 });
    const long = JSON.stringify(callOf({ message: "a".repeat(1000) }));
    await expectRefused(stage, post(stage, long, [...json, ...mirror]), 413);
    await expectRefused(stage, headOf(stage, ["Content-Length", "1001"]), 413);
    await expectRefused(stage, headOf(stage, ["Content-Length", "999999999999"]), 413);
    await expectRefused(stage, `${headOf(stage, chunked)}${chunk(long)}0\r\n\r\n`, 413);
    await expectRefused(stage, `${headOf(stage, chunked)}${chunk("a".repeat(600)).repeat(2)}`, 413);
    const exact = JSON.stringify(callOf({ message: "" }));
    const filled = JSON.stringify(callOf({ message: "a".repeat(1000 - exact.length) }));
    expect(filled).toHaveLength(1000);
    expect((await sendRaw(stage.port, post(stage, filled, [...json, ...mirror])))?.status).toBe(200);
    await expectAlive(stage);
  });

  test("chunks without end are cut off soon after the refusal, and are not kept", async () => {
    const stage = await openStage({ maxBodyBytes: 100_000 });
    const wire = await openWire(stage.port);
    wire.write(headOf(stage, chunked));
    const part = chunk("a".repeat(65_536));
    let sent = 0;
    const timer = setInterval(() => {
      if (wire.socket.writableLength < 1_000_000) sent += wire.socket.write(part) ? 1 : 1;
    }, 1);
    const answer = await wire.answer();
    expect(answer?.status).toBe(413);
    expect(answer?.headers.connection).toBe("close");
    await wire.closed;
    clearInterval(timer);
    expect(sent).toBeGreaterThan(1);
    expect(stage.target.ran).toBe(0);
    await expectAlive(stage);
  });

  test.each([
    ["less than there is", (stage: Stage) => `${headOf(stage, ["Content-Length", `${size - 10}`])}${body}`, [400]],
    ["nothing", (stage: Stage) => `${headOf(stage, ["Content-Length", "0"])}${body}`, [400]],
    ["a negative number", (stage: Stage) => `${headOf(stage, ["Content-Length", "-1"])}${body}`, [400]],
    ["a number with a sign", (stage: Stage) => `${headOf(stage, ["Content-Length", `+${size}`])}${body}`, [400]],
    ["hexadecimal", (stage: Stage) => `${headOf(stage, ["Content-Length", "0x11c"])}${body}`, [400]],
    ["two numbers", (stage: Stage) => `${headOf(stage, ["Content-Length", `${size}, ${size}`])}${body}`, [400]],
    ["more than a number holds", (stage: Stage) => headOf(stage, ["Content-Length", "9".repeat(40)]), [400]],
    ["no length at all", (stage: Stage) => `${headOf(stage)}${body}`, [400]],
    [
      "chunks and a length",
      (stage: Stage) => `${headOf(stage, chunked, ["Content-Length", "5"])}${chunk(body)}0\r\n\r\n`,
      [400],
    ],
    ["a chunk that is no number", (stage: Stage) => `${headOf(stage, chunked)}xyz\r\n${body}\r\n0\r\n\r\n`, [400]],
    ["a chunk longer than said", (stage: Stage) => `${headOf(stage, chunked)}5\r\n${body}\r\n0\r\n\r\n`, [400]],
    ["a chunk of a negative size", (stage: Stage) => `${headOf(stage, chunked)}-1\r\n${body}\r\n0\r\n\r\n`, [400]],
    ["a chunk of an endless size", (stage: Stage) => `${headOf(stage, chunked)}${"f".repeat(30)}\r\n${body}`, [400]],
    [
      "a chunk without line ends",
      (stage: Stage) => `${headOf(stage, chunked)}${size.toString(16)}\n${body}\n0\n\n`,
      [400],
    ],
    [
      "endless chunk extensions",
      (stage: Stage) => `${headOf(stage, chunked)}5;${"a".repeat(20_000)}\r\n{}`,
      [400, 413],
    ],
    [
      "endless trailers",
      (stage: Stage) => `${headOf(stage, chunked)}${chunk("{")}0\r\n${"X: y\r\n".repeat(5000)}\r\n`,
      [400, 431],
    ],
  ] as [string, (stage: Stage) => string, number[]][])("a length that says %s", async (_, make, statuses) => {
    const stage = await openStage({ bodyTimeoutMs: 2000 });
    await expectRefused(stage, make(stage), ...statuses);
    await expectAlive(stage);
  });

  test("a trailer is no header", async () => {
    const stage = await openStage();
    const bare = compose("POST", "/mcp", [
      hostOf(stage),
      ...json,
      ["MCP-Protocol-Version", modern],
      chunked,
      ["Trailer", "Mcp-Method, Mcp-Name"],
    ]);
    const answer = await expectRefused(
      stage,
      `${bare}${chunk(body)}0\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n\r\n`,
      400,
    );
    expect(JSON.parse(answer.body).error.code).toBe(-32020);
    const split = [...body].map(chunk).join("");
    expect((await sendRaw(stage.port, `${headOf(stage, chunked)}${split}0\r\n\r\n`))?.status).toBe(200);
  });

  test("a body that ends too early runs nothing", async () => {
    const stage = await openStage();
    for (const at of [0, 1, size >> 1, size - 1]) {
      for (const isCut of [false, true]) {
        const wire = await openWire(stage.port);
        wire.write(`${headOf(stage, ["Content-Length", `${size}`])}${body.slice(0, at)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (isCut) wire.cut();
        else wire.socket.end();
        await wire.closed;
      }
    }
    expect(stage.target.ran).toBe(0);
    await expectAlive(stage);
  });

  test("a body where none belongs does no harm", async () => {
    const stage = await openStage();
    const session = await openSession(stage, "2025-11-25");
    const headers: HeaderList = [hostOf(stage), ...json, ["Mcp-Session-Id", session], ["Content-Length", `${size}`]];
    const wire = await openWire(stage.port);
    wire.write(compose("GET", "/mcp", headers, body));
    expect((await wire.head())?.status).toBe(200);
    wire.close();
    const ended = await sendRaw(stage.port, compose("DELETE", "/mcp", headers, body));
    expect(ended?.status).toBe(204);
    expect(stage.target.ran).toBe(0);
    await expectAlive(stage);
  });
});

describe("time", () => {
  test("headers that do not come in time end the connection", async () => {
    const stage = await openStage({ headerTimeoutMs: 300 });
    const silent = await openWire(stage.port);
    const begun = await openWire(stage.port);
    begun.write("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    const dripping = await openWire(stage.port);
    dripping.write("POST /mcp HTTP/1.1\r\n");
    const timer = setInterval(() => dripping.write("X: y\r\n"), 50);
    const later = await openWire(stage.port);
    later.write(`${goodCall(stage)}POST /mcp HTTP/1.1\r\nHost`);
    expect((await later.answer())?.status).toBe(200);
    for (const wire of [silent, begun, dripping, later]) {
      const answer = await wire.answer();
      expect([408, undefined]).toContain(answer?.status);
      await wire.closed;
    }
    clearInterval(timer);
    expect(stage.target.ran).toBe(1);
    await expectAlive(stage);
  });

  test("a body that does not come in time is a 408 and ends the connection", async () => {
    const stage = await openStage({ bodyTimeoutMs: 300 });
    const wires = await Promise.all(
      ["", "{", "drip"].map(async (start) => {
        const wire = await openWire(stage.port);
        wire.write(headOf(stage, ["Content-Length", `${size}`]));
        if (start !== "drip") wire.write(start);
        return wire;
      }),
    );
    let at = 0;
    const timer = setInterval(() => wires[2]?.write(body[at++] ?? ""), 100);
    for (const wire of wires) {
      const answer = await wire.answer();
      expect(answer?.status).toBe(408);
      expect(answer?.headers.connection).toBe("close");
      await wire.closed;
    }
    clearInterval(timer);
    expect(stage.target.ran).toBe(0);
    await expectAlive(stage);
  });

  test("who is refused before the body is read is not waited for", async () => {
    const stage = await openStage({ auth: () => ({ status: 401 }) });
    for (const [head, status] of [
      [compose("POST", "/nothing", [hostOf(stage), ["Content-Length", "1000000"]]), 404],
      [
        compose("POST", "/mcp", [
          ["Host", "no host"],
          ["Content-Length", "1000000"],
        ]),
        400,
      ],
      [headOf(stage, ["Content-Length", "1000000"]), 401],
      [compose("PUT", "/mcp", [hostOf(stage), chunked]), 401],
    ] as const) {
      const wire = await openWire(stage.port);
      wire.write(head);
      const answer = await wire.answer();
      expect(answer?.status).toBe(status);
      expect(answer?.headers.connection).toBe("close");
      await wire.closed;
    }
  });

  test("the web-standard handler keeps the same limits, and lets go of a body that it does not want", async () => {
    const target = createTarget();
    const handle = toFetchHandler(target.server, { maxBodyBytes: 1000, bodyTimeoutMs: 200 });
    const call = (stream: ReadableStream<Uint8Array>, extra: Record<string, string> = {}) => {
      const headers = { ...Object.fromEntries([...json, ...mirror]), ...extra };
      const init = { method: "POST", headers, body: stream, duplex: "half" };
      return handle(new Request("http://127.0.0.1/mcp", init as RequestInit));
    };
    const log: string[] = [];
    const slow = new ReadableStream<Uint8Array>({ cancel: () => void log.push("slow") });
    expect((await call(slow)).status).toBe(408);
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(300)),
      cancel: () => void log.push("endless"),
    });
    expect((await call(endless)).status).toBe(413);
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("cut")) });
    expect((await call(broken)).status).toBe(400);
    const lying = new ReadableStream<Uint8Array>({ cancel: () => void log.push("lying") });
    expect((await call(lying, { "content-length": "1001" })).status).toBe(413);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log).toEqual(["slow", "endless"]);
    expect(target.ran).toBe(0);
    await handle.close(0);
  });
});

describe("a body that the application has read before", () => {
  const headers = Object.fromEntries([["Host", "localhost"], ...json, ...mirror]);

  test("is said to be so, on the web feed", async () => {
    const target = createTarget();
    const handle = toFetchHandler(target.server);
    const toRequest = () => new Request("http://localhost/mcp", { method: "POST", headers, body });
    const used = toRequest();
    await used.text();
    const locked = toRequest();
    locked.body?.getReader();
    for (const one of [used, locked]) {
      const answer = await handle(one);
      expect(answer.status).toBe(500);
      expect(await answer.text()).toMatch(/body was read before.*clone/);
    }
    const cloned = toRequest();
    await cloned.clone().text();
    expect((await handle(cloned)).status).toBe(200);
    expect(target.ran).toBe(1);
    await handle.close(0);
  });

  test("and on that of Node, where nothing was left of it", async () => {
    const target = createTarget();
    const handler = toNodeHandler(target.server);
    const server = createServer(async (request, response) => {
      for await (const _ of request);
      handler(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await sendRaw(port, goodCall({ port }));
    expect(answer?.status).toBe(500);
    expect(answer?.body).toMatch(/body was read before/);
    expect(target.ran).toBe(0);
    await handler.close(0);
    server.closeAllConnections();
    server.close();
  });
});
