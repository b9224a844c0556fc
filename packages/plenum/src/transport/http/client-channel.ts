// A client's channel over HTTP: every message is a POST, whose answer is JSON or a stream of events; in a session the
// server has a stream for itself besides. What belongs to which era is read from the messages that pass.
// Specification: basic/transports § Streamable HTTP of 2025-03-26 and later, basic/transports/streamable-http.
import type { Channel, Mirror } from "../../jsonrpc/channel.ts";
import {
  type ErrorObject,
  type ErrorResponse,
  type Incoming,
  parseMessage,
  type RequestId,
  type Single,
} from "../../jsonrpc/message.ts";
import { reasonOf } from "../../util/call-back.ts";
import { Stop } from "../../util/stop.ts";
import { type HttpAnswer, isOk, readText, typeOf } from "./client-carrier.ts";
import type { ChannelState, DetourGround, Detours, Verdict } from "./client-detours.ts";
import type { Standing } from "./client-headers.ts";
import { nameOfUrl, type TargetSettings } from "./client-options.ts";
import { type Post, toPost, whatOf } from "./client-post.ts";
import { createPosts } from "./client-posts.ts";
import { createRequester } from "./client-request.ts";
import { headerNames } from "./headers.ts";

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
/** How long a session counts as new. */
const newMs = 10_000;

// Visible ASCII.
const sessionId = /^[\x21-\x7e]+$/;

export function openHttpChannel(options: HttpChannelOptions): Channel {
  const { settings, mirror } = options;
  const carrier = settings.carry();
  /** Leave that requests wait for. */
  const leaves = new Set<Promise<unknown>>();
  const request = createRequester(settings, carrier, leaves);
  const state: ChannelState = {
    receiver: undefined,
    isClosed: false,
    standing: { session: undefined, agreed: undefined, stateless: undefined },
    hasServed: false,
    unheard: new Set(),
    gone: undefined,
    postOld: undefined,
  };
  const { unheard } = state;
  /** The server asks faster than it takes the answers, and that is told. */
  let wasOverrun = false;
  /** What waits until the server has heard that the session is open. */
  let gate: Promise<void> | undefined;
  const posts = createPosts(fail);
  const ending = new Stop();
  let settleEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    settleEnded = resolve;
  });

  const stand = (next: Partial<Standing>): void => {
    state.standing = { ...state.standing, ...next };
  };

  let detours: Detours | undefined;
  /** Most servers answer with JSON, and refuse nothing: what others need is loaded by the first of them. */
  async function detour(take: (detours: Detours) => Promise<void>): Promise<void> {
    if (!detours) {
      const { createDetours } = await import("./client-detours.ts");
      detours ??= createDetours(ground);
    }
    await take(detours);
  }

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
  function answer(id: RequestId, error: ErrorObject): void {
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
    const done = state.standing.session === undefined ? Promise.resolve() : detour(({ endSession }) => endSession());
    done.then(() => {
      carrier.close();
      settleEnded();
    });
    if (cause === undefined) queueMicrotask(() => state.receiver?.closed());
    else state.receiver?.closed(cause);
  }

  // --- what goes out

  async function run(post: Post): Promise<void> {
    try {
      if (gate && post.method !== "notifications/initialized") await gate;
      if (post.stop.isStopped || state.isClosed) return;
      posts.sent(post);
      if (state.gone && post.version === undefined) return void state.gone.refused.add(post);
      if (!state.postOld && post.method === "initialize" && options.verdict === "sse")
        await detour(({ goOld }) => goOld(post.stop));
      if (state.postOld) return await state.postOld(post);
      unheard.add(post);
      const headers: { [name: string]: string } = { "content-type": "application/json", accept };
      for (const name in post.headers) headers[name] = post.headers[name] as string;
      const { text: body, stop } = post;
      const answer = await request({ method: "POST", url: settings.url, headers, body, stop });
      unheard.delete(post);
      if (isOk(answer)) await readAnswer(post, answer);
      else await detour(({ readNo }) => readNo(post, answer));
    } catch (error) {
      if (!post.stop.isStopped) fail(post, error);
    } finally {
      unheard.delete(post);
      posts.finish(post);
      if (unheard.size === 0) state.gone?.renounce();
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
      if (post.method === "notifications/initialized") detour(({ listen }) => listen()).catch(end);
    } else if (type === "application/json") {
      const text = await readText(from, settings.maxResponseBytes);
      // Nothing more comes of it: it needs no clock.
      posts.finish(post);
      take(text, post);
      if (post.waiting.size === 0) return;
      if (!refuseProbe(post, "the answer is none"))
        fail(post, new Error("the server's answer is not to what was asked"));
    } else if (type === "text/event-stream") {
      await detour(({ followAnswer }) => followAnswer(post, from));
    } else {
      from.discard();
      const why = `HTTP ${from.status} without an answer that is JSON or a stream of events`;
      if (!refuseProbe(post, why)) throw new Error(`${why}: is ${nameOfUrl(settings.url)} the URL of an MCP server?`);
    }
  }

  const ground: DetourGround = {
    ...options,
    request,
    state,
    posts,
    ending,
    newUntil: options.isRenewal ? Date.now() + newMs : 0,
    take,
    answer,
    refuseProbe,
    end,
  };

  return {
    oneStream: false,
    ended,
    get holdup() {
      return leaves.size > 0 ? Promise.allSettled(leaves) : undefined;
    },
    open(receiver) {
      state.receiver = receiver;
    },
    send(message) {
      if (state.isClosed) return;
      const post = toPost(message, state.standing, mirror);
      const isOverrun = post.isAnswer && posts.isFull;
      // Told once, and not for each.
      if (isOverrun && !wasOverrun) fail(post, new Error("the server does not take the answers before it"));
      if (post.isAnswer) wasOverrun = isOverrun;
      if (isOverrun) return;
      if (post.version !== undefined && post.version !== state.standing.stateless) stand({ stateless: post.version });
      posts.add(post);
      const done = run(post);
      if (post.method === "notifications/initialized") gate = until(done, gateMs);
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
