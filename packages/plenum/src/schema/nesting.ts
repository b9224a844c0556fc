// What a JSON Schema holds below a keyword: schemas, schemas by name, or data. For whoever walks one without
// compiling it. Apart from keywords.ts, so that walking does not bring the validator with it.

/** Keywords whose value maps names to schemas. */
export const schemaMapKeywords: readonly string[] =
  /* @__PURE__ */ "properties patternProperties dependentSchemas dependencies $defs definitions".split(" ");

/** Keywords whose value is data: what reads like a keyword in there is none. */
export const dataKeywords: readonly string[] = ["const", "enum", "default", "examples"];
