// From the text of a revision to prepared checks. A check allocates next to nothing while the value is right: the
// path is put together on the way back from the fault. What is prepared are tuples: property names cannot be made
// short, and this is loaded by every server.
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import { isFixed } from "../../util/fixed.ts";
import type { Check } from "./shape.ts";

/** One member of a shape; with the texts that it may be, it tells its shape from others. */
export type Part = [
  key: string,
  expression: string,
  optional: boolean,
  check: Check,
  texts: readonly unknown[] | false,
];

/**
 * An object shape, prepared: its members, those that tell it from others, and what may stand in its place. `recent` has the
 * members in the order in which they came last.
 */
export type Form = readonly [
  name: string,
  parts: readonly Part[],
  tags: readonly Part[],
  others: readonly string[],
  byKey: ReadonlyMap<string, Part>,
  required: number,
  recent: Part[],
];

/** An expression, prepared: its check, the object shapes among its items, and what arrays and objects in it hold. */
export type Type = readonly [check: Check, forms: readonly Form[], inner: string | undefined];

/** One revision, prepared on first use. */
export interface Sheet {
  /** The text of each shape. */
  readonly shapes: ReadonlyMap<string, string>;
  /** A shape by its name; without parts for an alias and for a name that the revision does not have. */
  readonly formOf: (name: string) => Form;
  readonly typeOf: (expression: string) => Type;
}

/** The groups of a match; all of the patterns here take part in it. */
type Groups = readonly [all: string, first: string, second: string, third: string, fourth: string];

/** Whether the value is of this kind; text when it is, but for a fault inside. */
type Test = (value: unknown) => boolean | string;

/** The sheet of a revision, from what it changes and the shapes of the one before. */
export function createSheet(changes: string, before?: Sheet): Sheet {
  const shapes = new Map(before?.shapes);
  for (const [, names, text] of changes.matchAll(/(\S+) ?(.*)/g) as Iterable<Groups>) {
    for (const name of names.split(",")) {
      if (text === "-") shapes.delete(name);
      else shapes.set(name, `${shapes.get(name) ?? ""} ${text}`);
    }
  }

  const formOf = once((name: string): Form => {
    const found = new Map<string, Part>();
    const others: string[] = [];
    const text = shapes.get(name) ?? "";
    for (const [, mark, key, link, type] of text.matchAll(/([&|-]?)([^\s?:]+)([?:]?)(\S*)/g) as Iterable<Groups>) {
      const expression = type || (shapes.has(key) ? key : "string");
      if (mark === "|") others.push(...key.split("|"));
      else if (mark === "&") for (const part of formOf(key)[1]) found.set(part[0], part);
      else if (mark) found.delete(key);
      else {
        // What it is a shape of may be this very one: it is looked up by the first value.
        const check: Check = (value) => {
          part[3] = typeOf(expression)[0];
          return part[3](value);
        };
        const part: Part = [
          key,
          expression,
          link === "?",
          check,
          expression[0] === "'" && expression.slice(1).split("|'"),
        ];
        found.set(key, part);
      }
    }
    const parts = [...found.values()];
    return [
      name,
      parts,
      parts.filter((part) => part[4]),
      others,
      found,
      parts.filter((part) => !part[2]).length,
      [...parts],
    ];
  });

  const typeOf = once((expression: string): Type => {
    const forms: Form[] = [];
    const kinds: string[] = [];
    const tests: Test[] = [];
    let inner: string | undefined;
    const items = expression.split("|");
    for (const item of items) {
      if (shapes.has(item)) {
        const form = formOf(item);
        if (shapes.get(item)?.[1] !== "|") forms.push(form);
        items.push(...form[3]);
        continue;
      }
      const [, of, bracket, max] = /(.*)([[{])(\d*).$/.exec(item) ?? [];
      const text = item.slice(1);
      const [kind, is] = leaves[bracket ?? item] ?? [`"${text}"`, (value) => value === text];
      kinds.push(kind);
      tests.push(of ? (value) => is(value) && testMany(typeOf(of)[0], max, value as JsonObject) : is);
      inner ||= of;
    }
    const problem = ` must be ${kinds.join(" or ") || "an object"}`;
    const [only = isObject] = tests;
    const isLeaf = !forms[0] && !inner && !tests[1];
    const isMeta = isMetaShape(expression);
    let right: unknown;
    const check: Check = (value) => {
      if (isLeaf) return only(value) ? undefined : problem;
      if (forms[0] && isObject(value)) {
        if (isMeta && value === right) return undefined;
        const found = checkForms(forms, value);
        if (isMeta && !found && isFixed(value)) right = value;
        return found;
      }
      for (const test of tests) {
        const found = test(value);
        if (found) return found === true ? undefined : found;
      }
      return problem;
    };
    return [check, forms, inner];
  });

  return { shapes, formOf, typeOf };
}

/** Of a `_meta`, which is often the same one for all messages of a peer: if it is fixed, it is looked at once. */
export function isMetaShape(expression: string): boolean {
  return expression.endsWith("Meta");
}

function testMany(check: Check, max: string | undefined, value: JsonObject): true | string {
  if (max && (value.length as number) > +max) return ` must have at most ${max} items`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = check(value[i]);
      if (found) return `[${i}]${found}`;
    }
    return true;
  }
  for (const key of Object.keys(value)) {
    const found = check(value[key]);
    if (found) return step(key) + found;
  }
  return true;
}

function checkForms(forms: readonly Form[], value: JsonObject): string | undefined {
  const form = pick(forms, value);
  if (!form) {
    const tag = forms[0]?.[2][0];
    const kinds = forms.map(([name, , [own]]) => (tag ? own?.[3](0)?.slice(9) : name));
    return `${tag ? step(tag[0]) : ""} must be ${kinds.join(" or ")}`;
  }
  return isRight(form, value) ? undefined : explain(form, value);
}

/** By the members that there are: most shapes know many more, and to look for what is absent is slow. */
function isRight([, , , , byKey, required, recent]: Form, value: JsonObject): boolean {
  let missing = required;
  let place = 0;
  for (const key in value) {
    // Most values have their members in the order in which the last one had them.
    let part = recent[place];
    if (part?.[0] !== key) {
      part = byKey.get(key);
      if (part && place < recent.length) recent[place] = part;
    }
    place++;
    const inner = part && value[key];
    if (inner === undefined) continue;
    if (part?.[3](inner)) return false;
    if (!part?.[2]) missing--;
  }
  return missing < 1;
}

/** The first fault in the order of the shape. */
function explain([, parts]: Form, value: JsonObject): string | undefined {
  for (const part of parts) {
    const inner = value[part[0]];
    const found = (inner !== undefined || !part[2]) && part[3](inner);
    if (found) return step(part[0]) + found;
  }
  return undefined;
}

/** Which of several shapes the value is meant to be, so that the message is about the right one. */
export function pick(forms: readonly Form[], value: JsonObject): Form | undefined {
  if (!forms[1]) return forms[0];
  const { key, by } = tagsOf(forms);
  return key ? by.get(value[key]) : guess(forms, value);
}

function guess(forms: readonly Form[], value: JsonObject): Form | undefined {
  return choose(forms, value) ?? forms.findLast((form) => form[2][0] && agrees(form[2], value));
}

/** Where the first tag tells all of them apart, as it mostly does, they need not be tried one by one. */
const tagsOf = once((forms: readonly Form[]) => {
  const key = forms[0]?.[2][0]?.[0];
  const by = new Map<unknown, Form>();
  for (const form of forms) {
    const [tag] = form[2];
    const texts = tag && tag[0] === key && !tag[2] && tag[4];
    if (!texts || texts.some((text) => by.has(text))) return { by };
    for (const text of texts) by.set(text, form);
  }
  return { key, by };
});

/** The last shape with which the value agrees. None is tried in full. */
export function choose(forms: readonly Form[], value: JsonObject): Form | undefined {
  return forms.findLast((form) => agrees(form[1], value));
}

/** Whether what must be there is, and the tags are right. */
function agrees(parts: readonly Part[], value: JsonObject): boolean {
  for (const part of parts) {
    const inner = value[part[0]];
    if (inner === undefined ? !part[2] : part[4] && !part[4].includes(inner)) return false;
  }
  return true;
}

/** One step of a path. A key may be a peer's own: it is quoted and cut short unless it is a plain word. */
function step(key: string): string {
  return /^[\w$]{1,64}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}

/** Remembers each answer by its argument, for ever: for keys from a closed set, never for what a peer sends. */
export function once<K, V extends object>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  let lastKey: K | undefined;
  let last: V | undefined;
  return (key) => {
    if (last && key === lastKey) return last;
    let value = made.get(key);
    if (!value) {
      value = make(key);
      made.set(key, value);
    }
    lastKey = key;
    last = value;
    return value;
  };
}

/**
 * Text without anything bad. No pattern looks at a character more than a few times, however long and hostile; none has
 * the flag `u`, with which a repeated class takes a stack as long as the text.
 */
const text = (bad: RegExp) => (value: unknown) => typeof value === "string" && !bad.test(value);

/** The leaves of the language by name, and its brackets. */
const leaves: { readonly [name: string]: readonly [string, Test] } = {
  "[": ["an array", Array.isArray],
  "{": ["an object", isObject],
  string: ["a string", (value) => typeof value === "string"],
  boolean: ["a boolean", (value) => typeof value === "boolean"],
  number: ["a number", Number.isFinite],
  integer: ["an integer", Number.isInteger],
  count: ["an integer of at least 0", (value) => Number.isInteger(value) && (value as number) >= 0],
  unit: ["a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1],
  id: ["a string or an integer", (value) => typeof value === "string" || Number.isSafeInteger(value)],
  any: ["present", (value) => value !== undefined],
  // As far as it matters: a scheme, and neither blanks nor control characters.
  URI: ["an absolute URI", text(/^(?![a-z][a-z\d+.-]{0,63}:)|[^!-~\xa0-\uffff]|\s/i)],
  // Expressions in braces that are neither nested, empty nor left open.
  template: ["a URI template", text(/{[^{}]*({|$)|{}|(^|})[^{}]*}|[^!-~\xa0-\uffff]|\s/)],
  // RFC 4648 section 4, with its padding.
  base64: ["base64", (value) => text(/[^a-z\d+/=]|=[^=]|===/i)(value) && !((value as string).length % 4)],
};
