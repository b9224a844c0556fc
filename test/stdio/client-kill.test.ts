// Two hundred servers are ended at random moments, by us or by somebody else. Whatever the moment: no process is left,
// every promise settles, and nothing is held. PLENUM_KILL_ROUNDS and PLENUM_KILL_SEED choose others.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { countHeld, findMarked, openStage, type Stage } from "./stage.ts";

const rounds = Number(process.env.PLENUM_KILL_ROUNDS ?? 200);
const seed = Number(process.env.PLENUM_KILL_SEED ?? 20260728);
const lanes = 8;

/** Mulberry32: small, and the same everywhere. */
function createRandom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof createRandom>;

function kill(stage: Stage): void {
  try {
    process.kill(stage.channel.pid, "SIGKILL");
  } catch {
    // It was faster.
  }
}

/** What goes on when the end comes. Each leaves promises behind that must settle. */
const phases: Readonly<Record<string, (stage: Stage, random: Random) => Promise<Promise<unknown>[]>>> = {
  async start() {
    return [];
  },
  async call(stage) {
    return [stage.request("hang"), stage.request("echo", { text: "x" })];
  },
  async idle(stage) {
    await stage.request("who");
    return [];
  },
  async write(stage, random) {
    const text = "x".repeat(1 + random(3_000_000));
    return [stage.request("echo", { text }), stage.request("echo", { text })];
  },
  async stderr(stage) {
    return [stage.request("stderr", { text: "y".repeat(10_000), times: 200 })];
  },
  async descendant(stage, random) {
    await stage.request("spawn", random(2) ? { flags: ["--trap"] } : {});
    return [stage.request("hang")];
  },
  async spawning(stage) {
    return [stage.request("spawn", { stdio: "ignore" })];
  },
  async session(stage) {
    await stage.request("spawn", { detached: true, stdio: "ignore" });
    return [stage.request("hang")];
  },
};

const ends: Readonly<Record<string, (stage: Stage, random: Random) => Promise<void>>> = {
  async kill(stage) {
    kill(stage);
  },
  async close(stage) {
    stage.connection.close();
  },
  async closeThenKill(stage, random) {
    stage.connection.close();
    await sleep(random(60));
    kill(stage);
  },
  async killThenClose(stage, random) {
    kill(stage);
    if (random(2)) await sleep(random(5));
    stage.channel.close();
  },
};

async function playRound(random: Random): Promise<string> {
  const pick = (record: object): string => Object.keys(record)[random(Object.keys(record).length)] as string;
  const phase = pick(phases);
  // Of a server that somebody else kills, a descendant in another session cannot be found any more.
  const end = phase === "session" ? "close" : pick(ends);
  const flags = ["--ignore-eof", "--trap"].filter(() => random(4) === 0);
  const what = `${phase}, ${end}, ${flags.join(" ")}`;
  const stage = await openStage({ flags, closeMs: 30 + random(120), killMs: 30 + random(120) });
  const promises = (await phases[phase]?.(stage, random)) ?? [];
  if (random(2)) await sleep(random(80));
  await ends[end]?.(stage, random);
  const settled = Promise.all([...promises, stage.closed, stage.channel.ended]);
  const isSettled = await Promise.race([settled.then(() => true), sleep(20_000, false, { ref: false })]);
  expect(isSettled, `promises hang: ${what}`).toBe(true);
  expect(findMarked(stage.mark), `processes are left: ${what}`).toEqual([]);
  return what;
}

watchStrays();

test.runIf(process.platform === "linux")(
  "no orphan, no promise that hangs, nothing held",
  { timeout: 180_000 },
  async () => {
    const before = countHeld();
    const random = createRandom(seed);
    const seeds = Array.from({ length: rounds }, () => random(2 ** 31));
    const played: string[] = [];
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let next = seeds.pop(); next !== undefined; next = seeds.pop())
          played.push(await playRound(createRandom(next)));
      }),
    );
    expect(played).toHaveLength(rounds);
    if (rounds >= 200) expect(new Set(played.map((what) => what.split(", ")[0])).size).toBe(Object.keys(phases).length);
    await expect.poll(countHeld).toEqual(before);
  },
);
