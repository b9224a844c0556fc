// From the sheets of all revisions to prepared changes: what one revision may not carry is left out or retold.
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import { isFixed } from "../../util/fixed.ts";
import { choose, type Form, isMetaShape, once, pick, type Sheet } from "./check.ts";

/** The value as the revision may carry it; the same reference when it may carry it as it is. */
export type Fit = (value: unknown) => unknown;

/** Tells a shape that a revision lacks all the same. */
export type Retell = (value: JsonObject) => JsonObject;

const asIs = (value: unknown): unknown => value;

/** By the name of the shape. The newest revision has all shapes: see retell.ts. */
const retold = new Map<string, Retell>();

export function addRetold(more: { readonly [name: string]: Retell }): void {
  for (const name in more) retold.set(name, more[name] as Retell);
}

/** The changes towards one of the sheets. */
export function createFits(own: Sheet, all: readonly Sheet[]): (expression: string) => Fit {
  const fitOf = once((expression: string): Fit => {
    if (expression === "schema") return toObjectSchema;
    const [, forms, of] = own.typeOf(expression);
    const fits = new Map(forms.map((form) => [form, shapeFit(form)]));
    const strange = all.flatMap((sheet) => sheet.typeOf(expression)[1]).filter(([name]) => !own.shapes.has(name));
    const inner = of ? fitOf(of) : asIs;
    if (inner === asIs && !strange[0] && forms.every((form) => fits.get(form) === asIs)) return asIs;
    const isMeta = isMetaShape(expression);
    let right: unknown;
    return (value) => {
      if (typeof value !== "object" || !value || (isMeta && value === right)) return value;
      if (!isObject(value) || !forms[0]) return alter(value, () => inner);
      const stranger = strange[0] && choose(strange, value);
      const known = stranger ? retold.get(stranger[0])?.(value) : value;
      const form = known && pick(forms, known);
      const fitted = form ? fits.get(form)?.(known) : value;
      if (isMeta && fitted === value && isFixed(value)) right = value;
      return fitted;
    };
  });

  function shapeFit([name, parts]: Form): (value: JsonObject) => unknown {
    const elsewhere = all.flatMap((sheet) => sheet.formOf(name)[1]);
    const fits = new Map<string, Fit>(elsewhere.map(([key]) => [key, () => undefined]));
    for (const [key, expression, optional, check] of parts) {
      const fit = fitOf(expression);
      // A member that may be left out is, when its value is right elsewhere but wrong here, where not just any will do.
      const isNarrow = optional && expression !== "any";
      const wider = elsewhere.filter((other) => isNarrow && other[0] === key && other[1] !== expression);
      if (fit === asIs && !wider[0]) fits.delete(key);
      else if (!wider[0]) fits.set(key, fit);
      else
        fits.set(key, (inner) => {
          const next = fit(inner);
          return wider.some((other) => !other[3](inner)) && check(next) ? undefined : next;
        });
    }
    if (!fits.size) return asIs;
    const fitAt = (key: string): Fit | undefined => fits.get(key);
    // Where a message holds one block, several become several messages.
    const splits = name === "SamplingMessage" && !own.typeOf("SamplingContent")[2];
    return (value: JsonObject) =>
      splits && Array.isArray(value.content)
        ? value.content.map((content) => alter({ ...value, content }, fitAt))
        : alter(value, fitAt);
  }

  return fitOf;
}

/** The value with its members fitted; what becomes undefined is left out. Most have few of those that their shape knows. */
function alter(value: object, fitAt: (key: string) => Fit | undefined): object {
  const given = value as { readonly [key: string]: unknown };
  let copy = value as { [key: string]: unknown };
  for (const key in given) {
    const fit = fitAt(key);
    const inner = given[key];
    const next = fit ? fit(inner) : inner;
    if (next === inner) continue;
    if (copy === value) copy = (Array.isArray(value) ? [...value] : { ...value }) as typeof copy;
    if (next === undefined) delete copy[key];
    else copy[key] = next;
  }
  return copy !== value && Array.isArray(copy) ? copy.flat() : copy;
}

/** A subschema as an object: one that is `true` or `false` can be said as an object too. */
function toObjectSchema(schema: unknown): unknown {
  return schema === true ? {} : schema === false ? { not: {} } : schema;
}
