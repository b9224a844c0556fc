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
  let closing: Promise<void> | undefined;
  let held: { readonly value: L } | undefined = option ? undefined : { value: undefined as L };

  const dispose = async (): Promise<void> => {
    const value = opening && (await opening.catch(() => undefined));
    if (!option) return;
    opening = undefined;
    held = undefined;
    const disposable = value as
      | { [Symbol.asyncDispose]?: () => unknown; [Symbol.dispose]?: () => unknown }
      | undefined
      | null;
    await (disposable?.[Symbol.asyncDispose] ?? disposable?.[Symbol.dispose])?.call(disposable);
  };

  return {
    get isOpen() {
      return held !== undefined;
    },
    get value() {
      return held?.value as L;
    },
    open() {
      // Calls that come while it opens share the one attempt; one that failed, be it at once, is not held against the next.
      opening ??= Promise.resolve()
        .then(option)
        .then(
          (value) => {
            held = { value: value as L };
            return value as L;
          },
          (error) => {
            opening = undefined;
            throw error;
          },
        );
      return opening;
    },
    close() {
      closing ??= dispose().finally(() => {
        closing = undefined;
      });
      return closing;
    },
  };
}
