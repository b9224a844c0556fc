// Suggestions for the arguments of prompts and the variables of resource templates.
// Specification: server/utilities/completion.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import type { Completion, CompletionRef } from "../protocol/model.ts";
import { quote } from "../util/quote.ts";
import type { CallContext, Context } from "./context.ts";
import type { PromptEntry } from "./prompt.ts";
import { isVisible, type Registry } from "./registry.ts";
import type { ResourceEntry } from "./resource.ts";

/** What a completer knows: the context of the call and the other arguments that are filled in already. */
export type CompletionContext<Lifespan = unknown> = Context<Lifespan> & {
  readonly arguments: { readonly [name: string]: string };
};

/** Suggestions for what was typed so far, best first. At most 100 are sent; the rest is told as `total` and `hasMore`. */
export type Completer<Lifespan = unknown> = (
  typed: string,
  ctx: CompletionContext<Lifespan>,
) => readonly string[] | Completion | Promise<readonly string[] | Completion>;

const maxValues = 100;

/** A completer for what is not there is a misspelling: found when it is registered. */
export function assertCompleters(owner: string, completers: object, names: readonly string[]): void {
  const stray = Object.keys(completers).find((name) => !names.includes(name));
  if (stray !== undefined) {
    throw new TypeError(
      `${owner}: "complete" names ${quote(stray)}, which is none of its arguments (${names.join(", ") || "it has none"})`,
    );
  }
}

export function hasCompleters(entry: { readonly complete: object }): boolean {
  return Object.keys(entry.complete).length > 0;
}

export async function complete(
  params: JsonObject,
  ctx: CallContext,
  prompts: Registry<PromptEntry>,
  resources: Registry<ResourceEntry>,
): Promise<{ completion: Completion }> {
  const ref = params.ref as CompletionRef;
  const argument = params.argument as { readonly name: string; readonly value: string };
  const entry = ref.type === "ref/prompt" ? prompts.get(ref.name) : findTemplate(resources, ref.uri);
  // What a caller may not see is not there: not even its arguments are told.
  if (!entry || !(await isVisible(entry, ctx))) {
    const what = ref.type === "ref/prompt" ? `prompt ${quote(ref.name)}` : `resource template ${quote(ref.uri)}`;
    throw new McpError("invalid_params", `Unknown ${what}`);
  }
  const completer = Object.hasOwn(entry.complete, argument.name) ? entry.complete[argument.name] : undefined;
  if (!completer) {
    assertArgument(entry, argument.name);
    return { completion: { values: [], hasMore: false } };
  }
  if (isObject(params.context) && isObject(params.context.arguments)) {
    ctx.arguments = params.context.arguments as CompletionContext["arguments"];
  }
  const found = await completer(argument.value, ctx as never);
  return { completion: bound(found) };
}

function findTemplate(resources: Registry<ResourceEntry>, uri: string): ResourceEntry | undefined {
  const entry = resources.get(uri);
  return entry?.template ? entry : undefined;
}

function assertArgument(entry: PromptEntry | ResourceEntry, name: string): void {
  const names =
    "input" in entry ? entry.definition.arguments?.map((argument) => argument.name) : entry.template?.variables;
  if (!names?.includes(name)) throw new McpError("invalid_params", `Unknown argument ${quote(name)}`);
}

function bound(found: readonly string[] | Completion): Completion {
  const all: Completion = isList(found) ? { values: found } : found;
  const values = all.values.slice(0, maxValues);
  const cut = values.length < all.values.length;
  const total = all.total ?? (cut ? all.values.length : undefined);
  return { values, ...(total === undefined ? undefined : { total }), hasMore: cut || (all.hasMore ?? false) };
}

function isList(found: readonly string[] | Completion): found is readonly string[] {
  return Array.isArray(found);
}
