// From a table to prepared checks. A check allocates nothing while the value is right: the path is put together on
// the way back from the fault.
import { choose, toCandidate } from "./choice.ts";
import { leaves } from "./leaf.ts";
import { once } from "./once.ts";
import { type Check, isRecord } from "./shape.ts";
import type { Item, Table } from "./table.ts";

const notObject = " must be an object";

/** The checks of one table. Throws on an expression with a name that is neither leaf nor shape. */
export function createChecks(table: Table): (expression: string) => Check {
  const checkOf = once((expression: string) => combine(table.items(expression)));

  function shapeCheck(name: string): Check {
    const parts = table.members(name).map((member) => ({ ...member, check: undefined as Check | undefined }));
    return (value) => {
      if (!isRecord(value)) return notObject;
      for (const part of parts) {
        const inner = value[part.key];
        if (inner === undefined && part.optional) continue;
        part.check ??= checkOf(part.expression);
        const problem = part.check(inner);
        if (problem !== undefined) return step(part.key) + problem;
      }
      return undefined;
    };
  }

  function itemCheck({ kind, of, max }: Item): Check {
    if (kind === "shape") return shapeCheck(of);
    if (kind === "array") return arrayCheck(checkOf(of), max);
    if (kind === "map") return mapCheck(checkOf(of));
    if (kind === "literal") return oneOf([of]);
    const leaf = leaves[of];
    if (!leaf) throw new TypeError(of);
    return leaf;
  }

  function combine(items: readonly Item[]): Check {
    const [first] = items;
    if (first && items.length === 1) return itemCheck(first);
    const only = (kind: Item["kind"]) => items.filter((item) => item.kind === kind).map(({ of }) => of);
    const texts = only("literal");
    if (texts.length === items.length) return oneOf(texts);
    const shapes = only("shape");
    const inShapes = shapes.length > 0 ? choiceCheck(shapes) : undefined;
    if (inShapes && shapes.length === items.length) return inShapes;
    const others = items.filter(({ kind }) => kind !== "shape").map(itemCheck);
    return (value) => {
      if (inShapes && isRecord(value)) return inShapes(value);
      let problem = "";
      for (const check of others) {
        const found = check(value);
        if (found === undefined) return undefined;
        // A fault inside an array is more to the point than that the value is nothing else either.
        if (found.startsWith("[")) return found;
        problem += problem === "" ? found : found.replace("must be", "or");
      }
      return problem;
    };
  }

  function choiceCheck(names: readonly string[]): Check {
    const candidates = names.map((name) => ({ ...toCandidate(table, name), check: checkOf(name) }));
    const literals = candidates.flatMap((candidate) => candidate.literals.slice(0, 1));
    const [tag] = literals;
    const problem =
      tag && literals.length === names.length
        ? step(tag.key) + oneOf(literals.flatMap(({ texts }) => texts))(undefined)
        : ` must be ${names.join(" or ")}`;
    return (value) => {
      if (!isRecord(value)) return notObject;
      const chosen = choose(candidates, value) ?? choose(candidates, value, true);
      return chosen ? chosen.check(value) : problem;
    };
  }

  return checkOf;
}

function arrayCheck(check: Check, max = 0): Check {
  return (value) => {
    if (!Array.isArray(value)) return " must be an array";
    if (value.length > max) return ` must have at most ${max} items`;
    for (let i = 0; i < value.length; i++) {
      const problem = check(value[i]);
      if (problem !== undefined) return `[${i}]${problem}`;
    }
    return undefined;
  };
}

function mapCheck(check: Check): Check {
  return (value) => {
    if (!isRecord(value)) return notObject;
    for (const key of Object.keys(value)) {
      const problem = check(value[key]);
      if (problem !== undefined) return step(key) + problem;
    }
    return undefined;
  };
}

function oneOf(texts: readonly unknown[]): Check {
  const problem = ` must be ${texts.map((text) => `"${text}"`).join(" or ")}`;
  return (value) => (texts.includes(value) ? undefined : problem);
}

/** One step of a path. A key may be a peer's own: it is quoted and cut short unless it is a plain word. */
function step(key: string): string {
  return /^[\w$]{1,64}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 64))}]`;
}
