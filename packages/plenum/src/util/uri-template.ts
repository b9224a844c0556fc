// URI templates (RFC 6570): the grammar, and the way back from a URI to the variables. The other way is in
// uri-template-expand.ts, which a server does not need. No backtracking (CVE-2026-0621): every part of the template
// marks, from the last to the first, at which places of the URI it can start so that all that follows fits; then one
// walk from the left picks the values. The cost is at most the length of the URI times that of the template.
import { quote } from "./quote.ts";

export interface UriTemplate {
  readonly source: string;
  /** Names, each once, in the order of their first appearance. */
  readonly variables: readonly string[];
  /** Those of them that stand in `{?…}` and `{&…}` only. */
  readonly queries: readonly string[];
  /**
   * The decoded variables of a URI that this template could have expanded to, or undefined. The object has no
   * prototype. Time grows linearly with the URI, whatever the template; a URI of more than 8192 characters never
   * matches. The rules, part by part:
   *
   * - Literal text is compared after decoding what needs no encoding (`%41` is `A`, `%c3%a9` is `é`), yet an
   *   encoded delimiter stays distinct from a plain one (`%2F` is not `/`). The template's start, up to the first
   *   brace, percent sign or character outside ASCII, must stand as it is. Malformed percent-encoding and invalid
   *   UTF-8 never match.
   * - `{x}`, `{.x}`, `{/x}` must be there and take one or more characters other than `/`, `?` and `#`, nor `&` or `;`
   *   where the template has that one, nor `&` after a `?`. An empty value does not match, although it can be expanded.
   * - `{+x}` and `{#x}` must be there and take one or more characters of any kind, but stop at a `?` or `#` where the
   *   template itself has one later on. Encoded and plain delimiters come back alike.
   * - `{x,y}`: the separator divides the values, which then never hold it raw; all of them must be there.
   * - `{x*}`, `{/x*}`, … give a list, which is empty when nothing is there.
   * - `{;x}`, `{?x}`, `{&x}`: pairs in any order, each may be absent; unknown ones are refused. `?x` equals `?x=`.
   *   A plus sign is a plus sign. `{?x}{&y}` are two groups, the first before the second.
   * - `{x:3}` takes at most three characters.
   * - A variable that occurs twice must have the same value both times, also where one is cut (`{x:3}`); a list
   *   gathers the elements of both.
   * - Where several readings are possible, each value takes as much as it can, from left to right, but leaves to an
   *   optional part right after it what that part can take: `{name}.{ext}` reads `a.tar.gz` as `a.tar` and `gz`.
   *
   * A list that was expanded without `*` comes back as one string with commas; associative arrays do not come back.
   *
   * Security: a decoded value may hold `/` (from `%2F`), `..` or NUL. Who uses it as a file path must check it.
   */
  match(uri: string): Values | undefined;
}

type Values = { [name: string]: string | string[] };

export interface Variable {
  readonly name: string;
  /** `{name*}` */
  readonly explode: boolean;
  /** `{name:3}`, counted in code points; else Infinity. */
  readonly max: number;
}

/** An expression, or literal text: that is `first`, with one variable of no name and no length. */
export interface Part {
  /** What an expansion that is not empty starts with. */
  readonly first: string;
  readonly separator: string;
  /** Values are written as `name=value`. */
  readonly named: boolean;
  /** Reserved characters and percent-encoded triplets pass through unencoded. */
  readonly reserved: boolean;
  readonly variables: readonly Variable[];
  /** Its place in the template. */
  readonly at: number;
}

/** The parts of a template, in order. Throws a TypeError that says what is wrong. */
export function parseParts(source: string): Part[] {
  // Matching may take memory of about the length of the template times that of the URI.
  if (source.length > 2048) fail(source, "too long");
  const parts: Part[] = [];
  // Only for its matches, which come with their groups and places.
  source.replace(/\{([+#./;?&]?)([^{}]*)\}|[^{}]+|[{}]/g, (text, sign = "", specs: string | undefined, at) => {
    if (specs === undefined && (/[^!#-;=?-[\]_a-z~\x80-\uffff]/.test(text) || !toUnits(text)))
      fail(source, `${quote(text)} must be percent-encoded UTF-8; braces must come in pairs`);
    // Two rows of one table (RFC 6570 appendix A). Without an operator, values are separated as for the first.
    const operator = "+#./;?&".indexOf(sign);
    parts.push({
      at,
      first: specs === undefined ? text : operator > 0 ? sign : "",
      separator: ",,./;&&"[operator] as string,
      named: operator > 3,
      reserved: /[+#]/.test(sign),
      variables: specs?.split(",").map((spec) => {
        const [, name = "", star, length = Infinity] =
          /^(?!\.)((?:\.?(?:\w|%[\da-f]{2}))+)(?:(\*)|:([1-9]\d{0,3}))?$/i.exec(spec) ??
          fail(source, `${quote(spec)} is no variable; use letters, digits, _ and ., then * or :length`);
        return { name, explode: !!star, max: Number(length) };
      }) ?? [{ name: "", explode: false, max: 0 }],
    });
    return "";
  });
  return parts;
}

/** Throws the TypeError of a template that cannot be used. */
export function fail(source: string, what: string): never {
  throw new TypeError(`URI template ${quote(source)}: ${what}`);
}

/** A variable, and what announces its value: its name in a pair, else nothing. */
type Choice = readonly [label: readonly string[], name: string, explode: boolean, max: number];

/** A part of a template as matching sees it: opening text, then one value, one list or a group of pairs. */
type Piece = readonly [
  /** A literal is nothing but this. */
  open: readonly string[],
  /** What leads to one more pair. */
  more: readonly string[],
  separator: string,
  /** Where a value ends, unless percent-encoded. */
  stops: string,
  choices: readonly Choice[],
  /** All of it, with the opening text, may be missing. */
  optional: boolean,
];

/** Counts the steps of matching that could be too many, for tests of its cost. */
export let steps: number = 0;

/**
 * Reads a template. Throws a TypeError that says what is wrong: braces that do not pair, an unknown operator, a bad
 * name or prefix length, text that must be percent-encoded, a name of both a list and a value, more than 2048
 * characters.
 */
export function parseUriTemplate(source: string): UriTemplate {
  // By name, whether it is a list, and whether it has been in queries only.
  const names = new Map<string, readonly [isList: boolean, isQuery: boolean]>();
  // From the last to the first.
  const pieces = parseParts(source)
    .flatMap(({ first, separator, named, reserved, variables, at }) =>
      (named ? [variables] : variables.map((variable) => [variable])).map((group, index): Piece => {
        const stops = reserved
          ? source.slice(at + 2).replace(/[^?#]/g, "")
          : separator === "&"
            ? "#"
            : `/?#${source.replace(/[^&;]/g, "")}${source.slice(0, at).includes("?") ? "&" : ""}`;
        const several = named || variables.length > 1;
        const list = !named && (group[0] as Variable).explode;
        return [
          toUnits(index ? separator : first) as string[],
          [named ? separator : ""],
          separator,
          list ? stops.replaceAll(separator, "") : several ? stops + separator : stops,
          group.flatMap(({ name, explode, max }) => {
            const [isList, isQuery] = names.get(name) ?? [explode, true];
            if (isList !== explode) fail(source, `${quote(name)} is both a list and a value`);
            if (name) names.set(name, [explode, isQuery && separator === "&"]);
            // A name without "=" stands for an empty value.
            return (named ? [`${name}=`, name] : [""]).map(
              (label, bare): Choice => [toUnits(label) as string[], name, explode, bare ? 0 : max],
            );
          }),
          // An empty list leaves out its separator. Where it comes first and nothing else marks its end, as in
          // `{list*,x}`, no reading could tell, so that it needs an element there.
          named || (list && (index > 0 || !several || first === separator)),
        ];
      }),
    )
    .reverse();
  const head = source.replace(/[{%\x80-\uffff].*/s, "");

  return {
    source,
    variables: [...names.keys()],
    queries: [...names].flatMap(([name, [, isQuery]]) => (isQuery ? name : [])),
    match(uri) {
      // Most URIs that do not match differ at their start: those cost nothing.
      const units = uri.length > 8192 || !uri.startsWith(head) ? undefined : toUnits(uri);
      if (!units) return undefined;
      const spells = (text: readonly string[], at: number) =>
        text.every((unit, index) => {
          steps++;
          return units[at + index] === unit;
        });

      const found: Values = Object.create(null);
      // Whether the piece after this one is content with nothing.
      let yields = false;
      // Per place in the URI, whether the pieces seen so far match from there to the end.
      // Sized ahead, to the last place: V8 makes a slow dictionary of an array that is filled from beyond its far end.
      const size = units.length;
      let fits: boolean[] = Array(size + 1);
      fits[size] = true;
      const walks = pieces.map(([open, more, separator, stops, choices, optional]) => {
        const lazy = yields;
        yields = optional;
        const next = fits;
        fits = Array(size + 1);
        // Where a value may end, and for each place the nearest end behind it.
        const ends: boolean[] = Array(size + 1);
        const nearest: (number | undefined)[] = Array(size + 1);
        let end: number | undefined;

        /** What begins here after this text: where its value starts and its first possible end, and the variable. */
        const enter = (text: readonly string[], at: number) => {
          if (spells(text, at))
            for (const [label, name, explode, max] of choices) {
              const start = at + text.length + label.length;
              const to = ((optional || !name) && ends[start] ? start : nearest[start]) as number;
              if (to - start <= max && spells(label, at + text.length)) return [start, to, name, explode, max] as const;
            }
          return undefined;
        };

        for (let at = size; at >= 0; at--) {
          steps++;
          if (stops.includes(units[at] as string)) end = undefined;
          nearest[at] = end;
          ends[at] = next[at] || !!enter(more, at);
          if (ends[at]) end = at;
          fits[at] = (optional && next[at]) || !!enter(open, at);
        }

        return (from: number): number => {
          let at = from;
          for (const [, name, explode] of choices) if (explode) found[name] ??= [];
          for (let entry = enter(open, at); entry; entry = enter(more, at)) {
            const [start, end, name, explode, max] = entry;
            at = end;
            if (!lazy) for (let to = end; to - start <= max; to = nearest[to] as number) at = to;
            const text = units.slice(start, at).join("");
            if (explode) {
              // Without an opening sign, an empty list and a list of one empty element look alike.
              if (text || open.length) (found[name] as string[]).push(...text.split(separator).map(decodeURIComponent));
            } else if (name) {
              const value = decodeURIComponent(text);
              found[name] ??= value;
              // All was in vain where a variable that occurs twice has two values.
              fits[0] &&= found[name] === value;
            }
          }
          return at;
        };
      });
      if (fits[0]) walks.reduceRight((at, walk) => walk(at), 0);
      return fits[0] ? found : undefined;
    },
  };
}

/**
 * One element per character, each in its one spelling: as it is, or percent-encoded where it was so and needs it, or
 * where it may not stand in a URI. Undefined for malformed percent-encoding, invalid UTF-8 and half a surrogate pair.
 */
function toUnits(text: string): string[] | undefined {
  // Nothing to decode or encode: most URIs end here.
  if (/^[!#$&-;=?-Z_a-z~]*$/.test(text)) return text.split("");
  try {
    return (text.match(/%..(%[89ab].)*|./gisu) ?? []).map((unit) =>
      unit[0] === "%" ? encodeURIComponent(decodeURIComponent(unit)) : encodeURI(unit),
    );
  } catch {
    return undefined;
  }
}

/** The one spelling of URIs that no template tells apart; as it came when it is malformed. It has no braces. */
export function toCanonicalUri(uri: string): string {
  return toUnits(uri)?.join("") ?? uri;
}

/** Whether the text holds an expression, well formed or not. A URI never has braces, so one is enough to tell. */
export function isUriTemplate(text: string): boolean {
  return /[{}]/.test(text);
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
