// The report for programs: one record for each finding, and for each check that found nothing.
import type { Entry } from "./run.ts";

export interface JsonEntry {
  readonly check: string;
  readonly severity: string;
  readonly status: string;
  readonly message: string;
  readonly where: string | null;
  readonly remedy: string | null;
  readonly revision: string | null;
}

export function toJson(entries: readonly Entry[]): readonly JsonEntry[] {
  return entries.map(({ check, severity, status, message, where, remedy, revision }) => ({
    check: check.id,
    severity,
    status,
    message: message || check.title,
    where: where ?? null,
    remedy: remedy ?? null,
    revision: revision ?? null,
  }));
}
