// The POSTs of a client that are under way: which request waits in which, and the clocks of those that nobody waits for.

import type { Request, RequestId } from "../../jsonrpc/message.ts";
import { unref } from "../../util/unref.ts";
import type { Post } from "./client-post.ts";

export interface Posts {
  /** Those that are not sent yet. */
  readonly unsent: ReadonlySet<Post>;
  /** There are as many answers to the server's requests on their way as there may be. */
  readonly isFull: boolean;
  add(post: Post): void;
  /** It is on its way from here on. */
  sent(post: Post): void;
  /** The request is over. Gives it back, if anybody waited for it. */
  answered(id: RequestId): Request | undefined;
  /** Nobody waits for the request any more. */
  abandon(id: RequestId): void;
  /** All that it waits for is given up. */
  isLeft(post: Post): boolean;
  /** The server has nothing more to say to it. */
  finish(post: Post): void;
  end(cause: unknown): void;
}

/** How long the server may take to end the stream of a request that it was told to drop. */
const abandonedMs = 5000;
/** How long it may take to end the POST of a request that was answered elsewhere. */
const answeredMs = 1000;
/** How long it may take to accept what it need not answer. */
const acceptMs = 30_000;
const maxAnswers = 256;

type Timer = ReturnType<typeof setTimeout>;

/** @param onLate told of a post that is not accepted in time, before it is ended */
export function createPosts(onLate: (post: Post, cause: Error) => void): Posts {
  /** Each with the clock that ends it. */
  const posts = new Map<Post, Timer | undefined>();
  const unsent = new Set<Post>();
  const byId = new Map<RequestId, Post>();
  /** Requests that nobody waits for any more, until the server has ended them. */
  const leaving = new Map<RequestId, Timer>();
  let answers = 0;

  function limit(post: Post, ms: number, onOver?: () => void): void {
    clearTimeout(posts.get(post));
    const over = (): void => {
      onOver?.();
      post.stop.stop();
    };
    posts.set(post, unref(setTimeout(over, ms)));
  }

  function answered(id: RequestId): Request | undefined {
    const post = byId.get(id);
    const asked = post?.waiting.get(id);
    clearTimeout(leaving.get(id));
    leaving.delete(id);
    byId.delete(id);
    // The answer may have come on another stream, or there may be more behind it that is of no use.
    if (post?.waiting.delete(id) && post.waiting.size === 0 && posts.has(post)) limit(post, answeredMs);
    return asked;
  }

  return {
    unsent,
    get isFull() {
      return answers >= maxAnswers;
    },
    add(post) {
      posts.set(post, undefined);
      unsent.add(post);
      for (const id of post.waiting.keys()) byId.set(id, post);
      if (post.isAnswer) answers++;
      if (!post.isAsking) limit(post, acceptMs, () => onLate(post, new Error(`it was not accepted in ${acceptMs} ms`)));
    },
    sent: (post) => void unsent.delete(post),
    answered,
    abandon(id) {
      const post = byId.get(id);
      if (!post) return;
      const leave = (): void => {
        answered(id);
        if (post.waiting.size === 0) post.stop.stop();
      };
      // In a session closing the connection says nothing: the server, which was told, ends the stream itself, and may have to
      // take back what it has asked for the call's sake.
      if (post.version === undefined && !unsent.has(post)) leaving.set(id, unref(setTimeout(leave, abandonedMs)));
      else leave();
    },
    isLeft: (post) => [...post.waiting.keys()].every((id) => leaving.has(id)),
    finish(post) {
      clearTimeout(posts.get(post));
      if (posts.delete(post) && post.isAnswer) answers--;
      unsent.delete(post);
      for (const id of [...post.waiting.keys()]) if (leaving.has(id)) answered(id);
    },
    end(cause) {
      for (const post of posts.keys()) post.stop.stop(cause);
      for (const timer of leaving.values()) clearTimeout(timer);
      leaving.clear();
      byId.clear();
    },
  };
}
