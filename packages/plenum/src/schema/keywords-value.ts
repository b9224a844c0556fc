// Keywords that look at one value alone: type, enum, const, numbers and strings.
// JSON Schema 2020-12 validation, sections 6.1 to 6.3 and 7.

import { type Check, canonical, fail, isObject, type Run, spend } from "./check.ts";
import { asCount, asNumber, asText, type Keyword, refuse } from "./site.ts";

const types: readonly (readonly [name: string, phrase: string, is: (value: unknown) => boolean])[] = [
  ["string", "a string", (value) => typeof value === "string"],
  // NaN and Infinity are no JSON numbers.
  ["number", "a number", Number.isFinite],
  ["integer", "an integer", Number.isInteger],
  ["boolean", "a boolean", (value) => typeof value === "boolean"],
  ["null", "null", (value) => value === null],
  ["array", "an array", Array.isArray],
  // Nor is what JSON writes as something else, such as a Date, a JSON object.
  ["object", "an object", (value) => isObject(value) && typeof value.toJSON !== "function"],
];

const type: Keyword = (value, _, at) => {
  const wanted = [value].flat().map((name) => {
    return (
      types.find((row) => row[0] === name) ?? refuse(at, `one or more of ${types.map((row) => row[0]).join(", ")}`)
    );
  });
  const message = `must be ${wanted.map((row) => row[1]).join(" or ")}`;
  const [first, second] = wanted.map((row) => row[2]);
  if (first && !second) return (value, run) => first(value) || fail(run, "type", message);
  return (value, run) => wanted.some((row) => row[2](value)) || fail(run, "type", message);
};

function oneOf(values: readonly unknown[], keyword: string, at: string): Check {
  const budget = { steps: 1_000_000 };
  const simple = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const complex = new Set(values.filter((value) => !simple.has(value)).map((value) => canonical(value, budget)));
  const shown = values.slice(0, 12).map((value) => {
    const text = canonical(value, budget);
    return text.length > 60 ? `${text.slice(0, 60)}…` : text;
  });
  if (budget.steps < 0) refuse(at, "smaller");
  if (values.length > shown.length) shown.push("…");
  const message = `must be ${keyword === "const" ? "" : "one of "}${shown.join(", ")}`;
  return (value, run) => {
    if (simple.has(value)) return true;
    if (complex.size > 0 && typeof value === "object" && complex.has(canonical(value, run))) return true;
    return fail(run, keyword, message);
  };
}

/** Characters as JSON Schema counts them: code points. */
function countCharacters(text: unknown, run: Run): number {
  if (typeof text !== "string") return -1;
  run.steps -= text.length >> 6;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) as number) > 0xffff) at++;
    count++;
  }
  return count;
}

function number(keyword: string, words: string, holds: (value: number, bound: number) => boolean): Keyword {
  return (value, _, at) => {
    const bound = asNumber(value, at);
    const message = `must be ${words} ${bound}`;
    return (value, run) => typeof value !== "number" || holds(value, bound) || fail(run, keyword, message);
  };
}

function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true;
  // 0.3 is a multiple of 0.1, though not in binary: allow for the rounding of the division.
  const ratio = value / of;
  return Math.abs(ratio - Math.round(ratio)) <= Math.abs(ratio) * 2 * Number.EPSILON;
}

const multipleOf: Keyword = (value, site, at) => {
  if (asNumber(value, at) <= 0) refuse(at, "greater than 0");
  return number("multipleOf", "a multiple of", isMultiple)(value, site, at);
};

type Noun = readonly [one: string, many: string];

/** Counts what a value has, and takes what that costs from the run's steps. Gives -1 for values that have no such size. */
type Measure = (value: unknown, run: Run) => number;

/** A minimum or maximum of what `measure` counts. */
export function size(keyword: string, least: boolean, noun: Noun, measure: Measure): Keyword {
  return (value, _, at) => {
    const bound = asCount(value, at);
    const message = `must have at ${least ? "least" : "most"} ${bound} ${noun[bound === 1 ? 0 : 1]}`;
    return (value, run) => {
      const count = measure(value, run);
      return count < 0 || (least ? count >= bound : count <= bound) || fail(run, keyword, message);
    };
  };
}

/** The pair of keywords `min…` and `max…`. */
export function sizes(name: string, noun: Noun, measure: Measure): Record<string, Keyword> {
  const [min, max] = [`min${name}`, `max${name}`];
  return { [min]: size(min, true, noun, measure), [max]: size(max, false, noun, measure) };
}

const pattern: Keyword = (value, site, at) => {
  const source = asText(value, at);
  const test = site.pattern(source, at);
  const message = `must match the pattern ${source.length > 80 ? `${source.slice(0, 80)}…` : source}`;
  return (value, run) => {
    if (typeof value !== "string") return true;
    const matches = test(value, run);
    return spend(run, 0) && (matches || fail(run, "pattern", message));
  };
};

const format: Keyword = (value, site, at) => {
  const name = asText(value, at);
  const test = site.formats && Object.hasOwn(site.formats, name) ? site.formats[name] : undefined;
  const message = `must be a valid ${name}`;
  return (
    test &&
    ((value, run) =>
      typeof value !== "string" || (spend(run, value.length >> 6) && test(value)) || fail(run, "format", message))
  );
};

export const valueKeywords: Readonly<Record<string, Keyword>> = {
  type,
  enum: (value, _, at) => oneOf(Array.isArray(value) ? value : refuse(at, "a list of values"), "enum", at),
  const: (value, _, at) => oneOf([value], "const", at),
  minimum: number("minimum", "at least", (value, bound) => value >= bound),
  maximum: number("maximum", "at most", (value, bound) => value <= bound),
  exclusiveMinimum: number("exclusiveMinimum", "greater than", (value, bound) => value > bound),
  exclusiveMaximum: number("exclusiveMaximum", "less than", (value, bound) => value < bound),
  multipleOf,
  ...sizes("Length", ["character", "characters"], countCharacters),
  pattern,
  format,
};
