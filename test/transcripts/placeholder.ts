// Values that differ from run to run. A transcript writes `<uuid>`, `<cursor>` or `<state>` in their place, with a name
// (`<cursor:second page>`) where the same value is used again.

/** The form that each kind of placeholder stands for, to the letter. */
const forms = {
  uuid: "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
  cursor: "[0-9a-f]{64}\\.\\d+\\.\\d+",
  state: "v1\\.[\\w-]{8}\\.[\\w-]{100,}",
} as const;

const placeholder = /<(uuid|cursor|state)(?::([\w ]+))?>/g;

/** What the named placeholders stood for. */
export type Bindings = Map<string, string>;

export function bindings(): Bindings {
  return new Map();
}

/** What a client sends, with the values that the server gave out earlier. Throws on a name that was never heard. */
export function withBound(value: unknown, bound: Bindings): unknown {
  if (typeof value === "string") {
    return value.replace(placeholder, (whole) => {
      const known = bound.get(whole);
      if (known === undefined) throw new Error(`${whole} is sent before it was received`);
      return known;
    });
  }
  if (Array.isArray(value)) return value.map((inner) => withBound(inner, bound));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBound(inner, bound)]));
}

/** Where the two differ, as a path and a reason; undefined when they are the same but for placeholders. */
export function matches(came: unknown, wanted: unknown, bound: Bindings, at = "message"): string | undefined {
  if (typeof wanted === "string") return matchText(came, wanted, bound, at);
  if (typeof wanted !== "object" || wanted === null) {
    return Object.is(came, wanted) ? undefined : `${at} is ${JSON.stringify(came)}, not ${JSON.stringify(wanted)}`;
  }
  if (typeof came !== "object" || came === null || Array.isArray(came) !== Array.isArray(wanted)) {
    return `${at} is ${JSON.stringify(came)}, not ${JSON.stringify(wanted)}`;
  }
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(came)])) {
    if (!Object.hasOwn(came, key)) return `${at}.${key} is missing`;
    if (!Object.hasOwn(wanted, key)) return `${at}.${key} should not be there`;
    const inner = (from: object): unknown => (from as Record<string, unknown>)[key];
    const problem = matches(inner(came), inner(wanted), bound, `${at}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function matchText(came: unknown, wanted: string, bound: Bindings, at: string): string | undefined {
  if (typeof came !== "string") return `${at} is ${JSON.stringify(came)}, not ${JSON.stringify(wanted)}`;
  const found: string[] = [];
  let pattern = "";
  let end = 0;
  for (const match of wanted.matchAll(placeholder)) {
    const [whole, kind, name] = match;
    const known = bound.get(whole);
    pattern += toLiteral(wanted.slice(end, match.index));
    pattern += known === undefined ? `(${forms[kind as keyof typeof forms]})` : toLiteral(known);
    if (known === undefined) found.push(name === undefined ? "" : whole);
    end = match.index + whole.length;
  }
  pattern += toLiteral(wanted.slice(end));
  const fit = new RegExp(`^${pattern}$`).exec(came);
  if (!fit) return `${at} is ${JSON.stringify(came)}, not ${JSON.stringify(wanted)}`;
  for (const [index, whole] of found.entries()) if (whole !== "") bound.set(whole, fit[index + 1] as string);
  return undefined;
}

function toLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
