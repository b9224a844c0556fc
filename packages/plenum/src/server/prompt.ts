// Prompts: what is registered, how arguments are checked, and how what a handler returns becomes messages.
// Specification: server/prompts.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import { assertOpen, McpError } from "../protocol/errors.ts";
import {
  type BlobResourceContents,
  type Content,
  type GetPromptResult,
  type Icon,
  isContent,
  type Meta,
  type Prompt,
  type PromptArgument,
  type PromptMessage,
  type Role,
  type TextResourceContents,
} from "../protocol/model.ts";
import type { InferOutput } from "../schema/infer.ts";
import { type AnySchema, formatIssues, type Schema, toSchema } from "../schema/standard.ts";
import { isBase64 } from "../util/base64.ts";
import { quote } from "../util/quote.ts";
import { assertCompleters, type Completable, type Completer, hasCompleters } from "./completion.ts";
import { assertMimeType } from "./content.ts";
import type { CallContext, Context } from "./context.ts";
import type { Core } from "./core.ts";
import { type Awaitable, assertFunction, toDefinition } from "./definition.ts";
import { type InputRequired, isInputRequired } from "./input.ts";
import { listPages } from "./lists.ts";
import { isVisible, type NoInput, type Registration, Registry, type Visible } from "./registry.ts";

export interface PromptOptions<Arguments extends AnySchema, Lifespan> {
  readonly title?: string;
  readonly description?: string;
  /** The arguments. On the wire they are strings: use a schema that accepts those. Default: none. */
  readonly arguments?: Arguments;
  readonly icons?: readonly Icon[];
  readonly meta?: Meta;
  /** Who may see and get it. Asked on every list and get. */
  readonly visible?: (ctx: Context<Lifespan>) => boolean | undefined | Promise<boolean | undefined>;
  /** Suggestions for an argument. */
  readonly complete?: { readonly [argument: string]: Completer<Lifespan> };
}

/** A message whose content may be just text. */
export interface LooseMessage {
  readonly role: Role;
  readonly content: Awaitable<string | Content>;
}

/** Text or content (a message of the user's), a message, a list of those, a whole result, or questions (`inputRequired`). */
export type PromptReturn =
  | string
  | Content
  | LooseMessage
  | readonly Awaitable<string | Content | LooseMessage>[]
  | GetPromptResult
  | InputRequired;

export type PromptHandler<Arguments extends AnySchema, Lifespan> = (
  args: InferOutput<Arguments>,
  ctx: Context<Lifespan>,
) => PromptReturn | Promise<PromptReturn>;

export interface PromptEntry extends Completable {
  readonly definition: Prompt;
  readonly input: Schema;
  readonly handler: (args: never, ctx: never) => unknown;
}

const noArguments = { type: "object", properties: {} } as const;

function definePrompt(
  name: string,
  options: PromptOptions<AnySchema, never>,
  handler: (args: never, ctx: never) => unknown,
): PromptEntry {
  if (typeof name !== "string" || name === "") throw new TypeError("a prompt needs a name");
  assertFunction(handler, `prompt "${name}"`);
  const { title, description, arguments: schema = noArguments, icons, meta, complete, ...rest } = options;
  const what = `prompt "${name}"`;
  const input = toSchema(schema, { kind: "prompt", name, role: "input" });
  const declared = toArguments(input.json);
  const names = declared.map((argument) => argument.name);
  if (complete) assertCompleters(what, complete, names);
  // Members that are undefined are absent on the wire.
  const published = {
    name,
    title,
    description,
    arguments: declared.length > 0 ? declared : undefined,
    icons,
    _meta: meta,
  };
  return {
    definition: toDefinition(what, "Prompt", published, rest, "arguments, complete, "),
    input,
    complete: complete ?? {},
    names,
    handler,
    visible: rest.visible as Visible | undefined,
  };
}

export interface PromptMethods<L> {
  /** Registers a prompt. Throws a TypeError that names what is wrong. */
  prompt<const A extends AnySchema = NoInput>(
    name: string,
    options: PromptOptions<A, L>,
    handler: PromptHandler<A, L>,
  ): Registration;
}

/** `find` is for completion: the prompt of that name. */
export function offerPrompts<L>(core: Core<L>): PromptMethods<L> & { find(name: string): Completable | undefined } {
  const registry = new Registry<PromptEntry>("prompt", () => core.changed("prompts"));
  core.offer({
    inUse: () => [
      registry.used && "prompts",
      registry.list().some(({ entry }) => hasCompleters(entry)) && "completions",
    ],
    methods: {
      "prompts/list": listPages({ ...core.pages, member: "prompts", registry, items: (entry) => [entry.definition] }),
      async "prompts/get"(params, ctx) {
        const entry = registry.get(params.name as string);
        if (!entry || !(await isVisible(entry, ctx))) {
          throw new McpError("invalid_params", `Unknown prompt: ${quote(params.name as string)}`);
        }
        return getPrompt(entry, params, ctx);
      },
    },
  });
  return {
    prompt: (name, options, handler) => registry.add(name, definePrompt(name, options as never, handler as never)),
    find: (name) => registry.get(name),
  };
}

async function getPrompt(entry: PromptEntry, params: JsonObject, ctx: CallContext): Promise<Result> {
  const { name, description } = entry.definition;
  const given = isObject(params.arguments) ? params.arguments : {};
  const missing = entry.definition.arguments?.find(
    (argument) => argument.required && !Object.hasOwn(given, argument.name),
  );
  if (missing) throw new McpError("invalid_params", `Prompt "${name}" needs the argument "${missing.name}"`);
  const args = await entry.input.validate(given);
  if ("issues" in args)
    throw new McpError("invalid_params", `Invalid arguments for prompt "${name}": ${formatIssues(args.issues)}`);
  assertOpen(ctx);
  const returned = await entry.handler(args.value as never, ctx as never);
  if (isInputRequired(returned)) return returned;
  const whole = isWhole(returned)
    ? returned
    : { description, messages: Array.isArray(returned) ? returned : [returned] };
  return { ...whole, resultType: undefined, messages: await Promise.all(whole.messages.map(toMessage)) };
}

function isWhole(value: unknown): value is GetPromptResult {
  return isObject(value) && Array.isArray(value.messages);
}

/** What reads a file gives a promise: it is waited for, as a message and as its content. */
async function toMessage(given: unknown): Promise<PromptMessage> {
  const value = await given;
  if (typeof value === "string") return { role: "user", content: { type: "text", text: value } };
  if (isContent(value)) return { role: "user", content: toPromptContent(value) };
  if (isObject(value) && (value.role === "user" || value.role === "assistant")) {
    const content = await value.content;
    if (typeof content === "string") return { ...value, role: value.role, content: { type: "text", text: content } };
    if (isContent(content)) return { ...value, role: value.role, content: toPromptContent(content) };
  }
  throw new TypeError("a prompt's handler returns text, content, messages { role, content } or a list of those");
}

/** In prompts all data has a proper MIME type; a resource that has none gets the plainest that fits. */
function toPromptContent(content: Content): Content {
  const { type } = content;
  if (type === "image" || type === "audio") {
    assertMimeType(content.mimeType, type);
    if (!isBase64(content.data)) throw new TypeError(`${type}: data is not base64`);
  }
  if (type !== "resource") return content;
  const { text, blob, mimeType } = content.resource as Partial<TextResourceContents & BlobResourceContents>;
  if ((text === undefined) === (blob === undefined))
    throw new TypeError("an embedded resource has either text or blob");
  const plainest = text === undefined ? "application/octet-stream" : "text/plain";
  return { ...content, resource: { ...content.resource, mimeType: assertMimeType(mimeType ?? plainest, type) } };
}

function toArguments(schema: JsonObject): PromptArgument[] {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, field]) => {
    const { title, description } = isObject(field) ? field : {};
    return { name, title, description, required: required.includes(name) || undefined } as PromptArgument;
  });
}
