// Expansion of URI templates (RFC 6570 §3): all four levels, variables to text.
import { quote } from "./quote.ts";
import { fail, parseParts, type UriTemplate } from "./uri-template.ts";

/** A string, a list of strings, or an associative array. */
export type TemplateValue = string | readonly string[] | { readonly [key: string]: string };

export interface TemplateValues {
  readonly [name: string]: TemplateValue | number | undefined;
}

/**
 * The URI for these values. An undefined variable is left out; numbers are written in decimal. Throws a TypeError for
 * a malformed template, for a prefix (`{x:3}`) of a list, and for text with half a surrogate pair.
 */
export function expandUriTemplate(template: string | UriTemplate, values: TemplateValues): string {
  const source = typeof template === "string" ? template : template.source;
  return parseParts(source)
    .map(({ first, separator, named, reserved, variables }) => {
      if (!variables[0]?.name) return encodeReserved(first);
      const encode = (text: string) => {
        if (/\p{Cs}/u.test(text)) fail(source, `${quote(text)} has half a surrogate pair, which no URI can have`);
        return reserved ? encodeReserved(text) : encodeUnreserved(text);
      };
      const toPair = (name: string, text: string) =>
        named ? name + (text || separator === "&" ? `=${text}` : "") : text;

      const pieces = variables.flatMap(({ name, explode, max }) => {
        // A name such as "constructor" must not find what every object inherits. Scripts may say null for undefined.
        const value = (Object.hasOwn(values, name) ? values[name] : undefined) ?? [];
        // By code points, so that no character is cut in half.
        if (typeof value !== "object") return toPair(name, encode([...`${value}`].slice(0, max).join("")));
        // An empty list and an empty object count as undefined (§2.3).
        const entries = Object.entries(value);
        if (entries.length === 0) return [];
        if (max < Infinity)
          fail(source, `{${name}:${max}} is for text, not for a list or an object; leave out the length`);
        const isList = Array.isArray(value);
        if (!explode)
          return toPair(name, entries.flatMap((entry) => entry.slice(isList ? 1 : 0).map(encode)).join(","));
        return entries.map(([key, item]) => {
          const text = encode(item);
          return isList ? toPair(name, text) : named ? toPair(encode(key), text) : `${encode(key)}=${text}`;
        });
      });
      return pieces.length > 0 ? first + pieces.join(separator) : "";
    })
    .join("");
}

export interface TemplateVariable {
  readonly name: string;
  /** It stands in a pair (`{?q}`, `{&q}`, `{;q}`), or is a list: it may be left out. */
  readonly isOptional: boolean;
  /** `{name*}` */
  readonly isList: boolean;
}

/** The variables of a template, each once, in the order of their first appearance. Throws a TypeError for a malformed one. */
export function listTemplateVariables(template: string): readonly TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const { named, variables } of parseParts(template)) {
    for (const { name, explode } of variables) {
      if (name === "") continue;
      const before = found.get(name);
      found.set(name, {
        name,
        isOptional: (before?.isOptional ?? true) && (named || explode),
        isList: (before?.isList ?? true) && explode,
      });
    }
  }
  return [...found.values()];
}

/** Leaves only the unreserved characters of RFC 3986 as they are. */
function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Leaves unreserved and reserved characters and percent-encoded triplets as they are. */
function encodeReserved(text: string): string {
  return text.replace(/(%[\da-f]{2}|[[\]])|./gisu, (char, kept?: string) => kept ?? encodeURI(char));
}
