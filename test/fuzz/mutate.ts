// Generated messages: arbitrary text and JSON, and good messages with members dropped, altered, doubled or nested.
import fc from "fast-check";
import type { Revision } from "plenum";
import { good, methodsIn, type Obj, request } from "./target.ts";

const hostile: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "x",
  "0",
  "__proto__",
  "constructor",
  "note:///one",
  "item:///größe",
  "2025-11-25",
  "tools/list",
  "\0",
  "\ud800",
  "a".repeat(5000),
  [],
  {},
  [[]],
  [null],
  JSON.parse('{"__proto__":{"polluted":true}}'),
  { constructor: { prototype: { polluted: true } } },
];

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostile) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

interface Mutation {
  /** Chooses the member, modulo how many there are. */
  readonly at: number;
  readonly how: "drop" | "alter" | "double" | "wrap" | "nest" | "shout" | "add";
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat({ max: 1000 }),
  how: fc.constantFrom("drop", "alter", "alter", "double", "wrap", "nest", "shout", "add"),
  value,
});

const twin = "\u0000twin";

/** The text of a message after the mutations. */
function mutate(message: Obj, mutations: readonly Mutation[]): string {
  const copy = structuredClone(message);
  for (const { at, how, value: shared } of mutations) {
    // A later mutation may reach into it, and the values are used again.
    const value = structuredClone(shared);
    const places = placesIn(copy);
    const place = places[at % places.length];
    if (!place) break;
    const { holder, key } = place;
    if (how === "drop") delete holder[key];
    else if (how === "alter") set(holder, key, value);
    else if (how === "double") set(holder, key + twin, value);
    else if (how === "wrap") set(holder, key, [holder[key]]);
    else if (how === "nest") set(holder, key, { [key]: holder[key] });
    else if (how === "add") set(holder, typeof value === "string" ? value : "extra", value);
    else {
      const kept = holder[key];
      delete holder[key];
      set(holder, key.toUpperCase(), kept);
    }
  }
  // A member cannot be there twice in an object, only in a text.
  return JSON.stringify(copy).replaceAll(`${JSON.stringify(twin).slice(1, -1)}":`, '":');
}

function set(holder: Obj, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true });
}

function placesIn(value: unknown): { readonly holder: Obj; readonly key: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Obj;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

/** A good request of any method of the revision, but for `initialize`, with up to three mutations. */
export function mutated(revision: Revision): fc.Arbitrary<string> {
  const methods = methodsIn(revision).filter((method) => method !== "initialize");
  return fc
    .tuple(fc.constantFrom(...methods), fc.uuid(), fc.array(mutation, { minLength: 0, maxLength: 3 }))
    .map(([method, id, mutations]) => mutate(request(revision, method, { ...rich[method] }, id), mutations));
}

/** A message given, with one to three mutations. */
export function mutatedOf(message: Obj): fc.Arbitrary<string> {
  return fc.array(mutation, { minLength: 1, maxLength: 3 }).map((mutations) => mutate(message, mutations));
}

/** Good params with all that the newest revisions allow, so that there is something to break. */
const rich: { readonly [method: string]: Obj | undefined } = {
  ...good,
  "tools/list": { _meta: { progressToken: "p" } },
  "tools/call": { name: "bag", arguments: { list: [1, { a: null }] }, _meta: { progressToken: 1 } },
  "completion/complete": {
    ref: { type: "ref/resource", uri: "item:///{id}" },
    argument: { name: "id", value: "a" },
    context: { arguments: { other: "b" } },
  },
  "subscriptions/listen": {
    notifications: { toolsListChanged: true, resourcesListChanged: false, resourceSubscriptions: ["note:///one"] },
  },
};

/** Anything at all, from noise to almost a message. */
export const anything: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.json({ maxDepth: 4 }),
  fc
    .record(
      {
        jsonrpc: fc.oneof(fc.constant("2.0"), value),
        id: fc.oneof(fc.uuid(), fc.maxSafeInteger(), value),
        method: fc.oneof(fc.constantFrom("ping", "tools/list", "notifications/cancelled", "no/such"), value),
        params: value,
        result: value,
        error: fc.oneof(value, fc.record({ code: fc.integer(), message: fc.string() })),
      },
      { requiredKeys: [] },
    )
    .map((message) => JSON.stringify(message)),
  fc.array(value, { maxLength: 4 }).map((batch) => JSON.stringify(batch)),
);

/** Text with a few characters cut out, put in or exchanged. */
export function scratched(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const scratch = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: "binary", maxLength: 3 }));
  return fc.tuple(text, fc.array(scratch, { minLength: 1, maxLength: 2 })).map(([whole, scratches]) =>
    scratches.reduce((kept, [at, length, put]) => {
      const from = at % (kept.length + 1);
      return kept.slice(0, from) + put + kept.slice(from + length);
    }, whole),
  );
}
