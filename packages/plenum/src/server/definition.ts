// What a server publishes of itself and of what is registered: checked, copied and frozen once.
import type { JsonObject } from "../jsonrpc/message.ts";
import { assertOwnMeta } from "../protocol/meta.ts";
import { wireOf } from "../protocol/wire/wire.ts";
import { toJsonCopy } from "../util/json-copy.ts";

/** What a handler gives, now or later. */
export type Awaitable<T> = T | Promise<T>;

/** A handler, or a middleware, that was forgotten or is in another's place. */
export function assertFunction(value: unknown, what: string): void {
  if (typeof value !== "function") throw new TypeError(`${what} needs a handler function`);
}

/** Options that are not published, and what they must be. A list is an object, too: its members say what is wrong with it. */
const kinds = { visible: "function", scopes: "object", hidden: "boolean" };

/**
 * What is published of an entry, as plain JSON: a mistake is found when it is registered, since later it would break
 * the whole list. Frozen, since it goes to many callers, and nobody may change it for another. Throws a TypeError.
 * @param rest options that are not published, or a misspelling
 * @param more options that not every entry has, for who misspells one
 */
export function toDefinition<D>(what: string, shape: string, definition: JsonObject, rest: object = {}, more = ""): D {
  const known = `${more}title, description, icons, meta, visible`;
  for (const [key, value] of Object.entries(rest)) {
    const kind = known.includes(key) && kinds[key as keyof typeof kinds];
    if (!kind || (value !== undefined && typeof value !== kind))
      throw new TypeError(`${what}: option "${key}" is ${kind ? `no ${kind}` : `unknown; there are ${known}`}`);
  }
  const problem = wireOf("2026-07-28").check(shape, definition);
  if (problem) throw new TypeError(`${what}: ${problem}`);
  assertOwnMeta(definition._meta as JsonObject | undefined, what);
  return toJsonCopy(definition, what, (_, value) => Object.freeze(value)) as D;
}
