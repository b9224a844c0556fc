// A client of one server: the protocol's verbs, whatever the server speaks and however it is reached.
import type { Target } from "../jsonrpc/channel.ts";
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import { assertOwnMeta } from "../protocol/meta.ts";
import type {
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
import { isPeerError } from "../protocol/outcome.ts";
import type { Remote, RemoteDescription } from "../protocol/remote.ts";
import { factsOf, type Revision } from "../protocol/revisions.ts";
import { createListener, listOf } from "./answer.ts";
import type { Cache } from "./cache.ts";
import { type Line, openLine } from "./line.ts";
import type { CallOptions, ClientOptions, ConnectionState, RootsOption } from "./options.ts";
import { createList, type List } from "./pages.ts";
import type { ToolResult } from "./result.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { createTools, type Learn, type Tools } from "./tools.ts";

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

/** Opens a client on a target. Throws McpError when that fails. */
export async function createClient(target: Target, options: ClientOptions = {}): Promise<Client> {
  if (!isObject(options as unknown)) throw new TypeError("connect: the options are no object");
  if (Object.keys(options).length > 0) (await import("./option-check.ts")).assertOptions(options);
  const rooting = options.roots && (await import("./roots.ts"));
  const { validateOutput = true, trusted = false, maxPages = 1000 } = options;
  const info = options.info ?? { name: "plenum", version: "0.1.0" };
  /** Made with the first result that may be kept: most may not. */
  let cache: Cache | undefined;
  /** How often the server has said that something is another now. */
  let changes = 0;
  let nextOrder = 1;
  let opened: Line | undefined;
  const listener = createListener(options, {
    heard(method, params) {
      changes++;
      const kind = listOf(method);
      if (kind) cache?.drop(kind);
      else cache?.dropRead(params.uri as string);
      if (kind === "tools") tools.forget();
    },
    server: () => opened?.remote.description.info,
    toRoots: rooting?.toRoots,
  });
  const tools: Tools = createTools({
    warn: (problem) => listener.warn(problem),
    mirrors: () => target.mirrorsParams === true && line.remote.revision >= "2026-07-28",
    mayMirror: target.mirrorsParams === true,
    checks: () => validateOutput && factsOf(line.remote.revision).structured !== "none",
    trusted,
    list: (given, learn) => list("tools/list", "tools", given, learn),
    send: (params, given, isSafe, finish) => send("tools/call", params, given, isSafe, finish),
  });
  const line = await openLine(target, { ...options, info }, listener, tools.mirror);
  opened = line;
  let subscriptions: Promise<Subscriptions> | undefined;
  const loadSubscriptions = (): Promise<Subscriptions> => {
    subscriptions ??= import("./subscriptions.ts").then(({ createSubscriptions }) =>
      createSubscriptions(line, options),
    );
    return subscriptions;
  };

  const usual: CallOptions = {
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    ...(options.maxTimeoutMs !== undefined && { maxTimeoutMs: options.maxTimeoutMs }),
  };
  /** The client's own settings, over which a call's go. */
  const settings = (given: CallOptions = usual): CallOptions => {
    if (given === usual) return given;
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
    return { ...usual, ...given };
  };

  /** @param finish makes of the result what is wanted, in the turn in which it is read */
  function send<T>(
    method: string,
    params: JsonObject,
    given: CallOptions | undefined,
    isSafe: boolean,
    finish: (result: Result) => T | Promise<T>,
  ): Promise<T> {
    const all = settings(given);
    const isRepeatable = all.retry ?? isSafe;
    return line.run((remote) => remote.request(method, params, all, finish), isRepeatable, all, explain);
  }

  const asIs = (result: Result): Result => result;

  /** From what is kept, if it is fresh; otherwise from the server. Lists and reads only. */
  async function fetch(method: string, params: JsonObject, given: CallOptions = {}, isSafe = false): Promise<Result> {
    // Older servers say nothing about keeping; `_meta` of one's own may change what comes back.
    const keeps = options.cache !== false && line.remote.revision >= "2026-07-28" && !given.meta;
    const store = keeps ? cache : undefined;
    const kept = given.fresh ? undefined : store?.get(method, params);
    if (kept) return kept;
    const ticket = store?.begin(method, params);
    const since = changes;
    const order = nextOrder++;
    const result = await send(method, params, given, isSafe, asIs);
    if (keeps && (cache || (result.ttlMs as number) > 0)) {
      if (!cache) {
        const { createCache } = await import("./cache.ts");
        cache ??= createCache();
      }
      const own = ticket ?? (since === changes ? cache.begin(method, params) : undefined);
      if (own) cache.keep({ ...own, order }, result);
    }
    return result;
  }

  function list<T>(method: string, member: string, given: CallOptions = {}, learn?: Learn): List<T> {
    return createList<T>({
      member,
      async fetch(cursor) {
        const { generation } = tools;
        const page = await fetch(method, cursor === undefined ? {} : { cursor }, given, true);
        return learn ? learn(page, generation) : page;
      },
      maxPages,
      emptyCursorMayEnd: line.remote.revision < "2026-07-28",
      restart: () => cache?.dropPages(method) ?? false,
    });
  }

  if (options.onListChanged) await (await loadSubscriptions()).begin(listener.warn);

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
    listTools: tools.list,
    callTool(name, args, given) {
      try {
        assertText(name, "callTool(name, args, options)");
        return tools.call(name, args, settings(given));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    listResources: (given) => list("resources/list", "resources", given),
    listResourceTemplates: (given) => list("resources/templates/list", "resourceTemplates", given),
    async readResource(uri, given) {
      assertText(uri, "readResource(uri, options)");
      try {
        const { contents, _meta } = (await fetch("resources/read", { uri }, given)) as unknown as ReadResourceResult;
        return { contents, ...(_meta && { _meta }) };
      } catch (error) {
        throw isPeerError(error) ? (await import("./explain.ts")).toNotFound(error, uri) : error;
      }
    },
    subscribe: async (uri, given) => (await loadSubscriptions()).change(uri, true, settings(given)),
    unsubscribe: async (uri, given) => (await loadSubscriptions()).change(uri, false, settings(given)),
    listPrompts: (given) => list("prompts/list", "prompts", given),
    async getPrompt(name, args, given) {
      assertText(name, "getPrompt(name, args, options)");
      const result = await send("prompts/get", { name, ...(args && { arguments: args }) }, given, false, asIs);
      const { description, messages, _meta } = result as unknown as GetPromptResult;
      return { ...(description !== undefined && { description }), messages, ...(_meta && { _meta }) };
    },
    async complete(ref, argument, given = {}) {
      const { arguments: filled, ...rest } = given;
      const params = { ref, argument, ...(filled && { context: { arguments: filled } }) };
      return send("completion/complete", params, rest, true, ({ completion }) => completion as Completion);
    },
    async setLogLevel(level, given) {
      await line.setLogLevel(level, settings(given));
    },
    async ping(given) {
      const all = settings(given);
      await line.run((remote: Remote) => remote.ping(all), true, all);
    },
    setRoots(roots) {
      listener.setRoots(roots);
      line.remote.rootsChanged();
    },
    async request(method, { _meta, ...params } = {}, given = {}) {
      const all = isObject(_meta) ? { ...given, meta: { ..._meta, ...given.meta } } : given;
      return method === "tools/call"
        ? tools.request(params, settings(all), false, asIs)
        : send(method, params, all, false, asIs);
    },
    notify: (method, params) => line.remote.notify(method, params),
    close: line.close,
    [Symbol.asyncDispose]: line.close,
  };
}

/** Other clients take everything in one object. */
function assertText(first: unknown, form: string): void {
  if (isObject(first)) throw new TypeError(`The arguments are ${form}: the first is a string, not an object`);
}

/** A server that lacks a capability of ours says so in its words; what to do about it is for us to say. */
function explain(error: unknown): unknown {
  return isPeerError(error, -32021) ? import("./explain.ts").then(({ withRemedy }) => withRemedy(error)) : error;
}
