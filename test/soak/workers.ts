// One client under load: connects, makes calls of all kinds, checks every answer, closes, and begins again, until the time
// is over.
import { type Client, connect, McpError, type Revision } from "plenum";

export interface WorkerPlan {
  readonly url: string;
  readonly revision: Revision;
  /** Asks and listening need a session, or 2026-07-28. */
  readonly isSessionless: boolean;
}

export interface Tally {
  /** Milliseconds that each call took, by its kind. */
  readonly times: Map<string, number[]>;
  readonly errors: string[];
  connects: number;
  /** Notifications that came on listening streams. */
  heard: number;
  /** Clients that listened for longer than a tick takes and heard nothing. */
  deaf: number;
}

export const createTally = (): Tally => ({ times: new Map(), errors: [], connects: 0, heard: 0, deaf: 0 });

const callsPerClient = 150;
const kinds = ["echo", "echo", "echo", "tell", "echo", "list", "ask", "echo", "tell", "read", "wait"] as const;
type Kind = (typeof kinds)[number];

/** Without a session nobody can be asked, and nothing cancelled: those calls would run for ever. */
function isPossible(kind: Kind, { revision, isSessionless }: WorkerPlan): boolean {
  if (kind === "ask") return !isSessionless && revision >= "2025-06-18";
  return kind !== "wait" || !isSessionless;
}

/** Runs until the time given, as `Date.now()` has it, and a little longer: what has begun is ended. */
export async function work(plan: WorkerPlan, name: string, until: number, tally: Tally): Promise<void> {
  for (let round = 0; Date.now() < until && tally.errors.length < 20; round++) {
    try {
      await oneClient(plan, `${name}.${round}`, until, tally);
    } catch (error) {
      tally.errors.push(`${plan.revision}${plan.isSessionless ? " sessionless" : ""} ${name}: ${explain(error)}`);
    }
  }
}

async function oneClient(plan: WorkerPlan, name: string, until: number, tally: Tally): Promise<void> {
  const { url, revision, isSessionless } = plan;
  const since = Date.now();
  let heard = 0;
  const client = await connect(url, {
    revision,
    timeoutMs: 20_000,
    asksPerMinute: 1_000_000,
    cache: false,
    onElicit: ({ message }) => ({ action: "accept", content: { answer: message } }),
    onWarning: (problem) => tally.errors.push(`warning: ${problem}`),
    ...(!isSessionless && { onListChanged: () => void heard++, onResourceUpdated: () => void heard++ }),
  });
  tally.connects++;
  try {
    if (!isSessionless) await client.subscribe("clock://tick");
    for (let i = 0; i < callsPerClient && Date.now() < until; i++) {
      const kind = kinds[i % kinds.length] as Kind;
      if (!isPossible(kind, plan)) continue;
      const began = performance.now();
      await calls[kind](client, `${name}.${i}`);
      const times = tally.times.get(kind) ?? [];
      tally.times.set(kind, times);
      times.push(performance.now() - began);
    }
  } finally {
    tally.heard += heard;
    if (!isSessionless && heard === 0 && Date.now() - since > 2000) tally.deaf++;
    await client.close();
  }
}

const calls: { readonly [K in Kind]: (client: Client, key: string) => Promise<void> } = {
  async echo(client, key) {
    assertIs((await client.callTool("echo", { text: key })).text, key);
  },
  async tell(client) {
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }): unknown => seen.push(progress);
    assertIs((await client.callTool("tell", { count: 6 }, { onProgress })).text, "told 6");
    assertIs(seen.join(), "1,2,3,4,5,6");
  },
  async list(client) {
    assertIs(`${(await client.listTools().all()).length}`, "4");
  },
  async ask(client, key) {
    assertIs((await client.callTool("ask", { name: key })).text, `accept Who is ${key}?`);
  },
  async read(client) {
    const { contents } = await client.readResource("clock://tick");
    assertIs(`${contents.length}`, "1");
  },
  async wait(client) {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 5);
    const ended = await client.callTool("wait", {}, { signal: stop.signal }).catch((error) => error);
    assertIs(ended instanceof McpError ? ended.code : explain(ended), "aborted");
  },
};

function assertIs(got: string, expected: string): void {
  if (got !== expected) throw new Error(`expected ${expected}, not ${got}`);
}

function explain(error: unknown): string {
  return error instanceof McpError ? `${error.code}: ${error.message}` : `${error}`;
}
