// What checks stand on: the target, one connection that is kept open, and what was seen of one in each revision.
import type { JsonObject, Revision } from "plenum";
import type { HttpAuth } from "plenum/http/client";
import type { Opened } from "../session.ts";
import type { TargetSpec } from "../target/spec.ts";
import type { ByHand } from "./by-hand.ts";
import type { Prober } from "./http-probe.ts";
import {
  type Account,
  type Answer,
  type Attempt,
  askAlone,
  beginVisit,
  capabilityOf,
  listNames,
  type Visit,
  type VisitOptions,
} from "./visit.ts";
import { wrongQuestions } from "./wrong-questions.ts";

/** One try to connect, in one revision or without saying which. */
export interface Stay {
  /** Undefined: what both sides agree on. */
  readonly asked: Revision | undefined;
  readonly record: Account;
  /** Undefined where there was no connection to be had. */
  readonly visit: Visit | undefined;
  readonly error: unknown;
}

export interface Ground {
  readonly spec: TargetSpec;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Tools that are marked read-only may be called. */
  readonly mayCall: boolean;
  /** The connection without a pinned revision. Throws where there is none: checks that need none say so in their record. */
  readonly main: Visit;
  readonly first: Stay;
  /** Whether the server ended meanwhile; then there is a new connection, if one is to be had. */
  reopen(): Promise<boolean>;
  /** The first, and one for each revision. */
  readonly stays: readonly Stay[];
  /** The server as a process that is spoken to by hand: the one that lives, else a new one. For targets on stdio. */
  byHand(): Promise<ByHand>;
  /** Sends single requests over HTTP. For targets at a URL. */
  prober(): Promise<Prober>;
  /** One request on a connection of its own, the first that is sent. */
  askAlone(message: JsonObject & { readonly id: string }): Promise<Answer>;
  /** Opens one more connection. */
  visit(revision: Revision): Promise<Visit>;
  close(): Promise<void>;
}

export interface GroundOptions extends Omit<VisitOptions, "revision"> {
  /** Speak this and no other. */
  readonly pinned: Revision | undefined;
  readonly spec: TargetSpec;
  readonly opened: Opened;
  /** What gives leave to single requests, for targets at a URL. */
  readonly auth: () => Promise<HttpAuth | undefined>;
  readonly mayCall: boolean;
  /** Newest first; none where no check looks at them. */
  readonly revisions: readonly Revision[];
  readonly onProgress: (text: string) => void;
}

/** Connects once without a revision, and once in each. Rejects only when the user gives up. */
export async function createGround(options: GroundOptions): Promise<Ground> {
  const { spec, opened, signal, revisions, onProgress } = options;
  const closings: Promise<unknown>[] = [];
  const begin = (revision: Revision | undefined): Attempt => beginVisit(opened.target, { ...options, revision });
  const stay = async (asked: Revision | undefined): Promise<Stay> => {
    const { record, opened: opening } = begin(asked);
    try {
      return { asked, record, visit: await opening, error: undefined };
    } catch (error) {
      signal.throwIfAborted();
      return { asked, record, visit: undefined, error };
    }
  };
  const stays: Stay[] = [];
  const closeAll = (): Promise<unknown> => Promise.all([...closings, first?.visit?.close().catch(() => {})]);
  let first: Stay | undefined;
  try {
    onProgress(`Connecting to ${spec.name} …`);
    first = await stay(options.pinned);
    stays.push(first);
    // Who settles on a revision with sessions was asked for the one without them before.
    const isSettled = first.visit?.isStateless === false;
    for (const revision of revisions.filter((one) => !isSettled || one < "2026-07-28")) {
      onProgress(`Connecting in ${revision} …`);
      const one = await stay(revision);
      stays.push(one);
      if (!one.visit) continue;
      try {
        await tour(one.visit);
      } finally {
        // It may take its time to end, and nobody waits for it.
        closings.push(one.visit.close().catch(() => {}));
      }
    }
  } catch (error) {
    await closeAll();
    throw error;
  }
  return toGround(options, first, stays, begin, closeAll);
}

function toGround(
  { spec, opened, auth, timeoutMs, signal, mayCall }: GroundOptions,
  first: Stay,
  stays: readonly Stay[],
  begin: (revision: Revision | undefined) => Attempt,
  closeAll: () => Promise<unknown>,
): Ground {
  let hand: ByHand | undefined;
  let probing: Promise<Prober> | undefined;
  let main = first.visit;
  return {
    spec,
    timeoutMs,
    signal,
    mayCall,
    first,
    stays,
    get main() {
      if (!main) throw new Error("There is no connection");
      return main;
    },
    async reopen() {
      if (!main?.isOver) return false;
      main = await begin(first.asked).opened;
      return true;
    },
    async byHand() {
      if (hand && !hand.isOver) return hand;
      if (spec.kind !== "command" || !first.visit) throw new Error("Only a process is spoken to by hand");
      const { startByHand } = await import("./by-hand.ts");
      hand = await startByHand(spec, first.visit.revision, timeoutMs);
      return hand;
    },
    prober() {
      probing ??= (async () => {
        if (spec.kind !== "url") throw new Error("Only a server at a URL is sent single requests");
        const { createProber } = await import("./http-probe.ts");
        const revision = first.visit?.revision ?? "2025-11-25";
        const sessioned = stays.flatMap(({ visit }) => (visit && !visit.isStateless ? [visit.revision] : []));
        const [newest] = sessioned.sort().reverse();
        return createProber({ spec, auth: await auth(), revision, sessioned: newest, timeoutMs, signal });
      })();
      return probing;
    },
    askAlone: (message) => askAlone(opened.target, message, timeoutMs),
    visit: (revision) => begin(revision).opened,
    async close() {
      await Promise.all([hand?.kill(), main?.close().catch(() => {}), closeAll()]);
    },
  };
}

/** Asks for what every revision answers in its own way: what came is looked at by the checks of messages and errors. */
async function tour(visit: Visit): Promise<void> {
  for (const name of listNames) if (visit.declares(capabilityOf[name])) await visit.list(name);
  if (!visit.isStateless) await visit.askOnce("ping");
  for (const ask of Object.values(wrongQuestions)) await ask(visit);
}
