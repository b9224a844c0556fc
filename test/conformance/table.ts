// The rows of a run: what was looked at, and what was wrong with it.

export interface Row {
  readonly name: string;
  /** Empty: it has passed. */
  readonly problems: readonly string[];
  readonly checks: number | undefined;
  /** What it is counted with, such as the scenarios that a revision requires. */
  readonly group: string | undefined;
}

export interface Table {
  readonly rows: readonly Row[];
  readonly passed: number;
  readonly failed: number;
  /** Whether a row of this name is wanted. */
  wants(name: string): boolean;
  add(
    name: string,
    problems: readonly string[],
    more?: { readonly checks?: number | undefined; readonly group?: string | undefined },
  ): void;
  /** How many of each group have passed, a line each. */
  summary(): string[];
}

export function createTable(write: (line: string) => void, only?: string): Table {
  const rows: Row[] = [];
  const wants = (name: string): boolean => only === undefined || name.includes(only);
  return {
    rows,
    get passed() {
      return rows.filter(({ problems }) => problems.length === 0).length;
    },
    get failed() {
      return rows.filter(({ problems }) => problems.length > 0).length;
    },
    wants,
    add(name, problems, { checks, group } = {}) {
      rows.push({ name, problems, checks, group });
      const count = checks === undefined ? "" : ` (${checks} checks)`;
      write(`${problems.length === 0 ? "ok  " : "FAIL"} ${name}${count}`);
      for (const problem of problems) write(`     ${problem.replaceAll("\n", "\n       ")}`);
    },
    summary() {
      const groups = new Map<string, { all: number; passed: number }>();
      for (const { group = "texts, controls and programs", problems } of rows) {
        const { all, passed } = groups.get(group) ?? { all: 0, passed: 0 };
        groups.set(group, { all: all + 1, passed: passed + (problems.length === 0 ? 1 : 0) });
      }
      return [...groups].map(([group, { all, passed }]) => `${group}: ${passed} of ${all}`);
    },
  };
}
