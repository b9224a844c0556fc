// From the tables of all revisions to prepared changes: what one revision may not carry is left out or retold.
import { choose, toCandidate } from "./choice.ts";
import { degrades, joinBlocks, splitMessages, toObjectSchema } from "./degrade.ts";
import { once } from "./once.ts";
import { type Check, isRecord } from "./shape.ts";
import type { Table } from "./table.ts";

/** The value as the revision may carry it; the same reference when it may carry it as it is. */
export type Fit = (value: unknown) => unknown;

/** One revision as its neighbours see it. */
export interface Sheet {
  readonly table: Table;
  readonly checkOf: (expression: string) => Check;
}

type Value = Readonly<Record<string, unknown>>;

const asIs: Fit = (value) => value;

/** The changes towards one of the sheets. */
export function createFits(own: Sheet, all: readonly Sheet[]): (expression: string) => Fit {
  const { table } = own;
  const others = all.filter((sheet) => sheet !== own);
  const fitOf = once(prepare);
  // Where a message holds one block, several become several messages, or one text in a result.
  const single = !table.items("SamplingContent").some(({ kind }) => kind === "array");

  function prepare(expression: string): Fit {
    const items = table.items(expression);
    const names = items.flatMap(({ kind, of }) => (kind === "shape" ? of : []));
    if (names[0] === expression) return shapeFit(expression);
    const inShapes = names.length > 0 ? choiceFit(expression, names) : asIs;
    const many = items.find(({ kind }) => kind === "array" || kind === "map");
    const inner = many ? fitOf(many.of) : asIs;
    const joins = single && expression === "SamplingContent";
    if (inShapes === asIs && inner === asIs) return asIs;
    return (value) => {
      const one = joins && Array.isArray(value) ? joinBlocks(value) : value;
      if (Array.isArray(one)) return many?.kind === "array" ? fitEach(one, inner) : one;
      if (!isRecord(one)) return value;
      return many?.kind === "map" ? fitEach(one, inner) : inShapes(one);
    };
  }

  function choiceFit(expression: string, names: readonly string[]): Fit {
    const candidates = names.map((name) => ({ ...toCandidate(table, name), fit: fitOf(name) }));
    const strange = others.flatMap((sheet) =>
      sheet.table
        .items(expression)
        .flatMap(({ kind, of }) => (kind === "shape" && !names.includes(of) ? toCandidate(sheet.table, of) : [])),
    );
    if (strange.length === 0 && candidates.every(({ fit }) => fit === asIs)) return asIs;
    return (value) => {
      const stranger = choose(strange, value as Value);
      const known = stranger ? degrades[stranger.name]?.(value as Value) : (value as Value);
      if (!known) return value;
      return (candidates.length > 1 ? choose(candidates, known) : candidates[0])?.fit(known) ?? value;
    };
  }

  function shapeFit(name: string): Fit {
    const members = table.members(name);
    const elsewhere = others.flatMap((sheet) => sheet.table.members(name).map((member) => ({ ...member, sheet })));
    const gone = new Set(elsewhere.map(({ key }) => key));
    const parts = members.flatMap(({ key, expression, optional }) => {
      gone.delete(key);
      const fit = name === "ObjectSchema" && key === "properties" ? fitProperties : fitOf(expression);
      // A member that may be left out is, when its value is right elsewhere but wrong here.
      const wider = elsewhere.filter((other) => optional && other.key === key && other.expression !== expression);
      return fit === asIs && wider.length === 0 ? [] : { key, expression, fit, wider };
    });
    const splits = single && name === "CreateMessageParams";
    if (gone.size === 0 && parts.length === 0 && !splits) return asIs;
    return (value) => {
      if (!isRecord(value)) return value;
      let fitted: Value = splits ? splitMessages(value) : value;
      for (const key of gone) if (Object.hasOwn(fitted, key)) fitted = without(fitted, key);
      for (const { key, expression, fit, wider } of parts) {
        const inner = fitted[key];
        if (inner === undefined) continue;
        const next = fit(inner);
        if (next !== inner) fitted = { ...fitted, [key]: next };
        if (
          wider.length > 0 &&
          own.checkOf(expression)(next) !== undefined &&
          wider.some((other) => other.sheet.checkOf(other.expression)(inner) === undefined)
        ) {
          fitted = without(fitted, key);
        }
      }
      return fitted;
    };
  }

  return fitOf;
}

const fitProperties: Fit = (value) => (isRecord(value) ? fitEach(value, toObjectSchema) : value);

/** An array or an object with its values fitted. */
function fitEach(value: object, fit: Fit): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  let changed = false;
  for (const key of Object.keys(copy)) {
    const inner = copy[key];
    const next = fit(inner);
    if (next === inner) continue;
    copy[key] = next;
    changed = true;
  }
  return changed ? copy : value;
}

function without(value: Value, key: string): Value {
  const { [key]: _, ...rest } = value;
  return rest;
}
