// What every compiled keyword is made of: a check that answers yes or no, and the run it keeps its books in.
// A first run only answers; when it says no, a second one collects the issues. So a valid value costs no allocation.

import type { JsonSchema, Resource } from "./resource.ts";

/** One reason why a value is refused. `keyword` is the JSON Schema keyword, or `limit` when checking was given up. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly keyword: string;
}

/** The books of one validation. */
export interface Run {
  /** Undefined while only the verdict is wanted. */
  issues: SchemaIssue[] | undefined;
  readonly path: (string | number)[];
  /** What is left of the budget; below zero everything returns at once. */
  steps: number;
  depth: number;
  readonly maxIssues: number;
  /** The resources with dynamic anchors that evaluation has entered, innermost first. */
  scope: Scope | undefined;
}

export interface Scope {
  readonly resource: Resource;
  readonly up: Scope | undefined;
}

/** Property names or indexes that some keyword has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Seen = Set<string | number>;

export type Check = (value: unknown, run: Run, seen: Seen | undefined) => boolean;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A property that JSON would carry: own, and a value that JSON has. Guards against names like `constructor`. */
export function has(object: object, key: string): boolean {
  const type = typeof (object as Record<string, unknown>)[key];
  return type !== "undefined" && type !== "function" && type !== "symbol" && Object.hasOwn(object, key);
}

/** Whether a failure ends the matter: no issues are wanted, or no more of them. */
export function isSettled(run: Run): boolean {
  return !run.issues || run.issues.length >= run.maxIssues || run.steps < 0;
}

export function fail(run: Run, keyword: string, message: string): false {
  const { issues } = run;
  if (issues && issues.length < run.maxIssues) issues.push({ path: run.path.slice(), message, keyword });
  return false;
}

/** Takes a number of steps from the budget; false when it is used up, and then every check still to come fails at once. */
export function spend(run: { steps: number }, steps: number): boolean {
  run.steps -= steps;
  return run.steps >= 0;
}

/** Adds what a branch has evaluated to what is evaluated around it. */
export function merge(run: Run, from: Seen | undefined, to: Seen | undefined): void {
  if (!from || !to || !spend(run, from.size)) return;
  for (const key of from) to.add(key);
}

/** Applies a check to a member of the current value. */
export function into(check: Check, member: unknown, key: string | number, run: Run): boolean {
  if (!run.issues) return check(member, run, undefined);
  run.path.push(key);
  const valid = check(member, run, undefined);
  run.path.pop();
  return valid;
}

/** Applies several checks to the same value: all of them when issues are collected. */
export function every(checks: readonly Check[]): Check {
  return (value, run, seen) => {
    let valid = true;
    for (const check of checks) {
      if (check(value, run, seen)) continue;
      if (isSettled(run)) return false;
      valid = false;
    }
    return valid;
  };
}

/** Asks a check for its verdict alone, also while issues are being collected. */
export function quietly(check: Check, value: unknown, run: Run, seen?: Seen): boolean {
  const { issues } = run;
  run.issues = undefined;
  const valid = check(value, run, seen);
  run.issues = issues;
  return valid;
}

/** Text that tells two JSON values apart: equal values give equal text, whatever the order of their members. */
export function canonical(value: unknown, run: { steps: number }, depth = 0): string {
  if (typeof value !== "object" || value === null) {
    const text = String(JSON.stringify(value === 0 ? 0 : value));
    spend(run, 1 + (text.length >> 5));
    return text;
  }
  if (!spend(run, depth > 256 ? Infinity : 1)) return "";
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(canonical(item, run, depth + 1));
    return `[${parts}]`;
  }
  for (const key of Object.keys(value).sort()) {
    if (has(value, key)) parts.push(`${JSON.stringify(key)}:${canonical((value as JsonSchema)[key], run, depth + 1)}`);
  }
  return `{${parts}}`;
}
