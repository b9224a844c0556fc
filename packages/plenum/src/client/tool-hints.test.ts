import { expect, test } from "vitest";
import { covers } from "../../../../test/requirements/covers.ts";
import { hintsOf } from "./tool-hints.ts";

test("silence means the worst", () => {
  covers("tool-annotation-defaults");
  const worst = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
  expect(hintsOf({})).toEqual(worst);
  expect(hintsOf(undefined)).toEqual(worst);
  expect(hintsOf({ annotations: { title: "Saw" } })).toEqual(worst);
});

test("what is read-only destroys nothing and may be repeated, whatever else is said of it", () => {
  covers("tool-annotation-relevance");
  const annotations = { readOnlyHint: true, destructiveHint: true, idempotentHint: false };
  expect(hintsOf({ annotations })).toMatchObject({ readOnly: true, destructive: false, idempotent: true });
});

test("what is said is taken", () => {
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  expect(hintsOf({ annotations })).toEqual({ readOnly: false, destructive: false, idempotent: true, openWorld: false });
  expect(hintsOf({ annotations: { readOnlyHint: "yes" as never } }).readOnly).toBe(false);
});
