// What a client's channel does where an answer is not JSON: it follows streams, that of the session among them, and deals
// with a status that says no, a session that is forgotten, a server that has only the older transport. Loaded by the first of
// these: in a session that is soon, elsewhere it may be never.
import { ChannelFault, type Receiver } from "../../jsonrpc/channel.ts";
import type { ErrorObject, RequestId } from "../../jsonrpc/message.ts";
import { reasonOf } from "../../util/call-back.ts";
import { Stop } from "../../util/stop.ts";
import { type HttpAnswer, isOk, typeOf } from "./client-carrier.ts";
import { type Standing, sessionHeaders } from "./client-headers.ts";
import type { TargetSettings } from "./client-options.ts";
import { type Post, whatOf } from "./client-post.ts";
import type { Posts } from "./client-posts.ts";
import {
  isAnswer,
  isForgotten,
  isPassing,
  isRefusal,
  readRefusal,
  statusIn,
  toAdvice,
  toRefused,
} from "./client-refusal.ts";
import type { Requester } from "./client-request.ts";
import { followStream, StreamEnded, toLastEvent } from "./client-stream.ts";
import { headerNames } from "./headers.ts";

/** Which transport a URL was found to have. */
export type Verdict = "streamable" | "sse";

/** How a channel stands. */
export interface ChannelState {
  receiver: Receiver | undefined;
  isClosed: boolean;
  standing: Standing;
  /** A request behind the handshake was answered. */
  hasServed: boolean;
  /** Posts that are sent, and that the server has not said anything to yet. */
  readonly unheard: Set<Post>;
  /** The session is gone: posts that were refused for it, and what is done when no other can be. */
  gone: { readonly refused: Set<Post>; renounce(): void } | undefined;
  /** Where everything goes once the server was found to have the older transport. */
  postOld: ((post: Post) => Promise<void>) | undefined;
}

/** The channel, for those who go another way. */
export interface DetourGround {
  readonly settings: TargetSettings;
  readonly request: Requester;
  readonly state: ChannelState;
  readonly posts: Posts;
  /** Ends all streams, and every request that is under way. */
  readonly ending: Stop;
  /** Until then the session counts as new, if it takes the place of a forgotten one. */
  readonly newUntil: number;
  readonly onVerdict: (verdict: Verdict) => void;
  readonly onForgotten?: () => void;
  take(text: string, post?: Post): void;
  answer(id: RequestId, error: ErrorObject): void;
  refuseProbe(post: Post, why: string): boolean;
  end(cause: unknown): void;
}

export interface Detours {
  /** Reads an answer that is a stream. */
  followAnswer(post: Post, first: HttpAnswer): Promise<void>;
  /** Reads an answer whose status says no. */
  readNo(post: Post, no: HttpAnswer): Promise<void>;
  /** What the server sends by itself. It need not offer that. */
  listen(): Promise<void>;
  /** Tells the server that the session is over. */
  endSession(): Promise<void>;
  /** Looks for the transport of 2024-11-05. If the server has it, everything goes that way from here on. */
  goOld(stop: Stop): Promise<void>;
}

/** How long the end of a session may take to be told. */
const deleteMs = 3000;
/** How long other requests of a session that is gone may take to be refused as well. */
const refusedMs = 1000;

export function createDetours(ground: DetourGround): Detours {
  const { settings, request, state, posts, ending, take, end } = ground;
  const { unheard } = state;
  /** Streams that could not be taken up again so far. */
  const troubled = new Set<object>();
  /** Why the older transport cannot be used, though there is something like it. */
  let oldProblem: string | undefined;

  async function followAnswer(post: Post, first: HttpAnswer): Promise<void> {
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
      if (error instanceof StreamEnded && ground.refuseProbe(post, "its stream ended without an answer")) return;
      const status = statusIn(error);
      // The session is gone, and with it an answer that may have been on its way.
      if (status === 404 && state.standing.session !== undefined) return forget();
      if (status === undefined) throw error;
      throw new Error(`its stream could not be taken up again: ${reasonOf(error)}`, { cause: error });
    } finally {
      trouble(post);
    }
  }

  async function readNo(post: Post, no: HttpAnswer): Promise<void> {
    const refusal = await readRefusal(no);
    const { status, error } = refusal;
    const [id] = post.waiting.keys();
    const isOurs = error !== undefined && id !== undefined && (refusal.id === undefined || refusal.id === id);
    // Right after it was opened anew: then it is not the session that the server does not find.
    const isOwn = !state.hasServed && Date.now() < ground.newUntil;
    if (post.headers[headerNames.session] !== undefined && !isOwn && isForgotten(refusal, id)) return forget(post);
    if (post.method === "initialize" && [400, 404, 405].includes(status) && !isAnswer(refusal)) {
      await goOld(post.stop);
      if (state.postOld) return state.postOld(post);
    }
    // Authorization and overload say nothing about what a server speaks or watches, in whatever words.
    const isBusy =
      (post.method === "server/discover" && [429, 503].includes(status)) ||
      (post.method === "subscriptions/listen" && isPassing(status));
    // Whoever does not name what was asked may not have read it: then it is the address that is wrong.
    const isOpening = post.method === "initialize" || post.method === "server/discover";
    const isLost = isOpening && status === 404 && refusal.id === undefined;
    if (isOurs && !isBusy && !isLost && ![401, 403].includes(status)) return ground.answer(id, error);
    const isEra = status < 500 ? ![401, 403, 407].includes(status) && !isPassing(status) : status === 501;
    if (isEra && ground.refuseProbe(post, `HTTP ${status}${refusal.excerpt}${toAdvice(refusal)}`)) return;
    throw toRefused(refusal, whatOf(post), oldProblem);
  }

  // --- the session

  async function get(lastEventId: string | undefined, stop: Stop): Promise<HttpAnswer> {
    const headers = {
      accept: "text/event-stream",
      ...sessionHeaders(state.standing),
      ...(lastEventId !== undefined && toLastEvent(lastEventId)),
    };
    const found = await request({ method: "GET", url: settings.url, headers, stop, isUnattended: true });
    if (isOk(found)) return found;
    throw toRefused(await readRefusal(found), "GET of the stream");
  }

  async function listen(): Promise<void> {
    if (state.postOld || state.isClosed) return;
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
    if (!state.gone) {
      state.gone = { refused: new Set(), renounce };
      // Those that are on their way will be refused as well, and are to be known as such.
      const timer = setTimeout(renounce, refusedMs);
      ending.onStop(() => clearTimeout(timer));
    }
    if (post) state.gone.refused.add(post);
    else if (unheard.size === 0) renounce();
  }

  function renounce(): void {
    if (!state.gone || state.isClosed) return;
    const why = "The server does not know the session any more";
    ground.onForgotten?.();
    state.standing = { ...state.standing, session: undefined };
    for (const post of [...state.gone.refused, ...posts.unsent])
      for (const id of [...post.waiting.keys()]) {
        posts.answered(id);
        state.receiver?.failed?.(id, new ChannelFault(why, { isUnrun: true }));
      }
    end(new ChannelFault(why, { isRenewable: true, hasServed: state.hasServed }));
  }

  async function endSession(): Promise<void> {
    const stop = new Stop();
    const timer = setTimeout(() => stop.stop(), deleteMs);
    // That the server does not want to know of it, or is not there, changes nothing for us.
    const headers = sessionHeaders(state.standing);
    const deleting = request({ method: "DELETE", url: settings.url, headers, stop, isUnattended: true });
    await deleting.then(({ discard }) => discard()).catch(() => {});
    clearTimeout(timer);
  }

  // --- the transport of 2024-11-05

  async function goOld(stop: Stop): Promise<void> {
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
      if (stop.isStopped) return;
      state.postOld = (post) => old.post(post.text, post.headers, whatOf(post), post.stop);
      ground.onVerdict("sse");
    } catch (error) {
      // That it is refused is nothing new.
      if (statusIn(error) === undefined && !stop.isStopped) oldProblem = reasonOf(error);
      ground.onVerdict("streamable");
    }
  }

  return { followAnswer, readNo, listen, endSession, goOld };
}
