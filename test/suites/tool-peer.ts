// What the suites about tools do over and over: list all tools, call one, make a server that keeps its errors.
import { createServer, type Server, type ServerOptions } from "plenum";
import type { Obj, Peer } from "./peer.ts";

export interface Reported {
  readonly error: unknown;
  readonly method: string;
  readonly errorId: string;
}

/** A server whose hidden errors are kept in a list instead of being printed. */
export function createQuietServer<L = undefined>(
  options: Partial<ServerOptions<L>> = {},
): { server: Server<L>; errors: Reported[] } {
  const errors: Reported[] = [];
  const onError = (error: unknown, about: { method: string; errorId: string }): void => {
    errors.push({ error, ...about });
  };
  return { server: createServer<L>({ name: "quiet", version: "1.0.0", onError, ...options }), errors };
}

export function callTool(peer: Peer, name: string, args?: Obj): Promise<Obj> {
  return peer.call("tools/call", args === undefined ? { name } : { name, arguments: args });
}

export async function contentOf(peer: Peer, name: string, args?: Obj): Promise<readonly Obj[]> {
  const { content, isError } = await callTool(peer, name, args);
  if (isError) throw new Error(`tool ${name} failed: ${JSON.stringify(content)}`);
  return content as readonly Obj[];
}

/** Every tool of every page, and how many pages that were. */
export async function listTools(peer: Peer): Promise<readonly Obj[]> {
  const { tools, nextCursor } = await peer.call("tools/list");
  if (nextCursor !== undefined) throw new Error("more than one page");
  return tools as readonly Obj[];
}

export async function namesOf(peer: Peer): Promise<readonly unknown[]> {
  return (await listTools(peer)).map(({ name }) => name);
}

export function textOf(result: Obj): string {
  const [first, ...rest] = result.content as readonly Obj[];
  if (first?.type !== "text" || rest.length > 0) throw new Error(`not one text: ${JSON.stringify(result)}`);
  return first.text as string;
}

/** What the peers of a test throw away: the parts that 2026-07-28 puts around every result. */
export function bare({ resultType: _, _meta, ttlMs: _t, cacheScope: _c, ...rest }: Obj): Obj {
  const { "io.modelcontextprotocol/serverInfo": _i, ...meta } = (_meta ?? {}) as Obj;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}
