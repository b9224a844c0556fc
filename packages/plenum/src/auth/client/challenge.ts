// `WWW-Authenticate`: what a server wants of who is not let in. RFC 9110 § 11.6.1, RFC 6750 § 3, RFC 9728 § 5.1.

export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** Their names in lower case; the first of each. */
  readonly parameters: ReadonlyMap<string, string>;
}

const maxLength = 8192;

// Each where the reading stands.
const between = /[\s,]*/y;
const word = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const equals = /\s*=\s*/y;
const quoted = /"((?:[^"\\]|\\.)*)"/y;
const plain = /[^\s,"]+/y;
/** What some schemes have in place of parameters. */
const blob = /\s+[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;

/** All challenges of a header, as far as it can be read: what is broken ends the reading. */
export function parseChallenges(header: string | null | undefined): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  if (!header || header.length > maxLength) return challenges;
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(header);
    if (found) at = form.lastIndex;
    return found;
  };
  for (take(between); ; take(between)) {
    const name = take(word)?.[0].toLowerCase();
    if (name === undefined) return challenges;
    if (!take(equals)) {
      challenges.push({ scheme: name, parameters: new Map() });
      take(blob);
      continue;
    }
    const value = take(quoted)?.[1]?.replace(/\\(.)/g, "$1") ?? take(plain)?.[0];
    const parameters = challenges.at(-1)?.parameters;
    if (value === undefined || !parameters) return challenges;
    if (!parameters.has(name)) parameters.set(name, value);
  }
}

/** What a server wants, of all its challenges that a bearer of tokens can meet. */
export interface Wanted {
  readonly resourceMetadata: string | undefined;
  /** Absent where nothing is said. */
  readonly scope: string | undefined;
  readonly error: string | undefined;
  readonly description: string | undefined;
}

export function readWanted(header: string | null | undefined): Wanted {
  const ours = parseChallenges(header).filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const first = (name: string): string | undefined =>
    ours.map(({ parameters }) => parameters.get(name)).find((value) => value !== undefined);
  return {
    resourceMetadata: first("resource_metadata"),
    scope: first("scope"),
    error: first("error"),
    description: first("error_description"),
  };
}
