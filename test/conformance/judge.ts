// What the checks of a scenario come to. Stricter than the suite, which shows a tick where nothing was checked at all,
// and passes over warnings: here a scenario has passed when something was checked and nothing is left to be wished for.
import type { Answers } from "./everything.ts";

export interface Check {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
  readonly specReferences?: readonly unknown[];
  readonly details?: unknown;
}

/** Checks that cannot be made where it is right that they cannot: the suite says SKIPPED or INFO. */
interface Exception {
  readonly scenario: string;
  /** The id of the check, or its name where several have the id. */
  readonly check: string;
  /** Only where a server answers this way. */
  readonly answers?: Answers;
  readonly why: string;
}

export const exceptions: readonly Exception[] = [
  {
    scenario: "server-sse-multiple-streams",
    check: "server-sse-streams-functional",
    answers: "auto",
    why: "a list is answered with JSON; the same is run with streams",
  },
  {
    scenario: "initialize",
    check: "server-info",
    why: "it tells of the suite's own server",
  },
  {
    scenario: "auth/scope-retry-limit",
    check: "scope-retry-auth-attempt",
    why: "it tells of an attempt; how many there were is a check of its own",
  },
  ...["initialize", "notifications_initialized"].map((method) => ({
    scenario: "http-standard-headers",
    check: `ClientMcpMethodHeader_${method}`,
    why: "2026-07-28 has no such message",
  })),
];

// They look at the messages that happened to pass, and are content with none.
const isOfWire = ({ id }: Check): boolean => id.startsWith("wire-schema-");

/** What is wrong with a scenario's checks, in words. Nothing: it has passed. */
export function judge(scenario: string, checks: readonly Check[] | undefined, answers?: Answers): string[] {
  if (!checks) return ["the suite could not run it: it left no checks"];
  const problems: string[] = [];
  for (const check of checks) {
    const { id, name, status, description, errorMessage } = check;
    if (status === "SUCCESS") continue;
    // Of what is only told, some are checks that could not be made: those refer to the specification.
    if (status === "INFO" && !check.specReferences?.length) continue;
    const isFine = exceptions.some(
      (one) =>
        one.scenario === scenario &&
        (one.check === id || one.check === name) &&
        (one.answers === undefined || one.answers === answers),
    );
    if (isFine && (status === "SKIPPED" || status === "INFO")) continue;
    problems.push(`${status} ${id} (${name}): ${errorMessage ?? description}${detailsOf(check)}`);
  }
  if (!checks.some((check) => check.status === "SUCCESS" && !isOfWire(check)))
    problems.push("no check of it was made and passed");
  return problems;
}

function detailsOf({ details }: Check): string {
  const text = JSON.stringify(details);
  return text && text !== "{}" ? `\n${text.slice(0, 1000)}` : "";
}
