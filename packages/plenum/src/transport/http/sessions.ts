// The sessions of one HTTP server: made by a handshake, found by their id and their owner, ended by the client, by idleness
// and by age. Nobody else's session can be told from one that never was.

import type { Endpoint } from "../../protocol/endpoint.ts";
import { type ServeOptions, type Serving, serve } from "../../protocol/negotiate.ts";
import { encodeBase64Url } from "../../util/base64url.ts";
import { unref } from "../../util/unref.ts";
import { HttpFault } from "./exchange.ts";
import { assertSessionId, type HttpSettings, type SessionSettings } from "./options.ts";
import type { Pulse } from "./pulse.ts";
import { type EventBudget, EventLog } from "./resume.ts";
import { SessionChannel } from "./session-channel.ts";

/** What is kept of a session besides: its kind of connection is its own affair. */
export interface Lasting {
  readonly owner: string;
  readonly createdAt: number;
  usedAt: number;
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
  claim(id: string, serving: Serving): void;
  add(id: string, session: S): void;
  has(id: string): boolean;
  /** Only if it is this one's: the id may be another's by now. */
  delete(id: string, serving: Serving): void;
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
  const claims = new Map<string, Serving>();
  /** Nothing came of these but their handshake. */
  const unused = new Set<string>();
  let isClosed = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setInterval> | undefined;

  function isOver(session: S, now: number): boolean {
    if (now - session.createdAt >= maxAgeMs) return true;
    // A stream that was open for hours and is lost now is time enough to come back.
    if (session.isBusy) session.usedAt = now;
    return now - session.usedAt >= idleMs;
  }

  /** @param isCrowded somebody wants a place: who has made nothing of one gives it up */
  function sweep(isCrowded = false): void {
    const now = Date.now();
    if (isCrowded) sweptAt = now;
    for (const [id, session] of sessions) {
      const isUnused = isCrowded && unused.has(id) && now - session.createdAt >= unusedMs;
      if (isUnused || isOver(session, now)) end(id, session);
      else session.forget?.(now - lateMs);
    }
    if (sessions.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function end(id: string, session: S): void {
    sessions.delete(id);
    unused.delete(id);
    session.serving.close();
  }

  return {
    find(id, owner) {
      const session = sessions.get(id);
      const now = Date.now();
      if (!session || session.owner !== owner) throw noSession();
      if (isOver(session, now)) {
        end(id, session);
        throw noSession();
      }
      session.usedAt = now;
      unused.delete(id);
      return session;
    },
    assertRoom() {
      const isFull = (): boolean => sessions.size + claims.size >= max;
      if (isFull() && Date.now() - sweptAt >= crowdedSweepMs) sweep(true);
      if (isFull())
        throw new HttpFault(503, "Too many sessions are open. Try again later", -32603, { "retry-after": "30" });
    },
    claim(id, serving) {
      claims.set(id, serving);
    },
    add(id, session) {
      claims.delete(id);
      sessions.set(id, session);
      unused.add(id);
      if (isClosed) return;
      const sweepMs = Math.min(longestSweepMs, Math.max(50, Math.min(idleMs, maxAgeMs) / 4));
      timer ??= unref(setInterval(() => sweep(), sweepMs));
    },
    delete(id, serving) {
      if (claims.get(id) === serving) claims.delete(id);
      if (sessions.get(id)?.serving !== serving) return;
      sessions.delete(id);
      unused.delete(id);
    },
    has: (id) => sessions.has(id) || claims.has(id),
    values: () => sessions.values(),
    async close(graceMs) {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      const open = [...claims.values(), ...Array.from(sessions.values(), ({ serving }) => serving)];
      for (const serving of open) serving.close(graceMs);
      await Promise.all(open.map(({ closed }) => closed));
    },
  };
}

function noSession(): HttpFault {
  return new HttpFault(404, "There is no such session. Open a new one with initialize", -32001);
}

const idBytes = 24;

/** Nobody guesses one, and no two are alike. */
export function createSessionId({ createId }: SessionSettings, taken: (id: string) => boolean): string {
  const id = createId ? createId() : encodeBase64Url(crypto.getRandomValues(new Uint8Array(idBytes)));
  assertSessionId(id);
  if (taken(id)) throw new TypeError("sessions.createId gave the id of a session that is open");
  return id;
}

/** Opens what serves one session; it is in the table once the handshake has succeeded. */
export function openSession(
  endpoint: Endpoint,
  settings: HttpSettings,
  limits: SessionSettings,
  options: ServeOptions,
  budget: EventBudget,
  pulse: Pulse,
): { readonly channel: SessionChannel; readonly serving: Serving } {
  const log = new EventLog(limits.maxEvents, limits.maxEventBytes, budget);
  const rules = { settings, pulse, polls: () => (serving.revision() ?? "") >= "2025-11-25" };
  const channel = new SessionChannel(rules, log);
  const serving: Serving = serve(endpoint, channel, options);
  return { channel, serving };
}
