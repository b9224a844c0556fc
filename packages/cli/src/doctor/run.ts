// Runs checks one after the other, each within its time, and gives what they found.
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "../failure.ts";
import { toFailure } from "../show-failure.ts";
import { type Check, isAbout, type Severity, topicOf, type Verdict } from "./check.ts";
import { checks } from "./checks.ts";
import type { Ground } from "./ground.ts";
import { reasonOf } from "./visit.ts";

/** One line of a report: what a check found, or that it found nothing. */
export interface Entry {
  readonly check: Check;
  readonly status: "passed" | "failed" | "skipped";
  readonly severity: Severity;
  readonly message: string;
  readonly where: string | undefined;
  readonly remedy: string | undefined;
  readonly revision: string | undefined;
}

/** The checks that are meant by names or topics. Throws a Failure for one that there is not. */
export function selectChecks(only: readonly string[], without: readonly string[]): readonly Check[] {
  const topics = [...new Set(checks.map(topicOf))];
  const known = [...checks.map(({ id }) => id), ...topics];
  const names = (given: readonly string[]): string[] => given.flatMap((one) => one.split(",")).map((one) => one.trim());
  for (const name of [...names(only), ...names(without)]) {
    if (known.includes(name)) continue;
    const near = nearestTo(name, known);
    throw new Failure("usage", `There is no check "${name}"`, {
      code: "unknown_check",
      hint: `${near ? `Did you mean "${near}"? ` : ""}The topics are ${topics.join(", ")}.`,
    });
  }
  const isNamed = (given: readonly string[]) => (check: Check) =>
    names(given).some((name) => name === check.id || name === topicOf(check));
  return checks.filter((check) => (only.length === 0 || isNamed(only)(check)) && !isNamed(without)(check));
}

/** A check may take several requests; more time than this is taken for a server that hangs. */
const maxRequests = 6;

export async function runChecks(
  selected: readonly Check[],
  ground: Ground,
  onProgress: (text: string) => void,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  // Of who says nothing at all there is one thing to say, whatever was to be looked at.
  const meant = isSilent(ground) ? checks.filter(({ id }) => id === "connects/revisions") : selected;
  for (const check of meant.filter((one) => isAbout(one, ground.spec.kind))) {
    ground.signal.throwIfAborted();
    onProgress(`Checking ${check.id} …`);
    const verdict = await runOne(check, ground);
    entries.push(...toEntries(check, (await reopen(ground)) ?? verdict));
  }
  return entries;
}

/** Nobody is there, or nobody has said a word in any revision. A server over HTTP that refuses us has said something. */
function isSilent({ stays, spec }: Ground): boolean {
  return stays.every(
    ({ visit, record, error }) =>
      !visit && record.firstAnswerMs === undefined && (spec.kind !== "url" || toFailure(error).exit === "unreachable"),
  );
}

/** One who dies of a check is started again for the next, and that is what there is to say. */
async function reopen(ground: Ground): Promise<Verdict | undefined> {
  const remedy = "Start the server by itself, send it what this check looks at, and read what it writes to stderr.";
  const message = "The server ended while this was checked, or closed the connection.";
  try {
    return (await ground.reopen()) ? { findings: [{ message, severity: "error", remedy }] } : undefined;
  } catch {
    ground.signal.throwIfAborted();
    return { findings: [{ message: `${message} It does not start again.`, severity: "error", remedy }] };
  }
}

async function runOne(check: Check, ground: Ground): Promise<Verdict> {
  if (check.needsConnection !== false && !ground.first.visit)
    return { findings: [], skipped: "there is no connection" };
  const limitMs = Math.max(10_000, ground.timeoutMs * maxRequests);
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not done in ${limitMs / 1000} s`)), limitMs);
    stop = () => reject(ground.signal.reason);
    ground.signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([(async () => check.run(ground))(), late]);
  } catch (error) {
    ground.signal.throwIfAborted();
    // What a check does not expect is the server's doing more often than not: it must not look as if all were well.
    return { findings: [{ message: `This could not be checked: ${reasonOf(error)}.`, severity: "warning" }] };
  } finally {
    clearTimeout(timer);
    if (stop) ground.signal.removeEventListener("abort", stop);
  }
}

function toEntries(check: Check, { findings, summary, skipped }: Verdict): Entry[] {
  const base = { check, severity: check.severity, where: undefined, remedy: undefined, revision: undefined };
  if (skipped !== undefined) return [{ ...base, status: "skipped", message: skipped }];
  if (findings.length === 0) return [{ ...base, status: "passed", message: summary ?? "" }];
  return findings.map(({ message, where, severity = check.severity, remedy = check.remedy, revision }) => ({
    check,
    status: "failed",
    severity,
    message,
    where,
    remedy,
    revision,
  }));
}
