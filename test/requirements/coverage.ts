// What the tests have to cover, and whether they do: pure functions from catalog, covers and exemptions to a verdict.
// A requirement is judged once for every revision in which it holds.
import type { Entry, Level } from "./catalog.ts";
import type { Cover } from "./covers.ts";

/** The topics of the rooms that are built; more join as the house grows. */
export const gateTopics: readonly string[] = [
  ...["rpc", "meta", "stateless", "jsonschema", "version", "extension", "era", "lifecycle", "discover", "cancel"],
  ...["progress", "subscription", "cache", "page", "tool", "resource", "prompt", "completion", "logging", "schema"],
  ...["transport", "stdio", "timeout", "ping", "root", "sampling", "elicitation", "mrtr"],
  ...["http", "session", "header", "sse"],
  ...["auth-discovery", "auth-flow", "auth-registration", "auth-third-party", "ext-auth", "security"],
];

/** The rooms still to come, which an exemption may wait for. */
export const laterRooms = ["tasks", "host"] as const;

/** One item of exempt.yaml. */
export interface Exemption {
  readonly ids: readonly string[];
  readonly reason: string;
  /** The room that will make it observable. MUST, MUST NOT and schema entries may be exempted no other way. */
  readonly until?: string;
  /** Only these revisions; all revisions of the entry if absent. */
  readonly revisions?: readonly string[];
}

/**
 * What is asked of an entry. `must`: a test. `should`: a test or a reason. `free`: nothing.
 */
export type Duty = "must" | "should" | "free";

/** `beyond`: covered, though the gate does not ask for it. */
export type State = "covered" | "missing" | "exempt" | "beyond" | "free";

export interface Judged {
  readonly entry: Entry;
  readonly revision: string;
  readonly duty: Duty;
  readonly state: State;
}

export interface Verdict {
  readonly judged: readonly Judged[];
  /** What is wrong with the covers or the exemptions themselves. */
  readonly problems: readonly string[];
  /** No problems, and nothing missing. */
  readonly met: boolean;
}

export function isObservable(entry: Entry): boolean {
  return !entry.check.toLowerCase().startsWith("not observable");
}

export function dutyOf(entry: Entry): Duty {
  if (!gateTopics.includes(entry.topic) || !isObservable(entry) || entry.level === "MAY") return "free";
  // What a host shows its user is for the host to prove.
  if (entry.role === "host") return "free";
  return entry.level === "SHOULD" || entry.level === "SHOULD NOT" ? "should" : "must";
}

const key = (id: string, revision: string): string => `${id} ${revision}`;

/** Judges every entry in every revision. */
export function judge(catalog: readonly Entry[], covers: readonly Cover[], exemptions: readonly Exemption[]): Verdict {
  const byId = new Map(catalog.map((entry) => [entry.id, entry]));
  const problems: string[] = [];
  const covered = new Set<string>();
  for (const { id, revision } of covers) {
    const entry = byId.get(id);
    if (entry === undefined) problems.push(`a test covers ${id}, which is not in the catalog`);
    else for (const one of revision === undefined ? entry.revisions : [revision]) covered.add(key(id, one));
  }
  const exempt = checkExemptions(byId, covered, exemptions, problems);
  const judged = catalog.flatMap((entry) => {
    const duty = dutyOf(entry);
    return entry.revisions.map((revision): Judged => {
      const at = key(entry.id, revision);
      return { entry, revision, duty, state: stateOf(duty, covered.has(at), exempt.has(at)) };
    });
  });
  const met = problems.length === 0 && judged.every(({ state }) => state !== "missing");
  return { judged, problems: [...new Set(problems)], met };
}

function stateOf(duty: Duty, covered: boolean, exempt: boolean): State {
  if (duty === "must" || duty === "should") return covered ? "covered" : exempt ? "exempt" : "missing";
  if (covered) return "beyond";
  return duty;
}

function checkExemptions(
  byId: ReadonlyMap<string, Entry>,
  covered: ReadonlySet<string>,
  exemptions: readonly Exemption[],
  problems: string[],
): Set<string> {
  const exempt = new Set<string>();
  for (const { ids, reason, until, revisions } of exemptions) {
    if (!Array.isArray(ids) || ids.length === 0) {
      problems.push("an exemption names no ids");
      continue;
    }
    if (typeof reason !== "string" || reason.trim().length < 10)
      problems.push(`no reason is given to exempt ${ids[0]}`);
    if (until !== undefined && !(laterRooms as readonly string[]).includes(until)) {
      problems.push(`${ids[0]} is exempt until "${until}", which is none of ${laterRooms.join(", ")}`);
    }
    for (const id of ids) {
      const entry = byId.get(id);
      if (entry === undefined) {
        problems.push(`${id} is exempt, but not in the catalog`);
        continue;
      }
      const duty = dutyOf(entry);
      if (duty === "free") problems.push(`${id} is exempt, but nothing asks for it`);
      if (duty === "must" && until === undefined) {
        problems.push(`${id} is a ${entry.level}: it can be exempt only until a room that is still to come`);
      }
      for (const revision of revisions ?? entry.revisions) {
        const at = key(id, revision);
        if (!entry.revisions.includes(revision))
          problems.push(`${id} is exempt in ${revision}, where it does not hold`);
        if (exempt.has(at)) problems.push(`${id} is exempt twice in ${revision}`);
        if (covered.has(at))
          problems.push(`${id} is exempt in ${revision}, but a test covers it: remove the exemption`);
        exempt.add(at);
      }
    }
  }
  return exempt;
}

/** Counts of one line of the tables. */
export interface Line {
  readonly title: string;
  readonly counts: Readonly<Record<State, number>>;
}

/** Counts states by a property of what was judged, in the order given; what has no place there comes last as "other". */
export function tabulate(judged: readonly Judged[], by: (one: Judged) => string, order: readonly string[]): Line[] {
  const empty = (): Record<State, number> => ({ covered: 0, missing: 0, exempt: 0, beyond: 0, free: 0 });
  const counts = new Map<string, Record<State, number>>(order.map((title) => [title, empty()]));
  for (const one of judged) {
    const title = order.includes(by(one)) ? by(one) : "other";
    const line = counts.get(title) ?? empty();
    line[one.state] += 1;
    counts.set(title, line);
  }
  return [...counts].map(([title, line]) => ({ title, counts: line }));
}

/** What is missing, one item an entry, with its revisions, in the order of the catalog. */
export function missingEntries(judged: readonly Judged[]): { entry: Entry; revisions: string[] }[] {
  const missing = new Map<Entry, string[]>();
  for (const { entry, revision, state } of judged) {
    if (state !== "missing") continue;
    missing.set(entry, [...(missing.get(entry) ?? []), revision]);
  }
  return [...missing].map(([entry, revisions]) => ({ entry, revisions }));
}

/** The order in which levels are shown. */
export const levelOrder: readonly Level[] = ["MUST", "MUST NOT", "schema", "SHOULD", "SHOULD NOT", "MAY"];
