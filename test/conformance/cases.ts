// What a comparison of texts is: something to be asked of the server, and how the answer is compared.
import { isDeepStrictEqual } from "node:util";
import type { Exchange, Wire } from "./wire.ts";

export interface Case {
  readonly name: string;
  /** What was wrong. */
  check(wire: Wire): Promise<string[]>;
}

/** The members of a result that the case is about: not those that every result of a revision has. */
export function ownOf({ answer, status }: Exchange): unknown {
  if (!answer?.result) return { status, ...answer };
  const { resultType: _, ttlMs: __, cacheScope: ___, _meta: ____, ...own } = answer.result;
  return own;
}

export function expectEqual(what: string, found: unknown, wanted: unknown): string[] {
  if (isDeepStrictEqual(found, wanted)) return [];
  return [`${what} should be ${JSON.stringify(wanted)}\nand is ${JSON.stringify(found)}`];
}
