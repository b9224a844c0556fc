// A stream that breaks and is taken up again: a call in a session sends 10,000 events, its connection is cut after the first, and a
// GET with the id of that one is given the rest.
import { setTimeout as delay } from "node:timers/promises";
import { baselineName, type Case, type Target } from "../case.ts";
import { type HttpServer, startHttp } from "../drive/http.ts";
import { cpuMs } from "../drive/machine.ts";
import { stop } from "../drive/process.ts";
import { median, round } from "../drive/statistics.ts";

const mode = "session-sse";
const events = 10_000;
const times = 3;
const maxMs = 60_000;

/** What keeps events, and says so in peers/common.mjs. */
const able = [baselineName, "plenum", "v1", "v2"];

const withPrograms = (target: Target): Target => ({ ...target, http: { ...target.http, ...target.programs?.resume } });

/** Calls, and leaves when the first event is there; gives its id. */
function begin({ peer }: HttpServer, id: number): Promise<string> {
  const connection = peer.connection();
  const params = `"name":"progress","arguments":{"count":${events}}`;
  return new Promise((resolve, reject) => {
    let text = "";
    const whole = connection.post(
      peer.headers("tools/call", "progress"),
      peer.body(id, "tools/call", params, '"progressToken":9001'),
      (part) => {
        text += part.toString("latin1");
        // The first may be there only to tell an id, and have no data.
        const first = /^id: ?(.*)\r?\n/m.exec(text)?.[1];
        if (!first || !text.includes("\n\n")) return;
        connection.close();
        resolve(first);
      },
    );
    whole.then(
      ({ status, body }) => reject(new Error(`no event has an id: HTTP ${status} ${body.slice(0, 300)}`)),
      reject,
    );
  });
}

/** Waits until nothing is done any more: the call has come to its end. */
async function waitForEnd(pid: number): Promise<void> {
  for (let before = -1, now = cpuMs(pid); now - before > 1; now = cpuMs(pid)) {
    before = now;
    await delay(100);
  }
}

interface Replay {
  readonly count: number;
  readonly ms: number;
  readonly cpuUs: number;
}

/** Counts what comes after an event, until the result of the call. */
async function replay({ peer, pid }: HttpServer, id: number, lastEventId: string): Promise<Replay> {
  const connection = peer.connection();
  const accept = peer
    .headers("stream")
    .replace(/^Content-Type:.*\r\n/, "")
    .replace(/Accept:[^\r]*/, "Accept: text/event-stream");
  const headers = `${accept}Last-Event-ID: ${lastEventId}\r\n`;
  const cpu = cpuMs(pid);
  const started = performance.now();
  let count = 0;
  let tail = "";
  const done = new Promise<void>((resolve, reject) => {
    const take = (part: Buffer): void => {
      const text = tail + part.toString("latin1");
      const lines = text.split("\n");
      tail = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:") && line.includes('"notifications/progress"')) count++;
      if (lines.some((line) => line.startsWith("data:") && line.includes(`"id":${id}`) && line.includes('"done"')))
        resolve();
    };
    connection
      .get(headers, take)
      .then(
        ({ status, body }) => reject(new Error(`the stream ended early: HTTP ${status} ${body.slice(-300)}`)),
        reject,
      );
    delay(maxMs, undefined, { ref: false }).then(() => reject(new Error(`no end within ${maxMs} ms, ${count} events`)));
  });
  await done;
  const ms = performance.now() - started;
  connection.close();
  // What is still to be done for it is counted too.
  await waitForEnd(pid);
  return { count, ms, cpuUs: ((cpuMs(pid) - cpu) * 1000) / count };
}

export const resume: Case<HttpServer> = {
  name: "resume",
  help: `a stream of ${events.toLocaleString("en-US")} events that is cut after the first and taken up again: events per second`,
  better: { perSecond: "high", cpuUs: "low" },
  isFresh: true,
  variants: (target) => (able.includes(target.name) && withPrograms(target).http?.[mode] ? [mode] : []),
  setup: (target) => startHttp(withPrograms(target), mode, { env: { BENCH_EVENTS: "1" } }),
  async measure(server) {
    const replays: Replay[] = [];
    for (let i = 0; i < times; i++) {
      const id = server.peer.nextId();
      const first = await begin(server, id);
      await waitForEnd(server.pid);
      const one = await replay(server, id, first);
      if (one.count < events - 1 || one.count > events) throw new Error(`${one.count} of ${events} events came`);
      replays.push(one);
    }
    return {
      perSecond: round(median(replays.map(({ count, ms }) => count / (ms / 1000))), 0),
      cpuUs: round(median(replays.map(({ cpuUs }) => cpuUs))),
    };
  },
  teardown: ({ started }) => stop(started),
};
