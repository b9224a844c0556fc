// What a server has, for completion: the names of one kind, and what arguments each takes.
import type { Candidate } from "./candidate.ts";

export type NameKind = "tools" | "prompts" | "resources";

export interface ArgumentName {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isRequired: boolean;
  /** May be given again. */
  readonly isList: boolean;
  /** All that it can be, where that is known. */
  readonly values: readonly string[];
}

export interface ServerName {
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments: readonly ArgumentName[];
}

export type ServerNames = readonly ServerName[];

/** `key=` for those that are not given yet, the required first; behind `key=` what it can be. */
export function toArgumentCandidates(owner: ServerName, given: readonly string[], current: string): Candidate[] {
  const equals = current.indexOf("=");
  if (equals >= 0) {
    const key = current.slice(0, equals);
    const values = owner.arguments.find(({ name }) => name === key)?.values ?? [];
    return values.map((value) => ({ value: `${key}=${value}` }));
  }
  const keys = given.map((word) => /^[^=:@]+/.exec(word)?.[0]);
  return owner.arguments
    .filter(({ name, isList }) => isList || !keys.includes(name))
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
    .map(({ name, description, isRequired }) => ({
      value: `${name}=`,
      isOpen: true,
      description: [isRequired && "required", description].filter(Boolean).join(": ") || undefined,
    }));
}
