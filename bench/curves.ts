// Growth curves: what a call costs, and how many are made in a second, against the number of tools and of sessions, the size of a
// payload and the calls in flight. Writes docs/performance/curves.json and curves.svg; fails where a curve has a knee.
//   npm run bench:curves
//   npm run bench:curves -- --only tools --ms 300     one of them, shorter: prints, and writes nothing
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "../test/house/built.ts";
import type { Target } from "./case.ts";
import {
  type Cost,
  type Curve,
  type Curves,
  curvesFile,
  curvesFolder,
  type Sides,
  toPoints,
} from "./curves-section.ts";
import { describe, type HttpServer, messagesOf, startHttp, type ToolResult, warm } from "./drive/http.ts";
import { cpuMs } from "./drive/machine.ts";
import { stop } from "./drive/process.ts";
import { formatNumber } from "./drive/statistics.ts";
import { drawPanels, type Panel } from "./picture.ts";
import { describeMachine } from "./result.ts";
import { targets } from "./targets.ts";

const { values: given } = parseArgs({
  options: { ms: { type: "string", default: "1000" }, only: { type: "string" } },
});
const roundMs = Number(given.ms);
const rounds = 3;
/** Between neighbours a call may cost this much more, beyond what it costs bare more. Rounds differ by less than half. */
const maxJump = 1.5;
/** A knee that is not there again was the machine's. */
const attempts = 3;
const inFlight = 64;

interface Setting {
  readonly tools?: number;
  readonly sessions?: number;
  readonly bytes?: number;
  readonly inFlight?: number;
}

interface Axis {
  readonly name: string;
  readonly title: string;
  readonly x: readonly number[];
  readonly mode: string;
  toSetting(x: number): Setting;
}

/** Every server has these without more being asked for: echo, add, large, length, progress. */
const ownTools = 5;

const axes: readonly Axis[] = [
  {
    name: "tools",
    title: "tools",
    x: [ownTools, 10, 100, 1_000, 5_000],
    mode: "modern-json",
    toSetting: (tools) => ({ tools }),
  },
  {
    name: "sessions",
    title: "open sessions",
    x: [1, 10, 100, 1_000, 10_000],
    mode: "session-json",
    toSetting: (sessions) => ({ sessions }),
  },
  {
    name: "payload",
    title: "bytes of argument and result",
    x: [100, 1_000, 10_000, 100_000, 1_000_000],
    mode: "modern-json",
    // Enough to keep the server busy, and no gigabytes on their way.
    toSetting: (bytes) => ({ bytes, inFlight: bytes > 10_000 ? 8 : inFlight }),
  },
  {
    name: "in-flight",
    title: "calls in flight",
    x: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    mode: "modern-json",
    toSetting: (count) => ({ inFlight: count }),
  },
];

function targetOf(name: string): Target {
  const found = targets.find((one) => one.name === name);
  if (!found) throw new Error(`there is no target ${name}`);
  return found;
}

interface Served extends HttpServer {
  /** The headers of a call, for each session: calls go through them in turn. */
  readonly headers: readonly string[];
}

async function serve(target: Target, mode: string, { tools = ownTools, sessions = 1 }: Setting): Promise<Served> {
  const own = target.http?.[mode] ? mode : "session-json";
  const server = await startHttp(target, own, { env: { BENCH_TOOLS: String(tools - ownTools) } });
  try {
    const { peer } = server;
    await warm(server, 10_000);
    const ids = [peer.session];
    const connections = Array.from({ length: Math.min(16, sessions) }, () => peer.connection());
    await Promise.all(
      connections.map(async (connection) => {
        while (ids.length < sessions) {
          // Counted before it is there, so that there is none too many.
          const place = ids.push(undefined) - 1;
          ids[place] = await peer.initialize(connection);
        }
        connection.close();
      }),
    );
    return { ...server, headers: ids.map((id) => peer.headers("tools/call", "echo", id)) };
  } catch (error) {
    await stop(server.started);
    throw error;
  }
}

/** Calls for so long, each session in its turn. */
async function measure({ peer, pid, headers }: Served, ms: number, setting: Setting): Promise<Cost> {
  const filling = "x".repeat(Math.max(0, (setting.bytes ?? 0) - 12));
  const cpu = cpuMs(pid);
  const started = performance.now();
  let count = 0;
  const worker = async (): Promise<void> => {
    const connection = peer.connection();
    while (performance.now() - started < ms) {
      const id = peer.nextId();
      const text = `msg-${id}${filling}`;
      const answer = await connection.post(
        headers[id % headers.length] as string,
        peer.body(id, "tools/call", `"name":"echo","arguments":{"text":"${text}"}`),
      );
      const last = messagesOf(answer).at(-1);
      if (last?.id !== id || (last.result as ToolResult | undefined)?.content?.[0]?.text !== text)
        throw new Error(`a wrong answer: ${describe(answer)}`);
      count++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: setting.inFlight ?? inFlight }, worker));
  const wallMs = performance.now() - started;
  return { perSecond: count / (wallMs / 1000), cpuUs: ((cpuMs(pid) - cpu) * 1000) / count };
}

const better = (a: Cost | undefined, b: Cost): Cost => ({
  perSecond: Math.max(a?.perSecond ?? 0, b.perSecond),
  cpuUs: Math.min(a?.cpuUs ?? Number.POSITIVE_INFINITY, b.cpuUs),
});

/** One point: Plenum and bare in turn, the best round of each; what was measured before counts too. */
async function measurePoint(axis: Axis, x: number, before?: Sides): Promise<Sides> {
  const setting = axis.toSetting(x);
  const names = ["bare", "plenum"] as const;
  const found: { plenum?: Cost; bare?: Cost } = { ...before };
  const servers: Partial<Record<"bare" | "plenum", Served>> = {};
  try {
    for (const name of names) servers[name] = await serve(targetOf(name), axis.mode, setting);
    for (let i = 0; i < rounds; i++) {
      for (const name of names) {
        const server = servers[name] as Served;
        await measure(server, roundMs / 4, setting);
        found[name] = better(found[name], await measure(server, roundMs, setting));
      }
    }
  } finally {
    for (const name of names) await stop(servers[name]?.started);
  }
  return found as Sides;
}

async function measureCurve(axis: Axis): Promise<Curve> {
  const sides: Sides[] = [];
  for (const x of axis.x) sides.push(await measurePoint(axis, x));
  for (let i = 1; i < attempts; i++) {
    const knees = toPoints(axis.x, sides).flatMap(({ jump }, at) => (jump > maxJump ? [at] : []));
    for (const at of new Set(knees.flatMap((knee) => [knee - 1, knee])))
      sides[at] = await measurePoint(axis, axis.x[at] as number, sides[at]);
  }
  return { name: axis.name, title: axis.title, points: toPoints(axis.x, sides) };
}

function toPanel({ title, points }: Curve): Panel {
  const series = (pick: (cost: Cost) => number) => [
    { name: "bare Node", isMain: false, values: points.map(({ bare }) => pick(bare)) },
    { name: "Plenum", isMain: true, values: points.map(({ plenum }) => pick(plenum)) },
  ];
  return {
    title: `Against ${title}`,
    x: points.map(({ x }) => x),
    plots: [
      { title: "calls per second", series: series(({ perSecond }) => perSecond) },
      { title: "CPU per call, µs", series: series(({ cpuUs }) => cpuUs) },
    ],
  };
}

function print({ title, points }: Curve): void {
  console.log(
    `\n${title.padEnd(30)}${["Plenum/s", "CPU µs", "bare/s", "CPU µs", "jump"].map((head) => head.padStart(10)).join("")}`,
  );
  for (const { x, plenum, bare, jump } of points) {
    const cells = [plenum.perSecond, plenum.cpuUs, bare.perSecond, bare.cpuUs, jump].map((value) =>
      formatNumber(value).padStart(10),
    );
    console.log(`${formatNumber(x).padStart(30)}${cells.join("")}`);
  }
}

await ensureBuilt();
const curves: Curve[] = [];
if (!axes.some(({ name }) => name === (given.only ?? name)))
  throw new Error(`--only takes one of ${axes.map(({ name }) => name).join(", ")}`);
for (const axis of axes.filter(({ name }) => name === (given.only ?? name))) {
  const curve = await measureCurve(axis);
  curves.push(curve);
  print(curve);
}
const result: Curves = { date: new Date().toISOString(), machine: describeMachine(), maxJump, curves };
if (given.only === undefined) {
  mkdirSync(curvesFolder, { recursive: true });
  const rounded = JSON.stringify(
    result,
    (_, value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value),
    1,
  );
  writeFileSync(curvesFile, `${rounded}\n`);
  const label = "Growth of the cost of a call: Plenum beside bare Node";
  writeFileSync(join(curvesFolder, "curves.svg"), drawPanels(curves.map(toPanel), label));
}
const knees = curves.flatMap(({ title, points }) =>
  points.filter(({ jump }) => jump > maxJump).map(({ x, jump }) => `${title} ${formatNumber(x)}: ${jump.toFixed(2)}`),
);
console.log(knees.length > 0 ? `\nknees: ${knees.join("; ")}` : `\nno knee: no jump above ${maxJump}`);
process.exit(knees.length > 0 ? 1 : 0);
