// HTTP by node:http: what is sent, what becomes of answers of all kinds, and which connections are used again.
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Stop } from "../../util/stop.ts";
import { type Asked, type Carrier, readText } from "./client-carrier.ts";
import { createNodeCarrier } from "./client-node.ts";

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

interface Stage {
  readonly url: URL;
  readonly server: Server;
  /** Connections in the order in which they came. */
  readonly sockets: Socket[];
  /** Bodies of the requests. */
  readonly bodies: string[];
  readonly carrier: Carrier;
  send(asked?: Partial<Asked>): ReturnType<Carrier["send"]>;
}

function toCarrier(): Carrier {
  const carrier = createNodeCarrier() as Carrier;
  onTestFinished(() => carrier.close());
  return carrier;
}

async function stage(handle: Handler, host = "127.0.0.1"): Promise<Stage> {
  const sockets: Socket[] = [];
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk) => {
      body += chunk;
    });
    req.on("end", () => {
      bodies.push(body);
      handle(req, res, body);
    });
  });
  server.on("connection", (socket) => sockets.push(socket));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}/mcp?q=1`);
  const carrier = toCarrier();
  const send: Stage["send"] = (asked) =>
    carrier.send({ method: "POST", url, headers: {}, body: "{}", stop: new Stop(), ...asked });
  return { url, server, sockets, bodies, carrier, send };
}

/** A server of bytes, for what node:http would not send. */
async function stageRaw(answer: (socket: Socket) => void): Promise<URL> {
  const server = createNetServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

const post = (url: URL): Asked => ({ method: "POST", url, headers: {}, body: "{}", stop: new Stop() });
const get = { method: "GET", body: undefined } as const;
const turn = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("a request is what was asked for, framed by its length", async () => {
  let seen: IncomingMessage | undefined;
  const on = await stage((req, res) => {
    seen = req;
    res.writeHead(201, "Made", { "x-one": ["a", "b"], "content-type": "text/plain" }).end("größe");
  });
  const answer = await on.send({ headers: { accept: "x", "last-event-id": "gr\u00c3\u00b6" }, body: "größe" });
  expect([answer.status, answer.statusText, answer.header("x-one"), answer.header("x-two")]).toEqual([
    201,
    "Made",
    "a, b",
    undefined,
  ]);
  expect(await readText(answer, 100)).toBe("größe");
  expect([seen?.method, seen?.url]).toEqual(["POST", "/mcp?q=1"]);
  expect(seen?.headers).toEqual({
    host: on.url.host,
    accept: "x",
    "last-event-id": "gr\u00c3\u00b6",
    "user-agent": "node",
    "accept-encoding": "gzip, deflate",
    "content-length": "7",
    connection: "keep-alive",
  });
  expect(on.bodies).toEqual(["größe"]);
});

test("what an application gives goes before, but for what frames a message", async () => {
  let headers: IncomingMessage["headers"] = {};
  const on = await stage((req, res) => {
    headers = req.headers;
    res.end();
  });
  const own = { host: "other.example", "user-agent": "mine", "accept-encoding": "identity" };
  (await on.send({ headers: own })).discard();
  expect(headers).toMatchObject(own);
  for (const name of ["transfer-encoding", "content-length", "connection", "expect", "upgrade", "keep-alive"])
    await expect(on.send({ headers: { [name]: "x" } })).rejects.toThrow(name);
  await expect(on.send({ headers: { "x-bad": "a\u0001" } })).rejects.toThrow("x-bad");
  expect(on.bodies).toHaveLength(1);
});

test("an address of IPv6", async (context) => {
  const on = await stage((_, res) => void res.end("six"), "::1").catch(() => context.skip("there is no IPv6 here"));
  expect(await readText(await on.send(), 10)).toBe("six");
});

test("many at a time each get their own answer", async () => {
  const on = await stage((_, res, body) => void setTimeout(() => res.end(body), Math.random() * 20));
  const bodies = Array.from({ length: 100 }, (_, index) => `body ${index}`);
  const answers = await Promise.all(bodies.map(async (body) => readText(await on.send({ body }), 100)));
  expect(answers).toEqual(bodies);
});

describe("connections", () => {
  test("are used again, also behind an answer that nobody wanted", async () => {
    const on = await stage((_, res) => void res.end("x".repeat(1000)));
    for (let i = 0; i < 3; i++) {
      await readText(await on.send(), 1000);
      (await on.send()).discard();
      await turn();
    }
    expect(on.sockets).toHaveLength(1);
  });

  test("are not held up by an answer that nobody wanted and that has no end", async () => {
    const on = await stage((_, res) => {
      res.writeHead(200);
      const more = setInterval(() => res.write("x".repeat(10_000)), 1);
      res.on("close", () => clearInterval(more));
    });
    (await on.send()).discard();
    await expect.poll(() => on.sockets[0]?.destroyed).toBe(true);
  });

  test("end with the carrier, those in use as well", async () => {
    const on = await stage((_, res, body) => (body === "open" ? void res.write("x") : void res.end()));
    await readText(await on.send(), 10);
    const open = (await on.send({ body: "open" })).read(() => {});
    const ended = expect(open).rejects.toThrow("broke off in the middle");
    on.carrier.close();
    await ended;
    await expect.poll(() => new Promise((resolve) => on.server.getConnections((_, count) => resolve(count)))).toBe(0);
  });

  test("keep no process alive while they are idle", async () => {
    const script = `require("http").createServer((q, r) => r.end("hi")).listen(0, "127.0.0.1", function () {
      console.log(this.address().port) })`;
    const child = spawn(process.execPath, ["--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill());
    const port = await new Promise((resolve) => child.stdout.once("data", (chunk) => resolve(Number(chunk))));
    const count = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = count();
    expect(await readText(await toCarrier().send(post(new URL(`http://127.0.0.1:${port}/`))), 10)).toBe("hi");
    await turn();
    expect(count()).toBe(before);
  });

  test("that were idle for long are not used again, even if no timer could end them", async () => {
    const on = await stage((_, res) => void res.end());
    await readText(await on.send(), 10);
    await turn();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5000 });
    onTestFinished(() => void vi.useRealTimers());
    await readText(await on.send(), 10);
    expect(on.sockets).toHaveLength(2);
  });

  test("that the server has reset are given up: what could not be written goes on another", async () => {
    const on = await stage((_, res) => void res.end("ok"));
    await readText(await on.send(), 10);
    await turn();
    // In one turn: the client has not heard of it when it sends.
    on.sockets[0]?.resetAndDestroy();
    expect(await readText(await on.send({ body: "once" }), 10)).toBe("ok");
    expect(on.bodies).toEqual(["{}", "once"]);
    expect(on.sockets).toHaveLength(2);
  });

  test.each([{ method: "POST", body: "once" } as const, get])(
    "that the server ends while something is sent: what was written is not sent again: $method",
    async (asked) => {
      const on = await stage((_, res) => void res.end("ok"));
      await readText(await on.send(), 10);
      await turn();
      on.sockets[0]?.destroy();
      await expect(on.send(asked)).rejects.toThrow();
      await turn();
      expect(on.bodies).toEqual(["{}"]);
    },
  );

  const brief = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  test.each<[string, (socket: Socket) => void]>([
    ["ends", (socket) => void socket.end(brief)],
    ["resets", (socket) => void socket.write(brief, () => socket.resetAndDestroy())],
  ])("that the server %s behind an answer without having said so are not used again", async (_, answer) => {
    const url = await stageRaw(answer);
    const carrier = toCarrier();
    for (let i = 0; i < 20; i++) expect(await readText(await carrier.send(post(url)), 10)).toBe("ok");
  });

  test("are not kept for a server that has closed one of them too late to be seen, for a while", async () => {
    const on = await stage((_, res, body) => (body === "lost" ? void res.socket?.destroy() : void res.end("ok")));
    await readText(await on.send(), 10);
    await expect(on.send({ body: "lost" })).rejects.toThrow("socket hang up");
    const count = async (): Promise<number> => {
      const before = on.sockets.length;
      for (let i = 0; i < 3; i++) await readText(await on.send(), 10);
      return on.sockets.length - before;
    };
    expect(await count()).toBe(3);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await count()).toBe(1);
  });

  test("a request that waits for one that was just used can be stopped", async () => {
    const on = await stage((_, res) => void res.end("ok"));
    const stop = new Stop();
    await readText(await on.send(), 10);
    const sent = on.send({ stop });
    stop.stop("enough");
    await expect(sent).rejects.toBe("enough");
    expect(await readText(await on.send(), 10)).toBe("ok");
    expect([on.sockets.length, on.bodies.length]).toEqual([1, 2]);
  });

  test.each(["POST", "DELETE"] as const)(
    "a %s that was read before the server died is not sent twice",
    async (method) => {
      const on = await stage((req, res, body) => (body === "last" ? void req.socket.destroy() : void res.end()));
      await readText(await on.send(), 10);
      await turn();
      await expect(on.send({ method, body: "last" })).rejects.toThrow();
      await turn();
      expect(on.bodies).toEqual(["{}", "last"]);
    },
  );
});

describe("an answer", () => {
  const plain = JSON.stringify({ text: "größe ".repeat(1000) });
  test.each<[string, (text: string) => Buffer]>([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["deflate", gzipSync],
    ["deflate, deflate", (text) => deflateSync(deflateRawSync(text))],
    ["gzip, gzip, gzip, gzip, gzip", (text) => gzipSync(gzipSync(gzipSync(gzipSync(gzipSync(text)))))],
    ["gzip, utf-8", gzipSync],
    ["none", Buffer.from],
    ["utf-8", Buffer.from],
    ["br", brotliCompressSync],
    ["gzip, BR", (text) => brotliCompressSync(gzipSync(text))],
    ["identity", Buffer.from],
  ])("encoded as %s is decoded", async (encoding, encode) => {
    const on = await stage((_, res) => void res.writeHead(200, { "content-encoding": encoding }).end(encode(plain)));
    expect(await readText(await on.send(), 100_000)).toBe(plain);
    await turn();
    expect(await readText(await on.send(), 100_000)).toBe(plain);
    expect(on.sockets).toHaveLength(1);
  });

  test("that is encoded may be empty, or break off", async () => {
    const on = await stage((_, res, encoding) => void res.writeHead(200, { "content-encoding": encoding }).end());
    for (const body of ["gzip", "deflate", "gzip, deflate", "deflate, gzip"])
      expect(await readText(await on.send({ body }), 100)).toBe("");
    const cut = await stageRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\ncontent-length: 9\r\n\r\n"),
    );
    await expect(readText(await toCarrier().send(post(cut)), 100)).rejects.toThrow("broke off in the middle");
  });

  test("that is encoded more than five times is refused", async () => {
    const on = await stage((_, res) => void res.writeHead(200, { "content-encoding": "br,".repeat(5) }).end("x"));
    await expect(readText(await on.send(), 100)).rejects.toThrow("encoded 6 times over, and 5 is the most");
  });

  test.each([
    ["101 with another protocol", "HTTP/1.1 101 Over\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n", 101],
    ["101 alone", "HTTP/1.1 101 Over\r\n\r\n", 101],
    ["an odd number", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", 999],
  ])("whose status is %s is there at once", async (_, bytes, status) => {
    let socket: Socket | undefined;
    const url = await stageRaw((given) => {
      socket = given;
      given.write(bytes);
    });
    const answer = await toCarrier().send(post(url));
    expect([answer.status, answer.header("upgrade"), await readText(answer, 10)]).toEqual([status, undefined, ""]);
    if (status === 101) await expect.poll(() => socket?.destroyed).toBe(true);
  });

  test("whose status is 000 is refused: 0 is a redirect that is hidden", async () => {
    const url = await stageRaw((socket) => socket.write("HTTP/1.1 000 Nil\r\ncontent-length: 0\r\n\r\n"));
    await expect(toCarrier().send(post(url))).rejects.toThrow("HTTP 000 is no status");
  });

  test("that is encoded may come bit by bit, and is measured as it is", async () => {
    const on = await stage((_, res) => {
      const zip = createGzip();
      zip.pipe(res.writeHead(200, { "content-encoding": "gzip" }));
      zip.write("data: 1\n\n");
      zip.flush();
    });
    const answer = await on.send();
    const first = await new Promise((resolve) => void answer.read(resolve as () => void).catch(() => {}));
    expect(String(first)).toBe("data: 1\n\n");
    const bomb = await stage((_, res) =>
      res.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(10_000_000))),
    );
    await expect(readText(await bomb.send(), 1_000_000)).rejects.toThrow("more than 1000000 bytes (maxResponseBytes)");
  });

  test("whose encoding is none that was asked for, or is not what it says, is told of as such", async () => {
    const on = await stage((_, res, encoding) =>
      res.writeHead(200, { "content-encoding": encoding }).end("not encoded at all"),
    );
    await expect(readText(await on.send({ body: "zstd" }), 100)).rejects.toThrow('encoded as "zstd"');
    for (const body of ["gzip", "br"])
      await expect(readText(await on.send({ body }), 100)).rejects.toThrow("cannot be decoded");
  });

  test("may come slowly, without a length, behind heads that say nothing", async () => {
    const on = await stage(async (_, res) => {
      res.writeContinue();
      res.writeEarlyHints({ link: "</a>; rel=preload" });
      res.writeHead(200);
      for (const part of ["a", "b", "c"]) {
        res.write(part);
        await turn(10);
      }
      res.end();
    });
    expect(await readText(await on.send(), 10)).toBe("abc");
  });

  test("may end with its connection", async () => {
    const url = await stageRaw((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nto the end"));
    expect(await readText(await toCarrier().send(post(url)), 100)).toBe("to the end");
  });

  test.each([
    ["in its body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart", "broke off in the middle"],
    ["in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\npa", "broke off in the middle"],
    ["in its head", "HTTP/1.1 200 OK\r\ncontent-", "socket hang up"],
    ["before it", "", "socket hang up"],
  ])("that breaks off %s", async (_, bytes, words) => {
    const url = await stageRaw((socket) => socket.end(bytes));
    await expect(
      toCarrier()
        .send(post(url))
        .then((answer) => readText(answer, 1000)),
    ).rejects.toThrow(words);
  });

  test("whose head is too long, or is none, is refused", async () => {
    const long = await stageRaw((socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`));
    await expect(toCarrier().send(post(long))).rejects.toThrow("Header overflow");
    const none = await stageRaw((socket) => socket.end("hello\r\n\r\n"));
    await expect(toCarrier().send(post(none))).rejects.toThrow("Parse Error");
  });
});

describe("what is stopped", () => {
  test("before it begins, sends nothing", async () => {
    const on = await stage((_, res) => void res.end());
    const stop = new Stop();
    stop.stop("enough");
    await expect(on.send({ stop })).rejects.toBe("enough");
    expect(on.sockets).toEqual([]);
  });

  test("before the head comes, ends its connection", async () => {
    const on = await stage(() => {});
    const stop = new Stop();
    const sent = on.send({ stop });
    await expect.poll(() => on.bodies.length).toBe(1);
    stop.stop("enough");
    await expect(sent).rejects.toBe("enough");
    await expect.poll(() => on.sockets[0]?.destroyed).toBe(true);
  });

  test("while its body comes, ends its connection and no other", async () => {
    const on = await stage((_, res, body) => (body === "slow" ? void res.write("a") : void res.end("ok")));
    const stop = new Stop();
    const answer = await on.send({ stop, body: "slow" });
    const heard: string[] = [];
    const read = answer.read((bytes) => {
      heard.push(String(bytes));
      stop.stop("enough");
    });
    await expect(read).rejects.toBe("enough");
    expect(heard).toEqual(["a"]);
    await expect.poll(() => on.sockets[0]?.destroyed).toBe(true);
    expect(await readText(await on.send(), 10)).toBe("ok");
  });
});

test.each([
  ["NODE_USE_ENV_PROXY", "1", true],
  ["NODE_OPTIONS", "--no-warnings --use-env-proxy", true],
  ["NODE_OPTIONS", '"--use_env_proxy"', true],
  ["NODE_OPTIONS", "--no-use-env-proxy", false],
  ["NODE_OPTIONS", "--title=--use-env-proxy", false],
])("where the environment names a proxy to Node, fetch is left to deal with it: %s=%s", (name, value, isProxy) => {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(createNodeCarrier() === undefined).toBe(isProxy);
});
