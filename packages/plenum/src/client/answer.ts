// What a client does when its server asks for something: it hands the question to the application, and sees to it that
// neither the server's question nor the application's answer does harm. Blind to era and transport.
// Specification: client/elicitation, client/sampling, client/roots.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { checkDialogue } from "../protocol/dialogue.ts";
import type { Ask } from "../protocol/endpoint.ts";
import { isTellable, McpError, methodNotFound } from "../protocol/errors.ts";
import { assertExtensionId } from "../protocol/meta.ts";
import { findMethod } from "../protocol/methods.ts";
import {
  type ClientCapabilities,
  type Implementation,
  type LogLevel,
  logLevels,
  type SampleRequest,
} from "../protocol/model.ts";
import type { Listener } from "../protocol/remote.ts";
import { isRevision, type Revision, revisions } from "../protocol/revisions.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { untilAborted } from "../util/abort.ts";
import { reasonOf } from "../util/call-back.ts";
import { toJsonCopy } from "../util/json-copy.ts";
import { nearestTo } from "../util/nearest.ts";
import { quote } from "../util/quote.ts";
import { createRate } from "../util/rate.ts";
import { type Form, toForm } from "./form.ts";
import type { Action, AnswerContext, ClientOptions, RootsOption } from "./options.ts";
import { toRoots } from "./roots.ts";

export interface ListenerHooks {
  /** The server says that a list or a resource is another now. Told before the application is. */
  heard(method: string, params: JsonObject): void;
  /** Who asks, as it says itself; undefined as long as it has not. */
  server?(): Implementation | undefined;
}

export interface ClientListener extends Listener {
  /** Other roots from now on. Throws a TypeError for roots that are not valid, and where `roots` was not given before. */
  setRoots(roots: RootsOption): void;
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

const changes: ReadonlyMap<string, "tools" | "resources" | "prompts"> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

const sampleMembers: ReadonlySet<string> = new Set(["role", "content", "model", "stopReason", "_meta"]);

/** Throws a TypeError that names the option for options that make no sense. */
export function createListener(options: ClientOptions, hooks: ListenerHooks): ClientListener {
  assertOptions(options);
  const { onElicit, onElicitUrl, onSample, onLog, onListChanged, onResourceUpdated, onWarning } = options;
  const { asksPerMinute = 60 } = options;
  const rate = createRate({ perSecond: asksPerMinute / 60, burst: Math.max(1, asksPerMinute) });
  let isFlooded = false;
  let roots = options.roots && toProvider(options.roots);

  const warn = (problem: string): void => {
    settle(() => (onWarning ? onWarning(problem) : console.warn(`plenum: ${problem}`))).catch(() => {});
  };
  /** A callback that fails is the application's own trouble, never the connection's. */
  const tell = (name: string, run: () => unknown): void => {
    settle(run).catch((error) => warn(`${name} failed: ${reasonOf(error)}`));
  };

  const readers = new Map<string, Reader>();
  if (onElicit || onElicitUrl) readers.set("elicitation/create", (...ask) => readElicitation(options, ...ask));
  if (onSample) readers.set("sampling/createMessage", (...ask) => readSample(options, ...ask));
  if (roots) readers.set("roots/list", (_, revision) => readRoots(() => roots?.(), revision));

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

  return {
    capabilities: toCapabilities(options),
    warn,

    async answer({ method, params }, revision, signal) {
      const stop = () => new McpError("aborted", `${method} was aborted`, { cause: signal.reason });
      if (signal.aborted) throw stop();
      const question = read(method, params, revision);
      try {
        const given = await untilAborted(
          settle(() => question.put({ signal, revision, server: hooks.server?.() })),
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
    },

    heard(method, params) {
      const kind = changes.get(method);
      if (method === "notifications/message") tell("onLog", () => onLog?.(toLogEntry(params)));
      else if (kind) {
        tell(method, () => hooks.heard(method, params));
        tell("onListChanged", () => onListChanged?.(kind));
      } else if (method === "notifications/resources/updated") {
        tell(method, () => hooks.heard(method, params));
        tell("onResourceUpdated", () => onResourceUpdated?.(params.uri as string));
      }
    },

    setRoots(next) {
      if (!roots)
        throw new TypeError(
          "roots were not given when the client was made, so that the server cannot ask for them. Give `roots: []` then.",
        );
      roots = toProvider(next);
    },
  };
}

function toCapabilities(options: ClientOptions): ClientCapabilities {
  const { onElicit, onElicitUrl, onSample, sampleTools, sampleContext, roots, extensions } = options;
  return {
    ...((onElicit || onElicitUrl) && {
      elicitation: { ...(onElicit && { form: {} }), ...(onElicitUrl && { url: {} }) },
    }),
    ...(onSample && { sampling: { ...(sampleTools && { tools: {} }), ...(sampleContext && { context: {} }) } }),
    ...(roots && { roots: { listChanged: true } }),
    ...(extensions && { extensions }),
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

/** A list is checked at once, what a function gives when it gives it. */
function toProvider(roots: RootsOption): () => unknown {
  if (typeof roots === "function") return roots;
  const list = toRoots(roots);
  return () => list;
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

/** Runs the function at once; what it throws becomes a rejection. */
async function settle(run: () => unknown): Promise<unknown> {
  return run();
}

function toLogEntry({ level, logger, data }: JsonObject): { level: LogLevel; logger?: string; data: unknown } {
  return { level: level as LogLevel, ...(typeof logger === "string" && { logger }), data };
}

const limitOptions = [
  "timeoutMs",
  "maxTimeoutMs",
  "probeTimeoutMs",
  "connectTimeoutMs",
  "maxRounds",
  "maxPages",
  "pingTimeoutMs",
  "maxPingFailures",
] as const;

// Checked by the compiler: one that is missing here, or too many, does not compile.
const optionNames: { readonly [K in keyof Required<ClientOptions>]: true } = {
  info: true,
  revision: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  probeTimeoutMs: true,
  connectTimeoutMs: true,
  signal: true,
  onElicit: true,
  onElicitUrl: true,
  onSample: true,
  sampleTools: true,
  sampleContext: true,
  roots: true,
  extensions: true,
  asksPerMinute: true,
  maxRounds: true,
  onLog: true,
  logLevel: true,
  onListChanged: true,
  onResourceUpdated: true,
  onStateChange: true,
  onWarning: true,
  pingIntervalMs: true,
  pingTimeoutMs: true,
  maxPingFailures: true,
  restart: true,
  trusted: true,
  cache: true,
  validateOutput: true,
  maxPages: true,
};
const knownOptions: readonly string[] = Object.keys(optionNames);

function assertOptions(options: ClientOptions): void {
  const { onSample, roots, extensions, asksPerMinute, logLevel } = options;
  const { onElicit, onElicitUrl, onLog, onListChanged, onResourceUpdated, onStateChange, onWarning } = options;
  const callbacks = {
    onElicit,
    onElicitUrl,
    onSample,
    onLog,
    onListChanged,
    onResourceUpdated,
    onStateChange,
    onWarning,
  };
  for (const [name, value] of Object.entries(callbacks))
    assert(value === undefined || typeof value === "function", `${name} must be a function`);
  const { sampleTools, sampleContext } = options;
  for (const [name, value] of Object.entries({ sampleTools, sampleContext })) {
    assert(value === undefined || typeof value === "boolean", `${name} must be true or false`);
    assert(!value || onSample, `${name} is about onSample, which is not given`);
  }
  assert(logLevel === undefined || logLevels.includes(logLevel), `logLevel must be one of ${logLevels.join(", ")}`);
  assert(
    roots === undefined || typeof roots === "function" || Array.isArray(roots),
    "roots must be a list or a function",
  );
  assert(extensions === undefined || isObject(extensions), "extensions must be an object");
  for (const [id, settings] of Object.entries(extensions ?? {})) {
    assertExtensionId(id);
    assert(isObject(settings), `extensions: ${quote(id)} must be an object`);
  }
  const { revision } = options;
  assert(revision === undefined || isRevision(revision), `revision must be one of ${revisions.join(", ")}`);
  for (const name of limitOptions) {
    const value = options[name];
    assert(value === undefined || (typeof value === "number" && value >= 0), `${name} must be a number, 0 or more`);
  }
  const stray = Object.keys(options).find((name) => !knownOptions.includes(name));
  assert(stray === undefined, `there is no option ${quote(stray ?? "")}${hintFor(stray ?? "")}`);
  const isRate = asksPerMinute === undefined || (typeof asksPerMinute === "number" && asksPerMinute > 0);
  assert(isRate, "asksPerMinute must be a number above 0");
}

function hintFor(stray: string): string {
  if (stray === "headers" || stray === "fetch") return `: it stands beside the url: connect({ url, ${stray} })`;
  const nearest = nearestTo(stray, knownOptions);
  return nearest ? `: did you mean "${nearest}"?` : `; there are ${knownOptions.join(", ")}`;
}

function assert(holds: unknown, problem: string): void {
  if (!holds) throw new TypeError(`connect: ${problem}`);
}
