// The mini language in which a revision's facts are written, and the Wire that is prepared from them.
// A member's expression is one of:  string integer number boolean object any  id uri template base64 unit count
// 'literal'  Name  Item[]  Item[100] (at most)  map<Item> (an object of items)  Item|Item.
// A trailing ? makes the member optional; an empty expression says that the revision took it away.
import type { Revision } from "../revisions.ts";

/** A shape: its members with their expressions, or one expression (an alias, a union); `""` when it is gone. */
export type Shape = string | { readonly [member: string]: string };

/** What one revision changes. A shape already known is merged member by member; an expression replaces it. */
export type Shapes = { readonly [name: string]: Shape };

/**
 * What is wrong with a value, as text to put behind its path (`.name must be a string`); undefined when it is right.
 */
export type Check = (value: unknown) => string | undefined;

/** The shapes of one revision, prepared on first use. Neither method throws on, or changes, what it is given. */
export interface Wire {
  readonly revision: Revision;
  /** Whether this revision has the named shape. */
  has(name: string): boolean;
  /**
   * What is wrong with the value as the named shape, such as `params.name must be a string`; undefined when it is
   * right. `at` is the path of the value. Objects are open: unknown members are tolerated. Absent params are
   * checked as `{}`.
   */
  check(name: string, value: unknown, at?: string): string | undefined;
  /**
   * The value as this revision may carry it: without the members that only other revisions define for the shape, and
   * with text in place of the kinds of content that this revision lacks. Members that no revision defines stay. The
   * same reference comes back when nothing changes.
   */
  fit<T>(name: string, value: T): T;
}

/** Whether the value is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
