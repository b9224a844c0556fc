// The official schemas as oracle: what they reject is never answered with a result, what they accept is never refused
// for its shape. Where the two disagree on purpose, the reason is here.
import type { Revision } from "plenum";
import { expect } from "vitest";
import { findMethod } from "../../packages/plenum/src/protocol/methods.ts";
import { isOfficialHere, type Pair, pairsOf } from "../wire/official.ts";
import type { Obj } from "./target.ts";

interface Disagreement {
  readonly reason: string;
  /** A request of 2025-11-25 that shows it: an exemption that nothing needs is an error. */
  readonly example: { readonly method: string; readonly params: Obj };
  readonly is: (theirs: string, ours: string, params: Obj) => boolean;
}

/** We answer, though the schema rejects. */
export const looser: readonly Disagreement[] = [
  {
    reason: "a URI has a scheme and no blanks; peers are not held to the last letter of RFC 3986",
    example: { method: "resources/unsubscribe", params: { uri: "item:///größe" } },
    is: (theirs, _, params) =>
      /must match format \\"uri\\"/.test(theirs) && /^[a-z][a-z\d+.-]*:\S*$/i.test(String(params.uri)),
  },
];

/** We refuse for the shape, though the schema accepts. */
export const stricter: readonly Disagreement[] = [
  {
    reason: "an integer that a double does not carry exactly would come back as another token",
    example: { method: "tools/list", params: { _meta: { progressToken: 2 ** 60 } } },
    is: (_, ours, params) => {
      const token = (params._meta as Obj | undefined)?.progressToken;
      return /progressToken must be a string or an integer$/.test(ours) && Math.abs(Number(token)) >= 2 ** 53;
    },
  },
];

const pairs = new Map<string, Pair | undefined>();

function pairOf(revision: Revision, shape: string): Pair | undefined {
  const key = `${revision} ${shape}`;
  if (!pairs.has(key))
    pairs.set(
      key,
      pairsOf(revision).find((pair) => pair.shape === shape),
    );
  return pairs.get(key);
}

/** What the official schema has against the params of a request; undefined when it accepts them. */
export function refusalOf(revision: Revision, method: string, params: Obj): string | undefined {
  return pairOf(revision, `${findMethod(method)?.stem}Params`)?.refuse(params);
}

/** Compares the one answer to a request with what the official schema says of its params. */
export function compareShape(revision: Revision, request: Obj, received: readonly unknown[]): void {
  if (!isOfficialHere) return;
  const answers = (received.flat() as Obj[]).filter(({ id, method }) => id === request.id && method === undefined);
  // One id for several messages of a group: which answer is whose cannot be told.
  if (answers.length !== 1) return;
  const { result, error } = answers[0] as { result?: Obj; error?: { code: number; message: string } };
  const pair = pairOf(revision, `${findMethod(request.method as string)?.stem}Params`);
  if (!pair) return;
  const params = (request.params ?? {}) as Obj;
  const theirs = pair.refuse(params);
  const text = `${revision} ${JSON.stringify(request)}`;
  if (theirs !== undefined && result) {
    expect(
      looser.some(({ is }) => is(theirs, "", params)),
      `answered, but rejected by the schema: ${theirs}\n${text}`,
    ).toBe(true);
  }
  if (theirs === undefined && error?.code === -32602 && /^Invalid params for /.test(error.message)) {
    expect(
      stricter.some(({ is }) => is("", error.message, params)),
      `accepted by the schema, but refused: ${error.message}\n${text}`,
    ).toBe(true);
  }
}
