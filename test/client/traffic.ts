// What passes between a client and its server, and whether all of it is right: by the shapes of the revision, by the
// official schemas where they are at hand, and by the rules on ids and directions that no schema tells.
import type { Revision } from "plenum";
import type { TapEvent } from "plenum/tap";
import { type Judged, judgeSent } from "../suites/judge.ts";
import type { Obj } from "./script.ts";

export interface Passed extends Judged {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Obj;
  readonly result?: Obj;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface Step {
  readonly from: "client" | "server";
  /** Undefined: what came was no message. */
  readonly message: Passed | undefined;
  /** Counts the connections of one client: ids begin anew with each. */
  readonly connection: number;
}

export interface Traffic {
  report(event: TapEvent): void;
  /** The client's messages in order: all, or the requests and notifications of one method. */
  sent(method?: string): Passed[];
  /** The server's. */
  heard(method?: string): Passed[];
  /** The server's answer to a request of the client's. */
  answerTo(request: Passed | undefined): Passed | undefined;
  /** The client's answer to a request of the server's. */
  replyTo(request: Passed | undefined): Passed | undefined;
  /** What is wrong, one line each. */
  problems(revision: Revision): string[];
}

const modern: Revision = "2026-07-28";

export function createTraffic(): Traffic {
  const steps: Step[] = [];
  let connection = 0;

  const add = (from: Step["from"], message: unknown): void => {
    steps.push({ from, message: message as Passed, connection });
  };
  const by = (from: Step["from"], method: string | undefined): Passed[] =>
    steps.flatMap((step) =>
      step.from === from && step.message && (method === undefined || step.message.method === method)
        ? [step.message]
        : [],
    );
  const answer = (from: Step["from"], request: Passed | undefined): Passed | undefined =>
    request && by(from, undefined).find(({ id, method }) => method === undefined && id === request.id);

  return {
    report(event) {
      if (event.kind === "closed") connection++;
      else if (event.kind === "sent") add("client", event.message);
      else if (event.kind === "failed") return;
      else {
        const { incoming } = event;
        add("server", incoming.kind === "invalid" || incoming.kind === "batch" ? undefined : incoming.message);
      }
    },
    sent: (method) => by("client", method),
    heard: (method) => by("server", method),
    answerTo: (request) => answer("server", request),
    replyTo: (request) => answer("client", request),
    problems: (revision) => judge(steps, revision),
  };
}

function judge(steps: readonly Step[], revision: Revision): string[] {
  const problems: string[] = [];
  // Requests by sender, connection and id.
  const asked = new Map<string, Passed>();
  for (const { from, message, connection } of steps) {
    const complain = (problem: string): void => {
      problems.push(`${revision}, ${from}: ${problem}: ${JSON.stringify(message)}`);
    };
    if (message === undefined || Array.isArray(message)) {
      complain("no single message");
      continue;
    }
    const { id, method } = message;
    const isAnswer = method === undefined;
    const other = from === "client" ? "server" : "client";
    const answered = isAnswer ? asked.get(`${other} ${connection} ${JSON.stringify(id)}`) : undefined;
    const problem = judgeSent(message, spokenIn(message, answered, revision), answered?.method, from);
    if (problem) complain(problem);
    if (isAnswer) {
      if (id !== undefined && !answered) complain("answers what was not asked");
      if (from === "client" && revision === modern) complain("a client of this revision answers nothing");
      if (message.result !== undefined && message.error !== undefined) complain("result and error");
    } else if (id !== undefined) {
      const key = `${from} ${connection} ${JSON.stringify(id)}`;
      if (asked.has(key)) complain("an id used twice");
      if (from === "server" && revision === modern) complain("a server of this revision asks nothing");
      asked.set(key, message);
    }
  }
  return problems;
}

/** The messages that find out the revision are those of the revision that they name. */
function spokenIn(message: Passed, answered: Passed | undefined, revision: Revision): Revision {
  const method = message.method ?? answered?.method;
  if (method === "server/discover") return modern;
  if (method !== "initialize") return revision;
  const named = message.params?.protocolVersion ?? message.result?.protocolVersion;
  return (named as Revision | undefined) ?? revision;
}
