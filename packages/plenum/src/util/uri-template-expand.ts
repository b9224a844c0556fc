// Expansion of URI templates (RFC 6570 §3): all four levels, variables to text.
import type { Expression, Operator, Part, Variable } from "./uri-template-parse.ts";

/** A string, a list of strings, or an associative array. */
export type TemplateValue = string | readonly string[] | { readonly [key: string]: string };

export interface TemplateValues {
  readonly [name: string]: TemplateValue | number | undefined;
}

/** Throws a TypeError for a prefix of a list (§2.4.1) and for text with half a surrogate pair. */
export function expandParts(parts: readonly Part[], values: TemplateValues): string {
  let out = "";
  for (const part of parts) {
    out += part.kind === "literal" ? encodeReserved(part.text) : expandExpression(part, values);
  }
  return out;
}

function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const pieces: string[] = [];
  for (const variable of variables) {
    // A name such as "constructor" must not find what every object inherits.
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    if (value === undefined || value === null) continue;
    if (typeof value === "string" || typeof value === "number") {
      pieces.push(expandString(operator, variable, String(value)));
    } else {
      expandComposite(operator, variable, value, pieces);
    }
  }
  return pieces.length === 0 ? "" : operator.first + pieces.join(operator.separator);
}

function expandString(operator: Operator, { name, maxLength }: Variable, value: string): string {
  // By code points, so that no character is cut in half.
  const kept = maxLength === undefined ? value : Array.from(value).slice(0, maxLength).join("");
  const encoded = encode(operator, kept);
  return operator.named ? pair(operator, name, encoded) : encoded;
}

function expandComposite(
  operator: Operator,
  { name, explode, maxLength }: Variable,
  value: readonly string[] | { readonly [key: string]: string },
  pieces: string[],
): void {
  if (maxLength !== undefined)
    throw new TypeError(`variable "${name}" has a prefix length, which a list or an object cannot have`);
  const list = isList(value);
  // An empty list and an empty object count as undefined (§2.3).
  const entries: [string, string][] = list ? value.map((item) => [name, item]) : Object.entries(value);
  if (entries.length === 0) return;

  if (!explode) {
    const joined = entries
      .flatMap(([key, item]) => (list ? [encode(operator, item)] : [encode(operator, key), encode(operator, item)]))
      .join(",");
    pieces.push(operator.named ? pair(operator, name, joined) : joined);
    return;
  }
  for (const [key, item] of entries) {
    const encoded = encode(operator, item);
    const label = list ? name : encode(operator, key);
    if (operator.named) pieces.push(pair(operator, label, encoded));
    else pieces.push(list ? encoded : `${label}=${encoded}`);
  }
}

function pair(operator: Operator, name: string, encoded: string): string {
  return encoded === "" ? name + operator.ifEmpty : `${name}=${encoded}`;
}

function isList(value: readonly string[] | { readonly [key: string]: string }): value is readonly string[] {
  return Array.isArray(value);
}

function encode(operator: Operator, text: string): string {
  return operator.reserved ? encodeReserved(text) : encodeUnreserved(text);
}

/** Leaves only the unreserved characters of RFC 3986 as they are. */
function encodeUnreserved(text: string): string {
  return guard(text, encodeURIComponent).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Leaves unreserved and reserved characters and percent-encoded triplets as they are. */
function encodeReserved(text: string): string {
  const pieces = text.split(/(%[0-9A-Fa-f]{2})/);
  return pieces
    .map((piece, index) =>
      index % 2 === 1 ? piece : guard(piece, encodeURI).replaceAll("%5B", "[").replaceAll("%5D", "]"),
    )
    .join("");
}

function guard(text: string, encoder: (text: string) => string): string {
  try {
    return encoder(text);
  } catch {
    throw new TypeError(`${JSON.stringify(text)} has half a surrogate pair, which a URI cannot express`);
  }
}
