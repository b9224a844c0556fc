// A revision's shapes as a table: the changes of all revisions up to it, laid over one another, and the expressions
// split into items. Nothing is worked out before it is asked for.
import { once } from "./once.ts";
import type { Shape, Shapes } from "./shape.ts";

/** One member of a shape. */
export interface Member {
  readonly key: string;
  /** The expression without its `?`. */
  readonly expression: string;
  readonly optional: boolean;
}

/**
 * One item of an expression; a value has to be one of them. `of` is the text of a literal, the name of a leaf or of
 * an object shape, or the expression of what an array or a map holds.
 */
export interface Item {
  readonly kind: "leaf" | "literal" | "shape" | "array" | "map";
  readonly of: string;
  /** How many items an array may have. */
  readonly max?: number;
}

export interface Table {
  has(name: string): boolean;
  /** The members of an object shape; none for an alias and for a name that the revision does not have. */
  members(name: string): readonly Member[];
  /** The items of an expression, with the aliases in it followed. */
  items(expression: string): readonly Item[];
}

/** The table that results from these changes, oldest first. */
export function createTable(changes: readonly Shapes[]): Table {
  const find = once((name: string): readonly Member[] | string => {
    let shape: Shape = "";
    for (const change of changes) {
      const next: Shape | undefined = Object.hasOwn(change, name) ? change[name] : undefined;
      if (typeof next === "object" && typeof shape === "object") shape = Object.assign({}, shape, next);
      else if (next !== undefined) shape = next;
    }
    return typeof shape === "string" ? shape : toMembers(shape);
  });

  function toItems(text: string): readonly Item[] {
    const array = /^(.+)\[(\d*)\]$/.exec(text);
    if (array) return [{ kind: "array", of: array[1] ?? "", max: Number(array[2]) || Number.POSITIVE_INFINITY }];
    if (text.startsWith("'")) return [{ kind: "literal", of: text.slice(1, -1) }];
    if (text.startsWith("map<")) return [{ kind: "map", of: text.slice(4, -1) }];
    const shape = find(text);
    if (typeof shape === "object") return [{ kind: "shape", of: text }];
    return shape === "" ? [{ kind: "leaf", of: text }] : items(shape);
  }

  function items(expression: string): readonly Item[] {
    return expression.split("|").flatMap(toItems);
  }

  return {
    has: (name) => find(name) !== "",
    members(name) {
      const found = find(name);
      return typeof found === "string" ? [] : found;
    },
    items,
  };
}

function toMembers(shape: { readonly [member: string]: string }): readonly Member[] {
  return Object.entries(shape).flatMap(([key, text]) => {
    const optional = text.endsWith("?");
    return text === "" ? [] : { key, expression: optional ? text.slice(0, -1) : text, optional };
  });
}
