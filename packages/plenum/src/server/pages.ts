// The lists of a server, cut into pages. Specification: server/utilities/pagination.
import type { Result } from "../protocol/endpoint.ts";
import { markStable } from "../protocol/revise.ts";
import type { Context } from "./context.ts";
import type { Handler } from "./core.ts";
import type { Cursors, Position } from "./cursor.ts";
import { type Entry, isVisible, type Listed, type Registry } from "./registry.ts";

export interface PagesOptions<E extends Entry> {
  /** The member of the result that holds the items, and the list that its cursors are sealed for. */
  readonly member: string;
  readonly registry: Registry<E>;
  readonly pageSize: number;
  readonly cursors: () => Promise<Cursors>;
  /** What an entry puts into the list. An array when it is the same for everybody. */
  readonly items: (entry: E, ctx: Context<never>) => readonly object[] | Promise<readonly object[]>;
  /** Whether `items` depends on the caller or the moment. */
  readonly isDynamic?: (entry: E) => boolean;
}

const start: Position = { order: 0, offset: 0, index: 0 };

/**
 * Answers a list method. Cursors point into the registration order, so they stay good while other entries
 * come and go; they are sealed, so a made-up one is told from a real one. Specification: server/utilities/pagination.
 */
export function createPages<E extends Entry>(options: PagesOptions<E>): Handler {
  const { member, registry, pageSize, cursors, items, isDynamic } = options;
  // Finished pages of a snapshot that is the same for everybody, by cursor.
  const kept = new WeakMap<readonly Listed<E>[], Map<unknown, Result>>();

  async function cut(snapshot: readonly Listed<E>[], from: Position, ctx: Context<never>): Promise<Result> {
    const page: object[] = [];
    for (let i = from.index; i < snapshot.length; i++) {
      const { entry, order } = snapshot[i] as Listed<E>;
      if (!(await isVisible(entry, ctx))) continue;
      const all = await items(entry, ctx);
      for (let offset = order === from.order ? from.offset : 0; offset < all.length; offset++) {
        if (page.length === pageSize)
          return { [member]: page, nextCursor: await (await cursors()).seal(member, order, offset) };
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
    const from = cursor === undefined ? start : await (await cursors()).open(member, cursor as string, snapshot);
    const page = await cut(snapshot, from, ctx);
    // What depends on the caller is nobody else's: no shared cache may keep it.
    if (snapshot.some(({ entry }) => entry.visible || isDynamic?.(entry))) return { ...page, cacheScope: "private" };
    kept.set(snapshot, pages.set(cursor, markStable(page)));
    return page;
  };
}
