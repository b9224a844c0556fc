// Texts made up for a JSON Schema: of a format, by a pattern as far as it is understood, or what has broken programs before.
import type { Random } from "./random.ts";

/** Short texts that are rarely thought of. */
const strange: readonly string[] = [
  ..."|a|0| |  x  |null|undefined|true|NaN|__proto__|constructor|toString|../../etc/passwd|%00|%s%n|\\n|\"|'|`|{{7*7}}".split(
    "|",
  ),
  ..."<b>x</b>|'; DROP TABLE x; --|-1|1e309|0x10|ｆｕｌｌ|é|e\u0301|ß|ﬀ|日本語|😀|👩‍👩‍👧|\u202eabc|\ufeff|a\nb|a\tb|a\u0000b".split(
    "|",
  ),
];

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,";

/** A text of so many characters. */
export function makeText(random: Random, min: number, max: number): string {
  if (random.chance(0.4)) {
    const found = random.pick(strange);
    const length = [...found].length;
    if (length >= min && length <= max) return found;
  }
  const length = random.integer(min, Math.min(max, min + (random.chance(0.1) ? 200 : 12)));
  return Array.from({ length }, () => random.pick([...alphabet])).join("");
}

const two = (value: number): string => String(value).padStart(2, "0");
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random.integer(0, 15).toString(16)).join("");
const date = (random: Random): string =>
  `${random.integer(1970, 2099)}-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`;
const time = (random: Random): string =>
  `${two(random.integer(0, 23))}:${two(random.integer(0, 59))}:${two(random.integer(0, 59))}${random.pick(["Z", "+02:00", ".5Z"])}`;
const word = (random: Random): string => random.pick(["a", "example", "x-1", "long-name-of-something", "z9"]);

const formats: { readonly [name: string]: (random: Random) => string } = {
  date,
  time,
  "date-time": (random) => `${date(random)}T${time(random)}`,
  duration: (random) => random.pick(["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"]),
  email: (random) => `${word(random)}@${word(random)}.example.com`,
  "idn-email": (random) => `${word(random)}@${word(random)}.example.com`,
  hostname: (random) => `${word(random)}.example.com`,
  "idn-hostname": (random) => `${word(random)}.example.com`,
  ipv4: (random) => Array.from({ length: 4 }, () => random.integer(0, 255)).join("."),
  ipv6: (random) => Array.from({ length: 8 }, () => hex(random, 4)).join(":"),
  uri: (random) => `https://${word(random)}.example.com/${word(random)}?q=${word(random)}#${word(random)}`,
  "uri-reference": (random) => random.pick(["", "/a/b", "?q=1", "#x", "https://example.com/"]),
  iri: (random) => `https://example.com/${word(random)}`,
  uuid: (random) =>
    `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-${random.pick(["8", "9", "a", "b"])}${hex(random, 3)}-${hex(random, 12)}`,
  "json-pointer": (random) => random.pick(["", "/a", "/a/0/b~1c"]),
  "relative-json-pointer": (random) => random.pick(["0", "1/a", "0#"]),
  regex: (random) => random.pick(["^a+$", "[a-z]{2}", ""]),
  byte: (random) => random.pick(["", "aGVsbG8=", "AAAA"]),
};

/** Undefined for a format that is not known. */
export function makeFormatted(random: Random, format: string): string | undefined {
  return Object.hasOwn(formats, format) ? formats[format]?.(random) : undefined;
}

/** Repetitions without an end are ended here. */
const maxRepeats = 6;

/**
 * A text that matches a pattern, probably: characters, classes, groups, alternatives and repetitions are understood, what looks
 * around is passed over. Whoever uses it checks.
 */
export function makeMatching(random: Random, pattern: string): string {
  let at = 0;
  const alternatives = (): string => {
    const all = [sequence()];
    while (pattern[at] === "|") {
      at++;
      all.push(sequence());
    }
    return random.pick(all);
  };
  const sequence = (): string => {
    let text = "";
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") text += repeated();
    return text;
  };
  const repeated = (): string => {
    const start = at;
    const once = atom();
    const end = at;
    const [min, max] = repeats();
    const after = at;
    let text = "";
    for (let count = random.integer(min, Math.min(max, min + maxRepeats)); count > 0; count--) {
      // Each time it may be another.
      at = start;
      text += text === "" ? once : atom();
    }
    at = Math.max(after, end);
    return text;
  };
  const repeats = (): readonly [number, number] => {
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(pattern.slice(at, at + 24));
    if (!found) return [1, 1];
    at += found[0].length;
    const [, sign, low, comma, high] = found;
    if (sign !== undefined) return sign === "?" ? [0, 1] : [sign === "+" ? 1 : 0, Number.POSITIVE_INFINITY];
    return [Number(low), comma === undefined ? Number(low) : high ? Number(high) : Number.POSITIVE_INFINITY];
  };
  const atom = (): string => {
    const sign = pattern[at++] as string;
    if (sign === "^" || sign === "$") return "";
    if (sign === ".") return random.pick([..."aZ0 -😀"]);
    if (sign === "[") return oneOf();
    if (sign === "(") return group();
    return sign === "\\" ? escaped() : sign;
  };
  const group = (): string => {
    const kind = /^\?(?:<?[=!]|:|<\w+>)/.exec(pattern.slice(at, at + 80))?.[0] ?? "";
    at += kind.length;
    const text = alternatives();
    at++;
    return /[=!]$/.test(kind) ? "" : text;
  };
  const escaped = (): string => {
    const sign = pattern[at++] ?? "";
    if (sign === "b" || sign === "B") return "";
    const known = classes[sign];
    if (known !== undefined) return random.pick([...known]);
    if (sign !== "p" && sign !== "P") return controls[sign] ?? sign;
    at = pattern.indexOf("}", at) + 1;
    return random.pick([..."aZé"]);
  };
  const member = (): string => {
    const sign = pattern[at++] as string;
    return sign === "\\" ? escaped() : sign;
  };
  const oneOf = (): string => {
    const isNot = pattern[at] === "^";
    if (isNot) at++;
    const members: string[] = [];
    while (at < pattern.length && pattern[at] !== "]") {
      const from = member();
      if (pattern[at] === "-" && pattern[at + 1] !== "]") {
        at++;
        members.push(...range(from, member()));
      } else members.push(from);
    }
    at++;
    const choice = isNot ? [...alphabet].filter((one) => !members.includes(one)) : members;
    return choice.length > 0 ? random.pick(choice) : "";
  };
  return alternatives();
}

const digits = "0123456789";
const classes: { readonly [sign: string]: string } = {
  d: digits,
  w: `aZ_${digits}`,
  s: " \t",
  D: "aZ -",
  W: " -!",
  S: "aZ0!",
};
const controls: { readonly [sign: string]: string } = { n: "\n", t: "\t", r: "\r", f: "\f", v: "\v", 0: "\0" };

function range(from: string, to: string): string[] {
  const [low = 0, high = 0] = [from.codePointAt(0), to.codePointAt(0)];
  // Of a wide one some are enough.
  const step = Math.max(1, Math.floor((high - low) / 64));
  const found: string[] = [];
  for (let code = low; code <= high; code += step) found.push(String.fromCodePoint(code));
  return found;
}
