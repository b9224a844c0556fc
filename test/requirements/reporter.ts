// A vitest reporter that keeps what the tests named with `covers`: of passed tests only. It is given on the command
// line by `npm run check`, `npm test` and `npm run requirements`, which run whole projects; a run of a few files by
// hand leaves the kept results alone.
import type { Reporter, SerializedError, TestCase, TestModule, TestProject } from "vitest/node";
import { digestTree, type Run, writeRun } from "./runs.ts";

/** Whether a test's word counts: it passed, and not because it was expected to fail. */
export function counts(state: string, options: { readonly fails?: boolean | undefined }): boolean {
  return state === "passed" && options.fails !== true;
}

type Tally = { -readonly [K in keyof Run]: Run[K] } & { covers: Run["covers"][number][] };

function addTest(tally: Tally, test: TestCase): void {
  const { state } = test.result();
  if (state === "passed") tally.passed += 1;
  else if (state === "failed") tally.failed += 1;
  else tally.skipped += 1;
  if (!counts(state, test.options)) return;
  for (const cover of test.meta().covers ?? []) tally.covers.push({ ...cover, test: test.fullName });
}

export default class RequirementsReporter implements Reporter {
  #digest = "";
  #projects: readonly TestProject[] = [];

  onInit(vitest: { projects: TestProject[] }): void {
    this.#projects = vitest.projects;
  }

  onTestRunStart(): void {
    this.#digest = digestTree();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const { name: project } of this.#projects) {
      const tally: Tally = { project, digest: this.#digest, passed: 0, failed: 0, skipped: 0, covers: [] };
      for (const module of modules.filter((one) => one.project.name === project)) {
        for (const test of module.children.allTests()) addTest(tally, test);
        // A file that cannot be loaded has no tests to fail.
        if (module.state() === "failed" && module.errors().length > 0) tally.failed += 1;
      }
      tally.failed += errors.length;
      writeRun(tally);
    }
  }
}
