// The sessions of one HTTP server: made by a handshake, found by their id and their owner, ended by the client, by idleness
// and by age. Nobody else's session can be told from one that never was.
import type { Incoming } from "../../jsonrpc/message.ts";
import type { Serving } from "../../protocol/negotiate.ts";
import { measureJson } from "../../util/json-tree.ts";
import { unref } from "../../util/unref.ts";
import { HttpFault } from "./exchange.ts";
import type { SessionSettings } from "./options.ts";

/** What the table knows of a session: its kind of connection is its own affair. */
export interface Lasting {
  readonly id: string;
  readonly owner: string;
  readonly createdAt: number;
  usedAt: number;
  /** Something came of it besides its handshake. */
  isUsed: boolean;
  readonly serving: Serving;
  readonly isBusy: boolean;
  /** Lets go of what nobody will ask for any more. */
  forget?(before: number): void;
}

export interface Table<S extends Lasting> {
  /** Throws an HttpFault: 404 where there is none, or none of this owner's. */
  find(id: string, owner: string): S;
  /** Throws an HttpFault: 503 where there are too many. */
  assertRoom(): void;
  /** Keeps a place, and the id, for a session whose handshake goes on. */
  claim(session: S): void;
  add(session: S): void;
  has(id: string): boolean;
  /** Only this one: its id may be another's by now. */
  delete(session: S): void;
  values(): Iterable<S>;
  /** Ends all of them, and the handshakes that go on; settles when they have ended. */
  close(graceMs: number): Promise<void>;
}

/** How long the events of a stream that has ended are kept. */
const lateMs = 300_000;
const longestSweepMs = 60_000;
/** To look through all of them costs something: whoever is refused does not set it going each time. */
const crowdedSweepMs = 1000;
/** Where there is no room, a session must have been used by then. */
const unusedMs = 60_000;

export function createTable<S extends Lasting>({ max, idleMs, maxAgeMs }: SessionSettings): Table<S> {
  const sessions = new Map<string, S>();
  const claims = new Map<string, S>();
  let isClosed = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setInterval> | undefined;

  function isOver(session: S, now: number): boolean {
    return now - session.createdAt >= maxAgeMs || (now - session.usedAt >= idleMs && !session.isBusy);
  }

  /** @param isCrowded somebody wants a place: who has made nothing of one gives it up */
  function sweep(isCrowded = false): void {
    const now = Date.now();
    if (isCrowded) sweptAt = now;
    for (const session of sessions.values()) {
      // Who loses a stream that was open for hours has time enough to come back.
      if (session.isBusy) session.usedAt = now;
      const isUnused = isCrowded && !session.isUsed && now - session.createdAt >= unusedMs;
      if (isUnused || isOver(session, now)) end(session);
      else session.forget?.(now - lateMs);
    }
    if (sessions.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function end(session: S): void {
    sessions.delete(session.id);
    session.serving.close();
  }

  return {
    find(id, owner) {
      const session = sessions.get(id);
      const now = Date.now();
      if (!session || session.owner !== owner) throw noSession();
      if (isOver(session, now)) {
        end(session);
        throw noSession();
      }
      session.usedAt = now;
      session.isUsed = true;
      return session;
    },
    assertRoom() {
      const isFull = (): boolean => sessions.size + claims.size >= max;
      if (isFull() && Date.now() - sweptAt >= crowdedSweepMs) sweep(true);
      if (isFull())
        throw new HttpFault(503, "Too many sessions are open. Try again later", -32603, { "retry-after": "30" });
    },
    claim(session) {
      claims.set(session.id, session);
    },
    add(session) {
      claims.delete(session.id);
      sessions.set(session.id, session);
      if (isClosed) return;
      const sweepMs = Math.min(longestSweepMs, Math.max(50, Math.min(idleMs, maxAgeMs) / 4));
      timer ??= unref(setInterval(() => sweep(), sweepMs));
    },
    delete(session) {
      for (const kept of [claims, sessions]) if (kept.get(session.id) === session) kept.delete(session.id);
    },
    has: (id) => sessions.has(id) || claims.has(id),
    values: () => sessions.values(),
    async close(graceMs) {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      const open = [...claims.values(), ...sessions.values()];
      for (const { serving } of open) serving.close(graceMs);
      await Promise.all(open.map(({ serving }) => serving.closed));
    },
  };
}

/** What a client says of itself is kept with its session, and thousands may be open: its characters, and about what a value takes. */
const maxIntroduction = 65_536;
const valueBytes = 64;

/** Throws an HttpFault, 413, for an `initialize` that is too large to be kept. */
export function assertBrief(incoming: Incoming): void {
  if (incoming.kind !== "request" || incoming.message.method !== "initialize") return;
  if (measureJson(incoming.message.params, maxIntroduction, valueBytes) > maxIntroduction)
    throw new HttpFault(
      413,
      "What initialize says of its client is too much: leave out what is large, such as icons",
      -32602,
    );
}

function noSession(): HttpFault {
  return new HttpFault(404, "There is no such session. Open a new one with initialize", -32001);
}

/** Nobody guesses one, and no two are alike. */
export function createSessionId({ createId }: SessionSettings, taken: (id: string) => boolean): string {
  if (!createId) return crypto.randomUUID();
  const id = createId();
  assertSessionId(id);
  if (taken(id)) throw new TypeError("sessions.createId gave the id of a session that is open");
  return id;
}

/** Throws a TypeError for what is no id of a session: an application's `createId` made it. */
export function assertSessionId(id: unknown): asserts id is string {
  if (typeof id !== "string" || !/^[\x21-\x7e]{16,256}$/.test(id))
    throw new TypeError("sessions.createId must give 16 to 256 visible ASCII characters, without spaces");
}
