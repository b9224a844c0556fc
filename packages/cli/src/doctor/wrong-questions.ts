// Requests that a server must refuse, asked in every revision; none of them has an effect on a server that exists.
import type { Answer, Visit } from "./visit.ts";

type Ask = (visit: Visit) => Promise<Answer> | undefined;

export const noSuchName = "plenum-doctor-no-such-thing";

/** Undefined where the server does not declare what it takes. */
export const wrongQuestions = {
  method: (visit) => visit.askOnce(`doctor/${noSuchName}`),
  tool: (visit) =>
    visit.declares("tools") ? visit.askOnce("tools/call", { name: noSuchName, arguments: {} }) : undefined,
  resource: (visit) =>
    visit.declares("resources") ? visit.askOnce("resources/read", { uri: `doctor://${noSuchName}` }) : undefined,
  prompt: (visit) => (visit.declares("prompts") ? visit.askOnce("prompts/get", { name: noSuchName }) : undefined),
} as const satisfies { readonly [name: string]: Ask };
