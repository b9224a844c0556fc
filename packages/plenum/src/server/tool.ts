// Tools: what is registered, how a call is checked and run, and how what the handler returns becomes a result.
// Specification: server/tools.
import { exceedsDepth, isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Result, Sender } from "../protocol/endpoint.ts";
import { assertOpen, isTellable, McpError, ToolError } from "../protocol/errors.ts";
import { hasHeaderMark } from "../protocol/header-mark.ts";
import { type HeaderParam, readHeaderParams } from "../protocol/header-marks.ts";
import { type Icon, isContent, type Meta, type Tool, type ToolAnnotations } from "../protocol/model.ts";
import { toFault } from "../protocol/revise.ts";
import type { InferInput, InferOtherOutput, ZodOutput } from "../schema/infer.ts";
import { type AnySchema, formatIssues, type Schema, toSchema, type ValidationResult } from "../schema/standard.ts";
import { addMembers } from "../util/members.ts";
import { isThenable } from "../util/thenable.ts";
import type { CallContext, Context } from "./context.ts";
import type { Core } from "./core.ts";
import { type Awaitable, assertFunction, toDefinition } from "./definition.ts";
import { type InputRequired, isInputRequired } from "./input.ts";
import { listPages } from "./lists.ts";
import { type Entry, type NoInput, type Registration, Registry, type Visible } from "./registry.ts";
import { isPlain, isWhole, settle, toBlocks, type WholeResult } from "./result.ts";

export interface ToolOptions<Input extends AnySchema, Output extends AnySchema, Lifespan> {
  readonly title?: string;
  readonly description?: string;
  /** The arguments: any Standard Schema that gives JSON Schema, or a JSON Schema. Default: none. */
  readonly input?: Input;
  /** What the handler returns, sent as structured content and as text. Default: text only. */
  readonly output?: Output;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  readonly meta?: Meta;
  /** Who may see and call it. Asked on every list and call. */
  readonly visible?: (ctx: Context<Lifespan>) => boolean | undefined | Promise<boolean | undefined>;
  /**
   * What a caller must be allowed, all of it. Over HTTP who lacks some is told to ask for it (403, `insufficient_scope`), with
   * `hidden` or `visible` that there is no such tool. Where nobody says who calls, as over stdio, everybody may. Default: nothing.
   */
  readonly scopes?: readonly string[];
  /** For who lacks its scopes it is not there. Default: it is listed. */
  readonly hidden?: boolean;
}

/** Nothing, text, content, a list of those, a whole result, questions (`inputRequired`), or any JSON value. */
export type ToolReturn = unknown;

/** With an output schema the handler returns what fits it, a whole result when it has more to say, or questions. */
type Returned<Output> = Awaitable<InferInput<Output> | WholeResult | InputRequired>;

export interface ToolEntry extends Entry {
  readonly definition: Tool;
  readonly input: Schema;
  readonly output: Schema | undefined;
  /** Top-level arguments that the schema says are objects or arrays and nothing else. */
  readonly nested: ReadonlySet<string>;
  /** Arguments that travel in HTTP headers too. */
  readonly mirrored: readonly HeaderParam[];
  readonly handler: (args: never, ctx: never) => unknown;
  /** Undefined where there are none, or where nobody is told. */
  readonly scopes: readonly string[] | undefined;
}

// Without properties, empty as they are, some model APIs refuse the tool.
const noArguments = { type: "object", properties: {}, additionalProperties: false } as const;
const nameForm = /^[A-Za-z0-9_.-]{1,128}$/;

function defineTool(
  name: string,
  options: ToolOptions<AnySchema, AnySchema, never>,
  handler: (args: never, ctx: never) => unknown,
): ToolEntry {
  if (typeof name !== "string" || !nameForm.test(name)) {
    throw new TypeError(`tool ${JSON.stringify(name)}: a name is 1 to 128 of A-Z a-z 0-9 _ - .`);
  }
  assertFunction(handler, `tool "${name}"`);
  const { title, description, input = noArguments, output, annotations, icons, meta, ...rest } = options;
  const place = { kind: "tool", name };
  const args = toSchema(input, { ...place, role: "input" });
  const returned = output && toSchema(output, { ...place, role: "output" });
  // Members that are undefined are absent on the wire.
  const published = {
    name,
    title,
    description,
    inputSchema: args.json,
    outputSchema: returned?.json,
    annotations,
    icons,
    _meta: meta,
  };
  const more = "input, output, annotations, scopes, hidden, ";
  const definition = toDefinition<Tool>(`tool "${name}"`, "Tool", published, rest, more);
  const visible = rest.visible as Visible | undefined;
  const scopes = rest.scopes && [...rest.scopes];
  const isSecret = scopes && (rest.hidden || visible);
  return {
    definition,
    input: args,
    output: returned,
    nested: nestedOf(args.json),
    mirrored: mirroredOf(definition),
    handler,
    // Of what not everybody sees nothing is said.
    scopes: isSecret ? undefined : scopes,
    visible: isSecret ? async (ctx) => (await loadAccess()).isSeen(ctx, scopes, visible) : visible,
  };
}

const loadAccess = () => import("./access.ts");

/** `C` is for the compiler: what does not depend on a tool's schemas is put together once, not for each tool. */
export interface ToolMethods<L, C = Context<L>> {
  /** Registers a tool. Throws a TypeError that names what is wrong: a bad or taken name, a schema that cannot be expressed. */
  tool<const I extends AnySchema = NoInput, const O extends AnySchema = AnySchema>(
    name: string,
    options: ToolOptions<I, O, L>,
    // `InferOutput` and what follows from `output` are written out, and nothing is inferred from what it returns: the compiler
    // does this for each tool of a program.
    handler: (
      args: I extends ZodOutput ? I["_zod"]["output"] : InferOtherOutput<I>,
      ctx: C,
    ) => AnySchema extends O ? ToolReturn : NoInfer<Returned<O>>,
  ): Registration;
}

export function offerTools<L>(core: Core<L>): ToolMethods<L> {
  const registry = new Registry<ToolEntry>("tool", () => core.changed("tools"));
  core.offer({
    inUse: () => [registry.used && "tools"],
    methods: {
      "tools/list": listPages({ ...core.pages, member: "tools", registry, items: (entry) => [entry.definition] }),
      "tools/call"(params, ctx) {
        const entry = registry.get(params.name as string);
        if (entry && !entry.visible && !entry.scopes) return callTool(core, entry, params, ctx);
        return loadAccess()
          .then(({ admit }) => admit(entry, params.name as string, ctx))
          .then((admitted) => callTool(core, admitted, params, ctx));
      },
    },
  });
  core.server.scopesOf = (method, { name }) =>
    method === "tools/call" ? registry.get(name as string)?.scopes : undefined;
  return { tool: (name, options, handler) => registry.add(name, defineTool(name, options as never, handler as never)) };
}

/** Runs a tool. Throws McpError for what is not the tool's own failure. */
function callTool<L>(core: Core<L>, entry: ToolEntry, params: JsonObject, ctx: CallContext): Result | Promise<Result> {
  let given: unknown;
  try {
    // What middleware has changed is no mismatch of the client's.
    const isMirrored = entry.mirrored.length > 0 && ctx.sender?.mirrorsParams;
    const args = isMirrored ? compare(core, entry, params, ctx) : readArguments(core, entry, params);
    given = args instanceof Promise ? args.then((checked) => handle(entry, checked, ctx)) : handle(entry, args, ctx);
    if (!isThenable(given)) return conclude(core, entry, given, ctx);
  } catch (error) {
    return toFailure(core, entry, error, ctx);
  }
  return Promise.resolve(given).then(
    (returned) => conclude(core, entry, returned, ctx),
    (error) => toFailure(core, entry, error, ctx),
  );
}

/** What a handler has returned, as a result. */
function conclude<L>(core: Core<L>, entry: ToolEntry, returned: unknown, ctx: CallContext): Result | Promise<Result> {
  try {
    const result = toResult(returned, entry);
    return result instanceof Promise ? result.catch((error) => toFailure(core, entry, error, ctx)) : result;
  } catch (error) {
    return toFailure(core, entry, error, ctx);
  }
}

/** The arguments as the tool's schema has them, once they are known to stand in the headers too. */
async function compare<L>(
  core: Core<L>,
  entry: ToolEntry,
  params: JsonObject,
  ctx: CallContext,
): Promise<ValidationResult<unknown>> {
  const { assertMirrored } = await import("../protocol/header-match.ts");
  assertMirrored(entry.mirrored, toArguments(core, entry, ctx.sent ?? params), ctx.sender as Sender);
  return readArguments(core, entry, params);
}

function readArguments<L>(
  core: Core<L>,
  entry: ToolEntry,
  params: JsonObject,
): ReturnType<Schema<unknown>["validate"]> {
  return entry.input.validate(toArguments(core, entry, params));
}

function toArguments<L>(core: Core<L>, entry: ToolEntry, { arguments: given }: JsonObject): JsonObject {
  if (!isObject(given)) return {};
  // Some hosts send nested arguments as JSON text.
  return core.lenientArguments ? unpackNested(entry, given) : given;
}

function handle({ definition, handler }: ToolEntry, args: ValidationResult<unknown>, ctx: CallContext): unknown {
  if ("issues" in args)
    throw new McpError(
      "invalid_arguments",
      `Invalid arguments for tool "${definition.name}": ${formatIssues(args.issues)}`,
    );
  assertOpen(ctx);
  return handler(args.value as never, ctx as never);
}

function toFailure<L>(core: Core<L>, { definition }: ToolEntry, error: unknown, ctx: CallContext): Result {
  if (error instanceof ToolError) return toFault(error.message);
  if (error instanceof McpError && isTellable(error)) throw error;
  return toFault(`Internal error (${core.mask(error, `tools/call ${definition.name}`, ctx.ended)})`);
}

/** Loaded by the first tool that has an output schema, or a result of its own making. */
let structured: typeof import("./structured.ts") | undefined;

async function loadStructured(): Promise<typeof import("./structured.ts")> {
  structured = await import("./structured.ts");
  return structured;
}

function toResult(returned: unknown, entry: ToolEntry): Result | Promise<Result> {
  if (isInputRequired(returned)) return returned;
  const content = isObject(returned) ? returned.content : undefined;
  if (entry.output || isWhole(returned)) {
    if (structured) return structured.toWholeResult(returned, entry);
    // A promise in it may fail before there is somebody to wait for it.
    settle(content).catch(() => {});
    return loadStructured().then((loaded) => loaded.toWholeResult(returned, entry));
  }
  if (!Array.isArray(content)) return isPlain(returned) ? toContent(returned) : settle(returned).then(toContent);
  // Most are composed of what is there already.
  if (content.every(isPlain)) return toOwnResult(returned as JsonObject, content);
  return settle(content).then((blocks) => toOwnResult(returned as JsonObject, blocks as unknown[]));
}

/** The result that a handler has put together itself, or a value that merely has a member of that name. */
function toOwnResult(returned: JsonObject, content: unknown[]): Result {
  // Its type is ours to say. A copy: the handler may give out the same one each time, and middleware may change it.
  const result = addMembers({}, returned, "resultType");
  result.content = [...content];
  return isCallToolResult(result) ? result : toContent(returned);
}

function toContent(value: unknown): Result {
  return { content: toBlocks(value) };
}

function isCallToolResult({ content, isError, structuredContent }: JsonObject): boolean {
  // An empty list alone says nothing: a value may have a member of that name, too.
  const says =
    Array.isArray(content) && (content.length > 0 || isError !== undefined || structuredContent !== undefined);
  return says && content.every(isContent);
}

function mirroredOf(tool: Tool): readonly HeaderParam[] {
  // Most schemas have no such mark: they are not walked.
  if (!hasHeaderMark(tool)) return [];
  const found = readHeaderParams(tool);
  if ("params" in found) return found.params;
  throw new TypeError(`tool "${tool.name}": ${found.problem}`);
}

function nestedOf(schema: JsonObject): ReadonlySet<string> {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return new Set(
    properties
      .filter(([, field]) => isObject(field) && (field.type === "object" || field.type === "array"))
      .map(([name]) => name),
  );
}

function unpackNested(entry: ToolEntry, args: JsonObject): JsonObject {
  let unpacked: { [name: string]: unknown } | undefined;
  for (const name of entry.nested) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value !== "string" || !/^\s*[[{]/.test(value) || exceedsDepth(value)) continue;
    try {
      const parsed: unknown = JSON.parse(value);
      unpacked ??= { ...args };
      unpacked[name] = parsed;
    } catch {
      // Then it is a string, and the schema will say that it should not be.
    }
  }
  return unpacked ?? args;
}
