// Tests text against a pattern in bounded time. Patterns come from strangers, and the native engine may need
// exponential time for them: it is asked only when the worst case is known to be cheap. Otherwise a small matcher
// walks the same structure with its own stack, remembers where it has failed, and counts its steps.

import { parsePattern, type Syntax } from "./pattern-syntax.ts";

/** Tests a text. Takes what it costs from `budget.steps`, and leaves it below zero when the answer is not known. */
export type PatternTest = (text: string, budget: { steps: number }) => boolean;

interface State {
  /** What comes next; undefined at the end of the pattern. */
  next: State | undefined;
  /** Set where there is another way to go on: that way, and the row in which failures here are remembered. */
  readonly also?: State;
  readonly fork?: number;
  /** Set where the text is looked at: the position to go on from, or -1 for a mismatch. */
  readonly step?: (walk: Walk, at: number) => number;
}

interface Walk {
  readonly text: string;
  readonly budget: { steps: number };
}

interface Program {
  readonly unicode: boolean;
  readonly start: State;
  readonly forks: number;
}

const maxLength = 10_000;

/** Larger patterns, once `{n,m}` is written out, are not tried. */
const maxStates = 20_000;

/** The native engine is asked for up to this many of its steps; 64 of them count as one of ours. */
const maxNativeCost = 1_000_000;

/**
 * Prepares a pattern, with Unicode semantics if it is valid so. Throws a SyntaxError when it is not a regular expression,
 * and a TypeError when it is too long, nested too deep or has a kind of group that is not supported.
 */
export function compilePattern(source: string): PatternTest {
  if (source.length > maxLength) throw new TypeError("too long");
  let native: RegExp;
  try {
    native = new RegExp(source, "u");
  } catch {
    native = new RegExp(source);
  }
  const syntax = parsePattern(source, native.flags);
  const anchored = isAnchored(syntax);
  const [degree, ways] = worstCase(syntax);
  const power = anchored ? degree : degree + 1;
  let program: Program | undefined;
  return (text, budget) => {
    const cost = ways * (text.length + 1) ** power;
    if (cost <= maxNativeCost) {
      budget.steps -= 1 + (cost >> 6);
      try {
        return native.test(text);
      } catch {
        // Engines may find only now that a pattern is too large for them.
        budget.steps = -1;
        return false;
      }
    }
    program ??= assemble(syntax, native.unicode, { states: 0 });
    return search(program, { text, budget }, 0, anchored ? 0 : text.length);
  };
}

function isAnchored(syntax: Syntax): boolean {
  if (syntax.kind === "all") return syntax.parts[0] !== undefined && isAnchored(syntax.parts[0]);
  if (syntax.kind === "any") return syntax.parts.every(isAnchored);
  return syntax.kind === "edge" && syntax.start === true;
}

/** A bound on backtracking: at most `ways * length ** degree` attempts. */
function worstCase(syntax: Syntax): [degree: number, ways: number] {
  if ("parts" in syntax) {
    const inner = syntax.parts.map(worstCase);
    const sum = (which: 0 | 1) => inner.reduce((total, part) => total + part[which], 0);
    if (syntax.kind === "any") return [Math.max(...inner.map((part) => part[0])), sum(1)];
    return [sum(0), inner.reduce((total, part) => total * part[1], 1)];
  }
  if (!("part" in syntax)) return [syntax.kind === "back" ? 1 : 0, 1];
  const [degree, ways] = worstCase(syntax.part);
  if (syntax.kind === "look") return [degree + (syntax.behind ? 1 : 0), ways];
  // Guarded against 0 * Infinity; 1 ** Infinity is no number either.
  const choice = syntax.min === syntax.max ? 0 : 1;
  return [(degree && degree * syntax.max) + choice, ways === 1 ? 1 : ways ** syntax.max];
}

/**
 * Writes a structure out as states. Greedy or lazy makes no difference to whether a text matches, and without
 * backreferences the way to a state makes none to whether it leads to a match: so failures can be remembered.
 */
function assemble(syntax: Syntax, unicode: boolean, size: { states: number }): Program {
  let forks = 0;
  const fork = (next: State | undefined, also: State): State => ({ next, also, fork: forks++ });

  const build = (syntax: Syntax, next: State): State => {
    size.states++;
    switch (syntax.kind) {
      case "char":
        return {
          next,
          step: ({ text }, at) => {
            if (at >= text.length) return -1;
            const char = unicode ? String.fromCodePoint(text.codePointAt(at) as number) : text.charAt(at);
            return syntax.test(char) ? at + char.length : -1;
          },
        };
      case "edge":
        return { next, step: ({ text }, at) => (syntax.test(text, at) ? at : -1) };
      case "all":
        return syntax.parts.reduceRight((after, part) => build(part, after), next);
      case "any":
        return syntax.parts.map((part) => build(part, next)).reduceRight((also, option) => fork(option, also));
      case "back":
        // Too costly for the native engine, and not for this one: gives up.
        size.states = Infinity;
        return next;
      case "look": {
        const inner = assemble(syntax.part, unicode, size);
        return {
          next,
          step: (walk, at) => {
            // Looking behind is looking ahead from every earlier place for a match that ends here.
            const found = search(inner, walk, syntax.behind ? 0 : at, at, syntax.behind ? at : undefined);
            return found === syntax.negative ? -1 : at;
          },
        };
      }
      default: {
        let after = next;
        const { part, min, max } = syntax;
        if (max === Infinity) {
          const loop = fork(undefined, next);
          loop.next = build(part, loop);
          after = loop;
        } else
          for (let left = max - min; left > 0 && size.states < maxStates; left--)
            after = fork(build(part, after), next);
        for (let left = min; left > 0 && size.states < maxStates; left--) after = build(part, after);
        return after;
      }
    }
  };

  const start = build(syntax, { next: undefined });
  // Too many forks for any budget: the search gives up at once.
  return { unicode, start, forks: size.states < maxStates ? forks : Infinity };
}

/** Looks for a match that starts between two places and, if `end` is given, ends there. */
function search({ unicode, start, forks }: Program, walk: Walk, first: number, last: number, end?: number): boolean {
  const { text, budget } = walk;
  const width = text.length + 1;
  budget.steps -= (forks * width) / 8;
  if (budget.steps < 0) return false;
  const failed = new Uint8Array(forks * width);
  const stack: [State | undefined, number][] = [];
  for (let begin = first; begin <= last; begin += unicode && (text.codePointAt(begin) ?? 0) > 0xffff ? 2 : 1) {
    stack.push([start, begin]);
    for (let way = stack.pop(); way; way = stack.pop()) {
      let [state, at] = way;
      while (state && at >= 0) {
        if (--budget.steps < 0) return false;
        if (state.also) {
          const place = (state.fork as number) * width + at;
          if (failed[place]) break;
          failed[place] = 1;
          stack.push([state.also, at]);
        } else if (state.step) at = state.step(walk, at);
        else if (end === undefined || at === end) return true;
        state = state.next;
      }
    }
  }
  return false;
}
