// The wires of the five revisions. Importing this prepares nothing: tables, checks and fits come on first use.
import { type Revision, revisions } from "../revisions.ts";
import { shapes as shapes2024 } from "./2024-11-05.ts";
import { shapes as shapes2025March } from "./2025-03-26.ts";
import { shapes as shapes2025June } from "./2025-06-18.ts";
import { shapes as shapes2025November } from "./2025-11-25.ts";
import { shapes as shapes2026 } from "./2026-07-28.ts";
import { createChecks } from "./check.ts";
import { createFits, type Sheet } from "./fit.ts";
import { once } from "./once.ts";
import type { Wire } from "./shape.ts";
import { createTable } from "./table.ts";

/** In the order of `revisions`. */
const changes = [shapes2024, shapes2025March, shapes2025June, shapes2025November, shapes2026];

/** The table and the checks of a revision, made once. */
export const sheetOf: (revision: Revision) => Sheet = once((revision) => {
  const table = createTable(changes.slice(0, revisions.indexOf(revision) + 1));
  return { table, checkOf: createChecks(table) };
});

/** The wire of a revision, made once. */
export const wireOf: (revision: Revision) => Wire = once((revision) => {
  const sheet = sheetOf(revision);
  const { has } = sheet.table;
  let fitOf: ReturnType<typeof createFits> | undefined;
  return {
    revision,
    has,
    check(name, value, at = "") {
      if (!has(name)) return `${at || name} is not part of revision ${revision}`;
      const problem = sheet.checkOf(name)(value);
      return problem === undefined ? problem : at ? at + problem : problem.replace(/^[. ]/, "");
    },
    fit<T>(name: string, value: T): T {
      fitOf ??= createFits(sheet, revisions.map(sheetOf));
      return has(name) ? (fitOf(name)(value) as T) : value;
    },
  };
});
