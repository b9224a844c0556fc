// What a client does when its server asks for something: it hands the question to the application, and sees to it that
// neither the server's question nor the application's answer does harm. Loaded by the first question. Blind to era and transport.
// Specification: client/elicitation, client/sampling, client/roots.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { checkDialogue } from "../protocol/dialogue.ts";
import type { Ask } from "../protocol/endpoint.ts";
import { isTellable, McpError, methodNotFound } from "../protocol/errors.ts";
import { findMethod } from "../protocol/methods.ts";
import type { Implementation, SampleRequest } from "../protocol/model.ts";
import type { Listener } from "../protocol/remote.ts";
import type { Revision } from "../protocol/revisions.ts";
import { addAsking } from "../protocol/wire/asking.ts";
import { addRetelling } from "../protocol/wire/retell.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { untilAborted } from "../util/abort.ts";
import { reasonOf } from "../util/call-back.ts";
import { toJsonCopy } from "../util/json-copy.ts";
import { quote } from "../util/quote.ts";
import { createRate } from "../util/rate.ts";
import { type Form, toForm } from "./form.ts";
import type { Action, AnswerContext, ClientOptions } from "./options.ts";
import { toRoots } from "./roots.ts";

export type Answering = Listener["answer"];

export interface AnsweringHooks {
  readonly warn: (problem: string) => void;
  /** What gives the roots of now; undefined where there never are any. */
  roots(): (() => unknown) | undefined;
  /** Who asks, as it says itself. */
  server(): Implementation | undefined;
}

/** A question that is understood. */
interface Question {
  /** The option whose business it is, for messages. */
  readonly of: string;
  put(ctx: AnswerContext): unknown;
  /** What the server gets. Throws when the application's answer is not one. */
  toResult(given: unknown): JsonObject;
}

/** Throws McpError for what is wrong with a question, before anybody is asked. */
type Reader = (params: JsonObject, revision: Revision) => Question;

const sampleMembers: ReadonlySet<string> = new Set(["role", "content", "model", "stopReason", "_meta"]);

export function createAnswering(options: ClientOptions, { warn, roots, server }: AnsweringHooks): Answering {
  addAsking();
  addRetelling();
  const { onElicit, onElicitUrl, onSample } = options;
  const { asksPerMinute = 60 } = options;
  const rate = createRate({ perSecond: asksPerMinute / 60, burst: Math.max(1, asksPerMinute) });
  let isFlooded = false;
  const readers = new Map<string, Reader>();
  if (onElicit || onElicitUrl) readers.set("elicitation/create", (...ask) => readElicitation(options, ...ask));
  if (onSample) readers.set("sampling/createMessage", (...ask) => readSample(options, ...ask));
  if (roots()) readers.set("roots/list", (_, revision) => readRoots(() => roots()?.(), revision));

  const read = (method: string, params: JsonObject, revision: Revision): Question => {
    const reader = readers.get(method);
    if (!reader || !wireOf(revision).has(resultShape(method))) throw methodNotFound(method);
    if (!rate.take()) {
      if (!isFlooded) warn(`The server asks more than ${asksPerMinute} times a minute; the excess is refused`);
      isFlooded = true;
      throw new McpError("rate_limited", `This client is asked at most ${asksPerMinute} times a minute`);
    }
    isFlooded = false;
    try {
      return reader(params, revision);
    } catch (error) {
      warn(`The server's ${method} is refused: ${reasonOf(error)}`);
      throw error;
    }
  };

  return async ({ method, params }, revision, signal) => {
    const stop = () => new McpError("aborted", `${method} was aborted`, { cause: signal.reason });
    if (signal.aborted) throw stop();
    const question = read(method, params, revision);
    try {
      const given = await untilAborted(
        (async () => question.put({ signal, revision, server: server() }))(),
        signal,
        (reason) => reason,
      );
      return question.toResult(given);
    } catch (error) {
      if (signal.aborted) throw stop();
      // What is thrown as McpError is meant for the peer, but for errors about requests of the application's own.
      if (error instanceof McpError && isTellable(error)) throw error;
      warn(`${question.of} failed to answer ${method}: ${reasonOf(error)}`);
      // It may hold what the user typed, or worse: the server learns nothing of it.
      throw new McpError("internal_error", `The client failed to answer ${method}`, { cause: error });
    }
  };
}

function readElicitation(options: ClientOptions, params: JsonObject, revision: Revision): Question {
  // Before there were pages, every question was a form, whatever else it said.
  const mode = wireOf(revision).has("ElicitURLParams") ? (params.mode ?? "form") : "form";
  const message = params.message as string;
  const { onElicit, onElicitUrl } = options;
  if (mode === "form" && onElicit) {
    const schema = params.requestedSchema as JsonObject;
    const form = readForm(schema);
    return {
      of: "onElicit",
      put: (ctx) => onElicit({ message, schema, defaults: form.defaults }, ctx),
      toResult: (given) => toElicitResult(given, form, revision),
    };
  }
  if (mode === "url" && onElicitUrl) {
    const url = toPageUrl(params.url as string);
    return {
      of: "onElicitUrl",
      put: (ctx) => onElicitUrl({ message, url }, ctx),
      toResult: (given) => ({ action: actionOf(given) }),
    };
  }
  throw new McpError("invalid_params", `This client did not declare the elicitation mode ${quote(String(mode))}`);
}

function readForm(schema: JsonObject): Form {
  try {
    return toForm(schema);
  } catch (error) {
    throw new McpError("invalid_params", `params.requestedSchema cannot be used: ${reasonOf(error)}`);
  }
}

function toElicitResult(given: unknown, form: Form, revision: Revision): JsonObject {
  const action = actionOf(given);
  // A refusal carries nothing, whatever was typed before it.
  if (action !== "accept") return { action };
  const { content: answer = {} } = given as JsonObject;
  if (!isObject(answer)) throw new TypeError("the content of an accepted form must be an object");
  const content = form.fill(answer);
  const problem = form.check(content, revision);
  if (problem) throw new TypeError(`the content does not fit the form: ${problem}`);
  return { action, content };
}

function actionOf(given: unknown): Action {
  const action = isObject(given) ? given.action : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return action;
  throw new TypeError('the answer must have the action "accept", "decline" or "cancel"');
}

/**
 * The URL of a page as a browser would take it, so that what the user is shown is what is opened. Other schemes can run
 * programs or code, and a user name makes one site look like another.
 */
function toPageUrl(text: string): string {
  const refuse = (why: string): never => {
    throw new McpError("invalid_params", `params.url ${why}`);
  };
  if (!URL.canParse(text)) return refuse(`is no URL: ${quote(text)}`);
  const { protocol, username, password, href } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") refuse(`must be an http or https URL, not ${quote(protocol)}`);
  if (username || password) refuse("must not have a user name or password in it");
  return href;
}

function readSample(options: ClientOptions, params: JsonObject, revision: Revision): Question {
  const { onSample, sampleTools, sampleContext } = options;
  const { _meta, task, ...request } = wireOf(revision).fit("CreateMessageParams", params);
  if (!sampleTools && (request.tools !== undefined || request.toolChoice !== undefined))
    throw new McpError(
      "invalid_params",
      "params has tools or toolChoice, but this client did not declare sampling.tools",
    );
  const problem = checkDialogue(request.messages as readonly unknown[]);
  if (problem) throw new McpError("invalid_params", `params.${problem}`);
  // Clients may ignore it; passed on, it could be taken for an order by whoever does the sampling in the end.
  const context = request.includeContext !== undefined && !sampleContext && { includeContext: "none" };
  const ask = { ...request, ...context } as unknown as SampleRequest;
  return {
    of: "onSample",
    put: (ctx) => onSample?.(ask, ctx),
    toResult: (given) => toSampleResult(given, revision),
  };
}

function toSampleResult(given: unknown, revision: Revision): JsonObject {
  const copy = toJsonCopy(given, "the answer");
  if (!isObject(copy)) throw new TypeError("the answer must be an object with role, content and model");
  // Only what the protocol has: a model library's own answer may say more than the server should know.
  const known = Object.entries(copy).filter(([name]) => sampleMembers.has(name));
  const result: JsonObject = Object.fromEntries(known);
  const { content } = result;
  // Model libraries give lists. Where a revision has but one block, a list of one is the same thing.
  const isSingle = Array.isArray(content) && content.length === 1 && !holdsLists(revision);
  return fitResult("sampling/createMessage", isSingle ? { ...result, content: content[0] } : result, revision);
}

/** Whether the content of a message may be a list of blocks. */
function holdsLists(revision: Revision): boolean {
  return wireOf(revision).check("SamplingContent", []) === undefined;
}

function readRoots(provide: () => unknown, revision: Revision): Question {
  return {
    of: "roots",
    put: provide,
    toResult: (given) => fitResult("roots/list", { roots: toRoots(given) }, revision),
  };
}

function resultShape(method: string): string {
  return `${findMethod(method)?.stem}Result`;
}

function fitResult(method: Ask["method"], result: JsonObject, revision: Revision): JsonObject {
  const wire = wireOf(revision);
  const shape = resultShape(method);
  const fitted = wire.fit(shape, result);
  const problem = wire.check(shape, fitted, "the answer");
  if (problem) throw new TypeError(`${problem} in ${revision}`);
  return fitted;
}
