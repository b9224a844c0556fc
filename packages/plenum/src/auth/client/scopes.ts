// Which scopes to ask for. Specification: basic/authorization § Scope Selection Strategy, § Step-Up Authorization Flow.

/** All of both, each once, in order. */
export function unite(...scopes: (string | undefined)[]): string | undefined {
  const all = new Set(scopes.flatMap((scope) => scope?.split(" ") ?? []).filter((one) => one !== ""));
  return all.size > 0 ? [...all].join(" ") : undefined;
}

export interface ScopeSources {
  /** What the application wants, whatever the server says. */
  readonly given: readonly string[] | undefined;
  /** What the challenge says. */
  readonly challenged: string | undefined;
  /** What the metadata of the resource lists. */
  readonly supported: readonly string[] | undefined;
  /** What the authorization server lists. */
  readonly known: readonly string[] | undefined;
  /** What was granted before, and is kept. */
  readonly granted: string | undefined;
  /** Whether a refresh token is wanted. */
  readonly isLasting: boolean;
}

/** Undefined: none is asked for, and the server's default is what comes. */
export function chooseScope({
  given,
  challenged,
  supported,
  known,
  granted,
  isLasting,
}: ScopeSources): string | undefined {
  const wanted = given?.join(" ") ?? challenged ?? (supported?.length ? supported.join(" ") : undefined);
  const offline = isLasting && known?.includes("offline_access") ? "offline_access" : undefined;
  return unite(granted, wanted, offline);
}
