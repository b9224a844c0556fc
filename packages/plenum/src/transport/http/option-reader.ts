// Reads an application's options one by one, each as what it must be. A wrong one is a TypeError that says what to give.
import { isObject } from "../../jsonrpc/message.ts";
import { nearestTo } from "../../util/nearest.ts";
import { quote } from "../../util/quote.ts";

/** Each takes the option's name, and gives the fallback, or undefined, where nothing is given. */
export interface OptionReader {
  /** Whatever it is. */
  any(key: string): unknown;
  flag(key: string): boolean;
  /** The first is the fallback. */
  choice<C extends string>(key: string, choices: readonly [C, ...C[]]): C;
  run<F>(key: string): F | undefined;
  text(key: string): string | undefined;
  texts(key: string): readonly string[] | undefined;
  /** Names of headers, in lower case. */
  headers(key: string): readonly string[];
  path(key: string): string | undefined;
  /** A whole number that is at least `least` (1), or Infinity. */
  count(key: string, fallback: number, least?: number): number;
  /** A whole number, 0 or more, that is written somewhere: not Infinity. */
  whole(key: string, fallback: number): number;
  /** Milliseconds above 0, or Infinity: for what is compared with a clock. */
  span(key: string, fallback: number): number;
  /** The same for a timer: no longer than a timer can run. */
  time(key: string, fallback: number): number;
  /** Milliseconds; 0 and Infinity are no limit, as for the time limits of a call. */
  limit(key: string, fallback: number): number;
  /** When all are read: throws a TypeError for an option that nobody has read. */
  end(): void;
}

export interface OptionGroup {
  /** Who was called, for messages: "serveHttp". */
  readonly caller: string;
  /** Options that others read. */
  readonly extra?: readonly string[];
  /** The option that the object itself is. Default: none, it is the options. */
  readonly group?: string;
  /** What the object could have been instead, for messages: "true, false or". */
  readonly or?: string;
  /** What to write for names that others have for an option. */
  readonly synonyms?: { readonly [name: string]: string };
}

/** What setTimeout takes; anything longer would fire at once. */
const maxTimerMs = 2_147_483_647;

/** Throws a TypeError for what is no object. */
export function createReader(
  options: unknown,
  { caller, extra = [], group, or, synonyms = {} }: OptionGroup,
): OptionReader {
  const label = (key: string): string => (group ? `${group}.${key}` : key);
  if (!isObject(options)) {
    const must = or ? `${or} an object` : "an object";
    const hint = !group && extra.includes("port") && typeof options === "number" ? `: { port: ${options} }` : "";
    const what = group ? `"${group}"` : "options";
    throw new TypeError(`${caller}: ${what} must be ${must}${hint || `, not ${toKind(options)}`}`);
  }
  const read: string[] = [];
  const any = (key: string): unknown => {
    read.push(key);
    return options[key];
  };
  const fail = (key: string, must: string): never => {
    throw new TypeError(`${caller}: "${label(key)}" must be ${must}, not ${toKind(options[key])}`);
  };
  const number = (key: string, fallback: number, fits: (value: number) => boolean, must: string): number => {
    const given = any(key);
    const value = given === undefined ? fallback : given;
    return typeof value === "number" && fits(value) ? value : fail(key, must);
  };
  const texts = (key: string): readonly string[] | undefined => {
    const value = any(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === "string")) fail(key, "a list of strings");
    return [...(value as string[])];
  };
  const span = (key: string, fallback: number): number =>
    number(key, fallback, (value) => value > 0, "milliseconds, more than 0 (Infinity for no limit)");

  return {
    any,
    texts,
    span,
    time: (key, fallback) => Math.min(span(key, fallback), maxTimerMs),
    limit: (key, fallback) =>
      number(key, fallback, (value) => value >= 0, "milliseconds, 0 or more (0 or Infinity for no limit)"),
    count(key, fallback, least = 1) {
      const fits = (value: number): boolean => value >= least && (Number.isInteger(value) || value === Infinity);
      return number(key, fallback, fits, `a whole number, ${least} or more (Infinity for no limit)`);
    },
    whole: (key, fallback) =>
      number(key, fallback, (value) => Number.isSafeInteger(value) && value >= 0, "a whole number, 0 or more"),
    flag(key) {
      const value = any(key);
      return value === undefined || typeof value === "boolean" ? value === true : fail(key, "true or false");
    },
    choice(key, choices) {
      const value = any(key);
      if (value === undefined) return choices[0];
      const must = choices.map((choice) => `"${choice}"`).join(" or ");
      return choices.find((choice) => choice === value) ?? fail(key, must);
    },
    path(key) {
      const value = any(key);
      if (value === undefined) return undefined;
      if (typeof value !== "string") return fail(key, "a path");
      const problem = checkPath(value);
      if (problem) throw new TypeError(`${caller}: "${label(key)}" is ${quote(value)}: ${problem}`);
      return value;
    },
    text(key) {
      const value = any(key);
      return value === undefined || typeof value === "string" ? value : fail(key, "a string");
    },
    run<F>(key: string) {
      const value = any(key);
      return value === undefined || typeof value === "function" ? (value as F | undefined) : fail(key, "a function");
    },
    headers(key) {
      const value = texts(key) ?? [];
      // In a list of headers "*" can mean every one, which is more than somebody who lists some means.
      const strange = value.find((header) => header === "*" || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header));
      if (strange === undefined) return value.map((header) => header.toLowerCase());
      throw new TypeError(`${caller}: "${label(key)}" lists names of headers; ${quote(strange)} is none`);
    },
    end() {
      const known = [...read, ...extra];
      const strange = Object.keys(options).find((key) => !known.includes(key));
      if (strange === undefined) return;
      const synonym = Object.hasOwn(synonyms, strange) ? synonyms[strange] : undefined;
      const nearest = nearestTo(strange, known);
      const guess = nearest ? `: did you mean "${label(nearest)}"?` : `; there are ${known.join(", ")}`;
      const hint = synonym === undefined ? guess : `: ${synonym}`;
      throw new TypeError(`${caller}: option ${quote(label(strange))} is unknown${hint}`);
    },
  };
}

/** What is wrong with a path that requests are compared with, as they send theirs. */
export function checkPath(path: string): string | undefined {
  if (!path.startsWith("/")) return 'a path begins with "/"';
  if (/[?#]/.test(path)) return "a path has no query and no fragment";
  return /^[\x21-\x7e]+$/.test(path) ? undefined : "a path is visible ASCII: write other characters percent-encoded";
}

/** A wrong value in a message. Text is not shown: it may be a secret in the wrong place. */
export function toKind(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
