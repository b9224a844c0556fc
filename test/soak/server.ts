// The server under load, in a process of its own: one with sessions and one without, and a clock whose ticks go to all who
// listen. Its parent asks for what is in memory after a collection, over IPC.
import { createServer, type Server } from "plenum";
import { serveHttp } from "plenum/http/node";
import { z } from "zod";

export interface Ready {
  readonly url: string;
  readonly sessionlessUrl: string;
}

export interface Measure {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly sockets: number;
  readonly timers: number;
  /** Calls that a handler has begun and not ended. */
  readonly running: number;
  /** What the server has reported to its owner. */
  readonly errors: string[];
}

const collect = globalThis.gc;
if (!collect || !process.send) throw new Error("Started by run.ts, with --expose-gc");

const errors: string[] = [];
let running = 0;

/** Counts who is in a handler, however it ends. */
async function counted<T>(run: () => T | Promise<T>): Promise<T> {
  running++;
  try {
    return await run();
  } finally {
    running--;
  }
}

function createSubject(): Server {
  const server = createServer({
    name: "soak",
    version: "1.0.0",
    progressPerSecond: 1000,
    secret: "known to nobody but this process and its source",
    onError: (error) => {
      if (errors.length < 100) errors.push(String(error));
    },
  });
  server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => counted(() => text));
  server.tool("tell", { input: z.object({ count: z.number() }) }, ({ count }, ctx) =>
    counted(async () => {
      for (let n = 1; n <= count; n++) {
        ctx.progress(n, count);
        if (n % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return `told ${count}`;
    }),
  );
  server.tool("ask", { input: z.object({ name: z.string() }) }, ({ name }, ctx) =>
    counted(async () => {
      const told = await ctx.elicit(`Who is ${name}?`, z.object({ answer: z.string() }));
      return told.action === "accept" ? `accept ${told.content.answer}` : told.action;
    }),
  );
  // Waits until it is cancelled.
  server.tool("wait", {}, (_, ctx) =>
    counted(
      () => new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve(""), { once: true })),
    ),
  );
  server.resource("clock://tick", {}, () => `${Date.now()}`);
  return server;
}

const subject = createSubject();
const serving = await serveHttp(subject);
const sessionless = createSubject();
const bare = await serveHttp(sessionless, { sessions: false });

setInterval(() => {
  subject.resourceUpdated("clock://tick");
  subject.resourcesChanged();
}, 250);

async function measure(): Promise<Measure> {
  // What ends in a later turn has ended by then.
  for (let i = 0; i < 8; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect?.();
  }
  const { heapUsed, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const count = (name: string): number => resources.filter((one) => one === name).length;
  return {
    heapBytes: heapUsed,
    rssBytes: rss,
    sockets: count("TCPSocketWrap"),
    timers: count("Timeout"),
    running,
    errors: [...errors],
  };
}

process.on("message", (question) => {
  if (question === "measure") void measure().then((answer) => process.send?.(answer));
  else if (question === "close")
    void Promise.all([serving.close(1000), bare.close(1000)]).then(() => process.disconnect());
});
// Without its parent it has nothing to do.
process.on("disconnect", () => process.exit(0));
process.send({ url: serving.url, sessionlessUrl: bare.url } satisfies Ready);
