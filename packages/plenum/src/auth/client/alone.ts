// One at a time among all who share a store, in whatever process: a lock whose owner says again and again that he lives, so that
// one who was ended is not waited for.
import type { Store } from "../../store/store.ts";

/** How often an owner says that he lives. Most are done before the first time. */
const beatMs = 1000;
const pollMs = 50;
/** So many looks in a row at an owner who says nothing: about five seconds. Counted, since clocks go on while a machine sleeps. */
const maxLooks = 100;
/** What was left lying about goes in time, and long after its owner has come back from a machine that slept. */
const keepMs = 3_600_000;

/**
 * Runs when nobody else does, or whoever does has been silent for seconds.
 * @param signal ends the waiting for it, but not what runs
 */
export async function runAlone<T>(store: Store, key: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const id = crypto.randomUUID();
  await take(store, key, signal, `${id} 0`);
  const release = keep(store, key, id);
  try {
    return await run();
  } finally {
    await release();
  }
}

async function take(store: Store, key: string, signal: AbortSignal, mine: string): Promise<void> {
  let known: string | null = null;
  for (let looks = 0; ; looks++) {
    const found = (await store.get(key)) ?? null;
    if (found !== known) looks = 0;
    known = found;
    const isFree = found === null || looks >= maxLooks;
    if (isFree && (await store.put(key, mine, { expected: found, ttlMs: keepMs }))) return;
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, pollMs * (0.5 + Math.random())));
  }
}

/** Says that the owner lives, until it is told to give the lock back. Never fails: what `run` gave counts. */
function keep(store: Store, key: string, id: string): () => Promise<void> {
  let said = `${id} 0`;
  let beats = 0;
  let saying: Promise<void> = Promise.resolve();
  const say = async (): Promise<void> => {
    const next = `${id} ${++beats}`;
    // Where it is somebody else's by now, because this one stood still for too long, it stays so.
    if (await store.put(key, next, { expected: said, ttlMs: keepMs })) said = next;
  };
  const timer = setInterval(() => {
    saying = saying.then(say).catch(() => {});
  }, beatMs);
  return async () => {
    clearInterval(timer);
    await saying;
    // It ends at once: to delete it could hit another's.
    await store.put(key, said, { expected: said, ttlMs: 1 }).catch(() => {});
  };
}
