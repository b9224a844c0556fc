// The five revisions of MCP and the few facts about each that no method row and no wire shape can tell.
// Everything else that differs between revisions is a fact of `methods.ts` or of `wire/`.

export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

export type EraName = "sessioned" | "stateless";

export interface RevisionFacts {
  readonly era: EraName;
  /** JSON arrays are messages. */
  readonly batches: boolean;
  /** Whether arguments that break a tool's input schema are a JSON-RPC error or a result with `isError`. */
  readonly badArguments: "error" | "result";
  /** What `structuredContent` may be, and with it the root of an output schema. */
  readonly structured: "none" | "object" | "any";
  /** The JSON-RPC code of an unknown resource. */
  readonly notFound: -32002 | -32602;
}

const facts: { readonly [R in Revision]: RevisionFacts } = {
  "2024-11-05": { era: "sessioned", batches: false, badArguments: "error", structured: "none", notFound: -32002 },
  "2025-03-26": { era: "sessioned", batches: true, badArguments: "error", structured: "none", notFound: -32002 },
  "2025-06-18": { era: "sessioned", batches: false, badArguments: "error", structured: "object", notFound: -32002 },
  "2025-11-25": { era: "sessioned", batches: false, badArguments: "result", structured: "object", notFound: -32002 },
  "2026-07-28": { era: "stateless", batches: false, badArguments: "result", structured: "any", notFound: -32602 },
};

/** All revisions, oldest first. */
export const revisions: readonly Revision[] = Object.keys(facts) as Revision[];

export function isRevision(value: unknown): value is Revision {
  return (revisions as readonly unknown[]).includes(value);
}

/** Those of them that have sessions. */
export function sessionedOf(all: readonly Revision[]): readonly Revision[] {
  return all.filter((revision) => facts[revision].era === "sessioned");
}

export function factsOf(revision: Revision): RevisionFacts {
  return facts[revision];
}
