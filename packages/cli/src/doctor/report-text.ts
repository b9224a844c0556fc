// The report for people: by topic, a line for each check, and under it what was found and what to do.
import { type Paint, toHarmless, toLine } from "../output.ts";
import { topicOf } from "./check.ts";
import type { Entry } from "./run.ts";
import { countOf } from "./words.ts";

export interface TextOptions {
  readonly paint: Paint;
  /** The terminal shows more than ASCII. */
  readonly isUnicode: boolean;
  /** Findings of one check; more are only counted. */
  readonly maxFindings?: number;
}

/** Places of one finding; more are only counted. */
const maxPlaces = 5;

interface Marks {
  readonly passed: string;
  readonly note: string;
  readonly warning: string;
  readonly error: string;
  readonly skipped: string;
  readonly arrow: string;
}

const unicode: Marks = { passed: "✓", note: "·", warning: "!", error: "✗", skipped: "-", arrow: "→" };
const ascii: Marks = { passed: "ok", note: "i ", warning: "! ", error: "x ", skipped: "- ", arrow: "->" };

const styles = { passed: "green", note: "cyan", warning: "yellow", error: "red", skipped: "dim" } as const;

/** Whether the locale says that text is UTF-8. */
export function isUnicodeLocale(env: NodeJS.ProcessEnv, platform: string = process.platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  if (locale !== "") return /utf-?8/i.test(locale);
  // Terminals of these show it whatever the variables say.
  return platform === "darwin" || (platform === "win32" && env.WT_SESSION !== undefined);
}

const order = ["error", "warning", "note"] as const;

/** The worst of one check's findings; undefined where it found nothing. */
function worstOf(entries: readonly Entry[]): (typeof order)[number] | undefined {
  return order.find((severity) => entries.some((one) => one.status === "failed" && one.severity === severity));
}

export function formatText(entries: readonly Entry[], { paint, isUnicode, maxFindings = 8 }: TextOptions): string {
  const marks = isUnicode ? unicode : ascii;
  const lines: string[] = [];
  for (const [topic, own] of groupBy(entries, ({ check }) => topicOf(check))) {
    lines.push(paint("bold", topic));
    // Of what is not there nothing can be said: one line for all that look at it.
    const idle = groupBy(
      own.filter(({ status }) => status === "skipped"),
      ({ message }) => message,
    );
    const isTold = ({ status, message }: Entry): boolean => status !== "skipped" || idle.get(message)?.length === 1;
    for (const [, ofCheck] of groupBy(own.filter(isTold), ({ check }) => check.id))
      lines.push(...formatCheck(ofCheck, marks, paint, maxFindings));
    for (const [why, { length }] of idle)
      if (length > 1) lines.push(paint("dim", `  ${marks.skipped} ${length} checks skipped: ${toHarmless(why)}`));
    lines.push("");
  }
  lines.push(formatTotal(entries, paint));
  const text = `${lines.join("\n")}\n`;
  return isUnicode ? text : text.replaceAll("…", "...").replaceAll("–", "-");
}

function formatCheck(entries: readonly Entry[], marks: Marks, paint: Paint, maxFindings: number): string[] {
  const [{ check, status, message } = {} as Entry] = entries;
  if (status === "skipped") return [paint("dim", `  ${marks.skipped} ${check.title}: ${toHarmless(message)}`)];
  const worst = worstOf(entries);
  const name = worst ?? "passed";
  const summary = worst || !message ? "" : paint("dim", ` (${toHarmless(message)})`);
  const id = worst ? paint("dim", `  ${check.id}`) : "";
  const lines = [`  ${paint(styles[name], marks[name])} ${check.title}${summary}${id}`];
  if (!worst) return lines;
  // The same of many is said once.
  const told = [...groupBy(entries, ({ message: one, revision }) => `${one}\n${revision}`).values()];
  for (const alike of told.slice(0, maxFindings)) {
    const [{ message: one, revision } = {} as Entry] = alike;
    const places = alike.flatMap(({ where }) => (where === undefined ? [] : [where]));
    const more = places.length > maxPlaces ? ` and ${places.length - maxPlaces} more` : "";
    const place = places.length === 0 ? "" : `${places.slice(0, maxPlaces).join(", ")}${more}: `;
    const since = revision === undefined ? "" : paint("dim", ` [${revision}]`);
    lines.push(`      ${toLine(place)}${toHarmless(one)}${since}`);
  }
  if (told.length > maxFindings)
    lines.push(paint("dim", `      … and ${told.length - maxFindings} more; --format json has all`));
  for (const remedy of new Set(entries.map((entry) => entry.remedy)))
    if (remedy) lines.push(`      ${marks.arrow} ${remedy}`);
  return lines;
}

/** "41 checks: 36 passed, 1 with errors, 2 with warnings, 2 with notes; 3 not applicable here". */
function formatTotal(entries: readonly Entry[], paint: Paint): string {
  const byCheck = [...groupBy(entries, ({ check }) => check.id).values()];
  const count = (is: (own: readonly Entry[]) => boolean): number => byCheck.filter(is).length;
  const skipped = count((own) => own[0]?.status === "skipped");
  const parts = order.flatMap((severity) => {
    const number = count((own) => worstOf(own) === severity);
    return number > 0 ? [paint(styles[severity], `${number} with ${severity}s`)] : [];
  });
  const passed = count((own) => own[0]?.status === "passed");
  const rest = skipped > 0 ? `; ${skipped} skipped` : "";
  return `${countOf(byCheck.length - skipped, "check")}: ${[paint("green", `${passed} passed`), ...parts].join(", ")}${rest}`;
}

export function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key) ?? [];
    group.push(one);
    groups.set(key, group);
  }
  return groups;
}
