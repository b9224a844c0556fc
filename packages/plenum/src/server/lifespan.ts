// What lives as long as the server: made once, before the first call, and disposed of when the server closes.

/** Makes the value. One with `[Symbol.asyncDispose]` or `[Symbol.dispose]` is disposed of by it. */
export type LifespanOption<L> = () => L | Promise<L>;

export interface Lifespan<L> {
  readonly isOpen: boolean;
  readonly value: L;
  open(): Promise<L>;
  close(): Promise<void>;
}

export function createLifespan<L>(option: LifespanOption<L> | undefined): Lifespan<L> {
  let opening: Promise<L> | undefined;
  let held: { readonly value: L } | undefined = option ? undefined : { value: undefined as L };

  return {
    get isOpen() {
      return held !== undefined;
    },
    get value() {
      return held?.value as L;
    },
    open() {
      // Calls that come while it opens share the one attempt; one that failed is not held against the next.
      opening ??= (async () => {
        try {
          const value = await (option as LifespanOption<L>)();
          held = { value };
          return value;
        } catch (error) {
          opening = undefined;
          throw error;
        }
      })();
      return opening;
    },
    async close() {
      const value = opening && (await opening.catch(() => undefined));
      if (!option) return;
      opening = undefined;
      held = undefined;
      const disposable = value as
        | { [Symbol.asyncDispose]?: () => unknown; [Symbol.dispose]?: () => unknown }
        | undefined
        | null;
      await (disposable?.[Symbol.asyncDispose] ?? disposable?.[Symbol.dispose])?.call(disposable);
    },
  };
}
