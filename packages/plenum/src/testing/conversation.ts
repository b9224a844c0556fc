// A conversation as it is kept: JSON Lines, a header and then one line for each thing that happened. What a recording writes and
// what replaying reads. docs/testing.md describes the format for people.
import { isObject, type JsonObject, type Message, type RequestId } from "../jsonrpc/message.ts";
import { metaKeys, metaOf } from "../protocol/meta.ts";
import { isRevision, type Revision } from "../protocol/revisions.ts";

export const conversationVersion = 1;

export interface ConversationHeader {
  /** What the file is. */
  readonly plenum: "conversation";
  readonly version: typeof conversationVersion;
  /** What was recorded, as its target names itself. */
  readonly name: string;
  /** In ISO 8601: the time that offsets count from. */
  readonly startedAt: string;
  /** Where it was known beforehand; `revisionOf` finds it in what was said. */
  readonly revision?: Revision;
  /** Whether secrets were taken out. */
  readonly isRedacted: boolean;
  /** What was taken out beyond what always is: see `RedactOptions`. */
  readonly keys?: readonly string[];
  readonly paths?: readonly string[];
}

interface Timed {
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** Counts from 1: after a channel was lost, the client opens another. Absent: the first. */
  readonly channel?: number;
}

export type Side = "client" | "server";

export type ConversationEvent = Timed &
  (
    | { readonly from: Side; readonly message: Message | readonly Message[] }
    /** What could not be read as a message, as text. */
    | { readonly from: Side; readonly invalid: string }
    /** A request of the client's came to nothing, and the channel went on. */
    | { readonly failed: RequestId; readonly why: string }
    /** Without a reason the end was orderly. */
    | { readonly closed: true; readonly why?: string }
  );

export interface Conversation {
  readonly header: ConversationHeader;
  readonly events: readonly ConversationEvent[];
}

/** One thing that was said, with batches taken apart. */
export interface Said {
  readonly from: Side;
  readonly message: Message;
}

/**
 * Reads a conversation: the text of its file, or its lines. A last line that was cut off is left out: whoever recorded it may have been
 * killed. Throws a SyntaxError that names the line for what is none, and for an answer that comes before its request.
 */
export function parseConversation(text: string | readonly string[]): Conversation {
  const lines = typeof text === "string" ? text.split("\n") : text.map((line) => line.trimEnd());
  while (lines.at(-1)?.trim() === "") lines.pop();
  const [first, ...rest] = lines.map((line, at) => parseLine(line, at + 1, at > 0 && at === lines.length - 1));
  const events = rest.filter((event) => event !== undefined);
  assertHeader(first);
  const conversation = { header: first, events: events.map(toEvent) };
  assertOrder(conversation.events);
  return conversation;
}

/** The text of its file. */
export function formatConversation({ header, events }: Conversation): string {
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join("");
}

function parseLine(line: string, number: number, isLast: boolean): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    if (isLast) return undefined;
    throw new SyntaxError(`line ${number} of the conversation is no JSON`, { cause });
  }
}

function assertHeader(value: unknown): asserts value is ConversationHeader {
  if (!isObject(value) || value.plenum !== "conversation")
    throw new SyntaxError('this is no conversation: its first line is not {"plenum":"conversation", …}');
  if (value.version !== conversationVersion)
    throw new SyntaxError(
      `the conversation is of version ${String(value.version)}, and this library reads version ${conversationVersion}`,
    );
}

function toEvent(value: unknown, at: number): ConversationEvent {
  if (isEvent(value)) return value as unknown as ConversationEvent;
  throw new SyntaxError(`line ${at + 2} of the conversation says nothing that is known`);
}

/** Nobody answers what is only asked later: such lines were sorted, or put together, by somebody else. */
function assertOrder(events: readonly ConversationEvent[]): void {
  const early = new Map<string, number>();
  const asked = new Set<string>();
  events.forEach((event, at) => {
    const { channel = 1 } = event;
    for (const { from, message } of saidIn(event)) {
      if (!isObject(message) || message.id === undefined || message.id === null) continue;
      const isRequest = "method" in message;
      const asker = isRequest ? from : from === "client" ? "server" : "client";
      const key = JSON.stringify([channel, asker, message.id]);
      const line = early.get(key);
      if (!isRequest && !asked.has(key)) early.set(key, at + 2);
      else if (isRequest && line !== undefined)
        throw new SyntaxError(
          `the lines of the conversation are out of order: line ${line} answers what is asked in line ${at + 2}`,
        );
      else if (isRequest) asked.add(key);
    }
  });
}

function isEvent(value: unknown): value is JsonObject {
  if (!isObject(value) || typeof value.at !== "number") return false;
  if (value.closed === true || value.failed !== undefined) return true;
  const isSaid = typeof value.invalid === "string" || isObject(value.message) || Array.isArray(value.message);
  return (value.from === "client" || value.from === "server") && isSaid;
}

/** The messages of an event: none, one, or those of a batch. */
export function saidIn(event: ConversationEvent): readonly Said[] {
  if (!("message" in event)) return [];
  const { from, message } = event;
  return [message].flat().map((one) => ({ from, message: one as Message }));
}

/** The revision that was agreed on; undefined where it never came to that. */
export function revisionOf({ header, events }: Conversation): Revision | undefined {
  if (header.revision) return header.revision;
  let found: Revision | undefined;
  for (const { from, message } of events.flatMap(saidIn)) {
    if (from === "server" && "result" in message && isObject(message.result)) {
      const agreed = message.result.protocolVersion;
      if (isRevision(agreed)) return agreed;
    }
    // The probe of a client says what it would like; what comes after says what it got.
    if (from === "client" && "method" in message) {
      const spoken = metaOf(message.params)[metaKeys.protocolVersion];
      if (isRevision(spoken)) found = spoken;
    }
  }
  return found;
}
