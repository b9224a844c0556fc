// The life of a client's connection: opened, kept alive, lost, opened again. What is to hold on every connection (what
// is watched, the log level) is kept here and brought about anew after a restart.

import { type Channel, ChannelFault, type Mirror, type Target } from "../jsonrpc/channel.ts";
import { type DialOptions, dial, lostInProbe } from "../protocol/dial.ts";
import { McpError } from "../protocol/errors.ts";
import type { LogLevel } from "../protocol/model.ts";
import { connectionLost } from "../protocol/outcome.ts";
import type { Listener, Remote, RemoteRequestOptions, Watched } from "../protocol/remote.ts";
import type { Revision } from "../protocol/revisions.ts";
import { within } from "../util/abort.ts";
import { callBack } from "../util/call-back.ts";
import { createLru } from "../util/lru.ts";
import type { ClientOptions, ConnectionState, RestartOptions } from "./options.ts";
import type { Reopener } from "./reopen.ts";

export interface Line {
  readonly state: ConnectionState;
  /** The one in use now, or the last one. */
  readonly remote: Remote;
  /**
   * Runs a task on the connection, waiting for one that is being opened again.
   * @param isSafe the task may be run a second time if the connection is lost meanwhile and opened again
   * @param explain what the error is to be told as, or a promise of it
   */
  run<T>(
    task: (remote: Remote) => Promise<T>,
    isSafe: boolean,
    options: RemoteRequestOptions,
    explain?: (error: unknown) => unknown,
  ): Promise<T>;
  watch(watched: Watched, options?: RemoteRequestOptions): Promise<void>;
  setLogLevel(level: LogLevel, options?: RemoteRequestOptions): Promise<void>;
  close(): Promise<void>;
}

// What servers were found to speak, by configuration: the next connection to one asks for less.
const verdicts = createLru<Revision>({ maxEntries: 1000, maxWeight: 1000 });

/** Opens the first connection. Throws McpError when that fails: nothing is tried again before there was one. */
export async function openLine(
  target: Target,
  options: ClientOptions & { readonly info: DialOptions["info"] },
  listener: Listener,
  mirror?: Mirror,
): Promise<Line> {
  const { pingIntervalMs, onStateChange } = options;
  let state: ConnectionState = "connecting";
  let remote: Remote;
  let channel: Channel | undefined;
  let logLevel = options.logLevel;
  let watched: Watched = { lists: [], uris: [] };
  let reopening: Promise<void> | undefined;
  let lastCause: unknown;
  let reopener: Reopener | undefined;
  let openedAt = 0;
  /** A connection that ended before it was put to use. */
  let early: { readonly cause: unknown } | undefined;
  /** Why what the server sends by itself does not come through for now. */
  let interruption: unknown;
  const closing = new AbortController();
  const isUp = (): boolean => state === "open" || state === "reconnecting";

  function become(next: ConnectionState, cause?: unknown): void {
    state = next;
    callBack(
      () => onStateChange?.(next, cause),
      (problem) => listener.warn(`onStateChange failed: ${problem}`),
    );
  }

  const connectTimeoutMs = options.connectTimeoutMs ?? 60_000;

  /** A new channel, if it comes in time; one that comes later is closed. */
  async function openChannel(signal: AbortSignal | undefined): Promise<Channel> {
    if (signal?.aborted) throw toAborted(signal.reason);
    const opening = Promise.resolve(target.open(mirror));
    return within(opening, connectTimeoutMs, signal, (isOver, reason) => {
      opening.then(
        (late) => {
          // Nothing is to come of it: closed as soon as it may be.
          late.open({ receive() {}, closed() {} });
          late.close();
        },
        () => {},
      );
      if (!isOver) return toAborted(reason);
      return new McpError("timeout", `${target.name} could not be reached in ${connectTimeoutMs} ms`);
    });
  }

  async function dialOnce(known: Revision | undefined, signal: AbortSignal | undefined): Promise<Remote> {
    channel = await openChannel(signal);
    early = undefined;
    interruption = undefined;
    const opened = await dial(channel, {
      info: options.info,
      listener,
      pinned: options.revision,
      known,
      probeTimeoutMs: options.probeTimeoutMs ?? 5000,
      timeoutMs: connectTimeoutMs,
      signal,
      maxRounds: options.maxRounds ?? 16,
      logLevel,
      readsLog: options.onLog !== undefined,
      onClose: lost,
      onInterrupted(cause) {
        interruption = cause;
        if (state === "open" && cause !== undefined) become("reconnecting", cause);
        else if (state === "reconnecting" && cause === undefined) become("open");
      },
    });
    // What a client is held to says nothing of what the server could speak.
    if (target.key !== undefined && options.revision === undefined) verdicts.set(target.key, opened.revision, 1);
    return opened;
  }

  async function open(signal: AbortSignal | undefined): Promise<void> {
    const known = target.key === undefined ? undefined : verdicts.get(target.key);
    try {
      remote = await dialOnce(known, signal);
    } catch (error) {
      if (!(error instanceof Error && lostInProbe in error)) throw error;
      await channel?.ended;
      // It did not survive the question what it speaks: asked nothing, it may do better.
      remote = await dialOnce("2025-11-25", signal);
    }
  }

  const pings =
    pingIntervalMs === undefined
      ? undefined
      : (await import("./pings.ts")).createPings(pingIntervalMs, options, {
          isInUse: (of) => of === remote && isUp(),
          warn: listener.warn,
          lost,
        });

  function lost(cause: unknown): void {
    pings?.stop();
    if (state === "closed") return;
    if (!isUp()) {
      early = { cause };
      return;
    }
    lastCause = cause;
    const isRenewable = cause instanceof ChannelFault && cause.isRenewable;
    const restart = options.restart ?? (isRenewable || (remote.isResumable && target.restarts === true));
    if (restart === false) {
      become("closed", cause);
      return;
    }
    state = "restarting";
    // Before anybody is told: what is asked for from there waits as well.
    reopening = reopen(restart, cause).finally(() => {
      reopening = undefined;
    });
    become("restarting", cause);
  }

  async function reopen(settings: RestartOptions | true, cause: unknown): Promise<void> {
    const livedMs = Date.now() - openedAt;
    try {
      const { createReopener } = await import("./reopen.ts");
      reopener ??= createReopener(openAgain, closing.signal);
      await reopener(settings, cause, livedMs);
    } catch (error) {
      lastCause = error;
      if (state === "restarting") become("closed", error);
    }
  }

  async function openAgain(): Promise<void> {
    await channel?.ended;
    await open(closing.signal);
    await remote.watch(watched, { signal: closing.signal }).catch((error) => {
      // What is not there any more keeps nobody from the rest.
      if (!early && !closing.signal.aborted) listener.warn(`Not all is watched as before the restart: ${error}`);
    });
    settled();
  }

  function settled(): void {
    if (early) throw connectionLost("as soon as it was open", early.cause);
    if (closing.signal.aborted) {
      remote.close();
      return;
    }
    openedAt = Date.now();
    become("open");
    if (interruption !== undefined) become("reconnecting", interruption);
    if (remote.hasPing) pings?.begin(remote);
  }

  /** The connection, or the one that is being opened, for which a request waits as long as for an answer. */
  async function current(settings: RemoteRequestOptions): Promise<Remote> {
    if (reopening) {
      const waitMs = toWaitMs(settings);
      await within(reopening, waitMs, settings.signal, (isOver, reason) =>
        isOver ? new McpError("timeout", `There was no connection again in ${waitMs} ms`) : toAborted(reason),
      );
    }
    if (state === "closed") throw toClosed();
    return remote;
  }

  function toClosed(): McpError {
    return closing.signal.aborted
      ? new McpError("connection_lost", "This client is closed")
      : connectionLost("and this client is closed", lastCause);
  }

  become("connecting");
  try {
    await open(options.signal);
    settled();
  } catch (error) {
    closing.abort();
    become("closed", error);
    throw error;
  }

  return {
    get state() {
      return state;
    },
    get remote() {
      return remote;
    },
    run(task, isSafe, settings, explain = (error) => error) {
      const first = reopening || state === "closed" ? current(settings).then(task) : task(remote);
      return first.catch(async (error) => {
        const isLost = error instanceof McpError && error.code === "connection_lost" && !closing.signal.aborted;
        if (!isLost || !(reopening || isUp())) throw await explain(error);
        const isUnrun = error.cause instanceof ChannelFault && error.cause.isUnrun;
        if (!isSafe && !isUnrun) throw await explain(error);
        try {
          return await task(await current(settings));
        } catch (again) {
          throw await explain(again);
        }
      });
    },
    async watch(next, settings) {
      const before = watched;
      watched = next;
      try {
        await (await current(settings ?? {})).watch(next, settings);
      } catch (error) {
        if (watched === next) watched = before;
        throw error;
      }
    },
    async setLogLevel(level, settings) {
      await (await current(settings ?? {})).setLogLevel(level, settings);
      logLevel = level;
    },
    async close() {
      if (!closing.signal.aborted) {
        closing.abort();
        pings?.stop();
        if (state !== "closed") become("closed");
        remote.close();
      }
      await reopening;
      await channel?.ended;
    },
  };
}

/** How long a request may wait for what has to come before it. */
export function toWaitMs({ timeoutMs = 60_000, maxTimeoutMs = 0 }: RemoteRequestOptions): number {
  return Math.min(timeoutMs || Number.POSITIVE_INFINITY, maxTimeoutMs || Number.POSITIVE_INFINITY);
}

function toAborted(reason: unknown): McpError {
  return new McpError("aborted", "The request was aborted", { cause: reason });
}
