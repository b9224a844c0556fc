// The shape tables against the official JSON schemas: what we make is accepted, what they refuse we refuse, what is
// fitted to an older revision is that revision's, and the members are the same ones.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Revision, revisions } from "../../packages/plenum/src/protocol/revisions.ts";
import { addAsking } from "../../packages/plenum/src/protocol/wire/asking.ts";
import { addRetelling } from "../../packages/plenum/src/protocol/wire/retell.ts";
import { wireOf } from "../../packages/plenum/src/protocol/wire/wire.ts";
import { arbitraryBroken, arbitraryOf } from "./arbitrary.ts";
import { isOfficialHere, pairsOf } from "./official.ts";

addAsking();
addRetelling();

if (!isOfficialHere) console.log("skipped: the official schemas are not in ../shared/spec/schema");

/** Where a check refuses what the official schema accepts, by the text of the problem. */
const stricter: readonly { readonly problem: RegExp; readonly reason: string }[] = [
  {
    problem: /\.resultType must be "complete"( or "input_required")?$/,
    reason: "the specification calls every other resultType invalid; the schema says string",
  },
  {
    problem: /requestedSchema\.properties(\.[\w$]+|\[".*?"\])\.(enum|enumNames|oneOf|default)\b/,
    reason: "a schema with choices is judged as one; the official union lets it pass as a plain string schema",
  },
  {
    problem: /^it\._meta must be an object$/,
    reason: "2025-11-25 writes this notification's params without the _meta that all params may have",
  },
  {
    problem: /Schema\.\$schema must be a string$/,
    reason: "$schema is a JSON Schema keyword whatever the revision says",
  },
  {
    problem: /\.(text must be a string|blob must be base64)$/,
    reason: "contents are judged by the member that is there; the official union tries both",
  },
  {
    problem: /inputResponses(\.[\w$]+|\[".*"\])\./,
    reason: "an answer is judged by the members that are there; the official union tries all three",
  },
];

/** Where a check lets pass what the official schema refuses. Two slips of the schemas' generator are in official.ts. */
const looser: readonly {
  readonly revision: Revision;
  readonly shape: string;
  readonly value: object;
  readonly reason: string;
}[] = [
  {
    revision: "2025-11-25",
    shape: "InitializeParams",
    value: { protocolVersion: "", clientInfo: { name: "", version: "" }, capabilities: { tasks: { list: 5 } } },
    reason: "the core tasks are not read, so neither is what the capability holds",
  },
  {
    revision: "2025-11-25",
    shape: "ReadResourceParams",
    value: { uri: "file:///gr\u00f6\u00dfe" },
    reason: "a URI has a scheme and no blanks; peers are not held to the last letter of RFC 3986",
  },
];

/** What no older revision has a place for, so that fit leaves it and check refuses it. */
function isBeyond(revision: Revision, from: Revision, shape: string, value: unknown): boolean {
  const text = JSON.stringify(value);
  if (text.includes('"resultType":"input_required"')) return true;
  // Only 2025-11-25 lets a cancellation name no request.
  if (shape === "CancelledParams") return !text.includes("requestId");
  if (shape === "ElicitParams") {
    // Elicitation by URL needs an id that only 2025-11-25 has; 2025-06-18 has neither URLs nor several choices.
    if (text.includes('"mode":"url"')) return revision < "2025-11-25" || from > revision;
    return revision < "2025-11-25" && text.includes('"type":"array"');
  }
  // Before 2025-11-25 a result holds one block.
  if (shape === "CreateMessageResult" && revision < "2025-11-25") {
    return Array.isArray((value as { content?: unknown }).content);
  }
  if (shape === "ElicitResult" && revision < "2025-11-25") {
    return Object.values((value as { content?: object }).content ?? {}).some(Array.isArray);
  }
  return false;
}

describe.skipIf(!isOfficialHere)("the official schemas", () => {
  for (const revision of isOfficialHere ? revisions : []) {
    describe(revision, () => {
      const wire = wireOf(revision);

      for (const { shape, value, reason } of looser.filter((entry) => entry.revision === revision)) {
        it(`are stricter with ${shape}: ${reason}`, () => {
          const pair = pairsOf(revision).find((each) => each.shape === shape);
          expect(pair?.refuse(value)).toBeDefined();
          expect(wire.check(shape, value)).toBeUndefined();
        });
      }

      for (const { shape, refuse } of pairsOf(revision)) {
        it(`accepts what ${shape} allows`, () => {
          fc.assert(
            fc.property(arbitraryOf(revision, shape), (value) => {
              expect(wire.check(shape, value)).toBeUndefined();
              expect(refuse(value)).toBeUndefined();
            }),
            { numRuns: 60 },
          );
        });

        it(`refuses nothing that ${shape} lets pass`, () => {
          fc.assert(
            fc.property(arbitraryBroken(arbitraryOf(revision, shape)), (value) => {
              const problem = wire.check(shape, value, "it");
              const theirs = refuse(value);
              if (theirs === undefined) {
                if (problem !== undefined)
                  expect(
                    stricter.some((entry) => entry.problem.test(problem)),
                    problem,
                  ).toBe(true);
              } else {
                expect(problem, theirs).toBeDefined();
              }
            }),
            { numRuns: 250 },
          );
        });

        for (const from of revisions.filter((each) => each !== revision && wireOf(each).has(shape))) {
          if (from < revision && from !== "2025-11-25") continue;
          it(`accepts ${shape} of ${from} once it is fitted`, () => {
            fc.assert(
              fc.property(arbitraryOf(from, shape), (value) => {
                if (isBeyond(revision, from, shape, value)) return;
                const before = JSON.stringify(value);
                const fitted = wire.fit(shape, value);
                expect(JSON.stringify(value)).toBe(before);
                if (from > revision) {
                  expect(refuse(fitted, true)).toBeUndefined();
                  expect(wire.check(shape, fitted)).toBeUndefined();
                }
                expect(wire.fit(shape, fitted)).toBe(fitted);
              }),
              { numRuns: 60 },
            );
          });
        }
      }
    });
  }
});
