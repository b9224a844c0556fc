// The report for CI: JUnit XML, a suite for each topic and a case for each check. What does not fail the run is in system-out.
import { topicOf } from "./check.ts";
import { groupBy } from "./report-text.ts";
import type { Entry } from "./run.ts";

export interface JunitOptions {
  /** Whether an entry fails the run. */
  readonly isFailure: (entry: Entry) => boolean;
}

// XML 1.0 has no way to write controls, halves of pairs and two more, not even escaped.
const unwritable = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text that may stand in an element or an attribute. */
export function escapeXml(text: string): string {
  return text.replace(unwritable, "\ufffd").replace(/[&<>"']/g, (one) => entities[one] as string);
}

export function formatJunit(entries: readonly Entry[], { isFailure }: JunitOptions): string {
  const suites = [...groupBy(entries, ({ check }) => topicOf(check))].map(([topic, own]) => {
    const cases = [...groupBy(own, ({ check }) => check.id).values()];
    const failures = cases.filter((ofCheck) => ofCheck.some(isFailure)).length;
    const skipped = cases.filter(([first]) => first?.status === "skipped").length;
    const text = cases.map((ofCheck) => formatCase(topic, ofCheck, isFailure)).join("");
    return {
      tests: cases.length,
      failures,
      text: `  <testsuite name="${escapeXml(topic)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">\n${text}  </testsuite>\n`,
    };
  });
  const sum = (of: (suite: (typeof suites)[number]) => number): number => suites.reduce((all, one) => all + of(one), 0);
  const total = `tests="${sum(({ tests }) => tests)}" failures="${sum(({ failures }) => failures)}" errors="0"`;
  const body = suites.map(({ text }) => text).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="plenum doctor" ${total}>\n${body}</testsuites>\n`;
}

function formatCase(topic: string, entries: readonly Entry[], isFailure: JunitOptions["isFailure"]): string {
  const [first] = entries as [Entry];
  const open = `    <testcase classname="doctor.${escapeXml(topic)}" name="${escapeXml(first.check.id)}: ${escapeXml(first.check.title)}"`;
  if (first.status === "skipped")
    return `${open}>\n      <skipped message="${escapeXml(first.message)}"/>\n    </testcase>\n`;
  const failed = entries.filter(isFailure);
  const others = entries.filter((entry) => entry.status === "failed" && !isFailure(entry));
  // One element for all: not every reader takes several.
  const failure =
    failed.length > 0
      ? `      <failure type="${escapeXml(first.check.id)}" message="${escapeXml(toLine(failed[0] as Entry))}">${escapeXml(failed.map(toText).join("\n"))}</failure>\n`
      : "";
  const told = others.length > 0 ? `      <system-out>${escapeXml(others.map(toText).join("\n"))}</system-out>\n` : "";
  return failure || told ? `${open}>\n${failure}${told}    </testcase>\n` : `${open}/>\n`;
}

function toLine({ where, message }: Entry): string {
  return where === undefined ? message : `${where}: ${message}`;
}

function toText(entry: Entry): string {
  const { severity, remedy, revision } = entry;
  return `${severity}: ${toLine(entry)}${revision ? ` [${revision}]` : ""}${remedy ? `\n  ${remedy}` : ""}`;
}
