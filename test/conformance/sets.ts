// Which scenarios are run, and how the suite is told: the requirements of a revision where it has some, which bring the other
// scenarios of that revision and those of extensions with them, and all that applies to it otherwise.
import { listScenarios, readExtensions, readRequired, type Side } from "./suite.ts";

export interface Scenario {
  readonly name: string;
  readonly isRequired: boolean;
  /** The suite takes it for part of no revision, and has to be told that it is meant. */
  readonly isExtension: boolean;
}

export interface ScenarioSet {
  readonly revision: string;
  /** What chooses it on the suite's command line. */
  readonly choice: readonly string[];
  readonly scenarios: readonly Scenario[];
}

/** The revisions that the suite knows. */
const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const withRequirements = ["2025-11-25", "2026-07-28"];

export async function readSets(side: Side): Promise<ScenarioSet[]> {
  const sets = await Promise.all(revisions.map((revision) => readSet(side, revision)));
  return sets.filter(({ scenarios }) => scenarios.length > 0);
}

/** Of extensions, those that are built: the ways to a token. */
const isBuilt = (name: string): boolean => name.startsWith("auth/");

export async function readSet(side: Side, revision: string): Promise<ScenarioSet> {
  const hasRequirements = withRequirements.includes(revision);
  const required = hasRequirements ? readRequired(side, revision) : [];
  const extensions = hasRequirements ? readExtensions(side, revision).filter(isBuilt) : [];
  const names = new Set([...required, ...(await listScenarios(side, revision)), ...extensions]);
  return {
    revision,
    choice: hasRequirements ? ["--requirements", revision] : ["--suite", "all", "--spec-version", revision],
    scenarios: [...names].map((name) => ({
      name,
      isRequired: required.includes(name),
      isExtension: extensions.includes(name),
    })),
  };
}
