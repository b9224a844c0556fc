// The official JSON Schema test suite, draft2020-12 and draft7, without its optional parts.
// When the suite is absent it is fetched; when that fails, so does this file.
import { compileJsonSchema } from "plenum/schema";
import { describe, expect, test } from "vitest";
import { type Group, prepareSuite, readDocuments, readGroups } from "./suite.ts";

await prepareSuite();
const documents = readDocuments();

const drafts = [
  { folder: "draft2020-12", defaultDialect: "2020-12", tests: 1257 },
  { folder: "draft7", defaultDialect: "draft-07", tests: 913 },
] as const;

/** Refused by design: a dialect of one's own would need its meta-schema to be read for vocabularies. */
const otherDialects = [
  "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
  "vocabulary.json: ignore unrecognized optional vocabulary",
];

/** Refused by design unless the documents they refer to are handed over: nothing is fetched. */
const needDocuments = [
  "defs.json: validate definition against metaschema",
  "definitions.json: validate definition against metaschema",
  "dynamicRef.json: strict-tree schema, guards against misspelled properties",
  "dynamicRef.json: tests for implementation dynamic anchor and reference link",
  "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
  "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
  "dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor",
  "ref.json: remote ref, containing refs itself",
  "refRemote.json: remote ref",
  "refRemote.json: fragment within remote ref",
  "refRemote.json: anchor within remote ref",
  "refRemote.json: ref within remote ref",
  "refRemote.json: base URI change",
  "refRemote.json: base URI change - change folder",
  "refRemote.json: base URI change - change folder in subschema",
  "refRemote.json: root ref in remote ref",
  "refRemote.json: remote ref with ref to defs",
  "refRemote.json: remote ref with ref to definitions",
  "refRemote.json: Location-independent identifier in remote ref",
  "refRemote.json: retrieved nested refs resolve relative to their URI not $id",
  "refRemote.json: remote HTTP ref with different $id",
  "refRemote.json: remote HTTP ref with different URN $id",
  "refRemote.json: remote HTTP ref with nested absolute ref",
  "refRemote.json: $ref to $ref finds detached $anchor",
  "refRemote.json: $ref to $ref finds location-independent $id",
];

const titleOf = (group: Group) => `${group.file}: ${group.description}`;

describe.each(drafts)("$folder", ({ folder, defaultDialect, tests }) => {
  const groups = readGroups(folder);

  test("is all there", () => {
    expect(groups.reduce((total, group) => total + group.tests.length, 0)).toBe(tests);
  });

  const understood = groups.filter((group) => !otherDialects.includes(titleOf(group)));
  test.each(understood.map((group) => [titleOf(group), group] as const))("%s", (_, group) => {
    const validate = compileJsonSchema(group.schema, { defaultDialect, documents });
    const verdicts = group.tests.map(({ description, data }) => [description, validate(data) === undefined]);
    expect(verdicts).toEqual(group.tests.map(({ description, valid }) => [description, valid]));
  });

  test("without documents nothing is fetched: what needs them is refused, the rest compiles", () => {
    for (const group of understood) {
      const compile = () => compileJsonSchema(group.schema, { defaultDialect });
      if (needDocuments.includes(titleOf(group))) expect(compile, titleOf(group)).toThrow(/never fetched/);
      else expect(compile, titleOf(group)).not.toThrow();
    }
  });

  test("other dialects are refused by name", () => {
    for (const group of groups.filter((group) => otherDialects.includes(titleOf(group)))) {
      expect(() => compileJsonSchema(group.schema, { documents })).toThrow(/metaschema-.*is not supported/);
    }
  });
});
