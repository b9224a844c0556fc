// An ordered set of things that a server offers. Order is that of registration; a Map keeps any name apart from any
// other (`constructor`, `__proto__`, `10`). Changing it makes a new snapshot, and lists are prepared per snapshot.
import type { Result } from "../protocol/endpoint.ts";
import { markStable } from "../protocol/revise.ts";
import type { Context } from "./context.ts";
import type { Handler } from "./core.ts";
import type { Cursors, Position } from "./cursor.ts";

/** Who may see and use an entry. Without it everybody may. */
export type Visible = (ctx: Context<never>) => boolean | undefined | Promise<boolean | undefined>;

export interface Entry {
  readonly visible?: Visible | undefined;
}

/** The schema of a handler that takes no arguments. */
export type NoInput = { readonly type: "object" };

/** The handle that a registration gives back. Each change is told to those who watch, once per burst. */
export interface Registration {
  remove(): void;
  /** Back in lists and callable. */
  enable(): void;
  /** Neither listed nor callable, but the name stays taken. */
  disable(): void;
  readonly enabled: boolean;
}

interface Slot<E> {
  readonly entry: E;
  /** Rises with each registration and is never used again: what a cursor can point to. */
  readonly order: number;
  enabled: boolean;
}

export interface Listed<E> {
  readonly entry: E;
  readonly order: number;
}

export class Registry<E extends Entry> {
  readonly #slots = new Map<string, Slot<E>>();
  readonly #what: string;
  readonly #changed: () => void;
  #nextOrder = 1;
  #snapshot: readonly Listed<E>[] | undefined;

  /** @param what the word for an entry in error messages, such as "tool" */
  constructor(what: string, changed: () => void) {
    this.#what = what;
    this.#changed = changed;
  }

  /** Whether anything was ever registered: a capability once shown is not taken back. */
  get used(): boolean {
    return this.#nextOrder > 1;
  }

  add(name: string, entry: E): Registration {
    if (this.#slots.has(name)) throw new TypeError(`${this.#what} "${name}" is registered already; remove it first`);
    const slot: Slot<E> = { entry, order: this.#nextOrder++, enabled: true };
    this.#slots.set(name, slot);
    this.#touch();
    const isIn = (): boolean => this.#slots.get(name) === slot;
    const set = (enabled: boolean): void => {
      if (slot.enabled === enabled || !isIn()) return;
      slot.enabled = enabled;
      this.#touch();
    };
    return {
      remove: () => {
        if (isIn() && this.#slots.delete(name)) this.#touch();
      },
      enable: () => set(true),
      disable: () => set(false),
      get enabled() {
        return slot.enabled && isIn();
      },
    };
  }

  get(name: string): E | undefined {
    const slot = this.#slots.get(name);
    return slot?.enabled ? slot.entry : undefined;
  }

  /** Whether the name is taken, be it by what is disabled. */
  has(name: string): boolean {
    return this.#slots.has(name);
  }

  /** What is enabled, in order. The same array until something changes. */
  list(): readonly Listed<E>[] {
    this.#snapshot ??= [...this.#slots.values()].filter((slot) => slot.enabled);
    return this.#snapshot;
  }

  #touch(): void {
    this.#snapshot = undefined;
    this.#changed();
  }
}

/** Visibility is asked anew for every use: what a caller may see can change between two requests. */
export async function isVisible(entry: Entry, ctx: Context<never>): Promise<boolean> {
  return !entry.visible || Boolean(await entry.visible(ctx));
}

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
 * Answers a list method, page by page. Cursors point into the registration order, so they stay good while other entries
 * come and go; they are sealed, so a made-up one is told from a real one. Specification: server/utilities/pagination.
 */
export function listPages<E extends Entry>(options: PagesOptions<E>): Handler {
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
