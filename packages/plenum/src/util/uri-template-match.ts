// From a URI back to the variables of a template. No regular expressions and no backtracking (CVE-2026-0621): every
// part of the template marks, from the last part to the first, at which places of the URI it can start so that all
// that follows fits; then one walk from the left picks the values. The cost is bounded by the length of the URI
// times the length of the template, whatever either holds.
import type { Expression, Operator, Part, Variable } from "./uri-template-parse.ts";
import {
  fits,
  type Give,
  has,
  literalPiece,
  type Marks,
  type Meter,
  namedPiece,
  type Piece,
  type Run,
  runPiece,
  toTable,
} from "./uri-template-pieces.ts";
import { toUnit, toUnits } from "./uri-units.ts";

export type Matcher = (uri: string, meter?: Meter) => Found | undefined;
type Found = { [name: string]: string | string[] };

/** The work is done at the first match: who only expands does not pay for it. */
export function compileMatcher(parts: readonly Part[]): Matcher {
  let prepared: readonly Piece[] | undefined;
  const head = plainHead(parts);
  const lists = parts.flatMap((part) =>
    part.kind === "literal" ? [] : part.variables.filter(({ explode }) => explode).map(({ name }) => name),
  );

  return (uri, meter = { steps: 0 }) => {
    // Most URIs that do not match differ at their start: those cost nothing.
    if (!startsLike(uri, head)) return undefined;
    const units = toUnits(uri);
    if (units === undefined) return undefined;
    prepared ??= toPieces(parts);
    const pieces = prepared;
    meter.steps += uri.length;

    const last = new Uint8Array(units.length + 1);
    last[units.length] = fits;
    const marks: Marks[] = [last];
    for (const piece of pieces.toReversed()) marks.push(piece.mark(units, marks.at(-1) ?? last, meter));
    marks.reverse();
    if (!has(marks[0], 0, fits)) return undefined;

    const values = new Map<string, Entry>();
    let agreed = true;
    const give: Give = (variable, value) => {
      agreed &&= enter(values, variable, value);
    };
    let at = 0;
    for (const [index, piece] of pieces.entries())
      at = piece.walk(units, at, marks[index] ?? last, marks[index + 1] ?? last, meter, give);
    if (!agreed) return undefined;

    const found: Found = Object.create(null);
    for (const [name, entry] of values) found[name] = entry.value;
    for (const name of lists) found[name] ??= [];
    return found;
  };
}

// ---- agreement of variables that occur more than once

interface Entry {
  readonly value: string | string[];
  /** The value itself, or the list with commas. */
  readonly text: string;
  readonly maxLength: number;
}

/** Records a value; false where the variable already has another one. */
function enter(
  values: Map<string, Entry>,
  { name, maxLength = Infinity }: Variable,
  value: string | string[],
): boolean {
  const entry: Entry = { value, text: String(value), maxLength };
  if (cut(entry.text, maxLength) !== entry.text) return false;
  const earlier = values.get(name);
  if (earlier === undefined) {
    values.set(name, entry);
    return true;
  }
  const [short, long] = earlier.maxLength < maxLength ? [earlier, entry] : [entry, earlier];
  // The list says more than its text with commas, the whole more than its prefix.
  values.set(name, typeof earlier.value !== "string" ? earlier : typeof value !== "string" ? entry : long);
  return cut(long.text, short.maxLength) === short.text;
}

/** The first code points. Looks at no more than these: a long value may be compared with many prefixes. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let at = 0;
  for (let count = 0; count < maxLength && at < text.length; count++)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, at);
}

// ---- from parts to pieces

function toPieces(parts: readonly Part[]): Piece[] {
  const pieces: Piece[] = [];
  const ahead = delimitersAhead(parts);
  let inQuery = false;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as Part;
    if (part.kind === "literal") {
      // Some text is fine for the RFC but no UTF-8 (`%FF`): it can be expanded, never matched.
      pieces.push(literalPiece(toUnits(part.text) ?? Int32Array.of(-1)));
      inQuery ||= part.text.includes("?");
      continue;
    }
    inQuery ||= part.operator.sign === "?";
    if (part.operator.named) {
      const groups = [part];
      if (part.operator.separator === "&") {
        for (let other = parts[index + 1]; isContinuation(other); other = parts[index + 1]) {
          groups.push(other);
          index++;
        }
      }
      pieces.push(namedPiece(groups));
      continue;
    }
    const stops = stopsOf(part.operator, inQuery, ahead[index] ?? "");
    for (const [place, variable] of part.variables.entries()) {
      const following = part.variables[place + 1] ?? parts[index + 1];
      pieces.push(runPiece(toRun(part, place, variable, stops, isOptional(following))));
    }
  }
  return pieces;
}

function isContinuation(part: Part | undefined): part is Expression {
  return part?.kind === "expression" && part.operator.sign === "&";
}

/** Whether this part, or the next variable of the same expression, can be empty in a URI that matches. */
function isOptional(next: Part | Variable | undefined): boolean {
  if (next === undefined) return false;
  if ("explode" in next) return next.explode;
  if (next.kind === "literal") return false;
  return next.operator.named || next.variables.every(({ explode }) => explode);
}

/** For each part, which of `?`, `#`, `&` and `;` the parts after it open something with. */
function delimitersAhead(parts: readonly Part[]): string[] {
  const ahead: string[] = [];
  let signs = "";
  for (let index = parts.length - 1; index >= 0; index--) {
    ahead[index] = signs;
    const part = parts[index] as Part;
    for (const sign of part.kind === "literal" ? "?#" : "?#&;") {
      const opens = part.kind === "literal" ? part.text.includes(sign) : part.operator.sign === sign;
      if (opens && !signs.includes(sign)) signs += sign;
    }
  }
  return ahead;
}

/** The characters at which a value ends, when they are not percent-encoded. */
function stopsOf(operator: Operator, inQuery: boolean, ahead: string): string {
  if (operator.reserved) return ahead.replace(/[&;]/g, "");
  return `/?#${inQuery ? "&" : ""}${ahead}`;
}

function toRun(
  { operator, variables }: Expression,
  place: number,
  variable: Variable,
  stops: string,
  lazy: boolean,
): Run {
  const { separator } = operator;
  const alone = variables.length === 1;
  const own = variable.explode ? stops.replaceAll(separator, "") : alone ? stops : stops + separator;
  // An empty list leaves out its separator. Where it comes first and nothing else marks its end, as in `{list*,x}`,
  // no reading could tell, so that it needs an element there.
  const optional = variable.explode && (alone || place > 0 || operator.first === separator);
  return {
    variable,
    open: place === 0 ? operator.first : separator,
    separator: toUnit(separator),
    stops: toTable(own),
    minimum: optional ? 0 : 1,
    optional,
    lazy,
  };
}

/** The start of the template up to what could be written in more than one way. */
function plainHead(parts: readonly Part[]): string {
  const first = parts[0];
  return first?.kind === "literal" ? (/^[!-$&-~]*/.exec(first.text)?.[0] ?? "") : "";
}

/** False only if the URI cannot match; a percent sign leaves the question open. */
function startsLike(uri: string, head: string): boolean {
  for (let at = 0; at < head.length; at++) {
    const code = uri.charCodeAt(at);
    if (code === 0x25) return true;
    if (code !== head.charCodeAt(at)) return false;
  }
  return true;
}
