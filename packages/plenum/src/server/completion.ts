// Suggestions for the arguments of prompts and the variables of resource templates.
// Specification: server/utilities/completion.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import type { Completion, CompletionRef } from "../protocol/model.ts";
import { quote } from "../util/quote.ts";
import type { CallContext, Context } from "./context.ts";
import { type Entry, isVisible } from "./registry.ts";

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

/** Something whose arguments or variables can be completed. */
export interface Completable extends Entry {
  readonly complete: { readonly [argument: string]: Completer<never> | undefined };
  /** All of its arguments or variables. */
  readonly names: readonly string[];
}

/** @param entry what `params.ref` refers to, if there is such a thing */
export async function complete(entry: Completable | undefined, params: JsonObject, ctx: CallContext): Promise<Result> {
  const ref = params.ref as CompletionRef;
  const { name, value } = params.argument as { readonly name: string; readonly value: string };
  // What a caller may not see is not there: not even its arguments are told.
  if (!entry || !(await isVisible(entry, ctx))) {
    const what = ref.type === "ref/prompt" ? `prompt ${quote(ref.name)}` : `resource template ${quote(ref.uri)}`;
    throw new McpError("invalid_params", `Unknown ${what}`);
  }
  if (!entry.names.includes(name)) throw new McpError("invalid_params", `Unknown argument ${quote(name)}`);
  const completer = Object.hasOwn(entry.complete, name) ? entry.complete[name] : undefined;
  if (isObject(params.context) && isObject(params.context.arguments)) {
    ctx.arguments = params.context.arguments as CompletionContext["arguments"];
  }
  return { completion: bound(completer ? await completer(value, ctx as never) : []) };
}

function bound(found: readonly string[] | Completion): Completion {
  const all: Completion = isList(found) ? { values: found } : found;
  const values = all.values.slice(0, maxValues);
  const cut = values.length < all.values.length;
  const total = all.total ?? (cut ? all.values.length : undefined);
  return { values, total, hasMore: cut || (all.hasMore ?? false) } as Completion;
}

function isList(found: readonly string[] | Completion): found is readonly string[] {
  return Array.isArray(found);
}
