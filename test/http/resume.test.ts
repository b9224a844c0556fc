// Our client and our server with a proxy between them that cuts streams, at offsets all over a recorded exchange: what can be
// taken up again arrives exactly once and in order, and what can not is a lost call, never a silent one.
import { type Client, connect, createServer, McpError, type Revision, type Server } from "plenum";
import { type HttpServing, type ServeHttpOptions, serveHttp } from "plenum/http/node";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { createRandom } from "./attack-random.ts";
import { modern, sessioned } from "./callers.ts";
import { type Cut, type Cutter, openCutter, type Passage, sample, toCut } from "./cutter.ts";
import { pause, until } from "./harness.ts";

const seed = Number(process.env.PLENUM_FUZZ_SEED ?? 20260728);
const count = 30;
const quick = { delayMs: 1, maxDelayMs: 4 };
/** Calls that are under way at once, each with a proxy of its own. */
const lanes = 4;
let cuts = 0;

afterAll(() => {
  console.log(`${cuts} cuts`);
});

interface Stage {
  readonly server: Server;
  readonly serving: HttpServing;
  close(): Promise<void>;
}

async function openStage(options: ServeHttpOptions = {}): Promise<Stage> {
  const limits = { progressPerSecond: 100_000, logsPerSecond: 100_000 };
  const server = createServer({ name: "cut", version: "1.0.0", ...limits });
  server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
  // Some in a row, and some in later turns: a cut finds events that were sent, that wait, and that are still to come.
  server.tool("tell", {}, async (_, ctx) => {
    for (let n = 1; n <= count; n++) {
      ctx.log.info(`größe ${n}`);
      ctx.progress(n, count);
      if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return `told ${count}`;
  });
  server.tool("wait", {}, async (_, ctx) => {
    ctx.progress(1);
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
    return "waited";
  });
  for (let n = 0; n < 12; n++) server.resource(`note://${n}`, {}, () => "A note");
  const serving = await serveHttp(server, { retryMs: 1, ...options });
  return { server, serving, close: () => serving.close(0) };
}

const whole = Array.from({ length: count }, (_, n) => [`log größe ${n + 1}`, `progress ${n + 1}`]).flat();

interface Told {
  /** The text of the result, or the code of the error. */
  readonly outcome: string;
  /** What was heard while the call was under way, in order. */
  readonly heard: string[];
  readonly warnings: string[];
}

type Ask = (client: Client, onProgress: (update: { progress: number }) => void) => Promise<string>;

const tell: Ask = async (client, onProgress) => (await client.callTool("tell", {}, { onProgress })).text;

/** A session of its own for one call, so that the bytes of the exchange are always the same. */
async function callOnce(cutter: Cutter, revision: Revision, ask: Ask): Promise<Told> {
  const heard: string[] = [];
  const warnings: string[] = [];
  const client = await connect(
    { url: cutter.url, reconnect: quick },
    {
      revision,
      timeoutMs: 10_000,
      onLog: ({ data }) => heard.push(`log ${data}`),
      onWarning: (problem) => warnings.push(problem),
    },
  );
  try {
    const outcome = await ask(client, ({ progress }) => heard.push(`progress ${progress}`)).catch((error) => {
      if (error instanceof McpError) return error.code;
      throw error;
    });
    expect(client.state).toBe("open");
    return { outcome, heard, warnings };
  } finally {
    cutter.decide(() => undefined);
    await client.close();
  }
}

const isCall = ({ request }: Passage, method = "tools/call"): boolean => request.includes(`"method":"${method}"`);
const isResumed = ({ verb, request }: Passage): boolean => verb === "GET" && /\r\nlast-event-id: /i.test(request);

/** The ids of the events that a client came back with. */
const resumedAt = (cutter: Cutter): (string | undefined)[] =>
  cutter.passages.filter(isResumed).map(({ request }) => /\r\nlast-event-id: (\S+)/i.exec(request)?.[1]);

/** The answer to the request, uncut. */
async function record(stage: Stage, revision: Revision, ask: Ask, method?: string): Promise<Buffer> {
  const cutter = await openCutter(stage.serving.port);
  try {
    const { outcome } = await callOnce(cutter, revision, ask);
    expect(outcome).not.toBe("connection_lost");
    return (cutter.passages.find((passage) => isCall(passage, method)) as Passage).passed;
  } finally {
    await cutter.close();
  }
}

/** Runs a task for each, a few at a time, each lane with a proxy of its own. */
async function inLanes<T>(
  stage: Stage,
  all: readonly T[],
  run: (one: T, turn: number, cutter: Cutter) => Promise<void>,
) {
  let next = 0;
  const lane = async (): Promise<void> => {
    const cutter = await openCutter(stage.serving.port);
    try {
      for (let turn = next++; turn < all.length; turn = next++) {
        cutter.passages.length = 0;
        await run(all[turn] as T, turn, cutter);
      }
      cuts += cutter.cuts();
    } finally {
      await cutter.close();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Behind the first event that has an id: from there on a stream can be taken up again. */
const firstEventEnd = (bytes: Buffer): number => {
  const body = bytes.indexOf("\r\n\r\n") + 4;
  expect(bytes.indexOf("id: ", body)).toBeGreaterThan(0);
  return bytes.indexOf("\n\n", body) + 2;
};

describe.each(sessioned)("in %s", (revision) => {
  const proven = ["http-resume-last-event-id", "http-resume-replay", "http-resumable", "http-disconnect-not-cancel"];

  test("an answer that is cut anywhere arrives whole, once and in order", async () => {
    covers([...proven, "http-event-id", "http-event-id-per-stream"], revision);
    const stage = await openStage();
    try {
      const recorded = await record(stage, revision, tell);
      expect(recorded.length).toBeGreaterThan(5000);
      const resumable = firstEventEnd(recorded);
      const offsets = sample(recorded, 130);
      expect(offsets.some((at) => at < resumable)).toBe(true);
      await inLanes(stage, offsets, async (at, turn, cutter) => {
        cutter.decide((passage) => (isCall(passage) ? toCut(at, turn) : undefined));
        const before = cutter.cuts();
        const told = await callOnce(cutter, revision, tell);
        const where = `cut at ${at} of ${recorded.length}`;
        expect(cutter.cuts(), where).toBe(before + 1);
        expect(
          cutter.passages.filter((passage) => isCall(passage)),
          where,
        ).toHaveLength(1);
        if (at < resumable) expect(told, where).toEqual({ outcome: "connection_lost", heard: [], warnings: [] });
        else expect(told, where).toEqual({ outcome: `told ${count}`, heard: whole, warnings: [] });
      });
    } finally {
      await stage.close();
    }
  });

  test("so does one whose further streams are cut as well", async () => {
    covers(proven, revision);
    const stage = await openStage();
    try {
      const recorded = await record(stage, revision, tell);
      const resumable = firstEventEnd(recorded);
      const random = createRandom(seed);
      const rows = Array.from({ length: 40 }, () => [
        resumable + random.below(recorded.length - resumable),
        ...Array.from({ length: 1 + random.below(4) }, () => random.below(2000)),
      ]);
      await inLanes(stage, rows, async (row, turn, cutter) => {
        const left = [...row];
        cutter.decide((passage) => {
          const at = isCall(passage) || isResumed(passage) ? left.shift() : undefined;
          return at === undefined ? undefined : toCut(at, turn + left.length);
        });
        const told = await callOnce(cutter, revision, tell);
        const where = `cut at ${row}`;
        expect(told, where).toEqual({ outcome: `told ${count}`, heard: whole, warnings: [] });
        // Each of them goes on where the one before was cut, or further on.
        const numbers = resumedAt(cutter).map((id) => Number(id?.split("-")[1]));
        expect(numbers, where).toEqual([...numbers].sort((a, b) => a - b));
      });
    } finally {
      await stage.close();
    }
  });

  test("and one that is cut before the client could read what was sent, or by a reset, is whole or lost", async () => {
    const stage = await openStage();
    try {
      const recorded = await record(stage, revision, tell);
      const offsets = Array.from({ length: 30 }, (_, i) => Math.floor((i * recorded.length) / 30));
      await inLanes(stage, offsets, async (at, turn, cutter) => {
        const how = turn % 2 === 0 ? "reset" : "destroy";
        const cut: Cut = { afterBytes: at, how, isUnnoticed: turn % 3 === 0, pauseMs: 0 };
        cutter.decide((passage) => (isCall(passage) ? cut : undefined));
        const { outcome, heard } = await callOnce(cutter, revision, tell);
        // What is lost on the way was never seen: the client has no event to go on from.
        if (outcome === "connection_lost") expect(heard).toEqual([]);
        else expect({ outcome, heard }).toEqual({ outcome: `told ${count}`, heard: whole });
      });
    } finally {
      await stage.close();
    }
  });

  test("the stream of a call that was given up is not come back for", async () => {
    const stage = await openStage();
    const cutter = await openCutter(stage.serving.port);
    const client = await connect({ url: cutter.url, reconnect: quick }, { revision });
    try {
      const stop = new AbortController();
      const given = client.callTool("wait", {}, { signal: stop.signal, onProgress: () => stop.abort() });
      await expect(given).rejects.toMatchObject({ code: "aborted" });
      await until(() => cutter.passages.some((passage) => isCall(passage, "notifications/cancelled")), "it is told");
      await pause(50);
      expect(resumedAt(cutter)).toEqual([]);
    } finally {
      await client.close();
      await cutter.close();
      await stage.close();
    }
  });

  test("the stream that listens leaves nothing out and repeats nothing, however often it is cut", async () => {
    covers([...proven, "http-event-id", "http-get-no-response"], revision);
    const stage = await openStage();
    const cutter = await openCutter(stage.serving.port);
    const random = createRandom(seed);
    let gets = 0;
    cutter.decide(({ verb }) => {
      if (verb !== "GET") return undefined;
      // The first lives until there is an event to go on from.
      return toCut(gets++ === 0 ? 1000 : random.below(900), gets);
    });
    const heard: string[] = [];
    const sent: string[] = [];
    const change = async (): Promise<void> => {
      const n = sent.length;
      const uri = `note://${n % 12}`;
      sent.push(n % 5 === 4 ? "resources" : uri);
      if (n % 5 === 4) stage.server.resourcesChanged();
      else stage.server.resourceUpdated(uri);
      await pause(1);
    };
    const client = await connect(
      { url: cutter.url, reconnect: quick },
      { revision, onListChanged: (kind) => heard.push(kind), onResourceUpdated: (uri) => heard.push(uri) },
    );
    try {
      for (let n = 0; n < 12; n++) await client.subscribe(`note://${n}`);
      await until(() => gets > 0, "the stream is open");
      await change();
      await until(() => heard.length > 0, "the first event arrives");
      for (let n = 0; n < 5000 && cutter.cuts() < 60; n++) await change();
      expect(cutter.cuts()).toBeGreaterThanOrEqual(60);
      cuts += cutter.cuts();
      cutter.decide(() => undefined);
      await change();
      await until(() => heard.length >= sent.length, "all that was sent arrives");
      // What came twice would come about now.
      await client.ping();
      expect(heard).toEqual(sent);
      expect(client.state).toBe("open");
    } finally {
      await client.close();
      await cutter.close();
      await stage.close();
    }
  });

  test("the stream that listens is opened again when it was cut before anything came", async () => {
    const stage = await openStage();
    const idle = await openCutter(stage.serving.port);
    const listening = ({ passages }: Cutter): Passage[] => passages.filter(({ verb }) => verb === "GET");
    const open = (cutter: Cutter, heard: string[] = []): Promise<Client> =>
      connect({ url: cutter.url, reconnect: quick }, { revision, onResourceUpdated: (uri) => heard.push(uri) });
    try {
      const client = await open(idle);
      await until(() => listening(idle).length === 1, "the stream is open");
      await pause(50);
      const recorded = (listening(idle)[0] as Passage).passed;
      await client.close();
      // In 2025-11-25 there is one thing that comes at once: an event that says where the stream begins.
      const primed = revision === "2025-11-25" ? firstEventEnd(recorded) : 0;
      const offsets = Array.from({ length: 12 }, (_, i) => Math.floor((i * recorded.length) / 12));
      await inLanes(stage, [...offsets, recorded.length - 1], async (at, turn, cutter) => {
        const heard: string[] = [];
        let gets = 0;
        cutter.decide(({ verb }) => (verb === "GET" && gets++ === 0 ? toCut(at, turn) : undefined));
        const other = await open(cutter, heard);
        await until(() => listening(cutter).length === 2, `a second stream, after a cut at ${at}`);
        expect(resumedAt(cutter)).toEqual(primed > 0 && at >= primed ? ["0-1"] : []);
        const uri = `note://${turn % 12}`;
        await other.subscribe(uri);
        for (let n = 1; n <= 3; n++) {
          stage.server.resourceUpdated(uri);
          await until(() => heard.length >= n, `a change arrives, after a cut at ${at}`);
        }
        expect(heard).toEqual([uri, uri, uri]);
        await other.close();
      });
    } finally {
      await idle.close();
      await stage.close();
    }
  });
});

describe(`in ${modern}`, () => {
  test("an answer that is cut anywhere is lost, and nobody comes back for it", async () => {
    covers(["http-sse-lost-reissue", "http-sse-no-resume"], modern);
    const stage = await openStage();
    try {
      const recorded = await record(stage, modern, tell);
      const answered = recorded.lastIndexOf("\n\n") + 2;
      const offsets = sample(recorded, 100);
      expect(offsets.some((at) => at >= answered)).toBe(true);
      await inLanes(stage, offsets, async (at, turn, cutter) => {
        cutter.decide((passage) => (isCall(passage) ? toCut(at, turn) : undefined));
        const { outcome, heard } = await callOnce(cutter, modern, tell);
        const where = `cut at ${at} of ${recorded.length}`;
        expect(heard, where).toEqual(whole.slice(0, heard.length));
        if (at < answered) expect(outcome, where).toBe("connection_lost");
        else expect({ outcome, heard }, where).toEqual({ outcome: `told ${count}`, heard: whole });
        expect(
          cutter.passages.filter((passage) => isCall(passage)),
          where,
        ).toHaveLength(1);
        expect(cutter.passages.filter(({ verb }) => verb !== "POST")).toEqual([]);
      });
    } finally {
      await stage.close();
    }
  });
});

test.each([...sessioned, modern] as const)(
  "in %s, what is answered by JSON is lost wherever it is cut, and what is safe is asked for once more",
  async (revision) => {
    const stage = await openStage();
    const echo: Ask = async (client) => (await client.callTool("echo", { text: "hello" })).text;
    const list: Ask = async (client) => `${(await client.listTools().all()).length} tools`;
    try {
      for (const [ask, method, isSafe] of [
        [echo, "tools/call", false],
        [list, "tools/list", true],
      ] as const) {
        const recorded = await record(stage, revision, ask, method);
        const whole = isSafe ? "3 tools" : "hello";
        await inLanes(stage, sample(recorded, 20), async (at, turn, cutter) => {
          let left = isSafe ? 1 + (turn % 2) : 1;
          cutter.decide((passage) => (isCall(passage, method) && left-- > 0 ? toCut(at, turn) : undefined));
          const { outcome, heard } = await callOnce(cutter, revision, ask);
          expect(heard).toEqual([]);
          const isTwice = isSafe && turn % 2 === 1;
          expect(outcome, `cut at ${at}`).toBe(isSafe && !isTwice ? whole : "connection_lost");
          const asked = cutter.passages.filter((passage) => isCall(passage, method));
          expect(asked).toHaveLength(isSafe ? 2 : 1);
        });
      }
    } finally {
      await stage.close();
    }
  },
);
