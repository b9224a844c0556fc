// How requirements are traced: what is asked for, what counts as covered, which exemptions stand.
import { describe, expect, test } from "vitest";
import { type Entry, loadCatalog, scanIds } from "../requirements/catalog.ts";
import {
  type Duty,
  dutyOf,
  type Exemption,
  judge,
  missingEntries,
  type State,
  tabulate,
} from "../requirements/coverage.ts";
import { covers } from "../requirements/covers.ts";
import { counts } from "../requirements/reporter.ts";

const old = "2024-11-05";
const recent = "2026-07-28";

function entry(fields: Partial<Entry> = {}): Entry {
  const requirement = "Something holds.";
  const check = "Look at it.";
  const base: Entry = {
    id: "tool-a",
    topic: "tool",
    level: "MUST",
    role: "server",
    revisions: [old, recent],
    requirement,
    check,
  };
  return { ...base, ...fields };
}

describe("what is asked of an entry", () => {
  const cases: [string, Partial<Entry>, Duty][] = [
    ["a MUST of the server", {}, "must"],
    ["a MUST NOT of both", { level: "MUST NOT", role: "both" }, "must"],
    ["a schema entry of the server", { level: "schema" }, "must"],
    ["a schema entry of both, in the schema topic", { level: "schema", role: "both", topic: "schema" }, "must"],
    ["a schema entry of the client", { level: "schema", role: "client" }, "must"],
    ["a SHOULD", { level: "SHOULD" }, "should"],
    ["a SHOULD NOT", { level: "SHOULD NOT", role: "both" }, "should"],
    ["a MAY", { level: "MAY" }, "free"],
    ["a MUST of the client", { role: "client" }, "must"],
    ["a MUST of the host", { role: "host" }, "free"],
    ["a MUST that cannot be seen", { check: "not observable: nobody looks." }, "free"],
    ["a MUST of a room to come", { topic: "task" }, "free"],
  ];
  test.each(cases)("%s", (_, fields, duty) => {
    expect(dutyOf(entry(fields))).toBe(duty);
  });
});

function states(entries: readonly Entry[], ...rest: [Parameters<typeof judge>[1], (readonly Exemption[])?]): State[] {
  return judge(entries, rest[0], rest[1] ?? []).judged.map(({ state }) => state);
}

describe("covering", () => {
  test("counts for one revision, or for all", () => {
    expect(states([entry()], [])).toEqual(["missing", "missing"]);
    expect(states([entry()], [{ id: "tool-a", revision: old }])).toEqual(["covered", "missing"]);
    expect(states([entry()], [{ id: "tool-a" }])).toEqual(["covered", "covered"]);
    expect(states([entry({ level: "MAY" })], [{ id: "tool-a", revision: old }])).toEqual(["beyond", "free"]);
    expect(states([entry({ level: "schema", role: "client" })], [])).toEqual(["missing", "missing"]);
  });

  test("is enough when nothing is missing", () => {
    const catalog = [entry(), entry({ id: "tool-b", level: "SHOULD" }), entry({ id: "tool-c", level: "MAY" })];
    const both = [{ id: "tool-a" }, { id: "tool-b" }];
    expect(judge(catalog, both, []).met).toBe(true);
    expect(judge(catalog, [{ id: "tool-a" }], []).met).toBe(false);
    expect(judge(catalog, [{ id: "tool-a", revision: old }, { id: "tool-b" }], []).met).toBe(false);
    expect(missingEntries(judge(catalog, [{ id: "tool-a", revision: old }], []).judged)).toEqual([
      { entry: catalog[0], revisions: [recent] },
      { entry: catalog[1], revisions: [old, recent] },
    ]);
  });

  test("of an unknown id is a problem", () => {
    const { met, problems } = judge([entry({ level: "MAY" })], [{ id: "tool-z" }], []);
    expect(met).toBe(false);
    expect(problems).toEqual(["a test covers tool-z, which is not in the catalog"]);
  });
});

describe("an exemption", () => {
  const reason = "It takes a client to see it.";
  const should = entry({ level: "SHOULD" });
  const problems = (
    catalog: readonly Entry[],
    covered: Parameters<typeof judge>[1],
    exemption: Exemption,
  ): readonly string[] => judge(catalog, covered, [exemption]).problems;

  test("stands in for a test", () => {
    expect(judge([should], [], [{ ids: ["tool-a"], reason }])).toMatchObject({ met: true, problems: [] });
    expect(judge([entry()], [], [{ ids: ["tool-a"], reason, until: "tasks" }])).toMatchObject({
      met: true,
      problems: [],
    });
    const one = { ids: ["tool-a"], reason, revisions: [old] };
    expect(states([should], [{ id: "tool-a", revision: recent }], [one])).toEqual(["exempt", "covered"]);
    expect(states([should], [], [one])).toEqual(["exempt", "missing"]);
  });

  test("of a MUST or a schema entry needs a room that is still to come", () => {
    expect(problems([entry()], [], { ids: ["tool-a"], reason })[0]).toContain("only until a room");
    expect(problems([entry({ level: "schema" })], [], { ids: ["tool-a"], reason })[0]).toContain("only until a room");
    expect(problems([entry()], [], { ids: ["tool-a"], reason, until: "someday" })[0]).toContain('until "someday"');
  });

  test("is stale when a test covers what it exempts", () => {
    expect(problems([should], [{ id: "tool-a", revision: old }], { ids: ["tool-a"], reason })).toEqual([
      `tool-a is exempt in ${old}, but a test covers it: remove the exemption`,
    ]);
  });

  test("is wrong without a reason, twice, of nothing known, of nothing asked", () => {
    expect(problems([should], [], { ids: ["tool-a"], reason: " " })[0]).toContain("no reason");
    expect(problems([should], [], { ids: [], reason })[0]).toContain("no ids");
    expect(problems([should], [], { ids: ["tool-a", "tool-a"], reason })[0]).toContain("twice");
    expect(problems([should], [], { ids: ["tool-z"], reason })).toContain("tool-z is exempt, but not in the catalog");
    expect(problems([entry({ level: "MAY" })], [], { ids: ["tool-a"], reason })[0]).toContain("nothing asks for it");
    expect(problems([should], [], { ids: ["tool-a"], reason, revisions: ["2025-03-26"] })[0]).toContain(
      "does not hold",
    );
  });
});

test("a table has a line for each title, and one for the rest", () => {
  const { judged } = judge([entry(), entry({ id: "task-a", topic: "task" })], [{ id: "tool-a", revision: old }], []);
  const lines = tabulate(judged, (one) => one.entry.topic, ["rpc", "tool"]);
  expect(lines.map(({ title }) => title)).toEqual(["rpc", "tool", "other"]);
  expect(lines[0]?.counts).toMatchObject({ covered: 0, missing: 0 });
  expect(lines[1]?.counts).toMatchObject({ covered: 1, missing: 1 });
  expect(lines[2]?.counts).toMatchObject({ free: 2 });
});

describe("the catalog", () => {
  const catalog = loadCatalog();

  test("is read the same way by the report and by the tests", () => {
    expect(catalog.length).toBeGreaterThan(1000);
    expect([...scanIds()]).toEqual(catalog.map(({ id, revisions }) => [id, revisions]));
  });

  test("is asked for in part: something of every kind", () => {
    const duties = new Set(catalog.map(dutyOf));
    expect([...duties].sort()).toEqual(["free", "must", "should"]);
  });
});

describe("covers", () => {
  const meta = (context: { task: { meta: { covers?: unknown } } }): unknown => context.task.meta.covers;

  test("keeps what the test names, once, where it holds", (context) => {
    covers("tool-name-unique");
    covers(["tool-capability", "tool-capability", "tool-output-schema-conform"], old);
    expect(meta(context)).toEqual([{ id: "tool-name-unique" }, { id: "tool-capability", revision: old }]);
    // This test proves nothing of the kind.
    delete context.task.meta.covers;
  });

  test("refuses unknown ids and revisions", (context) => {
    expect(() => covers("tool-nonsense")).toThrow("no such requirement: tool-nonsense");
    expect(() => covers("tool-capability", "2024-11-5")).toThrow("no such revision: 2024-11-5");
    expect(meta(context) ?? []).toEqual([]);
  });

  test("counts for tests that passed, unless they were meant to fail", () => {
    expect(counts("passed", {})).toBe(true);
    expect(counts("failed", {})).toBe(false);
    expect(counts("skipped", {})).toBe(false);
    expect(counts("passed", { fails: true })).toBe(false);
  });
});
