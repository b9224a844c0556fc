// Values made from the shape tables: what a revision allows, by its own word.
import fc from "fast-check";
import type { Revision } from "../../packages/plenum/src/protocol/revisions.ts";
import { addAsking } from "../../packages/plenum/src/protocol/wire/asking.ts";
import { sheetOf } from "../../packages/plenum/src/protocol/wire/wire.ts";

addAsking();

/** The names of all shapes that a revision has. */
export function namesOf(revision: Revision): readonly string[] {
  return [...sheetOf(revision).shapes.keys()];
}

/**
 * One item of an expression; a value has to be one of them. `of` is the text of a literal, the name of a leaf or of
 * a shape, or the expression of what an array or an object holds.
 */
export interface Item {
  readonly kind: "leaf" | "literal" | "shape" | "array" | "object";
  readonly of: string;
}

/** The items of an expression, with the aliases in it followed: read from the text, as a second opinion. */
export function itemsOf(revision: Revision, expression: string): readonly Item[] {
  const { shapes } = sheetOf(revision);
  return expression.split("|").flatMap((item): readonly Item[] => {
    const text = shapes.get(item);
    if (text !== undefined) {
      const [members, ...others] = text.split(" |");
      const own: readonly Item[] = members === "" ? [] : [{ kind: "shape", of: item }];
      return [...own, ...others.flatMap((other) => itemsOf(revision, other))];
    }
    if (item.startsWith("'")) return [{ kind: "literal", of: item.slice(1) }];
    const [, of, bracket] = /^(.+)(\[\d*\]|\{\})$/.exec(item) ?? [];
    if (of !== undefined) return [{ kind: bracket === "{}" ? "object" : "array", of }];
    return [{ kind: "leaf", of: item }];
  });
}

const text = fc.string({ maxLength: 6, unit: "grapheme" });
const key = fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== "__proto__");

/** Small JSON values without null and fractions, which the newest official schema does not know in `JSONValue`. */
const plain: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(key, tie("value"), { maxKeys: 2 }),
  ),
})).value;

const leaves: { readonly [name: string]: fc.Arbitrary<unknown> } = {
  string: text,
  boolean: fc.boolean(),
  number: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  integer: fc.integer(),
  count: fc.nat(),
  unit: fc.double({ min: 0, max: 1, noNaN: true }),
  id: fc.oneof(text, fc.integer()),
  "{}": fc.dictionary(key, plain, { maxKeys: 2 }),
  any: plain,
  URI: fc.constantFrom("file:///a/b", "https://example.com/x?y=1#z", "urn:isbn:1", "berth://4"),
  template: fc.constantFrom("file:///{path}", "berth://{id}/x{?a,b}", "file:///a", "x{+y}"),
  base64: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64")),
};

const cached = new Map<string, fc.Arbitrary<unknown>>();

/** A value that the expression allows in the revision. */
export function arbitraryOf(revision: Revision, expression: string): fc.Arbitrary<unknown> {
  const id = `${revision} ${expression}`;
  let made = cached.get(id);
  if (!made) {
    made = fc.oneof(...itemsOf(revision, expression).map((item) => arbitraryItem(revision, item)));
    cached.set(id, made);
  }
  return made;
}

function arbitraryItem(revision: Revision, { kind, of }: Item): fc.Arbitrary<unknown> {
  if (kind === "literal") return fc.constant(of);
  if (kind === "array") return fc.array(arbitraryOf(revision, of), { maxLength: 3 });
  if (kind === "object") return fc.dictionary(key, arbitraryOf(revision, of), { maxKeys: 2 });
  if (kind === "shape") return arbitraryShape(revision, of);
  const leaf = leaves[of];
  if (!leaf) throw new Error(`no arbitrary for ${of}`);
  return leaf;
}

/** An open schema of the newest revision may say anything; these are the things that matter to older ones. */
const keywords = fc.record(
  {
    properties: fc.dictionary(key, fc.oneof(fc.boolean(), fc.constant({ type: "string" })), { maxKeys: 2 }),
    required: fc.array(text, { maxLength: 2 }),
    anyOf: fc.constant([{ type: "object" }]),
  },
  { requiredKeys: [] },
);

function arbitraryShape(revision: Revision, name: string): fc.Arbitrary<unknown> {
  const [, parts] = sheetOf(revision).formOf(name);
  const model = Object.fromEntries(parts.map(([key, expression]) => [key, arbitraryOf(revision, expression)]));
  const requiredKeys = parts.filter(([, , optional]) => !optional).map(([key]) => key);
  const shape: fc.Arbitrary<object> = fc.record(model, { requiredKeys, noNullPrototype: true });
  if (name === "InputSchema") return fc.tuple(keywords, shape).map(([open, named]) => ({ ...open, ...named }));
  if (name === "OutputSchema") {
    const type = fc.constantFrom({}, { type: "object" }, { type: "array" });
    return fc.tuple(type, keywords, shape).map(([kind, open, named]) => ({ ...kind, ...open, ...named }));
  }
  return shape;
}

const wrong: readonly unknown[] = [5, -1, 1.5, true, null, [], {}, "x", "a b{", [5], { x: 5 }, ["x"]];

/** The value with one thing in it taken away or replaced by something of another kind. */
export function arbitraryBroken(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(value, fc.nat(), fc.oneof(fc.constant(undefined), fc.constantFrom(...wrong)))
    .map(([whole, at, next]) => {
      const places: { readonly parent: Record<string, unknown>; readonly key: string }[] = [];
      const copy = structuredClone(whole);
      collect({ root: copy }, places);
      const place = places[1 + (at % Math.max(1, places.length - 1))] ?? places[0];
      if (!place) return copy;
      if (next === undefined && !Array.isArray(place.parent)) delete place.parent[place.key];
      else place.parent[place.key] = structuredClone(next ?? 5);
      return copy;
    });
}

function collect(value: unknown, places: { readonly parent: Record<string, unknown>; readonly key: string }[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    places.push({ parent: value as Record<string, unknown>, key });
    collect(inner, places);
  }
}
