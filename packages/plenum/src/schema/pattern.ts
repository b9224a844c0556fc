// Tests text against a pattern in bounded time. Patterns come from strangers, and the native engine may need
// exponential time for them: it is asked only when the worst case is known to be cheap. Otherwise all ways through the
// pattern are followed at once, character by character, and every step is counted.
// The structure of a pattern (ECMA-262 section 22.2.1) is read here; single characters, classes and edges are left to
// the native engine. Only what it has already accepted is read, so mistakes need no message of their own.

/** Tests a text. Takes what it costs from `budget.steps`, and leaves it below zero when the answer is not known. */
export type PatternTest = (text: string, budget: Budget) => boolean;

interface Budget {
  steps: number;
}

interface State {
  /** What may come next; nothing at the end of the pattern. */
  readonly to: State[];
  /** Where to go on from; below `at` when the text does not fit. */
  readonly step?: ((text: string, at: number, budget: Budget) => number) | undefined;
}

/** A part of a pattern: in how many ways a text of some length may be tried, and how it is written out as states. */
type Part = readonly [ways: (length: number) => number, build: (to: State) => State];

// A group's opening, a class, an escape, a quantifier, or one character.
const token =
  /\((?:\?(?:<?[:=!]|<[^>]*>))?|\[(?:\\.|[^\]\\])*\]|\\(?:[up]\{[^}]*\}|(?:ud[89ab]..\\)?u[\da-f]{4}|x[\da-f]{2}|.)|(?:[*+?]|\{\d+,?\d*\})\??|./;

const end: State = { to: [] };

const maxLength = 10_000;

/**
 * Prepares a pattern, with Unicode semantics if it is valid so. Throws when it is not a regular expression, is too long, or
 * could take exponential time in a way that cannot be avoided here (backreferences, lookbehind).
 */
export const compilePattern = (source: string): PatternTest => {
  if (source.length > maxLength) throw new TypeError("too long");
  let native: RegExp;
  try {
    native = new RegExp(source, "u");
  } catch {
    native = new RegExp(source);
  }
  const { flags } = native;
  const tokens = source.match(new RegExp(token, `gsi${flags}`)) ?? [];
  let next = 0;
  let states = 0;

  const state = (to: State[], step?: State["step"]): State => {
    // Once `{n,m}` is written out, a pattern may be too large to try.
    if (++states > 20_000) throw new Error();
    return { to, step };
  };

  /** Reads alternatives up to the end of their group. */
  const parse = (): Part => {
    let parts: Part[] = [];
    const options = [parts];
    for (let text = tokens[next++]; text && text !== ")"; text = tokens[next++])
      if (text === "|") {
        parts = [];
        options.push(parts);
      } else parts.push(repeat(term(text)));
    return [
      (length) => options.reduce((sum, parts) => sum + parts.reduce((product, [ways]) => product * ways(length), 1), 0),
      (to) => state(options.map((parts) => parts.reduceRight((to, [, build]) => build(to), to))),
    ];
  };

  const term = (token: string): Part => {
    if (token[0] !== "(")
      return [
        () => 1,
        (to) => {
          const one = new RegExp(token, `y${flags}`);
          return state([to], (text, at) => {
            one.lastIndex = at;
            return one.test(text) ? one.lastIndex : -1;
          });
        },
      ];
    const part = parse();
    if (!/[=!]$/.test(token)) return part;
    return [
      part[0],
      (to) => {
        const inner = part[1](end);
        return state([to], (text, at, budget) =>
          search(inner, text, budget, at, at) === token.endsWith("=") ? at : -1,
        );
      },
    ];
  };

  const repeat = (part: Part): Part => {
    const count = /^([*+?]|\{(\d+)(,?)(\d*))/.exec(tokens[next] ?? "");
    if (!count) return part;
    next++;
    const [, sign, low, comma, high] = count;
    const min = low ? +low : +(sign === "+");
    const max = low ? +(high || (comma ? Infinity : low)) : sign === "?" ? 1 : Infinity;
    return [
      (length) => {
        const ways = part[0](length);
        // 1 ** Infinity is no number.
        // A fixed count leaves no choice, but each attempt goes as far.
        return (ways > 1 ? ways ** max : 1) * (min === max ? Math.min(max, length) : length);
      },
      (to) => {
        let after = to;
        if (max === Infinity) {
          after = state([to]);
          after.to.push(part[1](after));
        } else for (let left = max - min; left > 0; left--) after = state([to, part[1](after)]);
        for (let left = min; left > 0; left--) after = part[1](after);
        return after;
      },
    ];
  };

  /** Looks for a match that starts between two places. */
  const search = (start: State, text: string, budget: Budget, first: number, last: number): boolean => {
    let now = new Set<State>();
    for (let at = first; at <= last || now.size > 0; at += flags && (text.codePointAt(at) as number) > 0xffff ? 2 : 1) {
      if (at <= last) now.add(start);
      const later = new Set<State>();
      // What is added on the way is visited too, and nothing twice.
      for (const { step, to } of now) {
        if (--budget.steps < 0) return false;
        if (!to[0]) return true;
        const after = step ? step(text, at, budget) : at;
        if (after >= at) for (const state of to) (after > at ? later : now).add(state);
      }
      now = later;
    }
    return false;
  };

  const [ways, build] = parse();
  const isAnchored = /^\^[^|]*$/.test(source);
  const isNativeOnly = /\\[1-9k]|\(\?<[=!]/.test(source);
  if (isNativeOnly && ways(2) === Infinity) throw new TypeError("lookbehind or backreference too costly");
  let start: State | undefined;
  return (text, budget) => {
    try {
      const length = text.length + 1;
      const cost = ways(length) * (isAnchored ? 1 : length) * (isNativeOnly ? length : 1);
      // The native engine is asked for up to a million of its steps; 64 of them count as one of ours.
      if (cost <= 1e6) {
        budget.steps -= 1 + (cost >> 6);
        return native.test(text);
      }
      if (!isNativeOnly) {
        start ??= build(end);
        return search(start, text, budget, 0, isAnchored ? 0 : text.length);
      }
    } catch {
      // Too large when written out, or found to be too large for the native engine only now.
    }
    budget.steps = -1;
    return false;
  };
};
