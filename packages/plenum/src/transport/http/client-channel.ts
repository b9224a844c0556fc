// A client's channel over HTTP: every message is a POST, whose answer is JSON or a stream of events; in a session the
// server has a stream for itself besides. What belongs to which era is read from the messages that pass.
// Specification: basic/transports § Streamable HTTP of 2025-03-26 and later, basic/transports/streamable-http.
import { type Channel, ChannelFault, type Mirror, type Receiver } from "../../jsonrpc/channel.ts";
import { type ErrorResponse, type Incoming, parseMessage, type RequestId, type Single } from "../../jsonrpc/message.ts";
import { reasonOf } from "../../util/call-back.ts";
import { Stop } from "../../util/stop.ts";
import type { OldTransport } from "../sse/client.ts";
import { type HttpAnswer, isOk, readText, typeOf } from "./client-carrier.ts";
import { type Standing, sessionHeaders, toLastEvent } from "./client-headers.ts";
import { nameOfUrl, type TargetSettings } from "./client-options.ts";
import { type Post, toPost, whatOf } from "./client-post.ts";
import { createPosts } from "./client-posts.ts";
import { createRequester } from "./client-request.ts";
import { headerNames } from "./headers.ts";

/** Which transport a URL was found to have. */
export type Verdict = "streamable" | "sse";

export interface HttpChannelOptions {
  readonly settings: TargetSettings;
  readonly mirror: Mirror | undefined;
  readonly verdict: Verdict | undefined;
  readonly onVerdict: (verdict: Verdict) => void;
  /** It takes the place of one whose session the server had forgotten. */
  readonly isRenewal?: boolean;
  /** The server has forgotten the session of this one. */
  readonly onForgotten?: () => void;
}

const accept = "application/json, text/event-stream";
/** How long the server may take to hear that the session is open before it is spoken to all the same. */
const gateMs = 5000;
/** How long the end of a session may take to be told. */
const deleteMs = 3000;
/** How long a session counts as new. */
const newMs = 10_000;
/** How long other requests of a session that is gone may take to be refused as well. */
const refusedMs = 1000;

// Most servers answer with JSON, and refuse nothing: these are loaded by the first that does otherwise.
const loadStreams = () => import("./client-stream.ts");
const loadRefusals = () => import("./client-refusal.ts");

// Visible ASCII.
const sessionId = /^[\x21-\x7e]+$/;

export function openHttpChannel(options: HttpChannelOptions): Channel {
  const { settings, mirror } = options;
  const carrier = settings.carry();
  const request = createRequester(settings, carrier);
  const state = {
    receiver: undefined as Receiver | undefined,
    isClosed: false,
    standing: { session: undefined, agreed: undefined, stateless: undefined } as Standing,
    /** A request behind the handshake was answered. */
    hasServed: false,
    /** Posts that are sent, and that the server has not said anything to yet. */
    unheard: new Set<Post>(),
    /** The server asks faster than it takes the answers, and that is told. */
    isOverrun: false,
    /** What waits until the server has heard that the session is open. */
    gate: undefined as Promise<void> | undefined,
    /** Streams that could not be taken up again so far. */
    troubled: new Set<object>(),
    /** Posts that were refused because the session is gone; undefined while it is not. */
    refused: undefined as Set<Post> | undefined,
    old: undefined as OldTransport | undefined,
    /** Why the older transport cannot be used, though there is something like it. */
    oldProblem: undefined as string | undefined,
  };
  const { unheard, troubled } = state;
  const posts = createPosts(fail);
  const newUntil = options.isRenewal ? Date.now() + newMs : 0;
  // Ends all streams, and every request that is under way.
  const ending = new Stop();
  let settleEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    settleEnded = resolve;
  });

  const stand = (next: Partial<Standing>): void => {
    state.standing = { ...state.standing, ...next };
  };

  // --- what comes in

  function deliver(incoming: Incoming): void {
    if (state.isClosed) return;
    if (incoming.kind === "batch") for (const one of incoming.members) note(one);
    else note(incoming);
    state.receiver?.receive(incoming);
  }

  /** What an answer says about the channel, before anybody acts on it. */
  function note(incoming: Single): void {
    if (incoming.kind === "invalid") {
      if (incoming.id !== undefined) posts.answered(incoming.id);
      return;
    }
    if (incoming.kind !== "response" || incoming.message.id === undefined || incoming.message.id === null) return;
    const { message } = incoming;
    const asked = posts.answered(message.id as RequestId);
    if (asked?.method === "initialize") {
      const result = "result" in message ? (message.result as { readonly protocolVersion?: unknown }) : undefined;
      if (typeof result?.protocolVersion === "string") stand({ agreed: result.protocolVersion });
      else stand({ session: undefined });
    } else if (asked) state.hasServed = true;
  }

  /** The answer to a request, in the server's words or in ours. */
  function answer(id: RequestId, error: { readonly code: number; readonly message: string }): void {
    deliver({ kind: "response", message: { jsonrpc: "2.0", id, error } });
  }

  /** One text with messages that belong to a POST. An error that does not say whose it is, is the POST's. */
  function take(text: string, post?: Post): void {
    const incoming = parseMessage(text);
    const isNobodys = incoming.kind === "response" && (incoming.message.id ?? undefined) === undefined;
    const [id] = (isNobodys && post?.waiting.keys()) || [];
    if (isNobodys && id !== undefined)
      deliver({ kind: "response", message: { ...(incoming.message as ErrorResponse), id } });
    else deliver(incoming);
  }

  /** What was asked will not be answered. */
  function fail(post: Post, cause: unknown): void {
    if (state.isClosed) return;
    for (const id of [...post.waiting.keys()]) {
      posts.answered(id);
      state.receiver?.failed?.(id, cause);
    }
    if (post.isAsking) return;
    // Nobody waits for it, but somebody may wonder.
    state.receiver?.noted?.(`${whatOf(post)} did not reach the server: ${reasonOf(cause)}`);
  }

  /** Whoever speaks no modern revision has no answer to the question for it: that is one too. */
  function refuseProbe(post: Post, why: string): boolean {
    if (post.method !== "server/discover") return false;
    for (const id of [...post.waiting.keys()]) answer(id, { code: -32601, message: why });
    return true;
  }

  function end(cause?: unknown): void {
    if (state.isClosed) return;
    state.isClosed = true;
    ending.stop(cause);
    posts.end(cause);
    until(endSession(), deleteMs).then(() => {
      carrier.close();
      settleEnded();
    });
    if (cause === undefined) queueMicrotask(() => state.receiver?.closed());
    else state.receiver?.closed(cause);
  }

  // --- what goes out

  async function run(post: Post): Promise<void> {
    try {
      if (state.gate && post.method !== "notifications/initialized") await state.gate;
      if (post.stop.isStopped || state.isClosed) return;
      posts.sent(post);
      if (state.refused && post.version === undefined) return void state.refused.add(post);
      if (!state.old && post.method === "initialize" && options.verdict === "sse") await goOld(post.stop);
      if (state.old) return await postOld(state.old, post);
      unheard.add(post);
      const headers: { [name: string]: string } = { "content-type": "application/json", accept };
      for (const name in post.headers) headers[name] = post.headers[name] as string;
      const { text: body, stop } = post;
      const answer = await request({ method: "POST", url: settings.url, headers, body, stop });
      unheard.delete(post);
      if (isOk(answer)) await readAnswer(post, answer);
      else await readNo(post, answer);
    } catch (error) {
      if (!post.stop.isStopped) fail(post, error);
    } finally {
      unheard.delete(post);
      posts.finish(post);
      if (state.refused && unheard.size === 0) renounce();
    }
  }

  async function readAnswer(post: Post, from: HttpAnswer): Promise<void> {
    const type = typeOf(from);
    if (post.method === "initialize") {
      const session = from.header(headerNames.session);
      if (session !== undefined && !sessionId.test(session)) {
        from.discard();
        throw new Error("the server gave a session id with characters that it cannot have");
      }
      stand({ session });
    }
    if (post.waiting.size === 0) {
      from.discard();
      if (post.method === "notifications/initialized") listen().catch(end);
    } else if (type === "application/json") {
      const text = await readText(from, settings.maxResponseBytes);
      // Nothing more comes of it: it needs no clock.
      posts.finish(post);
      take(text, post);
      if (post.waiting.size === 0) return;
      if (!refuseProbe(post, "the answer is none"))
        fail(post, new Error("the server's answer is not to what was asked"));
    } else if (type === "text/event-stream") {
      await followAnswer(post, from);
    } else {
      from.discard();
      const why = `HTTP ${from.status} without an answer that is JSON or a stream of events`;
      if (!refuseProbe(post, why)) throw new Error(`${why}: is ${nameOfUrl(settings.url)} the URL of an MCP server?`);
    }
  }

  async function followAnswer(post: Post, first: HttpAnswer): Promise<void> {
    const { followStream, StreamEnded } = await loadStreams();
    const { statusIn } = await loadRefusals();
    try {
      await followStream(first, {
        stop: post.stop,
        maxEventBytes: settings.maxEventBytes,
        reconnect: settings.reconnect,
        resumes: post.version === undefined ? "after-event" : "never",
        open: (lastEventId) => get(lastEventId, post.stop),
        onData: (data) => take(data, post),
        // What was given up is not come back for.
        isDone: () => posts.isLeft(post),
        onTrouble: (cause) => trouble(post, cause),
      });
    } catch (error) {
      if (error instanceof StreamEnded && refuseProbe(post, "its stream ended without an answer")) return;
      const status = statusIn(error);
      // The session is gone, and with it an answer that may have been on its way.
      if (status === 404 && state.standing.session !== undefined) return forget();
      if (status === undefined) throw error;
      throw new Error(`its stream could not be taken up again: ${reasonOf(error)}`, { cause: error });
    } finally {
      trouble(post);
    }
  }

  // --- a status that says no

  async function readNo(post: Post, no: HttpAnswer): Promise<void> {
    const { isAnswer, isForgotten, isPassing, readRefusal, toAdvice, toRefused } = await loadRefusals();
    const refusal = await readRefusal(no);
    const { status, error } = refusal;
    const [id] = post.waiting.keys();
    const isOurs = error !== undefined && id !== undefined && (refusal.id === undefined || refusal.id === id);
    // Right after it was opened anew: then it is not the session that the server does not find.
    const isOwn = !state.hasServed && Date.now() < newUntil;
    if (post.headers[headerNames.session] !== undefined && !isOwn && isForgotten(refusal, id)) return forget(post);
    if (post.method === "initialize" && [400, 404, 405].includes(status) && !isAnswer(refusal)) {
      const isOld = await goOld(post.stop);
      if (isOld && state.old) return postOld(state.old, post);
    }
    // Authorization and overload say nothing about what a server speaks or watches, in whatever words.
    const isBusy =
      (post.method === "server/discover" && [429, 503].includes(status)) ||
      (post.method === "subscriptions/listen" && isPassing(status));
    // Whoever does not name what was asked may not have read it: then it is the address that is wrong.
    const isOpening = post.method === "initialize" || post.method === "server/discover";
    const isLost = isOpening && status === 404 && refusal.id === undefined;
    if (isOurs && !isBusy && !isLost && ![401, 403].includes(status)) return answer(id, error);
    const isEra = status < 500 ? ![401, 403, 407].includes(status) && !isPassing(status) : status === 501;
    if (isEra && refuseProbe(post, `HTTP ${status}${refusal.excerpt}${toAdvice(status)}`)) return;
    throw toRefused(refusal, whatOf(post), state.oldProblem);
  }

  // --- the session

  async function get(lastEventId: string | undefined, stop: Stop): Promise<HttpAnswer> {
    const headers = {
      accept: "text/event-stream",
      ...sessionHeaders(state.standing),
      ...(lastEventId !== undefined && toLastEvent(lastEventId)),
    };
    const found = await request({ method: "GET", url: settings.url, headers, stop });
    if (isOk(found)) return found;
    const { readRefusal, toRefused } = await loadRefusals();
    throw toRefused(await readRefusal(found), "GET of the stream");
  }

  /** What the server sends by itself. It need not offer that. */
  async function listen(): Promise<void> {
    const { followStream } = await loadStreams();
    const { isRefusal, statusIn } = await loadRefusals();
    if (state.old || state.isClosed) return;
    const place = {};
    let wasOpen = false;
    const isGone = (error: unknown): boolean => statusIn(error) === 404 && state.standing.session !== undefined;
    await followStream(undefined, {
      stop: ending,
      maxEventBytes: settings.maxEventBytes,
      reconnect: settings.reconnect,
      resumes: "always",
      async open(lastEventId) {
        const found = await get(lastEventId, ending).catch((error: unknown) => {
          // Too much was missed: it is gone, and what comes now is better than nothing.
          if (lastEventId === undefined || statusIn(error) !== 400) throw error;
          return get(undefined, ending);
        });
        wasOpen ||= typeOf(found) === "text/event-stream";
        return found;
      },
      onData: (data) => take(data),
      isDone: () => false,
      // What was there once may be there again, and the rest of the session is none the worse meanwhile.
      isFinal: (error) => (wasOpen ? isGone(error) : isRefusal(error)),
      onTrouble: (cause) => trouble(place, cause),
    }).catch((cause) => {
      if (wasOpen && isGone(cause)) forget();
      // A client that hears nothing any more without anybody knowing is worse off than one whose connection is lost.
      else if (wasOpen || !isRefusal(cause)) end(cause);
      else trouble(place);
    });
  }

  function trouble(stream: object, cause?: unknown): void {
    const before = troubled.size;
    if (cause !== undefined) troubled.add(stream);
    else troubled.delete(stream);
    if (state.isClosed || before > 0 === troubled.size > 0) return;
    if (troubled.size > 0) state.receiver?.interrupted?.(cause);
    else state.receiver?.interrupted?.();
  }

  /** The server does not know the session any more. What it has refused for that never ran. */
  function forget(post?: Post): void {
    if (!state.refused) {
      state.refused = new Set();
      // Those that are on their way will be refused as well, and are to be known as such.
      const timer = setTimeout(renounce, refusedMs);
      ending.onStop(() => clearTimeout(timer));
    }
    if (post) state.refused.add(post);
    else if (unheard.size === 0) renounce();
  }

  function renounce(): void {
    if (!state.refused || state.isClosed) return;
    const gone = "The server does not know the session any more";
    options.onForgotten?.();
    stand({ session: undefined });
    for (const post of [...state.refused, ...posts.unsent])
      for (const id of [...post.waiting.keys()]) {
        posts.answered(id);
        state.receiver?.failed?.(id, new ChannelFault(gone, { isUnrun: true }));
      }
    end(new ChannelFault(gone, { isRenewable: true, hasServed: state.hasServed }));
  }

  async function endSession(): Promise<void> {
    const headers = sessionHeaders(state.standing);
    if (headers[headerNames.session] === undefined) return;
    const stop = new Stop();
    const timer = setTimeout(() => stop.stop(), deleteMs);
    // That the server does not want to know of it, or is not there, changes nothing for us.
    const deleting = request({ method: "DELETE", url: settings.url, headers, stop });
    await deleting.then(({ discard }) => discard()).catch(() => {});
    clearTimeout(timer);
  }

  // --- the transport of 2024-11-05

  /** Whether the server has it: then everything goes that way from here on. */
  async function goOld(stop: Stop): Promise<boolean> {
    const { openOldTransport } = await import("../sse/client.ts");
    try {
      const old = await openOldTransport({
        settings,
        request,
        stop: ending,
        onData: (data) => take(data),
        onEnd(cause) {
          const why = `The server's stream of events is over: ${reasonOf(cause)}`;
          end(new ChannelFault(why, { isRenewable: true, hasServed: state.hasServed }));
        },
      });
      if (stop.isStopped) return false;
      state.old = old;
      options.onVerdict("sse");
      return true;
    } catch (error) {
      const { statusIn } = await loadRefusals();
      // That it is refused is nothing new.
      if (statusIn(error) === undefined && !stop.isStopped) state.oldProblem = reasonOf(error);
      options.onVerdict("streamable");
      return false;
    }
  }

  async function postOld(old: OldTransport, post: Post): Promise<void> {
    await old.post(post.text, post.headers, whatOf(post), post.stop);
  }

  return {
    oneStream: false,
    ended,
    open(receiver) {
      state.receiver = receiver;
    },
    send(message) {
      if (state.isClosed) return;
      const post = toPost(message, state.standing, mirror);
      const isOverrun = post.isAnswer && posts.isFull;
      // Told once, and not for each.
      if (isOverrun && !state.isOverrun) fail(post, new Error("the server does not take the answers before it"));
      if (post.isAnswer) state.isOverrun = isOverrun;
      if (isOverrun) return;
      if (post.version !== undefined && post.version !== state.standing.stateless) stand({ stateless: post.version });
      posts.add(post);
      const done = run(post);
      if (post.method === "notifications/initialized") state.gate = until(done, gateMs);
    },
    abandon: posts.abandon,
    close: () => end(),
  };
}

/** The end of what is done, or of the time that it may take. */
async function until(done: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}
