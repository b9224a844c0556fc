// What hosts are connected to in place of the server itself: an endpoint that passes calls on to the process that runs the newest
// version of a file. Sessions, subscriptions and the state of calls live on this side of it, and so survive every reload.
import { randomBytes, randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Call, Change, Description, Endpoint, Result, Rounds, ServerCapabilities } from "plenum";
import { methods } from "plenum/protocol";
import type { Failure } from "../failure.ts";
import { type Output, toHarmless } from "../output.ts";
import { toFailure } from "../show-failure.ts";
import type { FileSpec } from "../target/spec.ts";
import { type Child, startChild } from "./child.ts";
import { ReportedError } from "./fault.ts";
import { watchFiles } from "./files.ts";
import { type Digests, type Facts, listKinds } from "./messages.ts";
import { portTaken } from "./port-taken.ts";
import { answerAlone, changedLists, noLists, toEmptyList, toUnknown, widen } from "./surface.ts";

export interface SupervisorOptions {
  readonly spec: FileSpec;
  /** What calls in flight are given to finish when a new version is there. */
  readonly graceMs: number;
  /** A folder with packages that the file may import besides its own. */
  readonly extras: string | undefined;
  readonly output: Output;
  /** Called when a process of the server's has ended: at its end Node sets the terminal as it found it, ours or not. */
  readonly onEnd?: () => void;
}

export interface Supervisor {
  readonly endpoint: Endpoint;
  /** Loads the file anew, changed or not. */
  reload(): void;
  /** Ends the processes. */
  close(): Promise<void>;
}

/** A version with what it takes to compare it with the next. */
interface Version {
  readonly child: Child;
  /** Known when they are asked for: by the first call, since listing may do what only a call should. */
  digests: Promise<Digests> | undefined;
}

/** A load that takes longer is given up when the files have changed meanwhile. */
const patienceMs = 5000;
/** Then people are told that it is still loading. */
const slowMs = 5000;
/** How long a call waits where there is no version at all. Hosts give up after a minute. */
const waitMs = 30_000;
/** Before a server that crashed is started again; doubled each time, until it has lived for `calmMs`. */
const firstPauseMs = 100;
const longestPauseMs = 5000;
const calmMs = 10_000;
/** How long servers may take to close when all ends. */
const closingMs = 4000;
/** Resources that are remembered to be watched. */
const maxWatched = 1000;

const kinds: ReadonlySet<string> = new Set(listKinds);
const requests = methods.filter(({ kind, from }) => kind === "request" && from !== "server").map(({ name }) => name);
const isRequest: ReadonlySet<string> = new Set(requests);

export function createSupervisor({ spec, graceMs, extras, output, onEnd }: SupervisorOptions): Supervisor {
  const name = basename(spec.path);
  const listeners = new Set<(change: Change) => void>();
  const retiring = new Map<Child, Promise<void>>();
  const watched = new Set<string>();
  /** Calls that wait for a version. */
  const waiting = new Set<() => void>();
  const files = watchFiles(reload);
  let facts = toUnknown(name);
  let description = toDescription(facts);
  let current: Version | undefined;
  /** Started, and told nothing yet. */
  let spare: Child | undefined = start();
  let loading: { readonly child: Child; readonly since: number } | undefined;
  /** Settles when a version is there, or is known not to be had. */
  let pending: Promise<void> | undefined;
  let isStale = false;
  let isUsed = false;
  let why = "";
  let count = 0;
  let crashes = 0;
  let isClosed = false;

  function start(): Child {
    return startChild(extras === undefined ? process.env : { ...process.env, NODE_PATH: toPath(extras) }, onEnd);
  }

  function learn({ child }: Version): void {
    facts = child.facts;
    description = toDescription(facts);
  }

  function tell(change: Change): void {
    for (const listener of listeners) listener(change);
  }

  function reload(): void {
    if (isClosed) return;
    if (!loading) {
      pending = load();
      return;
    }
    isStale = true;
    const { child, since } = loading;
    const giveUp = (): void => {
      if (loading?.child === child) child.kill();
    };
    setTimeout(giveUp, since + patienceMs - Date.now()).unref();
  }

  /** Loads until what was loaded is what the files are. */
  async function load(): Promise<void> {
    let replaced: Version | undefined;
    do {
      isStale = false;
      const child = spare ?? start();
      spare = undefined;
      const since = Date.now();
      loading = { child, since };
      files.begin();
      const version: Version = { child, digests: undefined };
      const slow = setTimeout(showSlow, slowMs);
      try {
        await child.load(
          { spec, methods: requests, extras },
          { file: files.add, changed: (change) => onChanged(version, change), gone: (how) => onGone(version, how) },
        );
        if (isClosed) child.kill();
        else take(version, since, current ?? replaced);
      } catch (error) {
        child.kill();
        const holder = (error as Partial<Failure>).code === portTaken && !replaced ? current : undefined;
        if (!isClosed && !isStale) showBroken(error, holder !== undefined);
        if (holder && !isClosed) {
          replaced = holder;
          current = undefined;
          isStale = true;
          await retire(holder.child);
        }
        files.fail();
      } finally {
        clearTimeout(slow);
      }
      loading = undefined;
      if (!isClosed) spare ??= start();
    } while (isStale && !isClosed);
    pending = undefined;
  }

  function showSlow(): void {
    output.warn(`${name} is still loading, after ${slowMs / 1000} s: does it wait for something? ${going()}`);
  }

  function going(): string {
    return current ? "The version before goes on serving." : "Calls wait until it has loaded.";
  }

  function take(version: Version, since: number, before: Version | undefined): void {
    current = version;
    learn(version);
    for (const resume of waiting) resume();
    waiting.clear();
    why = "";
    output.note(`${name}: ${count++ === 0 ? "loaded" : `reloaded (${count})`} in ${Date.now() - since} ms`);
    files.commit();
    if (isUsed) void compare(before, version);
    if (before) void retire(before.child);
    setTimeout(() => {
      if (current === version) crashes = 0;
    }, calmMs).unref();
  }

  /** Tells of what is not what it was. What is watched may be, too: nobody else would say so. */
  async function compare(before: Version | undefined, version: Version): Promise<void> {
    version.digests = version.child.digests();
    const [then, now] = await Promise.all([before ? (before.digests ?? {}) : noLists, version.digests]);
    for (const kind of changedLists(then, now)) tell({ kind });
    for (const uri of watched) tell({ kind: "resource", uri });
  }

  function retire(child: Child): Promise<void> {
    const ending = child.retire(graceMs).finally(() => retiring.delete(child));
    retiring.set(child, ending);
    return ending;
  }

  /** @param isHeld the version before has the port that this one wants */
  function showBroken(error: unknown, isHeld: boolean): void {
    const { message, hint: given } = toFailure(error);
    const hint = isHeld
      ? "The version before still holds that port. It is ended first, and this one is loaded once more."
      : given;
    why = `${name} does not load. ${message.split("\n", 1)[0]}`;
    const fate = isHeld ? "" : current ? " The version before goes on serving." : " Calls fail until it is mended.";
    const words = [`${output.paintNote("red", "error:")} ${name} does not load.${fate}`, toHarmless(message)];
    process.stderr.write(`${[...words, ...(hint ? [toHarmless(hint)] : [])].join("\n")}\n`);
  }

  function onChanged(version: Version, change: Change): void {
    if (version !== current) {
      // Its last calls may still have something to tell; its lists are nobody's any more.
      if (change.kind === "resource" || change.kind === "elicitation") tell(change);
      return;
    }
    learn(version);
    // It would end the connections, which are ours to keep.
    if (change.kind === "closing") {
      output.note(`${name}: the server closed itself. A save loads it again.`);
      return;
    }
    if (version.digests && kinds.has(change.kind)) version.digests = version.child.digests();
    tell(change);
  }

  function onGone(version: Version, how: string): void {
    if (version !== current || isClosed) return;
    current = undefined;
    const pauseMs = Math.min(firstPauseMs * 2 ** crashes++, longestPauseMs);
    output.warn(`${name}: the server ended: ${how}. It is started again.`);
    // A version that is being loaded takes its place; else it is the same once more.
    pending ??= new Promise<void>((resolve) => setTimeout(resolve, pauseMs)).then(() =>
      loading || current || isClosed ? undefined : load(),
    );
  }

  async function find(): Promise<Version | undefined> {
    // Loading goes on for as long as files change: a version that is there answers meanwhile.
    const giveUp = Date.now() + waitMs;
    while (!current && pending && Date.now() < giveUp) {
      const { promise, end } = untilVersion(giveUp - Date.now());
      await Promise.race([pending, promise]);
      end();
    }
    return current;
  }

  function untilVersion(ms: number): { readonly promise: Promise<void>; end(): void } {
    let end = (): void => {};
    const promise = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      waiting.add(resolve);
      end = () => {
        clearTimeout(timer);
        waiting.delete(resolve);
      };
    });
    return { promise, end };
  }

  async function call(given: Call): Promise<Result> {
    for (;;) {
      const version = await find();
      // Cancelled while there was no server: nobody hears the answer, and nothing is to be done.
      given.link.signal.throwIfAborted();
      isUsed = true;
      if (!version) return answerAlone(given, description, loading ? `${name} is still loading` : why);
      version.digests ??= version.child.digests();
      const empty = toEmptyList(given.method, version.child.facts);
      if (empty) return empty;
      const answer = version.child.call(given);
      if (answer) return finish(given, await answer, version);
      // It is gone, and nobody has heard of it yet.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  function finish({ method, params }: Call, result: Result, { child }: Version): Result {
    if (method === "initialize" || method === "server/discover")
      return { ...result, capabilities: widen(result.capabilities as ServerCapabilities) };
    // Calls that run hear of it when the session has it.
    if (method === "logging/setLevel") setImmediate(() => child.relevel());
    if (method === "resources/subscribe") watch([params.uri]);
    if (method === "subscriptions/listen") watch((result.resourceSubscriptions ?? []) as unknown[]);
    return result;
  }

  function watch(uris: readonly unknown[]): void {
    for (const uri of uris) if (typeof uri === "string" && watched.size < maxWatched) watched.add(uri);
  }

  const rounds: Rounds = {
    secrets: [randomBytes(32)],
    // As long as anybody is connected, this process is there.
    isGenerated: false,
    get maxStateBytes() {
      return facts.maxStateBytes ?? 131_072;
    },
    store: undefined,
  };

  const endpoint: Endpoint = {
    describe: () => description,
    // Of methods that no revision defines the worker knows; it says so if there is none.
    handles: (method) => !isRequest.has(method) || facts.byHand.includes(method),
    call,
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    report(error, { method, ended }) {
      if (error instanceof ReportedError) return error.errorId;
      const errorId = randomUUID();
      if (!ended) output.warn(toHarmless(`${method} failed (${errorId}): ${String(error)}`));
      return errorId;
    },
    cacheHints: () => facts.hints,
    rounds,
  };

  pending = load();

  return {
    endpoint,
    reload,
    async close() {
      isClosed = true;
      files.close();
      tell({ kind: "closing" });
      spare?.kill();
      loading?.child.kill();
      const rest = [...retiring.keys(), ...(current ? [current.child] : [])];
      const timer = setTimeout(() => {
        for (const child of rest) child.kill();
      }, closingMs);
      await Promise.all(rest.map((child) => child.retire(1)));
      clearTimeout(timer);
    },
  };
}

function toDescription({ description }: Facts): Description {
  return { ...description, capabilities: widen(description.capabilities) };
}

/** Where `require` looks besides; `import` is led there by the worker. */
function toPath(extras: string): string {
  const { NODE_PATH } = process.env;
  const separator = process.platform === "win32" ? ";" : ":";
  return [NODE_PATH, `${extras}/node_modules`].filter(Boolean).join(separator);
}
