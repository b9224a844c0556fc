// Records what passes through a channel, one line for each thing, without secrets. Each line is given out as it happens, so that
// what was said before a crash is kept.
import type { Channel, Target } from "../jsonrpc/channel.ts";
import { type Incoming, type Message, PreparedJson } from "../jsonrpc/message.ts";
import { type RedactOptions, redact, redactText } from "../protocol/redact.ts";
import type { Revision } from "../protocol/revisions.ts";
import { type TapEvent, tapChannel } from "../transport/tap.ts";
import { reasonOf } from "../util/call-back.ts";
import { createLru } from "../util/lru.ts";
import { type ConversationHeader, conversationVersion, type Side } from "./conversation.ts";

/** Given each line, without its line break. What it throws is dropped: the conversation goes on. */
export type ConversationSink = (line: string) => void;

export interface RecordOptions extends Omit<RedactOptions, "markState"> {
  /** What the recording is called. Default: the target's name. */
  readonly name?: string;
  /** Where it is known beforehand. */
  readonly revision?: Revision;
  /** Keep passwords, tokens and all else that would be taken out. Default false. */
  readonly dangerouslyKeepSecrets?: boolean;
}

export interface RecordChannelOptions extends RecordOptions {
  /** Whose end of the channel it is. Default "client". */
  readonly side?: Side;
}

/** The same target; what passes through its channels is recorded. The header is written at once. */
export function recordTarget(target: Target, sink: ConversationSink, options: RecordOptions = {}): Target {
  const recording = createRecording(sink, { name: target.name, ...options });
  const { name, key, restarts, mirrorsParams } = target;
  let opened = 0;
  return {
    name,
    key,
    ...(restarts !== undefined && { restarts }),
    ...(mirrorsParams !== undefined && { mirrorsParams }),
    async open(mirror) {
      const number = ++opened;
      return tapChannel(await target.open(mirror), (event) => recording.note(event, "client", number));
    },
  };
}

/** The same channel; what passes through it is recorded. The header is written at once. */
export function recordChannel(
  channel: Channel,
  sink: ConversationSink,
  { side = "client", ...options }: RecordChannelOptions = {},
): Channel {
  const recording = createRecording(sink, options);
  return tapChannel(channel, (event) => recording.note(event, side, 1));
}

interface Recording {
  note(event: TapEvent, side: Side, channel: number): void;
}

/** States that are told apart; more are only marked. */
const maxStates = 1000;

function createRecording(sink: ConversationSink, options: RecordOptions): Recording {
  const { name = "a channel", revision, dangerouslyKeepSecrets = false, ...redaction } = options;
  const startedAt = Date.now();
  const write = (line: object): void => {
    try {
      sink(JSON.stringify(line));
    } catch {
      // Traffic does not depend on who writes it down.
    }
  };
  const states = createLru<number>({ maxEntries: maxStates, maxWeight: Number.POSITIVE_INFINITY });
  let stateCount = 0;
  /** A client sends back what it was given: replaying has to know which one. */
  const markState = (state: string): string => {
    const number = states.get(state) ?? ++stateCount;
    states.set(state, number, 1);
    return `[redacted requestState ${number}]`;
  };
  const toMessage = (message: Message | readonly Message[]): Message | readonly Message[] =>
    dangerouslyKeepSecrets ? toPlain(message) : redact(message, { ...redaction, markState });
  const toText = (text: string): string => (dangerouslyKeepSecrets ? text : redactText(text, redaction.secrets));

  write({
    plenum: "conversation",
    version: conversationVersion,
    name: toText(name),
    startedAt: new Date(startedAt).toISOString(),
    ...(revision && { revision }),
    isRedacted: !dangerouslyKeepSecrets,
    ...(redaction.keys?.length && { keys: redaction.keys }),
    ...(redaction.paths?.length && { paths: redaction.paths }),
  } satisfies ConversationHeader);

  const toSaid = (incoming: Incoming): object => {
    if (incoming.kind === "invalid") return { invalid: toText(incoming.text ?? incoming.why ?? "no message") };
    if (incoming.kind !== "batch") return { message: toMessage(incoming.message) };
    return { message: incoming.members.flatMap((one) => (one.kind === "invalid" ? [] : [toMessage(one.message)])) };
  };

  return {
    note(event, side, channel) {
      const other: Side = side === "client" ? "server" : "client";
      const when = { at: Math.max(0, event.at - startedAt), ...(channel > 1 && { channel }) };
      if (event.kind === "sent") write({ ...when, from: side, message: toMessage(event.message) });
      else if (event.kind === "received") write({ ...when, from: other, ...toSaid(event.incoming) });
      else if (event.kind === "failed") write({ ...when, failed: event.id, why: toText(reasonOf(event.cause)) });
      else write({ ...when, closed: true, ...(event.cause !== undefined && { why: toText(reasonOf(event.cause)) }) });
    },
  };
}

function toPlain(message: Message | readonly Message[]): Message | readonly Message[] {
  if (Array.isArray(message)) return message.map((one) => toPlain(one) as Message);
  const one = message as Message;
  return "result" in one && one.result instanceof PreparedJson
    ? { ...one, result: JSON.parse(one.result.text) as never }
    : one;
}
