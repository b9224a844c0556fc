// A recorded conversation as a server: it says again what the server said, to whoever says what the client said.
import type { Channel, Receiver, Target } from "../jsonrpc/channel.ts";
import {
  type ErrorResponse,
  formatMessage,
  type JsonObject,
  type Message,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  rpcCodes,
  toIncoming,
} from "../jsonrpc/message.ts";
import { metaKeys, metaOf } from "../protocol/meta.ts";
import type { RedactOptions } from "../protocol/redact.ts";
import { toCanonicalJson } from "../util/digest.ts";
import { toPointerPattern } from "../util/json-pointer.ts";
import { nearestTo } from "../util/nearest.ts";
import { createRecordedForm, describeDifference, describeRequest, listDifferences, toSubstance } from "./compare.ts";
import type { Conversation, ConversationHeader } from "./conversation.ts";
import { type Cue, type Script, type Step, toScript } from "./replay-script.ts";

export interface ReplayTargetOptions extends Omit<RedactOptions, "markState"> {
  /** Places in params that are not compared: JSON Pointers such as "/arguments/now", `*` for any one member, `**` for any number. */
  readonly ignore?: readonly string[];
  /** What was recorded once is said any number of times. Default false: a request too many is an error. */
  readonly repeats?: boolean;
  /** Told of requests that the recording does not have, in words. */
  readonly onUnexpected?: (problem: string) => void;
}

/**
 * A server that answers as the recorded one did, at once. Requests are told by their method and params, in the order of the recording
 * where they are the same; what was recorded under way comes under way, with the ids of now. A request that was not recorded is
 * answered with an error that shows the nearest one that was. Each channel begins the conversation anew.
 */
export function replayTarget(conversation: Conversation, options: ReplayTargetOptions = {}): Target {
  const { header, events } = conversation;
  const numbers = [...new Set(events.map(({ channel = 1 }) => channel))];
  const scripts = numbers.map((number) => toScript(events.filter(({ channel = 1 }) => channel === number)));
  let opened = 0;
  return {
    name: `${header.name}, replayed`,
    open() {
      const script = scripts[opened++ % scripts.length] ?? { opening: [], cues: [] };
      return createReplayChannel(script, header, options);
    },
  };
}

/** What is said because of one thing that the client said. */
interface Playing {
  /** Undefined: what is said before the client says anything. */
  readonly live: Request | Notification | undefined;
  /** What is left of it, the next first. */
  readonly steps: Step[];
}

function createReplayChannel(script: Script, header: ConversationHeader, options: ReplayTargetOptions): Channel {
  const { ignore = [], repeats = false, onUnexpected, ...redaction } = options;
  const ignored = ignore.map(toPointerPattern);
  const toRecorded = createRecordedForm(header, redaction);
  const finder = createFinder(script.cues, { ignored, repeats });
  let receiver: Receiver | undefined;
  let isOver = false;
  let nextId = 1;
  /** The id of now by the recorded one: of the client's requests, and of the server's. */
  const liveIds = new Map<RequestId, RequestId>();
  const askIds = new Map<RequestId, RequestId>();
  const answers = new Map<RequestId, Response>();
  const playing = new Set<Playing>();

  const say = (message: Message): void => {
    if (!isOver) receiver?.receive(toIncoming(message));
  };
  const end = (cause?: unknown): void => {
    if (isOver) return;
    isOver = true;
    receiver?.closed(cause);
  };
  const refuse = (id: RequestId, code: number, message: string): void => {
    onUnexpected?.(message);
    say({ jsonrpc: "2.0", id, error: { code, message } });
  };

  /** As it has to be now; undefined where it speaks of what is not there now. */
  const renew = (message: Message, live: Request | Notification | undefined): Message | undefined => {
    if (!("method" in message)) {
      const { id } = (live ?? {}) as Partial<Request>;
      return id === undefined ? undefined : (withSubscription({ ...message, id }, liveIds) as Message | undefined);
    }
    if ("id" in message) {
      const id = nextId++;
      askIds.set(message.id, id);
      return { ...message, id };
    }
    if (message.method === "notifications/progress") {
      const { progressToken } = metaOf(live?.params);
      return progressToken === undefined ? undefined : { ...message, params: { ...message.params, progressToken } };
    }
    if (message.method === "notifications/cancelled") {
      const requestId = askIds.get(message.params?.requestId as RequestId);
      return requestId === undefined ? undefined : { ...message, params: { ...message.params, requestId } };
    }
    return withSubscription(message, liveIds) as Message | undefined;
  };

  /** Whether the client has answered; one that answers otherwise is told so, and nothing more is said. */
  const isAnswered = ({ id, answer }: Step & { kind: "wait" }, play: Playing): boolean => {
    const asked = askIds.get(id);
    const given = asked === undefined ? undefined : answers.get(asked);
    if (!given) return false;
    const found = listDifferences(toElicited(answer), toElicited(toRecorded(given)));
    if (found.length === 0 || !play.live || !("id" in play.live)) return true;
    playing.delete(play);
    const problem = `The client answers otherwise than in the recording: ${found.map(describeDifference).join("; ")}`;
    refuse(play.live.id, rpcCodes.invalidParams, problem);
    return false;
  };
  const perform = (step: Step, { live }: Playing): void => {
    if (step.kind === "lose") end(new Error(step.why));
    else if (step.kind === "fail") {
      if (live && "id" in live) receiver?.failed?.(live.id, new Error(step.why));
    } else if (step.kind === "say") {
      const message = renew(step.message, live);
      if (message) say(message);
    }
  };
  /** What can be said next, of all that is going on: in the order of the recording. */
  const findNext = (): Playing | undefined => {
    let next: Playing | undefined;
    for (const play of playing) {
      const [step] = play.steps;
      if (!step) playing.delete(play);
      else if (step.kind === "wait" && !isAnswered(step, play)) continue;
      else if (!next || step.order < (next.steps[0] as Step).order) next = play;
    }
    return next;
  };
  let isPlaying = false;
  const goOn = async (): Promise<void> => {
    if (isPlaying) return;
    isPlaying = true;
    // Never in the turn in which the client speaks, as from a wire.
    await null;
    try {
      for (let play = findNext(); play && !isOver; play = findNext()) {
        perform(play.steps.shift() as Step, play);
        await null;
      }
    } finally {
      isPlaying = false;
    }
  };

  const start = (live: Request | Notification, cue: Cue): void => {
    playing.add({ live, steps: [...cue.steps] });
    if ("id" in live && "id" in cue.message) liveIds.set(cue.message.id, live.id);
    void goOn();
  };
  const request = (live: Request): void => {
    const found = finder.take(toRecorded(live) as Request);
    if (typeof found !== "string") start(live, found);
    else if (live.method === "ping") say({ jsonrpc: "2.0", id: live.id, result: {} });
    // A client that looks for the newest revision goes on with an older one.
    else if (live.method === "server/discover") say(toNotFound(live.id, found));
    else refuse(live.id, finder.knows(live.method) ? rpcCodes.invalidParams : rpcCodes.methodNotFound, found);
  };
  const notification = (live: Notification): void => {
    const { requestId } = live.params ?? {};
    if (live.method === "notifications/cancelled")
      for (const play of playing)
        if (play.live && "id" in play.live && play.live.id === requestId) playing.delete(play);
    const cue = finder.takeNotification(live);
    if (cue) start(live, cue);
  };
  const hear = (message: Message): void => {
    if (isOver) return;
    if (!("method" in message)) {
      if (message.id !== undefined) answers.set(message.id, message);
      void goOn();
    } else if ("id" in message) request(message);
    else notification(message);
  };

  return {
    oneStream: true,
    open(given) {
      receiver = given;
      playing.add({ live: undefined, steps: [...script.opening] });
      void goOn();
    },
    send(message) {
      // What a wire would carry, and not what its sender makes of it later.
      const copies = [JSON.parse(formatMessage(message)) as Message | Message[]].flat();
      queueMicrotask(() => copies.forEach(hear));
    },
    close: () => queueMicrotask(() => end()),
  };
}

function toNotFound(id: RequestId, message: string): ErrorResponse {
  return { jsonrpc: "2.0", id, error: { code: rpcCodes.methodNotFound, message } };
}

/** Only what the user said decides what a server does next; a model or a folder may say something else each time. */
function toElicited(answer: Message): unknown {
  const { result } = answer as { readonly result?: JsonObject };
  return result && "action" in result ? { action: result.action, content: result.content } : undefined;
}

/** With the id of the subscription of now; undefined where that was not made. */
function withSubscription(message: Message, liveIds: ReadonlyMap<RequestId, RequestId>): Message | undefined {
  const place = "method" in message ? "params" : "result";
  const value = (message as unknown as { readonly [key: string]: JsonObject | undefined })[place];
  const recorded = metaOf(value)[metaKeys.subscriptionId];
  if (recorded === undefined) return message;
  const live = liveIds.get(recorded as RequestId);
  if (live === undefined) return undefined;
  return {
    ...message,
    [place]: { ...value, _meta: { ...metaOf(value), [metaKeys.subscriptionId]: live } },
  } as unknown as Message;
}

interface Finder {
  /** What was recorded for it, or why there is nothing. */
  take(live: Request): Cue | string;
  takeNotification(live: Notification): Cue | undefined;
  knows(method: string): boolean;
}

function createFinder(
  cues: readonly Cue[],
  { ignored, repeats }: { readonly ignored: readonly RegExp[]; readonly repeats: boolean },
): Finder {
  const left = new Set(cues);
  const requests = cues.filter(({ message }) => "id" in message);
  const isMatch = (live: Request | Notification, { message }: Cue): boolean =>
    message.method === live.method &&
    (toCanonicalJson(toSubstance(message)) === toCanonicalJson(toSubstance(live)) ||
      (ignored.length > 0 && listDifferences(toSubstance(message), toSubstance(live), ignored).length === 0));
  const knows = (method: string): boolean => requests.some(({ message }) => message.method === method);
  return {
    knows,
    take(live) {
      const same = requests.filter((cue) => isMatch(live, cue));
      const next = same.find((cue) => left.has(cue)) ?? (repeats ? same.at(-1) : undefined);
      if (!next) return explain(live, same.length, requests);
      left.delete(next);
      return next;
    },
    takeNotification(live) {
      const same = [...left].filter(({ message }) => !("id" in message) && message.method === live.method);
      const next = same.find((cue) => isMatch(live, cue)) ?? same[0];
      if (next) left.delete(next);
      return next;
    },
  };
}

function explain(live: Request, used: number, requests: readonly Cue[]): string {
  const shown = describeRequest(live);
  if (used > 0)
    return `The recording has ${shown} ${used === 1 ? "once" : `${used} times`}, and now it comes once more`;
  const alike = requests
    .filter(({ message }) => message.method === live.method)
    .map(({ message }) => ({ message, differences: listDifferences(toSubstance(message), toSubstance(live)) }))
    .sort((a, b) => a.differences.length - b.differences.length);
  const [nearest] = alike;
  if (nearest) {
    const some = nearest.differences.slice(0, 3).map(describeDifference).join("; ");
    return `The recording has no ${shown}. The nearest is ${describeRequest(nearest.message)}: ${some}`;
  }
  const methods = [...new Set(requests.map(({ message }) => message.method))];
  const meant = nearestTo(live.method, methods);
  const other = meant ? `The nearest is ${meant}` : `It has ${methods.join(", ") || "no requests"}`;
  return `The recording has no ${shown}. ${other}`;
}
