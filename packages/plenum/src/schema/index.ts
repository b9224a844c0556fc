// Plenum's schemas: JSON Schema validation, and any Standard Schema library made into JSON Schema.
export { formats } from "./format.ts";
export { type InferInput, type InferOutput, jsonSchema, type TypedJsonSchema } from "./infer.ts";
export {
  compileJsonSchema,
  type Formats,
  type JsonSchema,
  type SchemaIssue,
  type SchemaLimits,
  type SchemaOptions,
  type Validator,
} from "./json-schema.ts";
export {
  type AnySchema,
  formatIssues,
  type Issue,
  type Schema,
  type SchemaPlace,
  toSchema,
  type ValidationResult,
} from "./standard.ts";
