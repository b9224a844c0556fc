// From the sheets of all revisions to prepared changes: what one revision may not carry is left out or retold.
import { isObject, type JsonObject } from "../../jsonrpc/message.ts";
import { choose, type Form, once, pick, type Sheet } from "./check.ts";

/** The value as the revision may carry it; the same reference when it may carry it as it is. */
export type Fit = (value: unknown) => unknown;

const asIs: Fit = (value) => value;
const leftOut: Fit = () => undefined;

/** The changes towards one of the sheets. */
export function createFits(own: Sheet, all: readonly Sheet[]): (expression: string) => Fit {
  const others = all.filter((sheet) => sheet !== own);

  const fitOf = once((expression: string): Fit => {
    if (expression === "schema") return toObjectSchema;
    const [, forms, of] = own.typeOf(expression);
    const fits = new Map(forms.map((form) => [form, shapeFit(form)]));
    const strange = others.flatMap((sheet) => sheet.typeOf(expression)[1]).filter(([name]) => !own.shapes.has(name));
    const inner = of ? fitOf(of) : asIs;
    if (inner === asIs && !strange[0] && forms.every((form) => fits.get(form) === asIs)) return asIs;
    return (value) => {
      if (typeof value !== "object" || !value) return value;
      if (!isObject(value) || !forms[0])
        return alter(
          value,
          Object.keys(value).map((key) => [key, inner]),
        );
      const known = choose(strange, value) ? degrade(value) : value;
      const form = pick(forms, known);
      return form ? fits.get(form)?.(known) : known;
    };
  });

  function shapeFit([name, parts]: Form): Fit {
    const elsewhere = others.flatMap((sheet) => sheet.formOf(name)[1]);
    const fits = new Map<string, Fit>(elsewhere.map(([key]) => [key, leftOut]));
    for (const [key, expression, optional, check] of parts) {
      const fit = fitOf(expression);
      // A member that may be left out is, when its value is right elsewhere but wrong here.
      const wider = elsewhere.filter((other) => optional && other[0] === key && other[1] !== expression);
      if (fit === asIs && !wider[0]) fits.delete(key);
      else
        fits.set(key, (inner) => {
          const next = fit(inner);
          return wider.some((other) => !other[3](inner)) && check(next) ? undefined : next;
        });
    }
    return fits.size > 0 ? (value) => alter(value as JsonObject, fits) : asIs;
  }

  return fitOf;
}

/** The value with what is under these keys fitted; what becomes undefined is left out. */
function alter(value: object, fits: Iterable<readonly [string, Fit]>): object {
  let copy = value as { [key: string]: unknown };
  for (const [key, fit] of fits) {
    const inner = copy[key];
    const next = fit(inner);
    if (next === inner) continue;
    if (copy === value) copy = (Array.isArray(value) ? [...value] : { ...value }) as typeof copy;
    if (next === undefined) delete copy[key];
    else copy[key] = next;
  }
  return copy;
}

/** How content that an older revision lacks is told in words, by its type. */
const words: { readonly [type: string]: (block: JsonObject) => string } = {
  audio({ mimeType, data }) {
    // Four letters are three bytes; the padding counts for none.
    const bytes = (String(data).replace(/=+$/, "").length * 3) >> 2;
    return `[${mimeType} audio, ${bytes} bytes: this client's protocol revision cannot carry audio]`;
  },
  resource_link: ({ name, title = name, uri, description }) => [title, uri, description].filter(Boolean).join(" - "),
  tool_use: JSON.stringify,
  tool_result: JSON.stringify,
};

/** What an older revision lacks but can still tell of: other content as text, titled choices as an enum with names. */
function degrade({ oneOf, ...value }: JsonObject): JsonObject {
  const tell = words[String(value.type)];
  if (tell) return { type: "text", text: tell(value), annotations: value.annotations };
  if (!Array.isArray(oneOf)) return value;
  return { ...value, enum: oneOf.map((choice) => choice?.const), enumNames: oneOf.map((choice) => choice?.title) };
}

/** A subschema as an object: one that is `true` or `false` can be said as an object too. */
function toObjectSchema(schema: unknown): unknown {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
}
