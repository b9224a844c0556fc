// What the server sends, message by message: whether it is what the revision has, answers what was asked, and nothing else.
import type { Message, Single, TapEvent } from "plenum/tap";
import { checkMessage } from "plenum/wire";
import { type Check, type Finding, found } from "../check.ts";
import type { Ground, Stay } from "../ground.ts";
import { singlesOf } from "../visit.ts";

/** A finding for each text, with the revisions in which it was seen. */
function gather(stays: readonly Stay[], look: (stay: Stay) => Iterable<Omit<Finding, "revision">>): Finding[] {
  const seen = new Map<string, { finding: Finding; revisions: Set<string> }>();
  for (const stay of stays) {
    for (const finding of look(stay)) {
      const key = `${finding.where}\n${finding.message}`;
      const entry = seen.get(key) ?? { finding, revisions: new Set() };
      entry.revisions.add(stay.visit?.revision ?? stay.asked ?? "");
      seen.set(key, entry);
    }
  }
  return [...seen.values()].map(({ finding, revisions }) => {
    const named = [...revisions].filter((revision) => revision !== "");
    return { ...finding, ...(named.length > 0 && { revision: named.join(", ") }) };
  });
}

function* messagesOf(sent: TapEvent): Iterable<Message> {
  if (sent.kind !== "sent") return;
  if (Array.isArray(sent.message)) yield* sent.message;
  else yield sent.message as Message;
}

interface Seen {
  readonly one: Single;
  /** The method that it answers; undefined where it answers nothing that waits. */
  readonly answers: string | undefined;
  /** A request with the same id, but of the other kind, waits: `"1"` for `1`. */
  readonly isOtherKind: boolean;
  readonly isSecond: boolean;
}

/** What was received, each with what it answers. */
function* receivedOf({ record }: Stay): Iterable<Seen> {
  const asked = new Map<unknown, string>();
  const answered = new Set<unknown>();
  for (const event of record.events) {
    for (const message of messagesOf(event))
      if ("method" in message && "id" in message) asked.set(message.id, message.method);
    for (const one of singlesOf(event)) {
      const id = one.kind === "response" ? one.message.id : undefined;
      const answers = asked.get(id);
      const isSecond = answers !== undefined && answered.has(id);
      const isOtherKind = answers === undefined && [...asked.keys()].some((other) => String(other) === String(id));
      if (answers !== undefined) answered.add(id);
      yield { one, answers, isOtherKind, isSecond };
    }
  }
}

function* schemaFaults(stay: Stay): Iterable<Finding> {
  const revision = stay.visit?.revision ?? stay.asked;
  for (const { one, answers } of receivedOf(stay)) {
    if (one.kind === "invalid") {
      // What is no JSON at all is noise, and told as such.
      if (one.text === undefined) yield { message: `It sent what is no message: ${one.why ?? toWhy(one)}.` };
    } else if (revision !== undefined) {
      const fault = checkMessage(revision, "server", one.message, answers);
      const where = "method" in one.message ? one.message.method : `result of ${answers}`;
      if (fault?.kind === "shape") yield { message: `${fault.message}.`, where };
    }
  }
}

function toWhy(one: Extract<Single, { kind: "invalid" }>): string {
  return one.answer?.error.message.replace(/^Invalid request: /, "") ?? "a response without a result or a right error";
}

function* idFaults(stay: Stay): Iterable<Finding> {
  for (const { one, answers, isOtherKind, isSecond } of receivedOf(stay)) {
    if (one.kind !== "response") continue;
    const { id } = one.message;
    // An error without an id is the answer to what could not be read.
    if (id === undefined || id === null) continue;
    if (isOtherKind) yield { message: "It answers with an id of another type: a number as text, or text as a number." };
    else if (answers === undefined) yield { message: `It sent a response to id ${show(id)}, which nobody asked.` };
    else if (isSecond) yield { message: "It answered a request twice.", where: answers };
  }
}

function show(id: unknown): string {
  return JSON.stringify(id).slice(0, 60);
}

function* strangers(stay: Stay): Iterable<Finding> {
  const revision = stay.visit?.revision;
  if (revision === undefined) return;
  for (const { one } of receivedOf(stay)) {
    if (one.kind !== "notification" && one.kind !== "request") continue;
    const { method } = one.message;
    if (checkMessage(revision, "server", one.message)?.kind !== "unknown_method") continue;
    yield { message: `It sends the ${one.kind} ${method}, which the revision does not have.`, where: method };
  }
}

/** The requests of a server that a client must declare to be able to answer. The doctor declares none of them. */
const undeclared = ["sampling/createMessage", "elicitation/create", "roots/list"];

function* unasked(stay: Stay): Iterable<Finding> {
  for (const { one } of receivedOf(stay)) {
    if (one.kind !== "request" || !undeclared.includes(one.message.method)) continue;
    yield {
      message: `It asks for ${one.message.method}, though the client has not declared it.`,
      where: one.message.method,
    };
  }
}

export const messagesChecks: readonly Check[] = [
  {
    id: "messages/schema",
    spansRevisions: true,
    title: "Every message is valid in its revision",
    looksAt: "every message that it sent, in every revision",
    appliesTo: "any",
    severity: "error",
    remedy: "Compare the message with the schema of the revision. Clients that check what they receive refuse it.",
    needsConnection: false,
    run: ({ stays }) => found(gather(stays, schemaFaults), `${countReceived(stays)} messages`),
  },
  {
    id: "messages/ids",
    spansRevisions: true,
    title: "Every response answers one request, once",
    looksAt: "the ids of responses",
    appliesTo: "any",
    severity: "error",
    remedy: "Send the id of the request back as it came, as a number or as text, and answer each request once.",
    needsConnection: false,
    run: ({ stays }: Ground) => found(gather(stays, idFaults)),
  },
  {
    id: "messages/unknown-methods",
    spansRevisions: true,
    title: "It sends no requests and notifications that the revision does not have",
    looksAt: "the methods of what it sends by itself",
    appliesTo: "any",
    severity: "warning",
    remedy: "Send it only in revisions that have it, or declare an extension for it.",
    run: ({ stays }) => found(gather(stays, strangers)),
  },
  {
    id: "messages/undeclared-asks",
    spansRevisions: true,
    title: "It asks nothing that the client has not declared",
    looksAt: "requests for sampling, elicitation and roots, to a client without them",
    appliesTo: "any",
    severity: "error",
    remedy: "Look at the capabilities of the client before asking it: clients without them refuse, or wait for ever.",
    run: ({ stays }) => found(gather(stays, unasked)),
  },
];

function countReceived(stays: readonly Stay[]): number {
  return stays.reduce((sum, { record }) => sum + record.events.filter(({ kind }) => kind === "received").length, 0);
}
