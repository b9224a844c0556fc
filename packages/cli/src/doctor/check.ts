// What a check of the doctor's is: a record, and what it finds. The table of all is checks.ts.
import type { Ground } from "./ground.ts";

/** An `error` breaks clients or is unsafe, a `warning` breaks some or makes models worse, a `note` is good to know. */
export type Severity = "error" | "warning" | "note";

export interface Finding {
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** The thing it is about: `tool "add"`, `POST /mcp`. */
  readonly where?: string | undefined;
  /** In place of the check's own. */
  readonly severity?: Severity | undefined;
  readonly remedy?: string | undefined;
  /** The revision in which it was seen, where that matters. */
  readonly revision?: string | undefined;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  /** What was seen, for people: shown where nothing is wrong. */
  readonly summary?: string | undefined;
  /** Why it could not be looked at. */
  readonly skipped?: string | undefined;
}

export interface Check {
  /** `topic/name`. */
  readonly id: string;
  /** What holds for a good server, as a short sentence without a full stop. */
  readonly title: string;
  readonly looksAt: string;
  readonly appliesTo: "any" | "stdio" | "http";
  /** Of a finding that says nothing else. */
  readonly severity: Severity;
  /** What to do about a finding that says nothing else. */
  readonly remedy: string;
  /** It needs a connection. Default true. */
  readonly needsConnection?: boolean;
  /** It looks at connections in every revision, and not at the usual one alone. Default false. */
  readonly spansRevisions?: boolean;
  run(ground: Ground): Verdict | Promise<Verdict>;
}

export function found(findings: readonly Finding[], summary?: string): Verdict {
  return { findings, summary };
}

export function skip(why: string): Verdict {
  return { findings: [], skipped: why };
}

export function topicOf({ id }: Pick<Check, "id">): string {
  return id.slice(0, id.indexOf("/"));
}

/** Whether the check is about this kind of target. */
export function isAbout({ appliesTo }: Check, kind: "url" | "command" | "file"): boolean {
  return appliesTo === "any" || (appliesTo === "stdio" ? kind === "command" : kind === "url");
}
