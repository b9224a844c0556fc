// What the words of the table mean, for who reads it for the first time.

interface Term {
  readonly word: string;
  readonly meaning: string;
  /** What of a table it explains; the word itself, if absent. */
  readonly pattern?: RegExp;
}

const terms: readonly Term[] = [
  { word: "bare", meaning: "what Node itself costs, without any SDK: the floor", pattern: /^bare$/ },
  {
    word: "alone",
    meaning: "one call after the other; without this word many are in flight at once",
    pattern: /alone,/,
  },
  { word: "p50, p99", meaning: "half of the calls, 99 of 100, took no longer than this", pattern: /\bp(50|99) / },
  {
    word: "CPU µs",
    meaning:
      "CPU time of the process under test for one call, or whatever the case counts: a session, a notification, a list; of a client, that of its process",
    pattern: /CPU µs/,
  },
  {
    word: "FILE.mjs, FILE.ts",
    meaning: "a server with one tool, in a file that `plenum call` loads into its own process",
    pattern: /FILE\./,
  },
  {
    word: "growth",
    meaning: "CPU time of a call with 1,000 tools, in ratio to one with 10",
    pattern: /^calls .*growth/,
  },
  {
    word: "growth kB",
    meaning: "what the heap has grown by after 1,000 calls",
    pattern: /growth kB/,
  },
  { word: "heap kB, RSS kB", meaning: "memory of one idle session", pattern: /(heap|rss) kB/i },
  { word: "pair", meaning: "bare's client and server in one process", pattern: / pair / },
  {
    word: "legacy, modern",
    meaning: "revision 2025-11-25, revision 2026-07-28 of the protocol",
    pattern: / (legacy|modern)\b(?!-)/,
  },
  {
    word: "session-, stateless-, modern-",
    meaning: "over HTTP: 2025-11-25 with a session, the same without one, 2026-07-28",
    pattern: /(session|stateless|modern)-/,
  },
  { word: "-json, -sse", meaning: "answers as JSON, as a stream of events", pattern: /-(json|sse)/ },
  { word: "modern-auto", meaning: "2026-07-28 where the server chooses: JSON, unless it has more to say" },
  {
    word: "node:http",
    meaning: "official 1.x straight on node:http, not behind Express",
    pattern: /, node:http/,
  },
];

/** A line for each term that stands in one of these texts; for all terms without them. */
export function explain(texts?: readonly string[]): string[] {
  const known = terms.filter(
    ({ word, pattern }) => !texts || texts.some((text) => (pattern ? pattern.test(text) : text.includes(word))),
  );
  const width = Math.max(0, ...known.map(({ word }) => word.length));
  return known.map(({ word, meaning }) => `  ${word.padEnd(width)}  ${meaning}`);
}
