// What a handler returns, as content.
import { isObject, type Json } from "../jsonrpc/message.ts";
import { type Content, isContent, type Meta } from "../protocol/model.ts";
import { isThenable } from "../util/thenable.ts";

/** What reads a file gives a promise: it is waited for. */
export type Contents = readonly (Content | Promise<Content>)[];

// A result the handler composed itself. The brand tells it from a value that happens to have a `content` member.
export const whole: unique symbol = Symbol("plenum.result");

export interface WholeResult {
  readonly [whole]: true;
  readonly content: Contents | undefined;
  readonly structured: Json | undefined;
  readonly isError: boolean | undefined;
  readonly meta: Meta | undefined;
}

export function isWhole(value: unknown): value is WholeResult {
  return isObject(value) && whole in value;
}

/** Whether there is nothing in it to wait for. */
export function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isPlain) : !isThenable(value);
}

/** The value with every promise in it, and in lists in it, waited for. */
export async function settle(value: unknown): Promise<unknown> {
  const settled = await value;
  return Array.isArray(settled) ? Promise.all(settled.map(settle)) : settled;
}

export function toBlocks(value: unknown): Content[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (isContent(value)) return [value];
  // A list with content in it is a list of content; one without is a value like any other.
  const isList = Array.isArray(value) && (holdsContent(value) || value.every((member) => typeof member === "string"));
  return isList ? value.flatMap(toBlocks) : toText(value);
}

function holdsContent(value: unknown): boolean {
  return Array.isArray(value) ? value.some(holdsContent) : isContent(value);
}

export function toText(value: unknown): Content[] {
  return value === undefined ? [] : [{ type: "text", text: JSON.stringify(value) ?? String(value) }];
}
