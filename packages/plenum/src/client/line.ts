// The life of a client's connection: opened, kept alive, lost, opened again. What is to hold on every connection (what
// is watched, the log level) is kept here and brought about anew after a restart.

import { type Channel, ChannelFault, type Mirror, type Target } from "../jsonrpc/channel.ts";
import { type DialOptions, dial, lostInProbe } from "../protocol/dial.ts";
import { McpError } from "../protocol/errors.ts";
import type { LogLevel } from "../protocol/model.ts";
import { connectionLost } from "../protocol/outcome.ts";
import type { Listener, Remote, RemoteRequestOptions, Watched } from "../protocol/remote.ts";
import type { Revision } from "../protocol/revisions.ts";
import { createLimit, untilAborted } from "../util/abort.ts";
import { callBack } from "../util/call-back.ts";
import { unref } from "../util/unref.ts";
import type { ClientOptions, ConnectionState, RestartOptions } from "./options.ts";

export interface Line {
  readonly state: ConnectionState;
  /** The one in use now, or the last one. */
  readonly remote: Remote;
  /**
   * Runs a task on the connection, waiting for one that is being opened again.
   * @param isSafe the task may be run a second time if the connection is lost meanwhile and opened again
   * @param explain what the error is to be told as
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
const verdicts = new Map<string, Revision>();
const maxVerdicts = 1000;
const shortestPingMs = 100;

/** Opens the first connection. Throws McpError when that fails: nothing is tried again before there was one. */
export async function openLine(
  target: Target,
  options: ClientOptions & { readonly info: DialOptions["info"] },
  listener: Listener,
  mirror?: Mirror,
): Promise<Line> {
  const { pingIntervalMs, pingTimeoutMs = 10_000, maxPingFailures = 3, onStateChange } = options;
  // What is longer than a timer can be would come at once.
  if (pingIntervalMs !== undefined && !(pingIntervalMs >= shortestPingMs && pingIntervalMs < 2 ** 31))
    throw new TypeError(`connect: pingIntervalMs must be ${shortestPingMs} or more, not ${pingIntervalMs}`);
  let state: ConnectionState = "connecting";
  let remote: Remote;
  let channel: Channel | undefined;
  let logLevel = options.logLevel;
  let watched: Watched = { lists: [], uris: [] };
  let reopening: Promise<void> | undefined;
  let lastCause: unknown;
  let pinging: ReturnType<typeof setTimeout> | undefined;
  /** Tries since the connection was last good for a while: a server that dies as soon as it is open is not tried for ever. */
  let attempts = 0;
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
    const limit = createLimit(connectTimeoutMs, signal);
    try {
      return await untilAborted(opening, limit.signal, (reason) => {
        opening.then(
          (late) => {
            // Nothing is to come of it: closed as soon as it may be.
            late.open({ receive() {}, closed() {} });
            late.close();
          },
          () => {},
        );
        if (!limit.isOver) return toAborted(reason);
        return new McpError("timeout", `${target.name} could not be reached in ${connectTimeoutMs} ms`);
      });
    } finally {
      limit.release();
    }
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
    if (target.key !== undefined && options.revision === undefined) {
      verdicts.delete(target.key);
      verdicts.set(target.key, opened.revision);
      for (const key of verdicts.keys()) if (verdicts.size > maxVerdicts) verdicts.delete(key);
    }
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

  function lost(cause: unknown): void {
    clearTimeout(pinging);
    if (state === "closed") return;
    if (!isUp()) {
      early = { cause };
      return;
    }
    lastCause = cause;
    const renewal = cause instanceof ChannelFault && cause.isRenewable ? cause : undefined;
    const restart = options.restart ?? (renewal !== undefined || (remote.isResumable && target.restarts === true));
    if (restart === false) {
      become("closed", cause);
      return;
    }
    const settings = restart === true ? {} : restart;
    if (Date.now() - openedAt > Math.max(10_000, settings.maxDelayMs ?? 0)) attempts = 0;
    const isAtOnce = renewal !== undefined && attempts === 0;
    const { maxAttempts = 5 } = settings;
    // A server that answers, and then forgets, is there: it is always worth another try, after a pause that grows.
    const allowed = renewal?.hasServed ? Math.max(maxAttempts, attempts + 1) : maxAttempts;
    state = "restarting";
    // Before anybody is told: what is asked for from there waits as well.
    reopening = Promise.resolve()
      .then(() => reopen(settings, maxAttempts && allowed, isAtOnce))
      .finally(() => {
        reopening = undefined;
      });
    become("restarting", cause);
  }

  /** @param isAtOnce the first try needs no pause: the server is there, and said so */
  async function reopen(settings: RestartOptions, maxAttempts: number, isAtOnce: boolean): Promise<void> {
    const { delayMs = 250, maxDelayMs = 10_000 } = settings;
    while (attempts < maxAttempts && state === "restarting") {
      // With jitter, so that many clients of one server do not come back in step.
      const pause = Math.min(delayMs * 2 ** attempts++, maxDelayMs) * (0.5 + Math.random() / 2);
      await sleep(isAtOnce && attempts === 1 ? 0 : pause, closing.signal);
      if (closing.signal.aborted) return;
      try {
        await channel?.ended;
        await open(closing.signal);
        await remote.watch(watched, { signal: closing.signal }).catch((error) => {
          // What is not there any more keeps nobody from the rest.
          if (!early && !closing.signal.aborted) listener.warn(`Not all is watched as before the restart: ${error}`);
        });
        settled();
        return;
      } catch (error) {
        lastCause = error;
      }
    }
    if (state === "restarting") become("closed", lastCause);
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
    if (pingIntervalMs !== undefined && remote.hasPing) keepAlive(remote, 0);
  }

  /** One ping at a time, the next one an interval after the last was answered. */
  function keepAlive(of: Remote, failures: number): void {
    pinging = setTimeout(() => {
      of.ping({ timeoutMs: pingTimeoutMs }).then(
        () => of === remote && isUp() && keepAlive(of, 0),
        (error) => {
          if (of !== remote || !isUp()) return;
          // Whoever answers is there, whatever the answer.
          const isSilence = error instanceof McpError && (error.code === "timeout" || error.code === "connection_lost");
          if (!isSilence) return keepAlive(of, 0);
          listener.warn(`ping ${failures + 1} of ${maxPingFailures} was not answered: ${error}`);
          if (failures + 1 < maxPingFailures) {
            keepAlive(of, failures + 1);
            return;
          }
          lost(new McpError("timeout", `${maxPingFailures} pings in a row were not answered`));
          of.close();
        },
      );
    }, pingIntervalMs);
    // An idle client keeps no process alive.
    unref(pinging);
  }

  /** The connection, or the one that is being opened, for which a request waits as long as for an answer. */
  async function current({ signal, timeoutMs = 60_000, maxTimeoutMs = 0 }: RemoteRequestOptions): Promise<Remote> {
    if (reopening) {
      const waitMs = Math.min(timeoutMs || Number.POSITIVE_INFINITY, maxTimeoutMs || Number.POSITIVE_INFINITY);
      const limit = createLimit(waitMs, signal);
      try {
        await untilAborted(reopening, limit.signal, (reason) =>
          limit.isOver ? new McpError("timeout", `There was no connection again in ${waitMs} ms`) : toAborted(reason),
        );
      } finally {
        limit.release();
      }
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
        if (!isLost || !(reopening || isUp())) throw explain(error);
        const isUnrun = error.cause instanceof ChannelFault && error.cause.isUnrun;
        if (!isSafe && !isUnrun) throw explain(error);
        try {
          return await task(await current(settings));
        } catch (again) {
          throw explain(again);
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
        clearTimeout(pinging);
        if (state !== "closed") become("closed");
        remote.close();
      }
      await reopening;
      await channel?.ended;
    },
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    signal.addEventListener("abort", stop);
  });
}

function toAborted(reason: unknown): McpError {
  return new McpError("aborted", "The request was aborted", { cause: reason });
}
