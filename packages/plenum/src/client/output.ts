// What a server says of its tools, remembered, and results held against it: structured content is checked with the
// tool's output schema. Schemas come from a stranger: compiling and checking are bounded, and nothing is fetched.
// Specification: server/tools § Output Schema.
import type { CallToolResult, Tool } from "../protocol/model.ts";
import { compileJsonSchema, formatIssues, type Validator } from "../schema/index.ts";
import { measureJson } from "../util/json-tree.ts";
import { createLru } from "../util/lru.ts";
import { quote, toLine } from "../util/quote.ts";

export interface OutputsOptions {
  /** Definitions that are remembered; those not used for longest are forgotten first. Default 1000. */
  readonly maxTools?: number;
  /** All definitions together, in characters of JSON, roughly. Default 16 Mi. */
  readonly maxChars?: number;
  /** Told when definitions are forgotten because there are too many. */
  readonly warn: (problem: string) => void;
}

export interface Outputs {
  /** Rises with each `forget`. Look at it before tools are asked for, and give it to `learn`. */
  readonly generation: number;
  /**
   * Remembers the tools of a page. A definition takes the place of an older one of the same name.
   * @param generation when the page was asked for: if all was forgotten since, the page is too old to be learnt from
   */
  learn(tools: readonly Tool[], generation?: number): void;
  /** The list has changed: nothing is known any more. */
  forget(): void;
  knows(name: string): boolean;
  definition(name: string): Tool | undefined;
  /**
   * What is wrong with a result. Nothing is wrong with that of an unknown tool, of one without output schema, or with
   * one that says that it is an error. A schema that cannot be used is a problem too: it lets nothing pass.
   */
  check(name: string, result: CallToolResult): string | undefined;
}

/** A schema made ready, by its text: a tool that is listed again is seldom another one. */
interface Compiled {
  readonly text: string;
  readonly check: Validator | undefined;
  /** Why there is no `check`. */
  readonly problem: string;
}

interface Known {
  readonly tool: Tool;
  /** Made when it is first needed. */
  compiled: Compiled | undefined;
  /** From an earlier definition of the same name. */
  readonly earlier: Compiled | undefined;
}

export function createOutputs(options: OutputsOptions): Outputs {
  const { maxTools = 1000, maxChars = 16 * 1024 * 1024, warn } = options;
  const known = createLru<Known>({ maxEntries: maxTools, maxWeight: maxChars });
  let generation = 0;
  let warned = false;

  return {
    get generation() {
      return generation;
    },
    learn(tools, since = generation) {
      if (since !== generation) return;
      let gone = 0;
      for (const tool of tools) {
        const before = known.get(tool.name);
        // A page that was kept brings the same objects again.
        if (before?.tool === tool) continue;
        const entry: Known = { tool, compiled: undefined, earlier: before?.compiled ?? before?.earlier };
        gone += known.set(tool.name, entry, tool.name.length + measureJson(tool, maxChars));
      }
      if (gone === 0 || warned) return;
      warned = true;
      warn(
        `The server has more tools than are remembered (${maxTools}, or ${maxChars} characters): the results of some are not checked`,
      );
    },
    forget() {
      generation++;
      warned = false;
      known.clear();
    },
    knows: known.has,
    definition: (name) => known.get(name)?.tool,
    check(name, result) {
      const entry = known.get(name);
      if (!entry?.tool.outputSchema || result.isError === true) return undefined;
      entry.compiled ??= compile(entry.tool.outputSchema, entry.earlier);
      const { check, problem } = entry.compiled;
      const of = `tool ${quote(name)}`;
      if (!check) return `The output schema of ${of} cannot be used to check its result: ${problem}`;
      if (result.structuredContent === undefined)
        return `The result of ${of} has no structured content, which its output schema asks for`;
      const issues = check(result.structuredContent);
      // Names of members are the server's: they must not forge a line, nor make one without end.
      return issues && `The structured content of ${of} breaks its output schema: ${toLine(formatIssues(issues))}`;
    },
  };
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
