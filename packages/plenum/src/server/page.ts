// Pages of a list. Cursors point into the registration order, so they stay good while other entries come and go; they
// are sealed, so a made-up one is told from a real one. Specification: server/utilities/pagination.
import { markStable, type Result } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import type { Sealer } from "../util/seal.ts";
import type { Context } from "./context.ts";
import type { Handler } from "./core.ts";
import { type Entry, isVisible, type Listed, type Registry } from "./registry.ts";

export interface PagesOptions<E extends Entry> {
  /** The member of the result that holds the items, and the purpose its cursors are sealed for. */
  readonly member: string;
  readonly registry: Registry<E>;
  readonly pageSize: number;
  readonly sealer: Sealer;
  /** What an entry puts into the list. An array when it is the same for everybody. */
  readonly items: (entry: E, ctx: Context<never>) => readonly object[] | Promise<readonly object[]>;
  /** Whether `items` depends on the caller or the moment. */
  readonly isDynamic?: (entry: E) => boolean;
}

interface Position {
  readonly order: number;
  /** Items of that entry that went before. */
  readonly offset: number;
}

const start: Position = { order: 0, offset: 0 };

/** Answers a list method, page by page. */
export function listPages<E extends Entry>(options: PagesOptions<E>): Handler {
  const { member, registry, pageSize, sealer, items, isDynamic } = options;
  const purpose = `cursor:${member}`;
  // Finished pages of a snapshot that is the same for everybody, by cursor.
  const kept = new WeakMap<readonly Listed<E>[], Map<unknown, Result>>();

  async function open(cursor: string): Promise<Position> {
    const opened = await sealer.open(purpose, cursor);
    if (opened === undefined) {
      throw new McpError("invalid_params", "Invalid cursor: use nextCursor of an earlier page of this list as it came");
    }
    const [order = 0, offset = 0] = opened.split(".").map(Number);
    return { order, offset };
  }

  async function cut(snapshot: readonly Listed<E>[], from: Position, ctx: Context<never>): Promise<Result> {
    const page: object[] = [];
    for (let i = firstFrom(snapshot, from.order); i < snapshot.length; i++) {
      const { entry, order } = snapshot[i] as Listed<E>;
      if (!(await isVisible(entry, ctx))) continue;
      const all = await items(entry, ctx);
      for (let offset = order === from.order ? from.offset : 0; offset < all.length; offset++) {
        if (page.length === pageSize)
          return { [member]: page, nextCursor: await sealer.seal(purpose, `${order}.${offset}`) };
        page.push(all[offset] as object);
      }
    }
    return { [member]: page };
  }

  return async ({ cursor }, ctx) => {
    const snapshot = registry.list();
    const pages = kept.get(snapshot) ?? new Map<unknown, Result>();
    const known = pages.get(cursor);
    if (known) return known;
    const from = cursor === undefined ? start : await open(cursor as string);
    const page = await cut(snapshot, from, ctx);
    // What depends on the caller is nobody else's: no shared cache may keep it.
    if (snapshot.some(({ entry }) => entry.visible || isDynamic?.(entry))) return { ...page, cacheScope: "private" };
    kept.set(snapshot, pages.set(cursor, markStable(page)));
    return page;
  };
}

/** The index of the first entry at or after `order`; entries are in rising order. */
function firstFrom(snapshot: readonly Listed<Entry>[], order: number): number {
  let low = 0;
  let high = snapshot.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((snapshot[middle] as Listed<Entry>).order < order) low = middle + 1;
    else high = middle;
  }
  return low;
}
