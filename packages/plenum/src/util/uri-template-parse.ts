// The grammar of URI templates (RFC 6570 §2): text in, literals and expressions out, or a TypeError that says
// what is wrong and where. All that the grammar does not allow is refused, at once, not when it is expanded.

/** What an operator character means for an expression (RFC 6570 appendix A). */
export interface Operator {
  /** The character as written in the template; "" for `{x}`. */
  readonly sign: string;
  /** What an expansion that is not empty starts with. */
  readonly first: string;
  readonly separator: string;
  /** Values are written as `name=value`. */
  readonly named: boolean;
  /** What follows a name whose value is empty. */
  readonly ifEmpty: string;
  /** Reserved characters and percent-encoded triplets pass through unencoded. */
  readonly reserved: boolean;
}

export interface Variable {
  readonly name: string;
  /** `{name*}` */
  readonly explode: boolean;
  /** `{name:3}`, counted in code points. */
  readonly maxLength: number | undefined;
}

export interface Literal {
  readonly kind: "literal";
  readonly text: string;
}

export interface Expression {
  readonly kind: "expression";
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export type Part = Literal | Expression;

const simple: Operator = { sign: "", first: "", separator: ",", named: false, ifEmpty: "", reserved: false };

const operators: ReadonlyMap<string, Operator> = new Map(
  [
    { ...simple, sign: "+", reserved: true },
    { ...simple, sign: "#", first: "#", reserved: true },
    { ...simple, sign: ".", first: ".", separator: "." },
    { ...simple, sign: "/", first: "/", separator: "/" },
    { ...simple, sign: ";", first: ";", separator: ";", named: true },
    { ...simple, sign: "?", first: "?", separator: "&", named: true, ifEmpty: "=" },
    { ...simple, sign: "&", first: "&", separator: "&", named: true, ifEmpty: "=" },
  ].map((operator) => [operator.sign, operator]),
);

// Kept by the RFC for later extensions (§2.2).
const reservedOperators = "=,!@|";

// Characters of ASCII that may not stand in a literal (§2.1). The apostrophe may: erratum 6937.
const neverLiteral = ' "<>\\^`|';

const hexPair = /^[0-9A-Fa-f]{2}$/;
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/;
const prefixLength = /^[1-9][0-9]{0,3}$/;

/** The parts of a template, in order. Throws a TypeError that names the mistake and its position. */
export function parseParts(source: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{", at);
    const end = open === -1 ? source.length : open;
    if (end > at) {
      checkLiteral(source, at, end);
      parts.push({ kind: "literal", text: source.slice(at, end) });
    }
    if (open === -1) break;
    const close = source.indexOf("}", open);
    if (close === -1) throw mistake(source, open, '"{" is never closed');
    const nested = source.indexOf("{", open + 1);
    if (nested !== -1 && nested < close) throw mistake(source, nested, '"{" inside an expression');
    parts.push(parseExpression(source, open + 1, close));
    at = close + 1;
  }
  return parts;
}

function checkLiteral(source: string, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const char = source.charAt(at);
    const code = source.charCodeAt(at);
    if (char === "}") throw mistake(source, at, '"}" without "{"');
    if (char === "%" && !hexPair.test(source.slice(at + 1, at + 3)))
      throw mistake(source, at, '"%" must be followed by two hexadecimal digits');
    if (code < 0x20 || code === 0x7f || neverLiteral.includes(char))
      throw mistake(source, at, `${JSON.stringify(char)} must be percent-encoded`);
    if (code >= 0xd800 && code <= 0xdfff) {
      const pair = source.codePointAt(at) ?? 0;
      if (pair <= 0xffff) throw mistake(source, at, "half a surrogate pair");
      at++;
    }
  }
}

function parseExpression(source: string, start: number, end: number): Expression {
  if (start === end) throw mistake(source, start - 1, "the expression is empty");
  const sign = source.charAt(start);
  if (reservedOperators.includes(sign)) throw mistake(source, start, `operator "${sign}" is reserved by RFC 6570`);
  const operator = operators.get(sign) ?? simple;
  const first = start + operator.sign.length;
  if (first === end) throw mistake(source, start, `operator "${sign}" without a variable`);
  if (operator === simple && !/[A-Za-z0-9_%]/.test(sign))
    throw mistake(source, start, `${JSON.stringify(sign)} is no operator and starts no variable name`);

  const variables: Variable[] = [];
  let at = first;
  for (const spec of source.slice(first, end).split(",")) {
    variables.push(parseVariable(source, at, spec));
    at += spec.length + 1;
  }
  return { kind: "expression", operator, variables };
}

function parseVariable(source: string, at: number, spec: string): Variable {
  const explode = spec.endsWith("*");
  const bare = explode ? spec.slice(0, -1) : spec;
  const colon = bare.indexOf(":");
  const name = colon === -1 ? bare : bare.slice(0, colon);
  if (name === "") throw mistake(source, at, "a variable name is missing");
  if (!variableName.test(name)) throw mistake(source, at, `${JSON.stringify(name)} is no variable name`);
  if (colon === -1) return { name, explode, maxLength: undefined };

  const length = bare.slice(colon + 1);
  if (explode) throw mistake(source, at, `${JSON.stringify(spec)} has both a prefix length and "*"`);
  if (!prefixLength.test(length))
    throw mistake(source, at + colon + 1, `prefix length ${JSON.stringify(length)} is not a number from 1 to 9999`);
  return { name, explode, maxLength: Number(length) };
}

function mistake(source: string, position: number, what: string): TypeError {
  return new TypeError(`URI template ${JSON.stringify(source)}: ${what} (position ${position})`);
}
