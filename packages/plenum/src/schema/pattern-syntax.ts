// Reads the structure of a regular expression (ECMA-262 section 22.2.1): what follows what, what repeats, what is an
// alternative. Single characters and classes are left to the native engine, one code point at a time.
// Only what the native engine has already accepted is read here, so mistakes need no message of their own.

export type Syntax =
  | { readonly kind: "char"; readonly test: (char: string) => boolean }
  | { readonly kind: "edge"; readonly test: (text: string, at: number) => boolean; readonly start?: boolean }
  | { readonly kind: "all" | "any"; readonly parts: readonly Syntax[] }
  | { readonly kind: "repeat"; readonly part: Syntax; readonly min: number; readonly max: number }
  | { readonly kind: "look"; readonly part: Syntax; readonly behind: boolean; readonly negative: boolean }
  | { readonly kind: "back" };

// A group's opening, a class, an escape, a quantifier, or one character.
const token =
  /\(\?(?:<?[=!]|:|<[^>]*>)|\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*|.)|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsuy;

const maxNesting = 100;

function isWordEdge(text: string, at: number): boolean {
  const isWord = (index: number) => /\w/.test(text.charAt(index));
  return isWord(at - 1) !== isWord(at);
}

const edges: Readonly<Record<string, Syntax>> = {
  "^": { kind: "edge", test: (_, at) => at === 0, start: true },
  $: { kind: "edge", test: (text, at) => at === text.length },
  "\\b": { kind: "edge", test: isWordEdge },
  "\\B": { kind: "edge", test: (text, at) => !isWordEdge(text, at) },
};

/** Reads a pattern that `new RegExp(source, flags)` accepts. Throws a TypeError if it is nested too deep or of a newer kind. */
export function parsePattern(source: string, flags: string): Syntax {
  const tokens = source.match(token) ?? [];
  let next = 0;
  let depth = 0;

  const alternatives = (): Syntax => {
    if (++depth > maxNesting) throw new TypeError("nested too deep");
    let parts: Syntax[] = [];
    const options = [parts];
    for (let text = tokens[next++]; text !== undefined && text !== ")"; text = tokens[next++]) {
      if (text === "|") {
        parts = [];
        options.push(parts);
      } else parts.push(repeated(term(text)));
    }
    depth--;
    if (options.length === 1) return { kind: "all", parts };
    return { kind: "any", parts: options.map((parts) => ({ kind: "all", parts })) };
  };

  const term = (text: string): Syntax => {
    const edge = edges[text];
    if (edge) return edge;
    if (text.startsWith("(")) {
      if (text === "(" && tokens[next] === "?") throw new TypeError("a kind of group that is not supported");
      const part = alternatives();
      if (!/^\(\?<?[=!]/.test(text)) return part;
      return { kind: "look", behind: text[2] === "<", negative: text.endsWith("!"), part };
    }
    if (/^\\(k<|[1-9])/.test(text)) return { kind: "back" };
    if (text !== "." && !/^[\\[]/.test(text)) return { kind: "char", test: (char) => char === text };
    const native = new RegExp(`^${text}$`, flags);
    return { kind: "char", test: (char) => native.test(char) };
  };

  const repeated = (part: Syntax): Syntax => {
    const count = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(tokens[next] ?? "");
    if (!count) return part;
    next++;
    const [, sign, low, comma, high] = count;
    if (sign) return { kind: "repeat", part, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    return { kind: "repeat", part, min: Number(low), max: comma && !high ? Infinity : Number(high || low) };
  };

  return alternatives();
}
