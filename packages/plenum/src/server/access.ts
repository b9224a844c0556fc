// Who may see and use a tool that is not for everybody. Loaded by the first use of such, and of one that is not there.
import { McpError } from "../protocol/errors.ts";
import { quote } from "../util/quote.ts";
import type { Context } from "./context.ts";
import { type Entry, isVisible, type Visible } from "./registry.ts";

interface Scoped extends Entry {
  readonly scopes: readonly string[] | undefined;
}

/**
 * Whether the caller has all of them. Where nobody says who calls, as over stdio, everybody has; who comes in over a transport that
 * tells of senders, and is not known there, has nothing.
 */
function holds({ auth, sender }: Context<never>, scopes: readonly string[]): boolean {
  return !(auth || sender) || scopes.every((scope) => auth?.scopes.includes(scope));
}

/** For a tool that is not there for who lacks its scopes. */
export function isSeen(
  ctx: Context<never>,
  scopes: readonly string[],
  visible: Visible | undefined,
): ReturnType<Visible> {
  return holds(ctx, scopes) && (!visible || visible(ctx));
}

/** The tool. Throws McpError: `invalid_params` where there is none for this caller, `insufficient_scope` where it may not be used. */
export async function admit<E extends Scoped>(entry: E | undefined, name: string, ctx: Context<never>): Promise<E> {
  if (!entry || !(await isVisible(entry, ctx))) throw new McpError("invalid_params", `Unknown tool: ${quote(name)}`);
  const { scopes = [] } = entry;
  if (!holds(ctx, scopes)) throw new McpError("insufficient_scope", `This tool takes the scopes ${scopes.join(" ")}`);
  return entry;
}
