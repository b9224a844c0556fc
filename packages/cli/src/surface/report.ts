// Changes as text for people. Wording comes with the texts themselves: whoever reviews must see what models will read.
import { type Paint, toHarmless } from "../output.ts";
import { type Change, type ChangeClass, changeClasses } from "./changes.ts";

const styles: { readonly [cls in ChangeClass]: "red" | "green" | "yellow" } = {
  breaking: "red",
  additive: "green",
  wording: "yellow",
};

// Characters that nobody sees, or that turn the order of what is seen around: good for hiding words from people, not from models.
const unseen = /\p{Default_Ignorable_Code_Point}|[\u2028-\u202e]/gu;

/** A text of somebody else's with all that it holds to be seen. */
export function toVisible(text: string): string {
  return toHarmless(text.replace(unseen, (one) => `\\u{${(one.codePointAt(0) as number).toString(16)}}`));
}

export function countChanges(changes: readonly Change[]): { readonly [cls in ChangeClass]: number } {
  const count = (cls: ChangeClass): number => changes.filter((one) => one.class === cls).length;
  return { breaking: count("breaking"), additive: count("additive"), wording: count("wording") };
}

/** Breaking changes first. Empty where there are none. */
export function formatChanges(changes: readonly Change[], paint: Paint): string {
  const sections = changeClasses.flatMap((cls) => {
    const own = changes.filter((one) => one.class === cls);
    if (own.length === 0) return [];
    const title = paint(styles[cls], `${cls} (${own.length})`);
    return [[title, ...own.map((one) => formatChange(one, paint))].join("\n")];
  });
  return sections.join("\n\n");
}

function formatChange({ kind, name, at, reason, before, after }: Change, paint: Paint): string {
  const place = paint("bold", `${kind} ${toVisible(name)}`);
  const head = `  ${place}${at ? ` ${toVisible(at)}` : ""}: ${toVisible(reason)}`;
  const lines = [
    ...(before === undefined ? [] : toLines(before, "-").map((line) => paint("red", line))),
    ...(after === undefined ? [] : toLines(after, "+").map((line) => paint("green", line))),
  ];
  return [head, ...lines].join("\n");
}

function toLines(text: string, mark: "-" | "+"): string[] {
  return toVisible(text)
    .split("\n")
    .map((line) => `    ${mark} ${line}`);
}

/** One line that sums it up. */
export function formatCounts(changes: readonly Change[]): string {
  const counts = countChanges(changes);
  return changeClasses.map((cls) => `${counts[cls]} ${cls}`).join(", ");
}

export const wordingAdvice =
  "Wording is what models read and decide by. A server that changes it changes what your agent does: read each text above.";
