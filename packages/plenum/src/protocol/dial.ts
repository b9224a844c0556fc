// The other file that knows both eras: it opens a connection to a server whatever the server speaks, newest first, on
// one channel. It probes with `server/discover`; whatever does not answer that like a server of the stateless era is
// one of the sessioned. Specification: basic/versioning of 2026-07-28; the digest is in docs/design.md § Finding the era.
import type { Channel } from "../jsonrpc/channel.ts";
import { createConnection } from "../jsonrpc/connection.ts";
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { quote } from "../util/quote.ts";
import { connectionLost, McpError } from "./errors.ts";
import type { Implementation, LogLevel } from "./model.ts";
import type { DialedEra, Listener, Remote, RemoteGround, RemoteRequestOptions } from "./remote.ts";
import { factsOf, type Revision, revisions } from "./revisions.ts";
import { answerEarly, initialize, openSession } from "./sessioned/dial.ts";
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
}

/** Whether a failed `dial` may have been the probe's fault: some servers end when they hear anything before `initialize`. */
export const lostInProbe: unique symbol = Symbol("plenum.lostInProbe");

const newestFirst = [...revisions].reverse();
const newestOf = (era: "sessioned" | "stateless"): Revision =>
  newestFirst.find((revision) => factsOf(revision).era === era) as Revision;

/** Opens a connection on the channel. Throws McpError, and closes the channel, when there is no understanding. */
export async function dial(channel: Channel, options: DialOptions): Promise<Remote> {
  const { listener, pinned, known } = options;
  // Set in the turn in which the server's answer is read: what comes right behind it is the era's already.
  let era: DialedEra | undefined;
  let isOpen = false;
  let lost: { readonly cause: unknown } | undefined;
  let isProbing = false;

  const connection = createConnection(channel, {
    onRequest: (request, exchange) => (era ? era.request(request, exchange) : answerEarly(request)),
    onNotification: (notification) => era?.notification(notification),
    onInvalid({ answer, text }) {
      const what = text === undefined ? (answer?.error.message ?? "a broken message") : quote(text);
      listener.warn(`The server sent what is no message of the protocol: ${what}`);
    },
    onAbandon(requestId, method, reason) {
      // The handshake must not be cancelled, and a probe need not be.
      if (method !== "initialize" && method !== "server/discover" && channel.oneStream)
        connection.notify("notifications/cancelled", { requestId, reason });
    },
    onClose(cause) {
      lost = { cause };
      if (isOpen) options.onClose(cause);
    },
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
  const timing: RemoteRequestOptions = { signal: options.signal, timeoutMs: options.timeoutMs };

  /** The newest revision that both sides know, of those that the server named. */
  function choose(named: readonly unknown[]): Revision {
    const common = newestFirst.find((revision) => named.includes(revision) && (!pinned || revision === pinned));
    if (common) return common;
    const theirs = named.filter((one) => typeof one === "string").slice(0, 20);
    throw new McpError(
      "unsupported_version",
      `The server speaks ${theirs.join(", ") || "no revision"}, not ${pinned ?? "one that is known here"}`,
      {
        data: { supported: theirs },
      },
    );
  }

  async function open(revision: Revision, signal?: AbortSignal): Promise<DialedEra> {
    const answer = await initialize(ground, revision, signal ? { ...timing, signal } : timing);
    era = openSession(ground, answer, pinned);
    return era;
  }

  /** What the probe tells: a server of the stateless era, or the revision to open a session with. */
  async function probe(asked: Revision, signal?: AbortSignal): Promise<DialedEra | Revision> {
    let answer: JsonObject;
    try {
      answer = readDiscovery(await discover(ground, asked, signal ? { ...timing, signal } : timing), asked);
    } catch (error) {
      return judge(error, asked);
    }
    const revision = choose(answer.supportedVersions as readonly unknown[]);
    if (factsOf(revision).era === "sessioned") return revision;
    era = openStatelessRemote(ground, answer, revision);
    return era;
  }

  /** Only errors that a server of the stateless era alone gives speak for it; any other means a session. */
  function judge(error: unknown, asked: Revision): Revision | Promise<DialedEra | Revision> {
    if (!(error instanceof McpError)) throw error;
    const { code, rpcCode, data } = error;
    if (code === "peer_error" && rpcCode === -32022 && isObject(data) && Array.isArray(data.supported)) {
      const revision = choose(data.supported);
      if (revision === asked) throw error;
      return factsOf(revision).era === "sessioned" ? revision : probe(revision);
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
  async function find(): Promise<DialedEra> {
    const stop = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
    const probing = probe(newestOf("stateless"), signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), options.probeTimeoutMs);
    });
    try {
      const told = await Promise.race([probing, silence]);
      isProbing = false;
      if (told !== undefined) return typeof told === "string" ? await open(told) : told;
      const opening = open(newestOf("sessioned"), signal);
      // A server that was only slow to start answers the probe first, and is spoken to in the newer era.
      const either = probing.then(
        (late) => (typeof late === "string" ? opening : late),
        () => opening,
      );
      // One that has no handshake answers the probe after all.
      return await Promise.race([either, opening.catch(() => either)]);
    } finally {
      clearTimeout(timer);
      probing.catch(() => {});
      stop.abort("Not needed any more");
    }
  }

  connection.open();
  try {
    isProbing = true;
    if (pinned && factsOf(pinned).era === "stateless") {
      const told = await probe(pinned);
      isProbing = false;
      if (typeof told === "string") throw new McpError("unsupported_version", `The server does not speak ${pinned}`);
      era = told;
    } else if (pinned) {
      era = await open(pinned);
    } else if (known && factsOf(known).era === "sessioned") {
      era = await open(newestOf("sessioned")).catch(() => find());
    } else {
      era = await find();
    }
  } catch (error) {
    connection.close();
    const isProbesFault = isProbing && lost !== undefined && !pinned;
    throw isProbesFault && error instanceof Error ? Object.assign(error, { [lostInProbe]: true }) : error;
  }
  if (lost) throw connectionLost("as soon as it was open", (lost as { cause: unknown }).cause);
  isOpen = true;
  return era.remote;
}
