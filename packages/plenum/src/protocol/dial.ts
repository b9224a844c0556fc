// The other file that knows both eras: it opens a connection to a server whatever the server speaks, newest first, on
// one channel. It probes with `server/discover`; whatever does not answer that like a server of the stateless era is
// one of the sessioned. Specification: basic/versioning of 2026-07-28; the digest is in docs/design.md § Finding the era.
import type { Channel } from "../jsonrpc/channel.ts";
import { createConnection } from "../jsonrpc/connection.ts";
import type { Answer } from "../jsonrpc/exchange.ts";
import { isObject, type Request } from "../jsonrpc/message.ts";
import { createRequests } from "../jsonrpc/requests.ts";
import { createLimit } from "../util/abort.ts";
import { quote, toLine } from "../util/quote.ts";
import { type ErrorCode, McpError, methodNotFound, toErrorObject } from "./errors.ts";
import type { Implementation, LogLevel } from "./model.ts";
import { connectionLost } from "./outcome.ts";
import type { DialedEra, Listener, Remote, RemoteGround, RemoteRequestOptions } from "./remote.ts";
import { factsOf, type Revision, revisions } from "./revisions.ts";
import { discover, openStatelessRemote, readDiscovery } from "./stateless/dial.ts";

export interface DialOptions {
  readonly info: Implementation;
  readonly listener: Listener;
  /** Speak this revision and no other. */
  readonly pinned?: Revision | undefined;
  /** What the server spoke the last time: where that was a session, no probe comes before it. */
  readonly known?: Revision | undefined;
  /** How long the probe may go unanswered before `initialize` is sent as well. */
  readonly probeTimeoutMs: number;
  /** How long all of it may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly maxRounds: number;
  readonly logLevel?: LogLevel | undefined;
  readonly readsLog: boolean;
  /** The connection ended; after `dial` has given a Remote. `cause` is absent when we closed it. */
  readonly onClose: (cause: unknown) => void;
  /** See `Receiver.interrupted`. */
  readonly onInterrupted?: (cause?: unknown) => void;
}

/** Whether a failed `dial` may have been the probe's fault: some servers end when they hear anything before `initialize`. */
export const lostInProbe: unique symbol = Symbol("plenum.lostInProbe");

/** What a server answers that does not open sessions, or not ours. */
const refusals: readonly ErrorCode[] = ["peer_error", "invalid_result", "unsupported_version"];

const newestFirst = [...revisions].reverse();
const newestOf = (era: "sessioned" | "stateless"): Revision =>
  newestFirst.find((revision) => factsOf(revision).era === era) as Revision;

/** Opens a connection on the channel. Throws McpError, and closes the channel, when there is no understanding. */
export async function dial(channel: Channel, options: DialOptions): Promise<Remote> {
  const { listener, pinned, known, timeoutMs } = options;
  // Set in the turn in which the server's answer is read: what comes right behind it is the era's already. The first
  // answer that can be used decides, and any other is ignored.
  let era: DialedEra | undefined;
  let isOpen = false;
  let lost: { readonly cause: unknown } | undefined;
  let isProbing = false;

  const connection = createConnection(channel, {
    requests: createRequests,
    onRequest: (request, exchange) => (era ? era.request(request, exchange) : answerEarly(request)),
    onNotification: (notification) => era?.notification(notification),
    refuseBatch() {
      const hasBatches = era && factsOf(era.remote.revision).batches;
      return hasBatches ? undefined : "batches exist only in sessions of 2025-03-26";
    },
    onInvalid({ answer, text }) {
      const what = text === undefined ? (answer?.error.message ?? "a broken message") : quote(text);
      listener.warn(`The server sent what is no message of the protocol: ${what}`);
    },
    onAbandon(requestId, method, reason) {
      // The handshake must not be cancelled, and a probe need not be.
      if (method === "initialize" || method === "server/discover") return;
      // In the stateless era a request with a stream of its own ends with it.
      const isSession = era !== undefined && factsOf(era.remote.revision).era === "sessioned";
      if (channel.oneStream || isSession) connection.notify("notifications/cancelled", { requestId, reason });
    },
    onClose(cause) {
      lost = { cause };
      era?.ended(cause);
      if (isOpen) options.onClose(cause);
    },
    onNoted: (problem) => listener.warn(problem),
    onInterrupted: options.onInterrupted,
  });
  const ground: RemoteGround = {
    connection,
    oneStream: channel.oneStream,
    info: options.info,
    listener,
    maxRounds: options.maxRounds,
    logLevel: options.logLevel,
    readsLog: options.readsLog,
  };
  // One clock, and one end, for all that is asked until there is an understanding.
  const limit = createLimit(timeoutMs, options.signal);
  const timing: RemoteRequestOptions = { signal: limit.signal, timeoutMs: 0 };

  /** The newest revision that both sides know, of those that the server named. */
  function choose(named: readonly unknown[]): Revision {
    const common = newestFirst.find((revision) => named.includes(revision) && (!pinned || revision === pinned));
    if (common) return common;
    const supported = named.flatMap((one) => (typeof one === "string" ? [toLine(one, 40)] : [])).slice(0, 20);
    const ours = pinned ?? `one of ${revisions.join(", ")}`;
    const message = `The server speaks ${supported.join(", ") || "no revision"}, not ${ours}`;
    throw new McpError("unsupported_version", message, { data: { supported } });
  }

  async function open(revision: Revision): Promise<void> {
    const { initialize, openSession } = await import("./sessioned/dial.ts");
    await initialize(ground, revision, timing, (answer) => {
      era ??= openSession(ground, answer, pinned);
    });
  }

  /** Asks for what the server speaks: that is the stateless era, or the revision to open a session with. */
  async function probe(asked: Revision, isAgain = false): Promise<Revision | undefined> {
    let session: Revision | undefined;
    try {
      await discover(ground, asked, timing, (result) => {
        const answer = readDiscovery(result, asked);
        const revision = choose(answer.supportedVersions as readonly unknown[]);
        if (factsOf(revision).era === "sessioned") session = revision;
        else era ??= openStatelessRemote(ground, answer, revision);
      });
      return session;
    } catch (error) {
      return judge(error, isAgain);
    }
  }

  /** Only errors that a server of the stateless era alone gives speak for it; any other means a session. */
  function judge(error: unknown, isAgain: boolean): Revision | Promise<Revision | undefined> {
    if (!(error instanceof McpError)) throw error;
    const { code, rpcCode, data } = error;
    // Refused by the transport: that says nothing of what the server speaks.
    if (code === "peer_error" && rpcCode === undefined) throw error;
    if (code === "peer_error" && rpcCode === -32022 && isObject(data) && Array.isArray(data.supported)) {
      const revision = choose(data.supported);
      if (factsOf(revision).era === "sessioned") return revision;
      // Another node may have refused what this one speaks: once more, even where it names the very version it refused.
      if (isAgain) throw error;
      return probe(revision, true);
    }
    if (code === "peer_error" && (rpcCode === -32020 || rpcCode === -32021)) throw error;
    if (code !== "peer_error" && code !== "invalid_result") throw error;
    if (pinned)
      throw new McpError("unsupported_version", `The server does not speak ${pinned}: ${error.message}`, {
        cause: error,
      });
    return newestOf("sessioned");
  }

  /** The probe, and after a while of silence the handshake beside it: whichever is answered first. */
  async function find(): Promise<void> {
    isProbing = true;
    const probing = probe(newestOf("stateless"));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const silence = new Promise<"silent">((resolve) => {
      const wait = (): void => {
        if (!isOver) timer = setTimeout(end, Math.min(options.probeTimeoutMs, 2 ** 31 - 1));
      };
      // A server that was not asked yet, since its user logs in first, is not silent.
      const end = (): void => void (channel.holdup ? channel.holdup.then(wait) : resolve("silent"));
      wait();
    });
    try {
      const told = await Promise.race([probing, silence]);
      isProbing = false;
      if (told !== "silent") return told && (await open(told));
      const opening = open(newestOf("sessioned"));
      // A server that was only slow to start answers the probe first, and is spoken to in the newer era.
      const either = probing.then(
        (session) => (session ? opening : undefined),
        () => opening,
      );
      // One that has no handshake answers the probe after all.
      await Promise.race([either, opening.catch(() => either)]);
    } finally {
      isOver = true;
      clearTimeout(timer);
      probing.catch(() => {});
    }
  }

  /** A server that names what it speaks instead, or knows of no handshake, does not speak what is wanted. */
  function refuse(error: unknown): never {
    if (!(error instanceof McpError) || error.code !== "peer_error") throw error;
    const supported = isObject(error.data) ? error.data.supported : undefined;
    if (Array.isArray(supported)) choose(supported);
    else if (error.rpcCode === -32601) choose([]);
    throw error;
  }

  async function understand(): Promise<void> {
    if (pinned && factsOf(pinned).era === "stateless") await probe(pinned);
    else if (pinned) await open(pinned).catch(refuse);
    else if (known && factsOf(known).era === "sessioned") {
      await open(newestOf("sessioned")).catch((error) => {
        // It may be another server by now; but one that is gone, or silent, is not asked again.
        const isRefusal = error instanceof McpError && refusals.includes(error.code);
        return isRefusal ? find() : Promise.reject(error);
      });
    } else await find();
  }

  connection.open();
  try {
    await understand();
    if (lost) throw connectionLost("as soon as it was open", (lost as { cause: unknown }).cause);
  } catch (error) {
    const isProbesFault = isProbing && lost !== undefined && !pinned;
    connection.close();
    if (limit.isOver)
      throw new McpError("timeout", `The server did not open a connection in ${timeoutMs} ms (connectTimeoutMs)`, {
        cause: error,
      });
    throw isProbesFault && error instanceof Error ? Object.assign(error, { [lostInProbe]: true }) : error;
  } finally {
    limit.release();
    limit.abort("Not needed any more");
  }
  isOpen = true;
  return (era as unknown as DialedEra).remote;
}

/** Before the handshake is answered, a server may ping, and nothing else. */
function answerEarly({ method }: Request): Answer {
  return method === "ping" ? { result: {} } : { error: toErrorObject(methodNotFound(method), "2025-11-25", () => "") };
}
