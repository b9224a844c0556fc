// Lists of a server as async iterables over their pages. Cursors are the server's own affair: they go back as they
// came, and are forgotten with the iteration. Specification: server/utilities/pagination.
import type { JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import { isPeerError } from "../protocol/outcome.ts";
import { quote } from "../util/quote.ts";

export interface Page<T> {
  readonly items: readonly T[];
  /** Absent on the last page. */
  readonly nextCursor: string | undefined;
}

/**
 * What a server lists. Nothing is asked for before it is iterated over; each iteration starts from the beginning, and
 * one that is left early asks for no further page.
 */
export interface List<T> extends AsyncIterable<T> {
  /** Everything at once. */
  all(): Promise<T[]>;
  pages(): AsyncIterable<Page<T>>;
}

export interface ListOptions {
  /** The member of the result that holds the items, such as "tools". */
  readonly member: string;
  /** The result for a cursor, checked; without one, that for the first page. */
  readonly fetch: (cursor: string | undefined) => Promise<JsonObject>;
  /** Pages of one iteration before the list is taken to be endless. */
  readonly maxPages: number;
  /**
   * Before 2026-07-28 no text says what an empty cursor is, and there are servers that end their lists with one. It is
   * sent back like any other; but when that is refused, or brings the first page again, the list has ended.
   */
  readonly emptyCursorMayEnd: boolean;
  /**
   * Called when the server answers a cursor with an error: forget the pages that were kept, and say whether there were
   * any. If so, and nothing was handed out yet, the iteration starts again from the beginning, once.
   */
  readonly restart?: (() => boolean) | undefined;
}

// Cursors are remembered to see whether one comes twice. Nobody needs this much; it keeps a hostile server from filling
// the memory with them.
const maxCursorChars = 16 * 1024 * 1024;

export function createList<T>(options: ListOptions): List<T> {
  /**
   * @param isUntouched whether nothing has been handed out yet
   * @param onRestart what was given so far is void
   */
  async function* walk(isUntouched: () => boolean, onRestart?: () => void): AsyncGenerator<Page<T>, void> {
    let trail = new Trail(options);
    let restarted = false;
    let first: Page<T> | undefined;
    for (let cursor: string | undefined; ; ) {
      let page: Page<T>;
      try {
        page = toPage(await options.fetch(cursor));
      } catch (error) {
        if (cursor === undefined || !isPeerError(error)) throw error;
        if (cursor === "" && options.emptyCursorMayEnd && error.rpcCode === -32602) return;
        // Asked also when it is too late to start again: then the next iteration does not meet the same pages.
        const isForgotten = options.restart?.() === true;
        if (!isForgotten || restarted || !isUntouched()) throw error;
        restarted = true;
        trail = new Trail(options);
        cursor = undefined;
        first = undefined;
        onRestart?.();
        continue;
      }
      if (cursor === "" && options.emptyCursorMayEnd && first && isSame(page, first)) return;
      if (options.emptyCursorMayEnd) first ??= page;
      yield page;
      cursor = page.nextCursor;
      if (cursor === undefined) return;
      trail.follow(cursor);
    }
  }

  function toPage(result: JsonObject): Page<T> {
    const { nextCursor } = result;
    return {
      items: result[options.member] as readonly T[],
      nextCursor: typeof nextCursor === "string" ? nextCursor : undefined,
    };
  }

  return {
    async *[Symbol.asyncIterator]() {
      let touched = false;
      for await (const { items } of walk(() => !touched)) {
        for (const item of items) {
          touched = true;
          yield item;
        }
      }
    },
    async all() {
      let collected: T[] = [];
      const startAnew = (): void => {
        collected = [];
      };
      for await (const { items } of walk(() => true, startAnew)) {
        // Not by spreading: a call takes a limited number of arguments.
        for (const item of items) collected.push(item);
      }
      return collected;
    },
    pages: () => ({
      async *[Symbol.asyncIterator]() {
        let touched = false;
        for await (const page of walk(() => !touched)) {
          touched = true;
          yield page;
        }
      },
    }),
  };
}

/** The way through one list so far. */
class Trail {
  readonly #options: ListOptions;
  readonly #seen = new Set<string>();
  #chars = 0;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  /** Throws when the way goes in a circle, or on and on. */
  follow(cursor: string): void {
    const { member, maxPages } = this.#options;
    const refuse = (why: string): never => {
      throw new McpError("invalid_result", `The server's list of ${member} has no end: ${why}`);
    };
    if (this.#seen.has(cursor)) refuse(`it gave the cursor ${quote(cursor)} twice`);
    this.#seen.add(cursor);
    if (this.#seen.size >= maxPages) refuse(`there are more than ${maxPages} pages. Raise maxPages if that is right`);
    this.#chars += cursor.length;
    if (this.#chars > maxCursorChars) refuse(`its cursors are longer than ${maxCursorChars} characters in all`);
  }
}

function isSame(a: Page<unknown>, b: Page<unknown>): boolean {
  return a.nextCursor === b.nextCursor && JSON.stringify(a.items) === JSON.stringify(b.items);
}
