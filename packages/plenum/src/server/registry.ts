// An ordered set of things that a server offers. Order is that of registration; a Map keeps any name apart from any
// other (`constructor`, `__proto__`, `10`). Changing it makes a new snapshot, and lists are prepared per snapshot.
import type { Context } from "./context.ts";

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
