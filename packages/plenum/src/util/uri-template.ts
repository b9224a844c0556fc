// URI templates (RFC 6570): expansion of all four levels, and the way back, from a URI to the variables.
import { expandParts, type TemplateValue, type TemplateValues } from "./uri-template-expand.ts";
import { compileMatcher } from "./uri-template-match.ts";
import { parseParts } from "./uri-template-parse.ts";

export type { TemplateValue, TemplateValues };

export interface UriTemplate {
  readonly source: string;
  /** Names, each once, in the order of their first appearance. */
  readonly variables: readonly string[];
  /**
   * The URI for these values. An undefined variable is left out; numbers are written in decimal.
   * Throws a TypeError for a prefix (`{x:3}`) of a list, and for text that is no well-formed Unicode.
   */
  expand(values: TemplateValues): string;
  /**
   * The decoded variables of a URI that this template could have expanded to, or undefined. The object has no
   * prototype. Time grows linearly with the URI, whatever the template. The rules, part by part:
   *
   * - Literal text is compared after decoding what needs no encoding (`%41` is `A`, `%c3%a9` is `é`), yet an
   *   encoded delimiter stays distinct from a plain one (`%2F` is not `/`). Malformed percent-encoding, invalid
   *   UTF-8 and raw control characters never match.
   * - `{x}`, `{.x}`, `{/x}` must be there and take one or more characters other than `/`, `?` and `#`; after a `?` or before a
   *   `{&y}` also not `&`, before a `{;y}` not `;`. An empty value does not match, although it can be expanded.
   * - `{+x}` and `{#x}` must be there and take one or more characters of any kind, but stop at a `?` or `#` where the
   *   template itself has one later on. Encoded and plain delimiters come back alike.
   * - `{x,y}`: the separator divides the values, which then never hold it raw; all of them must be there.
   * - `{x*}`, `{/x*}`, … give a list, which is empty when nothing is there.
   * - `{;x}`, `{?x}`, `{&x}`: pairs in any order, each may be absent; unknown ones are refused. `?x` equals `?x=`.
   *   A plus sign is a plus sign. `{?x}{&y}` is read as one group of pairs.
   * - `{x:3}` takes at most three characters.
   * - A variable that occurs twice must have the same value both times (or its prefix, for `{x:3}`).
   * - Where several readings are possible, each value takes as much as it can, from left to right, but leaves to an
   *   optional part right after it what that part can take: `{name}.{ext}` reads `a.tar.gz` as `a.tar` and `gz`.
   *
   * A list that was expanded without `*` comes back as one string with commas; associative arrays do not come back.
   *
   * Security: a decoded value may hold `/` (from `%2F`), `..` or NUL. Who uses it as a file path must check it.
   */
  match(uri: string): { [name: string]: string | string[] } | undefined;
}

/**
 * Reads a template. Throws a TypeError that says what is wrong and at which position: unbalanced braces, an empty
 * expression, an unknown or reserved operator, a bad name, a bad prefix length, text that must be percent-encoded.
 */
export function parseUriTemplate(source: string): UriTemplate {
  const parts = parseParts(source);
  const names = parts.flatMap((part) => (part.kind === "literal" ? [] : part.variables.map(({ name }) => name)));
  const match = compileMatcher(parts);
  return {
    source,
    variables: [...new Set(names)],
    expand: (values) => expandParts(parts, values),
    match: (uri) => match(uri),
  };
}

/** Whether the text holds an expression, well formed or not. A URI never has braces, so one is enough to tell. */
export function isUriTemplate(text: string): boolean {
  return text.includes("{") || text.includes("}");
}

/**
 * What `match` gives for a template that is known as a literal: `{id}` → `{ id: string }`, `{list*}` → `string[]`.
 * Pairs (`{?q}`, `{&q}`, `{;q}`) may be absent and are optional, except for lists, which are empty then.
 */
export type TemplateVariables<T extends string> = string extends T
  ? { [name: string]: string | string[] }
  : Flat<Expressions<T>>;

type Flat<T> = { [K in keyof T]: T[K] };

type Expressions<T extends string> = T extends `${string}{${infer Inside}}${infer Rest}`
  ? Inside extends `${infer Sign}${infer Specs}`
    ? (Sign extends "?" | "&" | ";"
        ? Partly<Specs>
        : Sign extends "+" | "#" | "." | "/"
          ? Wholly<Specs>
          : Wholly<Inside>) &
        Expressions<Rest>
    : Expressions<Rest>
  : unknown;

type Wholly<Specs extends string> = Specs extends `${infer Spec},${infer Rest}`
  ? Required<Named<Spec>> & Wholly<Rest>
  : Required<Named<Specs>>;

type Partly<Specs extends string> = Specs extends `${infer Spec},${infer Rest}`
  ? Named<Spec> & Partly<Rest>
  : Named<Specs>;

type Named<Spec extends string> = Spec extends `${infer Name}*`
  ? { [K in Name]: string[] }
  : Spec extends `${infer Name}:${string}`
    ? { [K in Name]?: string }
    : { [K in Spec]?: string };
