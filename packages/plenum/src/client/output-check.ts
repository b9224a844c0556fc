// A tool's result held against its output schema. Loaded by the first tool that has one.
import type { CallToolResult, Tool } from "../protocol/model.ts";
import { compileJsonSchema, type Validator } from "../schema/json-schema.ts";
import { formatIssues } from "../schema/standard.ts";
import { quote, toLine } from "../util/quote.ts";

/** A schema made ready, by its text: a tool that is listed again is seldom another one. */
interface Compiled {
  readonly text: string;
  readonly check: Validator | undefined;
  /** Why there is no `check`. */
  readonly problem: string;
}

export interface Known {
  readonly tool: Tool;
  /** Made when it is first needed. */
  compiled: Compiled | undefined;
  /** From an earlier definition of the same name. */
  readonly earlier: Compiled | undefined;
}

/** What is wrong with the structured content, or with the schema of a tool that has one. */
export function checkOutput(known: Known, { structuredContent }: CallToolResult): string | undefined {
  const { name, outputSchema = {} } = known.tool;
  known.compiled ??= compile(outputSchema, known.earlier);
  const { check, problem } = known.compiled;
  const of = `tool ${quote(name)}`;
  if (!check) return `The output schema of ${of} cannot be used to check its result: ${problem}`;
  if (structuredContent === undefined)
    return `The result of ${of} has no structured content, which its output schema asks for`;
  const issues = check(structuredContent);
  // Names of members are the server's: they must not forge a line, nor make one without end.
  return issues && `The structured content of ${of} breaks its output schema: ${toLine(formatIssues(issues))}`;
}

function compile(schema: NonNullable<Tool["outputSchema"]>, earlier: Compiled | undefined): Compiled {
  let text = "";
  try {
    text = JSON.stringify(schema);
    return text === earlier?.text ? earlier : { text, check: compileJsonSchema(schema), problem: "" };
  } catch (error) {
    return { text, check: undefined, problem: toLine((error as Error).message) };
  }
}
