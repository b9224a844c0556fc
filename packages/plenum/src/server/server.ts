// The server: registries of tools, resources and prompts behind one endpoint. It holds no per-peer state at all, so
// that one object serves any number of peers, in every revision, and nothing can leak from one to another.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { CacheHints, Call, Change, Description, Endpoint, Result } from "../protocol/endpoint.ts";
import { isTellable, McpError } from "../protocol/errors.ts";
import { checkExtensionId } from "../protocol/meta.ts";
import { findMethod } from "../protocol/methods.ts";
import { composeMiddleware, type Middleware, type Next } from "../protocol/middleware.ts";
import type {
  CacheScope,
  CompletionRef,
  Icon,
  Implementation,
  LogLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ServerCapabilities,
  Tool,
} from "../protocol/model.ts";
import type { AnySchema } from "../schema/standard.ts";
import { quote } from "../util/quote.ts";
import { createSealer } from "../util/seal.ts";
import type { TemplateVariables } from "../util/uri-template.ts";
import { type Completable, complete, hasCompleters } from "./completion.ts";
import { CallContext, type Context, type ContextOptions } from "./context.ts";
import { createLifespan, type Lifespan, type LifespanOption } from "./lifespan.ts";
import type { LogEntry } from "./log.ts";
import { Pager } from "./page.ts";
import { definePrompt, getPrompt, type PromptEntry, type PromptHandler, type PromptOptions } from "./prompt.ts";
import { isVisible, type Registration, Registry } from "./registry.ts";
import {
  assertReadable,
  defineResource,
  findResource,
  type ResourceEntry,
  type ResourceOptions,
  readResource,
} from "./resource.ts";
import { callTool, defineTool, type ToolEntry, type ToolHandler, type ToolOptions } from "./tool.ts";
import { createWatchers } from "./watchers.ts";

export interface ServerOptions<L> {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
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
  readonly cache?: { readonly ttlMs: number; readonly scope?: CacheScope };
  /** Seals cursors. Give all nodes of a cluster the same; 16 bytes or more. Default: random. */
  readonly secret?: string | Uint8Array;
  /** Accept JSON text where a tool's schema wants an object or array, as some hosts send it. Default true. */
  readonly lenientArguments?: boolean;
  /** Told of errors whose details the peer does not see. Default: `console.error`. */
  readonly onError?: (error: unknown, about: { readonly method: string; readonly errorId: string }) => void;
}

type NoInput = { readonly type: "object" };

export interface Server<L = undefined> extends Endpoint {
  /** Registers a tool. Throws a TypeError that names what is wrong: a bad or taken name, a schema that cannot be expressed. */
  tool<const I extends AnySchema = NoInput, const O extends AnySchema = AnySchema>(
    name: string,
    options: ToolOptions<I, O, L>,
    handler: ToolHandler<I, O, L>,
  ): Registration;
  /** Registers a resource, or with `{variables}` in the URI a template of resources. */
  resource<const T extends string>(
    uri: T,
    options: ResourceOptions<keyof TemplateVariables<T> & string, L>,
    handler: (args: TemplateVariables<T>, ctx: Context<L>) => unknown,
  ): Registration;
  prompt<const A extends AnySchema = NoInput>(
    name: string,
    options: PromptOptions<A, L>,
    handler: PromptHandler<A, L>,
  ): Registration;
  /**
   * Answers a method by hand: one of the protocol's, in place of what the server would do, or one of your own. A
   * method of the protocol's brings its capability with it.
   */
  handle(method: string, handler: (params: JsonObject, ctx: Context<L>) => Result | Promise<Result>): void;
  /** Wraps every call. The first one used is the outermost. */
  use(middleware: Middleware): void;
  /** Tells those who watch the resource that it changed. */
  resourceUpdated(uri: string): void;
  /** Tells those who watch the list of resources that it changed, where a template's `list` gives something new. */
  resourcesChanged(): void;
  /** Ends subscriptions and connections, then disposes of the lifespan. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes a server. Serve it with a transport: see `plenum/memory`. */
export function createServer<L = undefined>(options: ServerOptions<L>): Server<L> {
  return new McpServer<L>(options);
}

class McpServer<L> implements Server<L> {
  readonly #options: ServerOptions<L>;
  readonly #watchers = createWatchers();
  readonly #tools: Registry<ToolEntry>;
  readonly #resources: Registry<ResourceEntry>;
  readonly #prompts: Registry<PromptEntry>;
  readonly #lists: ReadonlyMap<string, { page(cursor: string | undefined, ctx: Context<never>): Promise<Result> }>;
  readonly #handlers = new Map<string, (params: JsonObject, ctx: Context<L>) => Result | Promise<Result>>();
  readonly #middleware: Middleware[] = [];
  readonly #lifespan: Lifespan<L>;
  readonly #contexts: ContextOptions;
  readonly #cache: CacheHints;
  #run: Next;
  #description: Description | undefined;

  constructor(options: ServerOptions<L>) {
    for (const key of ["name", "version"] as const) {
      if (typeof options?.[key] !== "string") throw new TypeError(`createServer needs a "${key}", a string`);
    }
    for (const id of Object.keys(options.extensions ?? {})) {
      const problem = checkExtensionId(id);
      if (problem) throw new TypeError(problem);
    }
    const { pageSize = 250, cache } = options;
    if (!(Number.isInteger(pageSize) && pageSize > 0))
      throw new TypeError(`pageSize is a whole number above 0, not ${pageSize}`);
    if (cache && !(Number.isInteger(cache.ttlMs) && cache.ttlMs >= 0)) {
      throw new TypeError(`cache.ttlMs is a whole number of milliseconds, 0 or more, not ${cache.ttlMs}`);
    }
    this.#options = options;
    this.#cache = { ttlMs: cache?.ttlMs ?? 0, cacheScope: cache?.scope ?? "private" };
    this.#lifespan = createLifespan(options.lifespan);
    this.#contexts = {
      lifespan: this.#lifespan,
      readResource: (uri, ctx) => this.#read(uri, ctx),
      redactLog: options.redactLog,
      progressPerSecond: options.progressPerSecond ?? 100,
      logsPerSecond: options.logsPerSecond ?? 200,
    };
    this.#run = (call) => this.#dispatch(call);
    this.#tools = new Registry("tool", () => this.#changed("tools"));
    this.#resources = new Registry("resource", () => this.#changed("resources"));
    this.#prompts = new Registry("prompt", () => this.#changed("prompts"));

    const shared = { pageSize, sealer: createSealer(options.secret) };
    const single = (entry: { readonly definition: Tool | Prompt }): readonly object[] => [entry.definition];
    const isDynamic = (entry: ResourceEntry): boolean => entry.list !== undefined;
    const templatesOf = (entry: ResourceEntry): readonly object[] => (entry.template ? [entry.definition] : []);
    const resourcesOf = async (entry: ResourceEntry, ctx: Context<never>): Promise<readonly object[]> =>
      entry.template ? this.#unlisted((await entry.list?.(ctx)) ?? []) : [entry.definition];
    this.#lists = new Map([
      ["tools/list", new Pager({ ...shared, member: "tools", registry: this.#tools, items: single })],
      ["prompts/list", new Pager({ ...shared, member: "prompts", registry: this.#prompts, items: single })],
      [
        "resources/list",
        new Pager({ ...shared, member: "resources", registry: this.#resources, items: resourcesOf, isDynamic }),
      ],
      [
        "resources/templates/list",
        new Pager({ ...shared, member: "resourceTemplates", registry: this.#resources, items: templatesOf }),
      ],
    ] as [string, { page(cursor: string | undefined, ctx: Context<never>): Promise<Result> }][]);
  }

  tool(name: string, options: object, handler: (args: never, ctx: never) => unknown): Registration {
    return this.#tools.add(name, defineTool(name, options, handler));
  }

  resource(uri: string, options: object, handler: (args: never, ctx: never) => unknown): Registration {
    return this.#resources.add(uri, defineResource(uri, options, handler));
  }

  prompt(name: string, options: object, handler: (args: never, ctx: never) => unknown): Registration {
    return this.#prompts.add(name, definePrompt(name, options, handler));
  }

  handle(method: string, handler: (params: JsonObject, ctx: Context<L>) => Result | Promise<Result>): void {
    if (this.#handlers.has(method)) throw new TypeError(`method "${method}" is handled already`);
    this.#handlers.set(method, handler);
    this.#description = undefined;
  }

  use(middleware: Middleware): void {
    this.#middleware.push(middleware);
    this.#run = composeMiddleware(this.#middleware, (call) => this.#dispatch(call));
  }

  resourceUpdated(uri: string): void {
    this.#watchers.tell({ kind: "resource", uri });
  }

  resourcesChanged(): void {
    this.#watchers.tell({ kind: "resources" });
  }

  watch(listener: (change: Change) => void): () => void {
    return this.#watchers.add(listener);
  }

  handles(method: string): boolean {
    return this.#handlers.has(method);
  }

  cacheHints(): CacheHints {
    return this.#cache;
  }

  describe(): Description {
    if (!this.#description) {
      const { name, version, title, description, websiteUrl, icons, instructions, logLevel = "info" } = this.#options;
      const info = { name, version, title, description, websiteUrl, icons } as Implementation;
      this.#description = { info, capabilities: this.#capabilities(), instructions, logLevel };
    }
    return this.#description;
  }

  async call(call: Call): Promise<Result> {
    try {
      return await this.#run(call);
    } catch (error) {
      if (error instanceof McpError && isTellable(error)) throw error;
      const errorId = this.#mask(error, call.method);
      throw new McpError("internal_error", `Internal error (${errorId})`, { data: { errorId } });
    }
  }

  report(error: unknown, { method }: { readonly method: string }): string {
    return this.#mask(error, method);
  }

  async close(): Promise<void> {
    this.#watchers.close();
    // Connections close in the next turn. What still runs is told to stop before its lifespan is taken from it.
    await new Promise((resolve) => setTimeout(resolve));
    await this.#lifespan.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #dispatch(call: Call): Promise<Result> {
    if (!this.#lifespan.isOpen) await this.#lifespan.open();
    const ctx = new CallContext(call, this.#contexts);
    try {
      return await this.#answer(call, ctx);
    } finally {
      ctx.finish();
    }
  }

  async #answer(call: Call, ctx: CallContext): Promise<Result> {
    const { method, params } = call;
    const handler = this.#handlers.get(method);
    if (handler) return handler(params, ctx);
    const pager = this.#lists.get(method);
    if (pager) return pager.page(params.cursor as string | undefined, ctx);
    switch (method) {
      case "initialize":
      case "server/discover":
        return this.describe() as unknown as Result;
      case "tools/call":
        return this.#callTool(call, ctx);
      case "resources/read":
        return (await this.#read(params.uri as string, ctx)) as unknown as Result;
      case "resources/subscribe":
        // Only what the caller could read can be watched.
        await findResource(this.#resources, params.uri as string, ctx);
        return {};
      case "prompts/get":
        return this.#getPrompt(call, ctx);
      case "completion/complete":
        return complete(this.#completable(params.ref as CompletionRef), params, ctx);
      case "resources/unsubscribe":
        // It may be gone by now: only its form is looked at.
        assertReadable(params.uri as string);
        return {};
      case "ping":
      case "logging/setLevel":
      case "subscriptions/listen":
        return {};
      default:
        throw new McpError("method_not_found", `Method not found: ${quote(method)}`);
    }
  }

  async #callTool({ params }: Call, ctx: CallContext): Promise<Result> {
    const entry = this.#tools.get(params.name as string);
    if (!entry || (entry.visible && !(await isVisible(entry, ctx)))) {
      throw new McpError("invalid_params", `Unknown tool: ${quote(params.name as string)}`);
    }
    const result = await callTool(entry, params, ctx, {
      lenientArguments: this.#options.lenientArguments ?? true,
      mask: (error) => this.#mask(error, `tools/call ${entry.definition.name}`),
    });
    return result as unknown as Result;
  }

  async #getPrompt({ params }: Call, ctx: CallContext): Promise<Result> {
    const entry = this.#prompts.get(params.name as string);
    if (!entry || !(await isVisible(entry, ctx))) {
      throw new McpError("invalid_params", `Unknown prompt: ${quote(params.name as string)}`);
    }
    return (await getPrompt(entry, params, ctx)) as unknown as Result;
  }

  #completable(ref: CompletionRef): Completable | undefined {
    return ref.type === "ref/prompt" ? this.#prompts.get(ref.name) : this.#resources.get(ref.uri);
  }

  /** With the context of the call that wants it: its progress goes on, it does not begin anew. */
  async #read(uri: string, ctx: CallContext): Promise<ReadResourceResult> {
    return readResource(await findResource(this.#resources, uri, ctx), uri, ctx);
  }

  /** A template may list a resource that is registered by itself: it is listed once. */
  #unlisted(resources: readonly Resource[]): readonly Resource[] {
    return resources.filter((resource) => this.#resources.get(resource.uri) === undefined);
  }

  #capabilities(): ServerCapabilities {
    const { logging = true, capabilities, extensions } = this.#options;
    const handled = new Set([...this.#handlers.keys()].map((method) => findMethod(method)?.needs?.split(".")[0]));
    const isUsed = (registry: { readonly used: boolean }, key: string): boolean => registry.used || handled.has(key);
    const completes =
      handled.has("completions") ||
      [...this.#prompts.list(), ...this.#resources.list()].some(({ entry }) => hasCompleters(entry));
    return {
      ...(logging && { logging: {} }),
      ...(completes && { completions: {} }),
      ...(isUsed(this.#prompts, "prompts") && { prompts: { listChanged: true } }),
      ...(isUsed(this.#resources, "resources") && { resources: { subscribe: true, listChanged: true } }),
      ...(isUsed(this.#tools, "tools") && { tools: { listChanged: true } }),
      ...(extensions && { extensions }),
      ...capabilities,
    };
  }

  #changed(kind: "tools" | "resources" | "prompts"): void {
    this.#description = undefined;
    this.#watchers.tell({ kind });
  }

  /** Keeps the details here, and gives out an id by which they can be found. */
  #mask(error: unknown, method: string): string {
    const errorId = crypto.randomUUID();
    const { onError } = this.#options;
    try {
      if (onError) onError(error, { method, errorId });
      else console.error(`plenum: ${method} failed (${errorId})`, error);
    } catch {
      // A reporter that fails must not take the answer with it.
    }
    return errorId;
  }
}
