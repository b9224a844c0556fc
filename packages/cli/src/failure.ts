// What goes wrong, in words for people, with the exit code that scripts look at. Nothing else ends a command with an error.

/** The exit codes, one meaning each. Ctrl-C is 130 and SIGTERM 143, as in a shell. */
export const exitCodes = {
  ok: 0,
  usage: 1,
  unreachable: 2,
  unauthorized: 3,
  protocol: 4,
  tool: 5,
  problems: 6,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitName = Exclude<keyof typeof exitCodes, "ok">;

export interface FailureOptions {
  /** What to do next, as a sentence: "Try: plenum login URL". */
  readonly hint?: string | undefined;
  /** For programs; default: `exit`. */
  readonly code?: string | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** Shown as one message and a hint; its stack only with --debug. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exit: ExitName;
  readonly code: string;
  readonly hint: string | undefined;
  readonly data: unknown;

  constructor(exit: ExitName, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exit = exit;
    this.code = options.code ?? exit;
    this.hint = options.hint;
    this.data = options.data;
  }
}
