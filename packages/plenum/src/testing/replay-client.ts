// A recorded conversation as a client: it says again what the client said, to a live server, and compares what that answers.
import type { Channel, Target } from "../jsonrpc/channel.ts";
import {
  type Incoming,
  isObject,
  type JsonObject,
  type Message,
  type Request,
  type RequestId,
  type Response,
  rpcCodes,
} from "../jsonrpc/message.ts";
import type { RedactOptions } from "../protocol/redact.ts";
import { reasonOf } from "../util/call-back.ts";
import { toPointerPattern } from "../util/json-pointer.ts";
import { unref } from "../util/unref.ts";
import {
  createRecordedForm,
  type Difference,
  describeDifference,
  describeRequest,
  listDifferences,
} from "./compare.ts";
import { type Conversation, type ConversationEvent, type ConversationHeader, saidIn } from "./conversation.ts";

export interface ReplayClientOptions extends Omit<RedactOptions, "markState"> {
  /**
   * Places that are another each time and are not compared: JSON Pointers into the server's messages, `*` for any one member, `**` for
   * any number: "/result/structuredContent/now". Ids, `_meta`, cursors and states never are.
   */
  readonly ignore?: readonly string[];
  /** How long the server may take for one answer. Default 10 000. */
  readonly timeoutMs?: number;
  /** Gives what is sent in place of a message of the client's: for secrets that the recording does not have. */
  readonly prepare?: (message: Message) => Message;
}

export interface ReplayDifference extends Difference {
  /** The request of the client's, or the question of the server's, in one line. */
  readonly about: string;
  /** What it is, as a sentence. */
  readonly problem: string;
}

export interface ReplayReport {
  /** Requests that were sent and had an answer in the recording. */
  readonly compared: number;
  readonly differences: readonly ReplayDifference[];
  /** For people: a line for each difference. */
  format(): string;
}

const alwaysIgnored = [
  "/result/_meta",
  "/params/_meta",
  "/result/requestState",
  "/result/nextCursor",
  "/error/data/errorId",
];

/**
 * Says what the client said, in the same order, each time when the server has said what it said before. Throws when there is no
 * channel to be had; what the server does otherwise than recorded is in the report. The channel is closed at the end.
 */
export async function replayClient(
  conversation: Conversation,
  to: Target | Channel,
  options: ReplayClientOptions = {},
): Promise<ReplayReport> {
  const differences: ReplayDifference[] = [];
  const { events } = conversation;
  const numbers = [...new Set(events.map(({ channel = 1 }) => channel))];
  let compared = 0;
  // There is one channel where one is given.
  for (const number of "send" in to ? numbers.slice(0, 1) : numbers) {
    const own = events.filter(({ channel = 1 }) => channel === number);
    const channel = "send" in to ? to : await to.open();
    compared += await replayChannel(own, channel, conversation.header, options, differences);
  }
  return {
    compared,
    differences,
    format: () => differences.map(({ about, problem }) => `${about}\n  ${problem}\n`).join(""),
  };
}

async function replayChannel(
  events: readonly ConversationEvent[],
  channel: Channel,
  header: ConversationHeader,
  options: ReplayClientOptions,
  differences: ReplayDifference[],
): Promise<number> {
  const { ignore = [], timeoutMs = 10_000, prepare = (message: Message) => message, ...redaction } = options;
  const ignored = [...alwaysIgnored, ...ignore].map(toPointerPattern);
  const toRecorded = createRecordedForm(header, redaction);
  const said = events.flatMap(saidIn);
  const wire = listen(channel, (method) => mayAsk(said, method));
  const requests = new Map<RequestId, Request>();
  const asks = new Map<RequestId, RequestId>();
  const renewals = createRenewals();
  let compared = 0;

  const note = (about: string, problem: string, difference: Difference): void => {
    differences.push({ about, problem, ...difference });
  };
  const compare = (about: string, recorded: object, live: Message): void => {
    const shown = toRecorded(live);
    for (const one of listDifferences(toCompared(recorded), toCompared(shown), ignored))
      note(about, describeDifference(one), one);
  };
  const answered = async (recorded: Response): Promise<void> => {
    const request = requests.get(recorded.id as RequestId);
    if (!request) return;
    const about = describeRequest(request);
    const live = await wire.answer(request.id, timeoutMs);
    if (typeof live === "string") note(about, live, { path: "", recorded, live: undefined });
    else {
      compared++;
      compare(about, recorded, live);
      renewals.learn(recorded, live);
    }
  };
  const asked = async (recorded: Request): Promise<void> => {
    const about = `The server's ${describeRequest(recorded)}`;
    const live = await wire.question(recorded.method, timeoutMs);
    if (!live) {
      note(about, "It is not asked any more", { path: "", recorded, live: undefined });
      return;
    }
    asks.set(recorded.id, live.id);
    compare(about, recorded, live);
  };

  for (const { from, message } of said) {
    if (from === "server") {
      if (!("method" in message)) await answered(message);
      else if ("id" in message) await asked(message);
    } else if ("method" in message) {
      const sent = prepare(renewals.renew(message));
      if ("id" in message) requests.set(message.id, message);
      wire.send(sent);
    } else if (message.id !== undefined) {
      const id = asks.get(message.id);
      if (id !== undefined) wire.send({ ...prepare(message), id } as Response);
    }
  }
  for (const method of wire.strangers)
    note(`The server's ${method}`, "It is asked now, and was not in the recording", {
      path: "",
      recorded: undefined,
      live: method,
    });
  await wire.close();
  return compared;
}

/** How many questions of this kind the recording has. */
function mayAsk(said: ReturnType<typeof saidIn>, method: string): number {
  return said.filter(({ from, message }) => from === "server" && "method" in message && message.method === method)
    .length;
}

/** Errors that are kept from the peer have an id that is another each time. */
function toCompared(message: object): JsonObject {
  const { jsonrpc, id, ...rest } = message as JsonObject;
  const text = JSON.stringify(rest).replace(/Internal error \([\da-f-]{36}\)/g, "Internal error");
  return JSON.parse(text) as JsonObject;
}

interface Wire {
  send(message: Message): void;
  /** The live answer, or why there is none. */
  answer(id: RequestId, timeoutMs: number): Promise<Response | string>;
  /** The next question of this kind; undefined where none comes. */
  question(method: string, timeoutMs: number): Promise<Request | undefined>;
  /** Questions that the recording does not have: they are refused. */
  readonly strangers: readonly string[];
  close(): Promise<void>;
}

/** What the server says, to be taken when it is wanted. */
function listen(channel: Channel, countAsks: (method: string) => number): Wire {
  const answers = new Map<RequestId, Response | string>();
  const questions: Request[] = [];
  const strangers: string[] = [];
  const counts = new Map<string, number>();
  const open = new Set<RequestId>();
  const wakers = new Set<() => void>();
  let over: string | undefined;
  const wake = (): void => {
    for (const one of wakers) one();
  };
  const hear = (incoming: Incoming): void => {
    if (incoming.kind === "batch") incoming.members.forEach(hear);
    else if (incoming.kind === "response") settle(incoming.message.id as RequestId, incoming.message);
    else if (incoming.kind === "request") ask(incoming.message);
    wake();
  };
  const settle = (id: RequestId, answer: Response | string): void => {
    answers.set(id, answer);
    open.delete(id);
  };
  const ask = (request: Request): void => {
    const count = (counts.get(request.method) ?? 0) + 1;
    counts.set(request.method, count);
    if (request.method === "ping") channel.send({ jsonrpc: "2.0", id: request.id, result: {} }, request.id);
    else if (count <= countAsks(request.method)) questions.push(request);
    else {
      strangers.push(request.method);
      const error = { code: rpcCodes.methodNotFound, message: "This was not asked when the conversation was recorded" };
      channel.send({ jsonrpc: "2.0", id: request.id, error }, request.id);
    }
  };
  const closed = new Promise<void>((resolve) => {
    channel.open({
      receive: hear,
      failed(id, cause) {
        settle(id, `It came to nothing: ${reasonOf(cause)}`);
        wake();
      },
      closed(cause) {
        over = cause === undefined ? "The server closed the connection" : `The connection was lost: ${reasonOf(cause)}`;
        resolve();
        wake();
      },
    });
  });
  /** Undefined after the time. */
  const until = <T>(look: () => T | undefined, timeoutMs: number): Promise<T | undefined> =>
    new Promise((resolve) => {
      const finish = (value: T | undefined): void => {
        clearTimeout(timer);
        wakers.delete(check);
        resolve(value);
      };
      const check = (): void => {
        const found = look();
        if (found !== undefined) finish(found);
        else if (over !== undefined) finish(undefined);
      };
      const timer = unref(setTimeout(() => finish(undefined), timeoutMs));
      wakers.add(check);
      check();
    });

  return {
    strangers,
    send(message) {
      if ("method" in message && "id" in message) open.add(message.id);
      channel.send(message);
    },
    async answer(id, timeoutMs) {
      const found = await until(() => answers.get(id), timeoutMs);
      return found ?? over ?? `There is no answer after ${timeoutMs} ms`;
    },
    async question(method, timeoutMs) {
      const found = await until<Request | "none">(() => {
        const at = questions.findIndex((one) => one.method === method);
        if (at >= 0) return questions.splice(at, 1)[0];
        // Who has answered everything asks no more.
        return open.size === 0 ? "none" : undefined;
      }, timeoutMs);
      return found === "none" ? undefined : found;
    },
    async close() {
      channel.close();
      await closed;
      await channel.ended;
    },
  };
}

interface Renewals {
  learn(recorded: Response, live: Response): void;
  renew(message: Message): Message;
}

/** What a server gives out for the client to send back: states, cursors, and the names of its questions. */
function createRenewals(): Renewals {
  const texts = new Map<unknown, unknown>();
  const names = new Map<string, string>();
  const resultOf = (message: Response): JsonObject =>
    "result" in message && isObject(message.result) ? message.result : {};
  return {
    learn(recorded, live) {
      const [before, now] = [resultOf(recorded), resultOf(live)];
      for (const key of ["requestState", "nextCursor"])
        if (typeof before[key] === "string" && typeof now[key] === "string") texts.set(before[key], now[key]);
      if (!isObject(before.inputRequests) || !isObject(now.inputRequests)) return;
      const current = Object.keys(now.inputRequests);
      Object.keys(before.inputRequests).forEach((name, at) => {
        const other = current[at];
        if (other !== undefined) names.set(name, other);
      });
    },
    renew(message) {
      if (!("method" in message) || !message.params) return message;
      const { requestState, cursor, inputResponses, ...rest } = message.params;
      const renewed = {
        ...rest,
        ...(requestState !== undefined && { requestState: texts.get(requestState) ?? requestState }),
        ...(cursor !== undefined && { cursor: texts.get(cursor) ?? cursor }),
        ...(isObject(inputResponses) && {
          inputResponses: Object.fromEntries(
            Object.entries(inputResponses).map(([name, answer]) => [names.get(name) ?? name, answer]),
          ),
        }),
      };
      return { ...message, params: renewed };
    },
  };
}
