// A client of one server: the protocol's verbs, whatever the server speaks and however it is reached.
import type { Target } from "../jsonrpc/channel.ts";
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { hasCapability } from "../protocol/capabilities.ts";
import type { Result } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import { assertOwnMeta } from "../protocol/meta.ts";
import type {
  CallToolResult,
  Completion,
  CompletionRef,
  GetPromptResult,
  LogLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../protocol/model.ts";
import type { Remote, RemoteDescription } from "../protocol/remote.ts";
import { factsOf, type Revision } from "../protocol/revisions.ts";
import { createLimit, untilAborted } from "../util/abort.ts";
import { reasonOf } from "../util/call-back.ts";
import { quote } from "../util/quote.ts";
import { createListener } from "./answer.ts";
import { createCache } from "./cache.ts";
import { readHeaderParams } from "./header-params.ts";
import { type Line, openLine } from "./line.ts";
import type { CallOptions, ClientOptions, ConnectionState, RootsOption } from "./options.ts";
import { createOutputs } from "./output.ts";
import { createList, type List } from "./pages.ts";
import { type ToolResult, toToolResult } from "./result.ts";
import { hintsOf } from "./tool-hints.ts";

export interface CompleteOptions extends CallOptions {
  /** The other arguments that are filled in already. */
  readonly arguments?: { readonly [name: string]: string };
}

export interface Client {
  /** What was agreed on. */
  readonly revision: Revision;
  readonly state: ConnectionState;
  /** What the server says of itself. */
  readonly server: RemoteDescription;

  listTools(options?: CallOptions): List<Tool>;
  /** A tool's own failure is a result with `isError`. Throws McpError for everything else that goes wrong. */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolResult>;
  listResources(options?: CallOptions): List<Resource>;
  listResourceTemplates(options?: CallOptions): List<ResourceTemplate>;
  /** Throws McpError `resource_not_found` where there is none, whichever number the server gives it. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
  /** From now on `onResourceUpdated` is told when the resource changes. Throws as `readResource` does. */
  subscribe(uri: string, options?: CallOptions): Promise<void>;
  unsubscribe(uri: string, options?: CallOptions): Promise<void>;
  listPrompts(options?: CallOptions): List<Prompt>;
  getPrompt(name: string, args?: { readonly [name: string]: string }, options?: CallOptions): Promise<GetPromptResult>;
  /** Values for an argument of a prompt or a variable of a resource template. */
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    options?: CompleteOptions,
  ): Promise<Completion>;
  /** Which log messages the server should send from now on. */
  setLogLevel(level: LogLevel, options?: CallOptions): Promise<void>;
  /** Whether the server is there; asked in another way in revisions without `ping`. */
  ping(options?: CallOptions): Promise<void>;
  /** Gives the server other roots, and tells it so where the revision has a way to. */
  setRoots(roots: RootsOption): void;

  /** Any request, the protocol's or your own; the result is checked where it is the protocol's. `_meta` as in `options`. */
  request(method: string, params?: JsonObject, options?: CallOptions): Promise<Result>;
  notify(method: string, params?: JsonObject): void;
  /** Ends the connection, and what was started for it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What is made of a page, and of when it was asked for. */
type Learn = (page: Result, generation: number) => Result;

// What is looked up behind a call: a server that takes longer, or has more, has its results unchecked.
const learnMs = 60_000;
const maxLearntPages = 100;

const listKinds = ["tools", "resources", "prompts"] as const;

/** Opens a client on a target. Throws McpError when that fails. */
export async function createClient(target: Target, options: ClientOptions = {}): Promise<Client> {
  const { validateOutput = true, trusted = false, maxPages = 1000 } = options;
  const info = options.info ?? { name: "plenum", version: "0.1.0" };
  const cache = options.cache === false ? undefined : createCache();
  let opened: Line | undefined;
  const listener = createListener(options, {
    heard(method, params) {
      const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
      if (kind) cache?.drop(kind);
      if (kind === "tools") outputs.forget();
      if (method === "notifications/resources/updated") cache?.dropRead(params.uri as string);
    },
    server: () => opened?.remote.description.info,
  });
  const outputs = createOutputs({ warn: (problem) => listener.warn(problem) });
  const line = await openLine(target, { ...options, info }, listener);
  opened = line;
  const uris = new Set<string>();
  const lists = options.onListChanged ? listKinds : [];

  /** The client's own settings, over which a call's go. */
  const settings = (given: CallOptions = {}): CallOptions => {
    const { signal, onProgress, timeoutMs, maxTimeoutMs } = given;
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new TypeError("signal must be an AbortSignal: the member `signal` of an AbortController");
    if (onProgress !== undefined && typeof onProgress !== "function")
      throw new TypeError("onProgress must be a function");
    for (const [name, value] of Object.entries({ timeoutMs, maxTimeoutMs }))
      if (value !== undefined && !(typeof value === "number" && value >= 0))
        throw new TypeError(`${name} must be a number of milliseconds, 0 or more`);
    assertOwnMeta(given.meta, "meta");
    if (given.meta && Object.hasOwn(given.meta, "progressToken"))
      throw new TypeError("meta: progressToken is given by the client itself, where there is onProgress");
    return {
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.maxTimeoutMs !== undefined && { maxTimeoutMs: options.maxTimeoutMs }),
      ...given,
    };
  };

  async function send(method: string, params: JsonObject, given: CallOptions = {}, isSafe = false): Promise<Result> {
    const all = settings(given);
    const isRepeatable = given.retry ?? isSafe;
    try {
      return await line.run((remote) => remote.request(method, params, all), isRepeatable, all);
    } catch (error) {
      throw withRemedy(error);
    }
  }

  /** From what is kept, if it is fresh; otherwise from the server. Lists and reads only. */
  async function fetch(method: string, params: JsonObject, given: CallOptions = {}, isSafe = false): Promise<Result> {
    // Older servers say nothing about keeping; `_meta` of one's own may change what comes back.
    const store = line.remote.revision >= "2026-07-28" && !given.meta ? cache : undefined;
    const kept = given.fresh ? undefined : store?.get(method, params);
    if (kept) return kept;
    const ticket = store?.begin(method, params);
    const result = await send(method, params, given, isSafe);
    if (ticket) store?.keep(ticket, result);
    return result;
  }

  function list<T>(method: string, member: string, given: CallOptions = {}, learn?: Learn): List<T> {
    return createList<T>({
      member,
      async fetch(cursor) {
        const { generation } = outputs;
        const page = await fetch(method, cursor === undefined ? {} : { cursor }, given, true);
        return learn ? learn(page, generation) : page;
      },
      maxPages,
      emptyCursorMayEnd: line.remote.revision < "2026-07-28",
      restart: () => cache?.dropPages(method) ?? false,
    });
  }

  /** What a page of tools tells: their schemas. Tools that cannot be called here are left out, with the reason. */
  function learnTools(page: Result, generation: number): Result {
    const tools = page.tools as readonly Tool[];
    outputs.learn(tools, generation);
    if (!target.mirrorsParams) return page;
    const callable = tools.filter((tool) => {
      const read = readHeaderParams(tool);
      if ("problem" in read) listener.warn(`The tool ${quote(tool.name)} is left out: ${read.problem}`);
      return !("problem" in read);
    });
    return callable.length === tools.length ? page : { ...page, tools: callable };
  }

  const listTools = (given?: CallOptions): List<Tool> => list("tools/list", "tools", given, learnTools);

  let learning: Promise<void> | undefined;
  /** When all tools were listed last: what is unknown since then is not there. */
  let learntAt = -1;
  /** Asks for the tools' schemas, one time for all who want them; page by page, so that nothing but they is kept. */
  async function learnAll(fresh: boolean): Promise<void> {
    const { generation } = outputs;
    const limit = { signal: AbortSignal.timeout(learnMs), fresh };
    let pages = 0;
    try {
      for await (const _ of listTools(limit).pages()) if (++pages === maxLearntPages) break;
      learntAt = generation;
    } catch (error) {
      listener.warn(`The output schemas of the tools are not known: ${reasonOf(error)}`);
    }
  }

  /** The same within the limits of a call, whose result is there already. */
  async function learn(name: string, fresh: boolean, { signal, timeoutMs = 60_000 }: CallOptions): Promise<void> {
    learning ??= learnAll(fresh).finally(() => {
      learning = undefined;
    });
    const limit = createLimit(timeoutMs, signal);
    try {
      await untilAborted(learning, limit.signal, (cause) => cause);
    } catch (cause) {
      if (!limit.isOver) throw new McpError("aborted", `tools/call ${quote(name)} was aborted`, { cause });
      listener.warn(`The result of ${quote(name)} is not checked: its schema did not come in ${timeoutMs} ms`);
    } finally {
      limit.release();
    }
  }

  async function callTool(name: string, args: JsonObject | undefined, given?: CallOptions): Promise<ToolResult> {
    const isSafe = trusted && hintsOf(outputs.definition(name)).idempotent;
    const wasKnown = outputs.knows(name);
    const result = await send("tools/call", { name, ...(args && { arguments: args }) }, given, isSafe);
    if (validateOutput && factsOf(line.remote.revision).structured !== "none") {
      const isUnknown = result.structuredContent !== undefined && !outputs.knows(name);
      if (isUnknown && learntAt !== outputs.generation) await learn(name, false, settings(given));
      let problem = outputs.check(name, result as unknown as CallToolResult);
      // The tool may be another one by now, without anybody having said so.
      if (problem && wasKnown) {
        await learn(name, true, settings(given));
        problem = outputs.check(name, result as unknown as CallToolResult);
      }
      if (problem) throw new McpError("invalid_result", `tools/call ${quote(name)}: ${problem}`);
    }
    return toToolResult(result);
  }

  let turn: Promise<unknown> = Promise.resolve();
  /** One change at a time, so that one that fails is undone before the next begins. */
  function watch(uri: string, isWanted: boolean, given?: CallOptions): Promise<void> {
    const change = async (): Promise<void> => {
      const wasWanted = uris.has(uri);
      if (!wasWanted && !isWanted) return;
      // Also when it was wanted before: the server may have ended it since.
      const set = (on: boolean): unknown => (on ? uris.add(uri) : uris.delete(uri));
      set(isWanted);
      try {
        await line.watch({ lists, uris: [...uris] }, settings(given));
      } catch (error) {
        set(wasWanted);
        throw isPeerError(error, -32002) ? toNotFound(error, uri) : error;
      }
    };
    const { signal } = given ?? {};
    const toAborted = (cause: unknown): McpError => new McpError("aborted", `${quote(uri)}: aborted`, { cause });
    if (signal?.aborted) return Promise.reject(toAborted(signal.reason));
    const done = turn.then(() => (signal?.aborted ? undefined : change()));
    turn = done.catch(() => {});
    return untilAborted(done, signal, toAborted);
  }

  if (lists.length > 0) {
    const { signal, connectTimeoutMs: timeoutMs } = options;
    await line
      .watch({ lists, uris: [] }, { signal, timeoutMs })
      .catch((error) => listener.warn(`Changes of lists are not heard: ${reasonOf(error)}`));
    if (signal?.aborted) {
      await line.close();
      throw new McpError("aborted", "connect was aborted", { cause: signal.reason });
    }
  }

  return {
    get revision() {
      return line.remote.revision;
    },
    get state() {
      return line.state;
    },
    get server() {
      return line.remote.description;
    },
    listTools,
    callTool,
    listResources: (given) => list("resources/list", "resources", given),
    listResourceTemplates: (given) => list("resources/templates/list", "resourceTemplates", given),
    async readResource(uri, given) {
      try {
        const { contents, _meta } = (await fetch("resources/read", { uri }, given)) as unknown as ReadResourceResult;
        return { contents, ...(_meta && { _meta }) };
      } catch (error) {
        throw toNotFound(error, uri);
      }
    },
    subscribe: (uri, given) => watch(uri, true, given),
    unsubscribe: (uri, given) => watch(uri, false, given),
    listPrompts: (given) => list("prompts/list", "prompts", given),
    async getPrompt(name, args, given) {
      const result = await send("prompts/get", { name, ...(args && { arguments: args }) }, given);
      const { description, messages, _meta } = result as unknown as GetPromptResult;
      return { ...(description !== undefined && { description }), messages, ...(_meta && { _meta }) };
    },
    async complete(ref, argument, given = {}) {
      const { arguments: filled, ...rest } = given;
      const params = { ref, argument, ...(filled && { context: { arguments: filled } }) };
      return (await send("completion/complete", params, rest, true)).completion as Completion;
    },
    async setLogLevel(level, given) {
      await line.setLogLevel(level, settings(given));
    },
    ping: (given) => line.run((remote: Remote) => remote.ping(settings(given)), true, settings(given)),
    setRoots(roots) {
      listener.setRoots(roots);
      line.remote.rootsChanged();
    },
    request(method, { _meta, ...params } = {}, given = {}) {
      return send(method, params, isObject(_meta) ? { ...given, meta: { ..._meta, ...given.meta } } : given);
    },
    notify: (method, params) => line.remote.notify(method, params),
    close: line.close,
    [Symbol.asyncDispose]: line.close,
  };
}

/** Servers give "not found" two numbers; -32602 is the newer, and `uri` is all that could be wrong with the params. */
function toNotFound(error: unknown, uri: string): unknown {
  if (!isPeerError(error, -32002, -32602)) return error;
  return new McpError("resource_not_found", `The server has no resource ${quote(uri)}`, {
    data: error.data,
    cause: error,
  });
}

const remedies = {
  "elicitation.form": "onElicit",
  "elicitation.url": "onElicitUrl",
  sampling: "onSample",
  roots: "roots",
};

/** A server that lacks a capability of ours says so in its words; what to do about it is for us to say. */
function withRemedy(error: unknown): unknown {
  if (!isPeerError(error, -32021) || !isObject(error.data)) return error;
  const { requiredCapabilities } = error.data;
  if (!isObject(requiredCapabilities)) return error;
  const options = Object.entries(remedies).flatMap(([path, option]) =>
    hasCapability(requiredCapabilities, path) ? [option] : [],
  );
  if (options.length === 0) return error;
  const { data, rpcCode, cause } = error;
  return new McpError("peer_error", `${error.message}. To answer that, give connect ${options.join(", ")}`, {
    data,
    cause,
    ...(rpcCode !== undefined && { rpcCode }),
  });
}

function isPeerError(error: unknown, ...numbers: number[]): error is McpError {
  return error instanceof McpError && error.code === "peer_error" && numbers.includes(error.rpcCode as number);
}
