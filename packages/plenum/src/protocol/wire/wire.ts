// The wires of the five revisions. Importing this prepares nothing: tables, checks and fits come on first use.
import type { Revision } from "../revisions.ts";
import { shapes as shapes2024 } from "./2024-11-05.ts";
import { shapes as shapes2025March } from "./2025-03-26.ts";
import { shapes as shapes2025June } from "./2025-06-18.ts";
import { shapes as shapes2025November } from "./2025-11-25.ts";
import { shapes as shapes2026 } from "./2026-07-28.ts";
import { createSheet, once, type Sheet } from "./check.ts";
import { createFits } from "./fit.ts";
import type { Wire } from "./shape.ts";

const changes: { [R in Revision]: string } = {
  "2024-11-05": shapes2024,
  "2025-03-26": shapes2025March,
  "2025-06-18": shapes2025June,
  "2025-11-25": shapes2025November,
  "2026-07-28": shapes2026,
};

const revisions = Object.keys(changes) as Revision[];

function createWire(revision: Revision): Sheet & Wire {
  const before = revisions[revisions.indexOf(revision) - 1];
  const sheet = createSheet(changes[revision], before && sheetOf(before));
  let fitOf: ReturnType<typeof createFits> | undefined;
  const has = (name: string) => sheet.shapes.has(name);
  const known = once((name: string) => [has(name) && sheet.typeOf(name)[0]] as const);
  return {
    ...sheet,
    has,
    check(name, value, at = "") {
      const check = known(name)[0];
      if (!check) return `${at || name} is not part of revision ${revision}`;
      const problem = check(value);
      return problem && (at + problem).replace(/^[. ]/, "");
    },
    fit<T>(name: string, value: T): T {
      fitOf ??= createFits(sheetOf(revision), revisions.map(sheetOf));
      return fitOf(name)(value) as T;
    },
  };
}

let wires = once(createWire);

/** What a wire is made of, for the tests. */
export function sheetOf(revision: Revision): Sheet & Wire {
  return wires(revision);
}

/** The wire of a revision, made once. Not to be kept: shapes may be added. */
export const wireOf: (revision: Revision) => Wire = sheetOf;

/** Adds to what the revisions change. The wires are made anew, when they are used. */
export function addShapes(more: { readonly [R in Revision]: string }): void {
  for (const revision of revisions) changes[revision] += more[revision];
  wires = once(createWire);
}
