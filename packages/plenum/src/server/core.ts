// What every server is, whatever it offers: its options, lifespan, middleware, methods and changes behind one
// endpoint. Tools, resources and prompts are features, each in its own file, that the core is offered. It holds no
// per-peer state at all: one object serves any number of peers, and nothing can leak from one to another.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { CacheHints, Call, Description, Endpoint, Result } from "../protocol/endpoint.ts";
import { assertOpen, isAbort, methodNotFound } from "../protocol/errors.ts";
import { assertExtensionId } from "../protocol/meta.ts";
import { findMethod } from "../protocol/methods.ts";
import type { Middleware, Next } from "../protocol/middleware.ts";
import type { CacheScope, Implementation, LogLevel, ServerCapabilities } from "../protocol/model.ts";
import { markStable } from "../protocol/revise.ts";
import type { Store } from "../store/store.ts";
import { type Secret, toSecrets } from "../util/secret.ts";
import { CallContext, type Context, type ContextOptions, type LogEntry } from "./context.ts";
import type { Cursors } from "./cursor.ts";
import { assertFunction, toDefinition } from "./definition.ts";
import { createLifespan, type LifespanOption } from "./lifespan.ts";
import { createWatchers, type Watchers } from "./watchers.ts";

/** Hints on how long, and for whom, a client may keep a result. Specification: server/utilities/caching. */
export interface CacheOptions {
  /** How long it may be kept. */
  readonly ttlMs: number;
  /** Whether caches may share it between callers. Default: private. */
  readonly scope?: CacheScope;
}

export interface ServerOptions<L> extends Implementation {
  /** How to use this server, for the client's model. */
  readonly instructions?: string;
  /** Runs once, before the first call; its value is `ctx.lifespan`; disposed of by `close`. */
  readonly lifespan?: LifespanOption<L>;
  /** Declared as they stand, over what is derived from what is registered. To say less, say `{ tools: {} }`. */
  readonly capabilities?: ServerCapabilities;
  /** Extensions that this server offers, by identifier. Default: none. */
  readonly extensions?: { readonly [id: string]: JsonObject };
  /** Whether `ctx.log` reaches clients. Default true. */
  readonly logging?: boolean;
  /** What is logged to clients that have not set a level. Default "info". */
  readonly logLevel?: LogLevel;
  /** Sees every log entry before it is sent, to take secrets out; nothing back: not sent. */
  readonly redactLog?: (entry: LogEntry) => LogEntry | undefined;
  /** Log messages per second and call; more are dropped. Default 200. */
  readonly logsPerSecond?: number;
  /** Progress notifications per second and call; more are thinned. Default 100. */
  readonly progressPerSecond?: number;
  /** Items per page of every list. Default 250. */
  readonly pageSize?: number;
  /** How long clients may keep lists and reads, and whether caches may share them. Default: 0 ms, private. */
  readonly cache?: CacheOptions;
  /**
   * Seals cursors and the state of suspended calls. Give all nodes of a cluster the same; 16 bytes or more. Of several
   * the first seals and all open, so that one can be replaced by another. Default: random.
   */
  readonly secret?: Secret | readonly Secret[];
  /** The longest state of a suspended call, in characters. Default 131 072. */
  readonly maxStateBytes?: number;
  /** Remembers which states of suspended calls were used: each opens once then, on all nodes with this store. */
  readonly stateStore?: Store;
  /** Accept JSON text where a tool's schema wants an object or array, as some hosts send it. Default true. */
  readonly lenientArguments?: boolean;
  /** Told of errors whose details the peer does not see. Default: `console.error`. */
  readonly onError?: (error: unknown, about: { readonly method: string; readonly errorId: string }) => void;
}

/** What every server has, whatever it offers. */
export interface ServerBase<L> extends Endpoint {
  /**
   * Answers a method by hand: one of the protocol's, in place of what the server would do, or one of your own. A
   * method of the protocol's brings its capability with it.
   */
  handle(method: string, handler: (params: JsonObject, ctx: Context<L>) => Result | Promise<Result>): void;
  /** Wraps every call. The first one used is the outermost. */
  use(middleware: Middleware): void;
  /**
   * What a user was sent to a page for is done (see `ctx.elicitUrl`, `elicitationRequired`): the client that was told this
   * id hears of it. Only 2025-11-25 has a message for that.
   */
  elicitationComplete(id: string): void;
  /** Ends subscriptions and connections, then disposes of the lifespan. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Answers one method. */
export type Handler = (params: JsonObject, ctx: CallContext) => Result | Promise<Result>;

// What is declared of a capability in use.
const declarations = {
  completions: {},
  prompts: { listChanged: true },
  resources: { listChanged: true },
  tools: { listChanged: true },
} as const;

export interface Feature {
  /** The capabilities it has in use now. One that was ever shown is not taken back. */
  inUse(): readonly (keyof typeof declarations | "resources.subscribe" | false)[];
  readonly methods: { readonly [method: string]: Handler };
}

/** What the core lends its features. */
export interface Core<L> {
  readonly server: ServerBase<L>;
  readonly watchers: Watchers;
  /** The cursors of its lists, and how long their pages are. */
  readonly pages: { readonly pageSize: number; readonly cursors: () => Promise<Cursors> };
  readonly lenientArguments: boolean;
  offer(feature: Feature): void;
  /** A list changed: what is declared is worked out anew, and those who watch are told. */
  changed(kind: "tools" | "resources" | "prompts"): void;
  /**
   * Keeps the details of an error here, and gives out an id by which they can be found.
   * @param isOver nobody waits for the call any more
   */
  mask(error: unknown, method: string, isOver?: boolean): string;
}

export function createCore<L>(options: ServerOptions<L>): Core<L> {
  const { name, version, title, description: about, websiteUrl, icons, instructions, extensions, onError } = options;
  const { pageSize = 250, progressPerSecond = 100, logsPerSecond = 200, maxStateBytes = 131_072 } = options;
  Object.keys(extensions ?? {}).forEach(assertExtensionId);
  for (const [key, value] of Object.entries({ pageSize, progressPerSecond, logsPerSecond, maxStateBytes })) {
    if (!(value > 0 && (Number.isInteger(value) || key !== "pageSize")))
      throw new TypeError(`createServer: ${key} cannot be ${value}`);
  }
  const hints = toCacheHints(options.cache ?? { ttlMs: 0 }, "createServer");
  const info = toDefinition<Implementation>("createServer", "Info", {
    name,
    version,
    title,
    description: about,
    websiteUrl,
    icons,
  });
  // One of our own is made by the first who needs it: Workers have no random values until there is a request.
  let secrets = options.secret === undefined ? undefined : toSecrets(options.secret);
  const getSecrets = (): ReturnType<typeof toSecrets> => {
    secrets ??= toSecrets();
    return secrets;
  };
  // Loaded by the first list that has a second page.
  let loading: Promise<Cursors> | undefined;
  const cursors = (): Promise<Cursors> => {
    loading ??= import("./cursor.ts").then(({ createCursors }) => createCursors(getSecrets()));
    return loading;
  };
  const lifespan = createLifespan(options.lifespan);
  const watchers = createWatchers();
  const features: Feature[] = [];
  const methods = new Map<string, Handler>();
  const handlers = new Map<string, Handler>();
  const middleware: Middleware[] = [];
  // Capabilities that were ever shown; among them what is no capability, which does no harm.
  const used = new Set<string | false | undefined>();
  let description: Description | undefined;
  let run: Next = dispatch;

  const contexts: ContextOptions = {
    lifespan,
    run: (call) => run(call),
    redactLog: options.redactLog,
    progressPerSecond,
    logsPerSecond,
  };

  // Functions that see what is about a call are made in functions of their own, here as elsewhere on its way: a call that needs
  // none of them pays for what they would see all the same.
  const dispatchLater = (call: Call): Promise<Result> => lifespan.open().then(() => dispatch(call));

  /** What answers a call at the end of all middleware. */
  function dispatch(call: Call): Result | Promise<Result> {
    const handler = handlers.get(call.method) ?? methods.get(call.method);
    if (!handler) throw methodNotFound(call.method);
    // A ping asks whether we are there, not whether we are ready.
    if (!lifespan.isOpen && call.method !== "ping") return dispatchLater(call);
    // Nobody may wait for it any more.
    assertOpen(call.link);
    return handler(call.params, new CallContext(call, contexts));
  }

  function capabilities(): ServerCapabilities {
    for (const method of handlers.keys()) used.add(findMethod(method)?.needs);
    for (const feature of features) for (const capability of feature.inUse()) used.add(capability);
    return toDefinition("createServer", "ServerCapabilities", {
      ...((options.logging ?? true) && { logging: {} }),
      ...Object.fromEntries(Object.entries(declarations).filter(([key]) => used.has(key))),
      ...(used.has("resources.subscribe") && { resources: { subscribe: true, listChanged: true } }),
      extensions,
      ...options.capabilities,
    });
  }

  function describe(): Description {
    description ??= markStable({
      info,
      capabilities: capabilities(),
      instructions,
      logLevel: options.logLevel ?? "info",
    });
    return description;
  }

  function mask(error: unknown, method: string, isOver = false): string {
    const errorId = crypto.randomUUID();
    // That a handler stopped because its caller did is no news, and a peer could fill the log with it.
    if (!(isOver && isAbort(error))) report(error, { method, errorId }).catch(() => {});
    return errorId;
  }

  /** A reporter that fails, at once or later, must not take the answer with it: hence async. */
  async function report(error: unknown, about: { readonly method: string; readonly errorId: string }): Promise<void> {
    if (onError) await onError(error, about);
    else console.error(`plenum: ${about.method} failed (${about.errorId})`, error);
  }

  async function close(): Promise<void> {
    watchers.close();
    // Connections close in the next turn. What still runs is told to stop before its lifespan is taken from it.
    await new Promise((resolve) => setTimeout(resolve));
    await lifespan.close();
  }

  const server: ServerBase<L> = {
    describe,
    handles: (method) => handlers.has(method),
    cacheHints: () => hints,
    rounds: {
      get secrets() {
        return getSecrets();
      },
      isGenerated: options.secret === undefined,
      maxStateBytes,
      store: options.stateStore,
    },
    watch: watchers.add,
    report: (error, { method, ended }) => mask(error, method, ended),
    call: contexts.run,
    handle(method, handler) {
      assertFunction(handler, `handle "${method}"`);
      if (handlers.has(method)) throw new TypeError(`method "${method}" is handled already`);
      handlers.set(method, handler as Handler);
      description = undefined;
    },
    use(around) {
      assertFunction(around, "use");
      middleware.push(around);
      // Composed here, not per call; the first one used is the outermost.
      run = middleware.reduceRight<Next>((next, outer) => (call) => outer(call, next), dispatch);
    },
    elicitationComplete: (elicitationId) => watchers.tell({ kind: "elicitation", elicitationId }),
    close,
    [Symbol.asyncDispose]: close,
  };

  const core: Core<L> = {
    server,
    watchers,
    pages: { pageSize, cursors },
    lenientArguments: options.lenientArguments ?? true,
    mask,
    offer(feature) {
      features.push(feature);
      for (const [method, handler] of Object.entries(feature.methods)) methods.set(method, handler);
    },
    changed(kind) {
      description = undefined;
      watchers.tell({ kind });
    },
  };
  const described = (): Result => describe() as unknown as Result;
  const nothing = (): Result => ({});
  core.offer({
    inUse: () => [],
    methods: {
      initialize: described,
      "server/discover": described,
      ping: nothing,
      "logging/setLevel": nothing,
      "subscriptions/listen": nothing,
    },
  });
  // What is wrong with the capabilities is found now.
  capabilities();
  return core;
}

/** Throws a TypeError that begins with `what` for values that the protocol does not have. */
export function toCacheHints({ ttlMs, scope = "private" }: CacheOptions, what: string): CacheHints {
  const hints = { ttlMs, cacheScope: scope };
  toDefinition(`${what}: cache`, "Cached", { ...hints, resultType: "complete" });
  return hints;
}
