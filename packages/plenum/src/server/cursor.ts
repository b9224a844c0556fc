// Cursors: where the next page of a list begins. Loaded by the first list that has a second page.
// Specification: server/utilities/pagination.
import { McpError } from "../protocol/errors.ts";
import { createSealer } from "../util/seal.ts";

/** A place in a list: an entry, by its order, and how many of its items went before. */
export interface Position {
  readonly order: number;
  readonly offset: number;
  /** Where the entries from that order on begin. */
  readonly index: number;
}

/** Cursors are sealed, for one list each, so that a made-up one is told from a real one. */
export interface Cursors {
  seal(list: string, order: number, offset: number): Promise<string>;
  /** Throws McpError `invalid_params`. */
  open(list: string, cursor: string, entries: readonly Ordered[]): Promise<Position>;
}

interface Ordered {
  readonly order: number;
}

export function createCursors(secrets: readonly Uint8Array<ArrayBuffer>[]): Cursors {
  const sealer = createSealer(secrets);
  return {
    seal: (list, order, offset) => sealer.seal(`cursor:${list}`, `${order}.${offset}`),
    async open(list, cursor, entries) {
      const opened = await sealer.open(`cursor:${list}`, cursor);
      if (opened === undefined) throw new McpError("invalid_params", "Invalid cursor: use nextCursor as it came");
      const [order = 0, offset = 0] = opened.split(".").map(Number);
      return { order, offset, index: firstFrom(entries, order) };
    },
  };
}

/** The index of the first entry at or after `order`; entries are in rising order. */
function firstFrom(entries: readonly Ordered[], order: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as Ordered).order < order) low = middle + 1;
    else high = middle;
  }
  return low;
}
