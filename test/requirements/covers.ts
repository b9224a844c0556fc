// Names the requirements that a test proves. The names travel on the test's meta data to reporter.ts, which counts
// them when the test has passed.
import { expect, TestRunner } from "vitest";
import { scanIds } from "./catalog.ts";

/** One call of `covers`: these requirements, in one revision or in all in which they hold. */
export interface Cover {
  readonly id: string;
  readonly revision?: string;
}

declare module "vitest" {
  interface TaskMeta {
    covers?: Cover[];
  }
}

const catalog = scanIds();
const revisions = new Set([...catalog.values()].flat());

/**
 * Says that the running test proves these requirements, and makes it fail if it asserts nothing. Call it inside the
 * test, before the first `await`.
 *
 * With a revision, the test counts for that revision only; a requirement that does not hold in it is passed over, so a
 * test over all revisions can name everything it proves once. Without, it counts for every revision of the requirement.
 *
 * @throws when an id or the revision is not in the catalog, or outside a test
 */
export function covers(ids: string | readonly string[], revision?: string): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error("covers() is called inside a test");
  if (revision !== undefined && !revisions.has(revision)) throw new Error(`covers(): no such revision: ${revision}`);
  expect.hasAssertions();
  test.meta.covers ??= [];
  const list = test.meta.covers;
  for (const id of typeof ids === "string" ? [ids] : ids) {
    const holdsIn = catalog.get(id);
    if (holdsIn === undefined) throw new Error(`covers(): no such requirement: ${id}`);
    if (revision !== undefined && !holdsIn.includes(revision)) continue;
    if (list.some((cover) => cover.id === id && cover.revision === revision)) continue;
    list.push(revision === undefined ? { id } : { id, revision });
  }
}
