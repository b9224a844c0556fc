// What a whole schema becomes: its keywords one after the other, with depth, time and evaluated members kept.

import { type Check, isSettled, merge, type Seen, spend } from "./check.ts";
import type { Resource, Target } from "./resource.ts";

/** A schema that is compiled once, however often it is referred to. */
export interface Unit {
  check: Check;
  readonly target: Target;
  /** Units that always apply to the same value as this one. */
  readonly same: Unit[];
}

/**
 * Applies checks in order. When issues are collected all are applied, except that a wrong type makes the others
 * pointless (`typed`: the first one is `type`), and those from `late` on need the earlier ones to have held.
 */
export function inSequence(checks: readonly Check[], typed: boolean, late: number, maxDepth: number): Check {
  return (value, run, seen) => {
    if (!spend(run, ++run.depth > maxDepth ? Infinity : 1)) return false;
    let valid = true;
    for (let index = 0; index < checks.length; index++) {
      if ((checks[index] as Check)(value, run, seen)) continue;
      valid = false;
      if (isSettled(run) || (typed && index === 0) || index + 1 >= late) break;
    }
    run.depth--;
    return valid;
  };
}

/** Keeps what is evaluated in this schema apart from what its neighbours evaluate. */
export function withSeen(check: Check): Check {
  return (value, run, outer) => {
    const seen: Seen = new Set();
    const valid = check(value, run, seen);
    merge(run, seen, outer);
    return valid;
  };
}

/** Notes that evaluation has entered a resource with dynamic anchors. */
export function withScope(check: Check, resource: Resource): Check {
  return (value, run, seen) => {
    const { scope } = run;
    if (scope?.resource === resource) return check(value, run, seen);
    run.scope = { resource, up: scope };
    const valid = check(value, run, seen);
    run.scope = scope;
    return valid;
  };
}

/** Throws a TypeError when a schema always applies itself to the same value, which could never end. */
export function assertNoLoop(units: Iterable<Unit>): void {
  const open = new Set<Unit>();
  const done = new Set<Unit>();
  for (const start of units) {
    const stack = [start];
    for (let unit = stack.at(-1); unit; unit = stack.at(-1)) {
      if (open.has(unit) || done.has(unit)) {
        open.delete(unit);
        done.add(unit);
        stack.pop();
        continue;
      }
      open.add(unit);
      for (const inner of unit.same) {
        if (open.has(inner))
          throw new TypeError(`JSON Schema: ${inner.target.at} refers to itself in a circle that never ends.`);
        if (!done.has(inner)) stack.push(inner);
      }
    }
  }
}
