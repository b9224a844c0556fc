// The pieces that a compiled template is made of: literal text, one value or list, a group of pairs. Each can say at
// which places of a URI it may start, and can then be walked through, in time linear in the URI.
import type { Expression, Variable } from "./uri-template-parse.ts";
import { fromUnits, toUnit, toUnits } from "./uri-units.ts";

/** Counts the elementary steps of a match, for tests of its cost. */
export interface Meter {
  steps: number;
}

/** Per place in the URI: bit `fits` says that this part and all after it match from here. Other bits are the part's own. */
export type Marks = Uint8Array;
export const fits = 1;

export interface Piece {
  mark(units: Int32Array, next: Marks, meter: Meter): Marks;
  /** Called only at a place that `fits`. Hands its values to `give` and says where the next piece starts. */
  walk(units: Int32Array, at: number, own: Marks, next: Marks, meter: Meter, give: Give): number;
}

export type Give = (variable: Variable, value: string | string[]) => void;

export function literalPiece(text: Int32Array): Piece {
  return {
    mark(units, next, meter) {
      const marks = new Uint8Array(next.length);
      for (let at = 0; at + text.length < next.length; at++) {
        meter.steps++;
        if (has(next, at + text.length, fits) && spells(units, at, text, meter)) marks[at] = fits;
      }
      return marks;
    },
    walk: (_units, at) => at + text.length,
  };
}

export interface Run {
  readonly variable: Variable;
  /** What stands before the value: "" or one character. */
  readonly open: string;
  readonly separator: number;
  readonly stops: Uint8Array;
  readonly minimum: number;
  /** All of it, with the opening character, may be missing. */
  readonly optional: boolean;
  /** Takes as little as it can, not as much. */
  readonly lazy: boolean;
}

/** One value, or one exploded list, that is not written as pairs. */
export function runPiece({ variable, open, separator, stops, minimum, optional, lazy }: Run): Piece {
  const maximum = variable.maxLength ?? Infinity;
  const opening = open === "" ? -1 : toUnit(open);
  const indent = open.length;

  function end(units: Int32Array, start: number, next: Marks, meter: Meter): number {
    let best = -1;
    for (let at = start; at - start <= maximum; at++) {
      meter.steps++;
      if (at - start >= minimum && has(next, at, fits)) {
        best = at;
        if (lazy) break;
      }
      if (at >= units.length || isIn(stops, units[at])) break;
    }
    return best;
  }

  function read(units: Int32Array, start: number, stop: number): string | string[] {
    if (!variable.explode) return fromUnits(units, start, stop);
    if (open === "" && start === stop) return [];
    const items: string[] = [];
    let from = start;
    for (let at = start; at < stop; at++) {
      if (units[at] !== separator) continue;
      items.push(fromUnits(units, from, at));
      from = at + 1;
    }
    items.push(fromUnits(units, from, stop));
    return items;
  }

  return {
    mark(units, next, meter) {
      const marks = new Uint8Array(next.length);
      // For each place, the nearest place at or after it where the next piece fits and to which nothing stops a run.
      const nearest = new Int32Array(next.length + 1).fill(-1);
      for (let at = units.length; at >= 0; at--) {
        meter.steps++;
        const free = at < units.length && !isIn(stops, units[at]);
        nearest[at] = has(next, at, fits) ? at : free ? (nearest[at + 1] ?? -1) : -1;
        const start = at + indent;
        const opened = indent === 0 || units[at] === opening;
        const enough = minimum === 0 || (start < units.length && !isIn(stops, units[start]));
        const reached = opened && enough ? (nearest[start + minimum] ?? -1) : -1;
        if ((reached >= 0 && reached - start <= maximum) || (optional && has(next, at, fits))) marks[at] = fits;
      }
      return marks;
    },
    walk(units, at, _own, next, meter, give) {
      const absent = optional && has(next, at, fits);
      const opened = indent === 0 || units[at] === opening;
      const stop = opened && !(absent && lazy) ? end(units, at + indent, next, meter) : -1;
      if (stop < 0) {
        give(variable, []);
        return at;
      }
      give(variable, read(units, at + indent, stop));
      return stop;
    },
  };
}

const pairFits = 2;
const valueFits = 4;
const equals = toUnit("=");

/** `{;x,y}`, `{?x,y}` and `{&x,y}`: pairs in any order, or nothing. */
export function namedPiece(group: readonly Expression[]): Piece {
  const separator = toUnit(group[0]?.operator.separator ?? "&");
  const opens = group.map(({ operator }) => toUnit(operator.first));
  const stops = toTable(separator === toUnit(";") ? ";/?#" : "&#");
  // Longest first, so that `a.b` is not read as `a`.
  const variables = group
    .flatMap((expression) => expression.variables)
    .map((variable) => ({ variable, name: toUnits(variable.name) ?? new Int32Array() }))
    .sort((one, other) => other.name.length - one.name.length);

  // Whether the pairs may end here or go on with another one.
  const ends = (units: Int32Array, at: number, own: Marks, next: Marks) =>
    has(next, at, fits) || (units[at] === separator && has(own, at + 1, pairFits));

  function pairAt(units: Int32Array, at: number, own: Marks, next: Marks, meter: Meter) {
    return variables.find(({ name }) => {
      meter.steps++;
      const end = at + name.length;
      if (!spells(units, at, name, meter)) return false;
      return (units[end] === equals && has(own, end + 1, valueFits)) || ends(units, end, own, next);
    });
  }

  return {
    mark(units, next, meter) {
      const own = new Uint8Array(next.length);
      for (let at = units.length; at >= 0; at--) {
        meter.steps++;
        const unit = units[at];
        let bits = 0;
        const free = at < units.length && !isIn(stops, unit);
        if (ends(units, at, own, next) || (free && has(own, at + 1, valueFits))) bits |= valueFits;
        const before = units[at - 1] ?? -1;
        const starts = before === separator || opens.includes(before);
        if (starts && pairAt(units, at, own, next, meter) !== undefined) bits |= pairFits;
        if (has(next, at, fits) || (opens.includes(unit ?? -1) && has(own, at + 1, pairFits))) bits |= fits;
        own[at] = bits;
      }
      return own;
    },
    walk(units, start, own, next, meter, give) {
      if (!opens.includes(units[start] ?? -1) || !has(own, start + 1, pairFits)) return start;
      const lists = new Map<Variable, string[]>();
      let at = start;
      do {
        const found = pairAt(units, at + 1, own, next, meter);
        if (found === undefined) break;
        const { variable, name } = found;
        at += 1 + name.length;
        let value = "";
        if (units[at] === equals && has(own, at + 1, valueFits)) {
          const from = at + 1;
          at = from;
          while (at < units.length && !isIn(stops, units[at]) && has(own, at + 1, valueFits)) at++;
          meter.steps += at - from;
          value = fromUnits(units, from, at);
        }
        if (!variable.explode) give(variable, value);
        else if (!lists.get(variable)?.push(value)) lists.set(variable, [value]);
      } while (units[at] === separator && has(own, at + 1, pairFits));
      for (const [variable, list] of lists) give(variable, list);
      return at;
    },
  };
}

// ---- elementary questions

export function has(marks: Marks | undefined, at: number, bit: number): boolean {
  return ((marks?.[at] ?? 0) & bit) !== 0;
}

/** The set of these plain characters, to be asked by unit. */
export function toTable(chars: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of chars) table[toUnit(char)] = 1;
  return table;
}

function isIn(table: Uint8Array, unit: number | undefined): boolean {
  return unit !== undefined && unit < 256 && table[unit] === 1;
}

function spells(units: Int32Array, at: number, text: Int32Array, meter: Meter): boolean {
  for (let index = 0; index < text.length; index++) {
    meter.steps++;
    if (units[at + index] !== text[index]) return false;
  }
  return true;
}
