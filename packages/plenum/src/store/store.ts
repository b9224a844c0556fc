// The seam to what must survive a restart or be seen by another node: text by key, with an end to its life and a
// conditional write. Memory is one; what a team runs already can be another.

export interface PutOptions {
  /** Gone after this long. Default: never. */
  readonly ttlMs?: number;
  /** Write only if the key has this value now; `null`: only if it has none. Default: whatever it has. */
  readonly expected?: string | null;
}

export interface Store {
  get(key: string): Promise<string | undefined>;
  /** Whether it was written: false only where `expected` was given and not met. Atomic. */
  put(key: string, value: string, options?: PutOptions): Promise<boolean>;
  delete(key: string): Promise<void>;
}
