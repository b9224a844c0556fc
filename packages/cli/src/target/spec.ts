// What a person names to call: a server at a URL, one that a command starts, or one in a file. What a TARGET is made into.

/** A server at a URL. */
export interface UrlSpec {
  readonly kind: "url";
  /** For people: as it was given, without what may be secret. */
  readonly name: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

/** A server that is started by a command, without a shell. */
export interface CommandSpec {
  readonly kind: "command";
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Beyond the few variables that every server gets. References to secrets (@env:, @file:, @keychain:) are resolved already. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string | undefined;
}

/** A Plenum server that a file exports, in this process. */
export interface FileSpec {
  readonly kind: "file";
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Undefined: the first of `default`, `mcp`, `server`, `app` that is a server. */
  readonly exportName: string | undefined;
}

export type TargetSpec = UrlSpec | CommandSpec | FileSpec;
